// TransposeSimplification: transposes in a row become one, ones that only move extents of 1 become
// Reshape, and pairs around element-wise operators cancel.
#include <algorithm>
#include <map>

#include "core/ops/evaluate.h"
#include "core/ops/registry.h"
#include "core/passes/match.h"
#include "core/passes/passes.h"
#include "core/passes/permutation.h"
#include "core/passes/reshape_target.h"

namespace asc {
namespace {
const OpSchema* TransposeOp() { return OpRegistry::Global().Find("", "Transpose"); }

AttributeMap PermAttribute(const Permutation& perm) {
  AttributeMap attributes;
  attributes.Set("perm", perm);
  return attributes;
}

// The constant as it broadcasts against values before a transpose by `perm`; nullopt when it cannot
// be computed.
std::optional<Tensor> BeforeTranspose(const Tensor& constant, const Permutation& perm) {
  Dims padded(perm.size() - constant.rank(), 1);
  padded.insert(padded.end(), constant.dims().begin(), constant.dims().end());
  const Result<Tensor> wide = constant.Reshaped(padded);
  if (!wide.ok()) return std::nullopt;
  const AnyValue operand(*wide);
  RunState run;
  run.allocator = HostAllocator();
  const auto results = Evaluate(*TransposeOp(), PermAttribute(Inverse(perm)), {&operand}, 1, run);
  return results.ok() ? std::optional((*results)[0].tensor()) : std::nullopt;
}

// Element-wise nodes between a transpose and the transposes before them. Every value inside has its
// one user inside.
class Cone {
 public:
  Cone(const PassContext& context, size_t rank)
      : context_(context), graph_(context.graph()), rank_(rank) {}

  // False when something in it cannot be computed in the order of axes before the transposes.
  bool Collect(ValueId value) {
    if (const Node* transpose = ProducerOf(graph_, value, "Transpose"))
      return AddSource(*transpose);
    if (graph_.Constant(value) != nullptr || HasOneElement(value)) return true;
    const Node* node = graph_.Producer(value);
    if (node == nullptr || nodes_.size() >= kMostNodes || context_.Touched(node->id)) return false;
    if (node->schema->op_class != OpClass::kElementwise || !node->schema->deterministic ||
        node->Is("CastLike"))
      return false;
    if (node->outputs.size() != 1 || SoleUser(graph_, value) == nullptr) return false;
    if (MindsAxes(*node)) return false;
    const Shape& shape = graph_.value(value).type.shape;
    if (!shape.has_rank() || shape.rank() != rank_) return false;
    for (const ValueId input : node->inputs) {
      if (input.valid() && !Collect(input)) return false;
    }
    nodes_.push_back(node->id);  // after its operands
    return true;
  }

  const std::optional<Permutation>& perm() const { return perm_; }
  const std::vector<NodeId>& nodes() const { return nodes_; }
  const std::vector<NodeId>& sources() const { return sources_; }

  // Adds the nodes to the patch without the transposes; invalid when a constant could not be
  // transposed.
  ValueId Rebuild(Patch& patch, ValueId root) const {
    std::map<ValueId, ValueId> made;
    for (const NodeId id : sources_) made[graph_.node(id).outputs[0]] = graph_.node(id).inputs[0];
    for (const NodeId id : nodes_) {
      const Node& node = graph_.node(id);
      std::vector<ValueId> inputs = node.inputs;
      for (ValueId& input : inputs) {
        if (!input.valid()) continue;
        if (const auto it = made.find(input); it != made.end()) {
          input = it->second;
        } else if (const Tensor* constant = graph_.Constant(input);
                   constant != nullptr && constant->size() != 1) {
          const auto moved =
              constant->rank() <= rank_ ? BeforeTranspose(*constant, *perm_) : std::nullopt;
          if (!moved) return ValueId();
          made[input] = patch.AddConstant(*moved, graph_.value(input).name);
          input = made[input];
        }
      }
      made[node.outputs[0]] = patch.AddNode(node.schema, std::move(inputs), node.attributes);
    }
    return made.at(root);
  }

 private:
  static constexpr size_t kMostNodes = 32;

  bool HasOneElement(ValueId value) const {
    const Shape& shape = graph_.value(value).type.shape;
    return shape.has_rank() && shape.rank() == 0;
  }

