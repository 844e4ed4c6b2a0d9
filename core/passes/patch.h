// A patch: one rewrite, described and not yet done. Passes propose patches; the driver checks and
// applies them.
#ifndef ASC_CORE_PASSES_PATCH_H_
#define ASC_CORE_PASSES_PATCH_H_

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/graph/graph.h"

namespace asc {

// Everything is said in terms of ids of the graph that the patch is for; values that the patch
// makes have ids of their own (IsNew), which stand for real ones once it is applied.
//
//   Patch patch("Conv2d+BatchNorm", conv);
//   patch.Remove(conv.id);
//   patch.Remove(norm.id);
//   const ValueId w = patch.AddConstant(scaled, "weight");
//   patch.Replace(norm.outputs[0], patch.AddNode(conv.schema, {x, w, b}, conv.attributes));
class Patch {
 public:
  // `rule` is what the rewrite is called in reports; fusions have a public name. `anchor`: the node
  // that the pattern was found at, after which new nodes are named.
  Patch(std::string_view rule, const Node& anchor) : rule_(rule), anchor_(anchor.id) {}

  static bool IsNew(ValueId id) { return id.index >= kFirstNew; }

  // A new constant; `name` is only a wish.
  ValueId AddConstant(Tensor tensor, std::string_view name);
  // A new node with one output, which it gives. Its origins are those of all removed nodes.
  ValueId AddNode(const OpSchema* schema, std::vector<ValueId> inputs,
                  AttributeMap attributes = {});
  // The same with several outputs.
  std::vector<ValueId> AddNode(const OpSchema* schema, std::vector<ValueId> inputs,
                               AttributeMap attributes, size_t output_count);
  // Names the new node that makes `made`, and gives it the origins of a node that stays (an invalid
  // id: none).
  void Describe(ValueId made, std::string name, NodeId origins_of);
  // All uses that `from` has in the graph, graph outputs included, become uses of `to`.
  void Replace(ValueId from, ValueId to) { replacements_.emplace_back(from, to); }
  // Changes one operand of a node that stays; slots as in Use.
  void SetInput(NodeId node, size_t slot, ValueId to) { inputs_.push_back({node, slot, to}); }
  // What uses the node's results must be removed or changed by the same patch.
  void Remove(NodeId node) { removed_.push_back(node); }
  // A node that the rewrite relies on but leaves as it is: a fusion needs its scope's consent too.
  void Match(NodeId node) { matched_.push_back(node); }
  // A node that stays takes over the origins of the removed ones.
  void JoinOrigins(NodeId node) { joined_.push_back(node); }
  void SetStorage(ValueId value, Layout layout) { storages_.emplace_back(value, layout); }
  // Makes unused output `slot` of a node that stays absent.
  void RemoveOutput(NodeId node, size_t slot) { removed_outputs_.push_back({node, slot}); }
  // Puts a region without formal inputs in the place of its node (an If whose branch is known).
  void InlineRegion(NodeId node, size_t region) { inlined_.push_back({node, region}); }
  // Drops a capture that the region does not use.
  void RemoveCapture(NodeId node, size_t region, size_t capture) {
    captures_.push_back({node, region, capture, false});
  }
  // Gives the region the captured constant itself.
  void SinkConstant(NodeId node, size_t region, size_t capture) {
    captures_.push_back({node, region, capture, true});
  }

  const std::string& rule() const { return rule_; }
  NodeId anchor() const { return anchor_; }
  // Nodes that are removed, changed or relied on; the anchor comes first.
  std::vector<NodeId> TouchedNodes() const;

 private:
  friend class PatchApplier;
  static constexpr int32_t kFirstNew = 1 << 30;

  struct NewConstant {
    Tensor tensor;
    std::string name;
    ValueId id;
  };
  struct NewNode {
    const OpSchema* schema;
    std::vector<ValueId> inputs;
    AttributeMap attributes;
    std::vector<ValueId> outputs;
    std::string name;   // empty: after the anchor
    NodeId origins_of;  // besides the removed ones
  };
  struct InputChange {
    NodeId node;
    size_t slot;
    ValueId to;
  };
  struct CaptureChange {
    NodeId node;
    size_t region, capture;
    bool sink;
  };

  ValueId NewId() { return ValueId{kFirstNew + new_values_++}; }

  std::string rule_;
  NodeId anchor_;
  int32_t new_values_ = 0;
  std::vector<NewConstant> constants_;
  std::vector<NewNode> nodes_;
  std::vector<std::pair<ValueId, ValueId>> replacements_;
  std::vector<InputChange> inputs_;
  std::vector<NodeId> removed_, matched_, joined_;
  std::vector<std::pair<ValueId, Layout>> storages_;
  std::vector<std::pair<NodeId, size_t>> removed_outputs_, inlined_;
  std::vector<CaptureChange> captures_;
};

// What an applied patch made.
struct AppliedPatch {
  std::vector<NodeId> nodes;  // new ones
  // Nodes whose operands are not those that they had, or may be known in another way now.
  std::vector<NodeId> users;
};

// Applies the patch, or refuses it and leaves the graph as it was: dangling ids, a removed result
// that something still uses, a new node that its schema or shape rule refuses, a replacement of
// another type. `scope` is given to new nodes.
Result<AppliedPatch> ApplyPatch(Graph& graph, const Patch& patch, int scope);

}  // namespace asc

#endif  // ASC_CORE_PASSES_PATCH_H_
