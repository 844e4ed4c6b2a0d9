// What the compiler's own operators (domain "asc") are in terms of ONNX's: for graphs that leave the
// engine.
#ifndef ASC_CORE_OPS_EXPANSION_H_
#define ASC_CORE_OPS_EXPANSION_H_

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "core/ops/operator_writer.h"

namespace asc {

// One node while it is being replaced by ONNX operators.
class Expansion : public OperatorWriter {
 public:
  // The node stays until all of its outputs are replaced.
  Expansion(Graph& graph, NodeId node)
      : OperatorWriter(graph, {graph.node(node).name, graph.node(node).origins,
                               graph.node(node).scope}),
        id_(node) {}

  const Node& node() const { return graph().node(id_); }
  const AttributeMap& attributes() const { return node().attributes; }
  ValueId input(size_t i) const { return node().input(i); }
  bool HasInput(size_t i) const { return input(i).valid(); }

  // All uses of the node's output `i` become uses of `by`, which takes over its name where this
  // expansion made it.
  void Replace(size_t i, ValueId by);

 private:
  NodeId id_;
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
