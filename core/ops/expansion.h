// What the compiler's own operators (domain "asc") are in terms of ONNX's: for graphs that leave the
// engine.
#ifndef ASC_CORE_OPS_EXPANSION_H_
#define ASC_CORE_OPS_EXPANSION_H_

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace asc {

// One node while it is being replaced by ONNX operators. The first thing that goes wrong stays in
// status(); what is added afterwards is invalid and adds nothing.
class Expansion {
 public:
  // The node stays until all of its outputs are replaced.
  Expansion(Graph& graph, NodeId node) : graph_(graph), id_(node) {}

  const Node& node() const { return graph_.node(id_); }
  const AttributeMap& attributes() const { return node().attributes; }
  ValueId input(size_t i) const { return node().input(i); }
  bool HasInput(size_t i) const { return input(i).valid(); }
  DataType dtype(ValueId value) const { return graph_.value(value).type.dtype; }
  const Shape& shape(ValueId value) const { return graph_.value(value).type.shape; }
  // E5003 naming `what` where it is not known.
  Result<size_t> Rank(ValueId value, std::string_view what) const;

  // Adds an operator of ai.onnx and gives its first output.
  ValueId Add(std::string_view op, std::vector<ValueId> inputs, AttributeMap attributes = {});
  // The same with an attribute.
  template <typename T>
  ValueId Add(std::string_view op, std::vector<ValueId> inputs, std::string_view attribute,
              T value) {
    AttributeMap attributes;
    attributes.Set(attribute, std::move(value));
    return Add(op, std::move(inputs), std::move(attributes));
  }
  ValueId Constant(Tensor tensor);
  // Of rank 0, in the element type of `like`.
  ValueId Number(ValueId like, double value) { return Scalar(dtype(like), value); }
  ValueId Scalar(DataType type, double value);
  ValueId Ints(const std::vector<int64_t>& values);
  ValueId Cast(ValueId value, DataType type);

  // All uses of the node's output `i` become uses of `by`, which takes over its name where this
  // expansion made it.
  void Replace(size_t i, ValueId by);

  void Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  const Status& status() const { return status_; }

 private:
  Graph& graph_;
  NodeId id_;
  std::vector<ValueId> made_;
  Status status_;
};

using ExpandFn = Status (*)(Expansion&);

// Null for operators that are ONNX's, and for others that have no expansion.
ExpandFn FindExpansion(const OpSchema& schema);

// Replaces every node that has an expansion, in regions too. Types stay inferred; the new nodes have
// the origins of those they stand for. On failure the graph is of no use any more.
Status ExpandToOnnx(Graph& graph);
// Whether there is anything to replace.
bool NeedsExpansion(const Graph& graph);

// One for each operator, beside its row.
Status ExpandFusedAttention(Expansion& expansion);
Status ExpandFusedConv(Expansion& expansion);
Status ExpandFusedMatMul(Expansion& expansion);
Status ExpandTransData(Expansion& expansion);
Status ExpandVectorProgram(Expansion& expansion);

}  // namespace asc

#endif  // ASC_CORE_OPS_EXPANSION_H_
