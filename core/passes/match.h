// Questions that patterns ask of a graph.
#ifndef ASC_CORE_PASSES_MATCH_H_
#define ASC_CORE_PASSES_MATCH_H_

#include <optional>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace asc {

// The node that makes the value, if it is of that operator; null otherwise.
const Node* ProducerOf(const Graph& graph, ValueId value, std::string_view op,
                       std::string_view domain = "");

// The one user of the value, as its input and not as a capture; null when there are several or
// none, or when the value is a graph output.
const Node* SoleUser(const Graph& graph, ValueId value);

// The only element of a constant (any rank) as double; nullopt for other values.
std::optional<double> ScalarConstant(const Graph& graph, ValueId value);

// The elements of a constant integer vector; nullopt for other values.
std::optional<std::vector<int64_t>> IntsConstant(const Graph& graph, ValueId value);

// Both have one element type and surely one shape.
bool SameType(const Value& a, const Value& b);

// True for versions of variables: a later write would change what a reader of the replaced value
// sees.
inline bool IsVariable(const Graph& graph, ValueId value) {
  return graph.value(value).variable >= 0;
}

}  // namespace asc

#endif  // ASC_CORE_PASSES_MATCH_H_