  // Its operands do not broadcast: they lie along an axis that an attribute names (scales and zero
  // points of each channel).
  bool MindsAxes(const Node& node) const {
    if (!node.attributes.Has("axis")) return false;
    return std::any_of(node.inputs.begin() + 1, node.inputs.end(), [&](ValueId id) {
      const Tensor* constant = id.valid() ? graph_.Constant(id) : nullptr;
      const bool for_all = constant != nullptr && constant->size() == 1 && constant->rank() <= 1;
      return id.valid() && !HasOneElement(id) && !for_all;
    });
  }

  bool AddSource(const Node& transpose) {
    const auto perm = PermutationOf(graph_, transpose);
    if (!perm || perm->size() != rank_ || (perm_ && *perm_ != *perm)) return false;
    if (IsVariable(graph_, transpose.inputs[0]) || context_.Touched(transpose.id)) return false;
    perm_ = *perm;
    if (std::find(sources_.begin(), sources_.end(), transpose.id) == sources_.end())
      sources_.push_back(transpose.id);
    return true;
  }

  const PassContext& context_;
  const Graph& graph_;
  const size_t rank_;
  std::optional<Permutation> perm_;
  std::vector<NodeId> nodes_, sources_;
};

class TransposeSimplification : public NodePass {
 public:
  std::string_view name() const override { return "TransposeSimplification"; }

  void Visit(PassContext& context, const Node& node) override {
    if (!node.Is("Transpose")) return;
    const auto perm = PermutationOf(context.graph(), node);
    if (!perm || IsVariable(context.graph(), node.inputs[0])) return;
    if (Join(context, node, *perm) || AsReshape(context, node, *perm)) return;
    ThroughElementwise(context, node, *perm);
  }

 private:
  static bool Join(PassContext& context, const Node& node, const Permutation& perm) {
    const Graph& graph = context.graph();
    const Node* first = ProducerOf(graph, node.inputs[0], "Transpose");
    const auto first_perm = first == nullptr ? std::nullopt : PermutationOf(graph, *first);
    if (!first_perm || IsVariable(graph, first->inputs[0])) return false;
    const Permutation both = Compose(*first_perm, perm);
    const ValueId source = first->inputs[0];
    Patch patch("Transpose+Transpose", node);
    patch.Remove(node.id);
    patch.Match(first->id);
    patch.Replace(node.outputs[0], IsIdentity(both)
                                       ? source
                                       : patch.AddNode(node.schema, {source}, PermAttribute(both)));
    return context.Submit(patch);
  }

  static bool AsReshape(PassContext& context, const Node& node, const Permutation& perm) {
    const Shape& from = context.graph().value(node.inputs[0]).type.shape;
    int64_t last = -1;
    for (const int64_t axis : perm) {
      if (from[static_cast<size_t>(axis)].IsConstant(1)) continue;
      if (axis < last) return false;
      last = axis;
    }
    if (IsIdentity(perm)) return false;  // NoOpElimination's
    const auto target = ReshapeTarget(from, context.graph().value(node.outputs[0]).type.shape);
    if (!target) return false;
    Patch patch("Transpose as Reshape", node);
    patch.Remove(node.id);
    const ValueId shape = patch.AddConstant(*target, Cat(node.name, "_shape"));
    patch.Replace(node.outputs[0],
                  patch.AddNode(OpRegistry::Global().Find("", "Reshape"), {node.inputs[0], shape}));
    return context.Submit(patch);
  }

  static void ThroughElementwise(PassContext& context, const Node& node, const Permutation& perm) {
    const Graph& graph = context.graph();
    Cone cone(context, perm.size());
    if (!cone.Collect(node.inputs[0]) || !cone.perm() || cone.nodes().empty()) return;
    const Permutation both = Compose(*cone.perm(), perm);
    // Transposes that something else uses too stay: then one before the node is no gain unless they
    // cancel.
    const bool frees_one = std::any_of(
        cone.sources().begin(), cone.sources().end(),
        [&](NodeId id) { return SoleUser(graph, graph.node(id).outputs[0]) != nullptr; });
    if (!IsIdentity(both) && !frees_one) return;
    Patch patch("Transpose through element-wise", node);
    patch.Remove(node.id);
    for (const NodeId id : cone.nodes()) patch.Remove(id);
    for (const NodeId id : cone.sources()) patch.Match(id);
    const ValueId root = cone.Rebuild(patch, node.inputs[0]);
    if (!root.valid()) return;
    patch.Replace(node.outputs[0], IsIdentity(both)
                                       ? root
                                       : patch.AddNode(node.schema, {root}, PermAttribute(both)));
    context.Submit(patch);
  }
};
}  // namespace

std::unique_ptr<Pass> MakeTransposeSimplification() {
  return std::make_unique<TransposeSimplification>();
}

}  // namespace asc
