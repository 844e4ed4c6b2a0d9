// A graph made ready to be written as ONNX, and the names that its values get.
#ifndef ASC_CORE_ONNX_EXPORT_GRAPH_H_
#define ASC_CORE_ONNX_EXPORT_GRAPH_H_

#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/graph/graph.h"

namespace asc::onnx {

// A copy in which every node is one of ONNX (or of another domain that is not the compiler's), every
// output is made by a node of its own graph and under no second name (inputs that are outputs under
// their own name stay), and variables are what they are in a format without state: the value at the
// start of a run is an input with a default (Graph::variables stays), the one at its end an output
// `<variable>_next`. Big constants of regions lie in the graph itself.
// E5033 for operators that ONNX has no words for, E5003 for output names that inputs have.
struct ExportGraph {
  std::unique_ptr<Graph> graph;
  std::set<ValueId> shared;  // constants that regions use under their names
};
Result<ExportGraph> PrepareForExport(const Graph& graph);

// The names of one graph's values in the file. In a region, values that stand for outer ones have the
// outer names; others get names that no graph around has.
class ExportScope {
 public:
  // `captures`: of the region that the graph is, in `outer`'s graph. `outer` is null for the model's.
  ExportScope(const Graph& graph, const ExportScope* outer, const std::vector<ValueId>& captures);

  const Graph& graph() const { return graph_; }
  const std::string& Of(ValueId value) const {
    return value.valid() ? names_[static_cast<size_t>(value.index)] : kAbsent;
  }
  // Whether the value is one of a graph around this one.
  bool IsOuter(ValueId value) const { return outer_values_.contains(value); }
  // The inputs that are no captures.
  const std::vector<ValueId>& inputs() const { return inputs_; }

 private:
  static const std::string kAbsent;

  bool IsTaken(const std::string& name) const;
  std::string Fresh(const std::string& base);
  // The name under which this graph or one around it has the constant's very elements.
  const std::string* FindShared(const Tensor& constant) const;

  const Graph& graph_;
  const ExportScope* outer_;
  std::vector<std::string> names_;  // by value
  std::vector<ValueId> inputs_;
  std::set<ValueId> outer_values_;
  std::unordered_set<std::string> taken_;
};

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_EXPORT_GRAPH_H_
