// The readable text form of a graph, which reads back to an equal graph.
//
//   graph "main" {
//     metadata "producer" = "pytorch"
//     input %x: float32[N, 3, 8, 8] format NCHW
//     constant %w: float32[4, 3, 1, 1] = content "9ae16a3b2f90404f"
//     %y: float32[N, 4, 8, 8] = Conv "conv1" (%x, %w, _) {group = 1} scope 2 from "c1" at
//     "net.py:7" output "y" = %y
//   }
//
// `_` is an absent input or output. Unknown extents are numbered ?0, ?1... in order of appearance.
// Value names with other than letters, digits and _ . / - are quoted: %"a b".
// By hand, names of nodes and types of values may be left out: %y = Relu (%x).
#ifndef ASC_CORE_GRAPH_TEXT_H_
#define ASC_CORE_GRAPH_TEXT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/graph/graph.h"

namespace asc {

struct TextOptions {
  // Constants of at most this many elements are written as numbers or text.
  int64_t most_inline_elements = 32;
  // Larger ones: true writes their bytes (base64), false only a content hash, which needs
  // ParseOptions::find_constant.
  bool all_constants = false;
};

std::string ToText(const Graph& graph, const TextOptions& options = {});

struct ParseOptions {
  // Gives the operator for a domain ("" is ai.onnx) and a name, null when there is none.
  std::function<const OpSchema*(std::string_view domain, std::string_view name)> find_op;
  // Gives the elements for a content hash (Tensor::ContentHash) that stands in for them; may be
  // empty.
  std::function<std::optional<Tensor>(uint64_t hash)> find_constant;
};

// Reads what ToText writes; blanks and line ends are free, `#` starts a comment. E5006 with line
// and column for anything else: bad syntax, unknown operators, names used before or never defined,
// sizes that do not fit. No inference, no verification.
Result<std::unique_ptr<Graph>> ParseText(std::string_view text, const ParseOptions& options);

}  // namespace asc

#endif  // ASC_CORE_GRAPH_TEXT_H_
