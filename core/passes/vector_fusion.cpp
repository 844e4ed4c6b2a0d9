// VectorFusion: neighbouring element-wise operators, and reductions, softmax and normalisations over
// the last axis among them, become one asc.VectorProgram, which reads and writes memory once.
//
// A single operator on float16 or bfloat16 becomes a program as well: there are no other vector kernels for
// these types.
//
// A group grows from its last node towards the producers. A producer joins when its result has the
// shape of the group's index space (reductions and what is computed from them alone: one element
// for each row of it), and nothing outside reads it; or, where the program may have several
// results, when nothing that the group reads depends on those readers.
#include <algorithm>
#include <deque>

#include "core/ops/registry.h"
#include "core/passes/match.h"
#include "core/passes/passes.h"
#include "core/passes/vector_lowering.h"

namespace asc {
namespace {
constexpr std::string_view kElementwise = "Elementwise", kRows = "RowReduction";

// Both known and surely the same.
bool SameShape(const Shape& a, const Shape& b) { return a.has_rank() && a == b; }

// One element for each row of the space.
bool IsRowShape(const Shape& shape, const Shape& space) {
  if (!shape.has_rank() || shape.rank() != space.rank() || space.rank() == 0) return false;
  for (size_t i = 0; i + 1 < space.rank(); ++i) {
    if (!(shape[i] == space[i])) return false;
  }
  return shape[space.rank() - 1].IsConstant(1);
}

// Known to be shorter than what a program gains by: there, changing segments costs a row more than
// a pass over memory that is saved, and the kernels of Softmax take several rows at once.
bool HasShortRows(const Shape& space) {
  constexpr int64_t kShort = 16;
  return space.rank() > 0 && space[space.rank() - 1].is_constant() &&
         space[space.rank() - 1].value() < kShort;
}

// Softmax and normalisations of float32 have kernels of their own, which are as fast. Joining them
// with neighbours spares passes over memory; for a row or two (one token of a decoder) a program, which
// is more code and tables to bring into the caches, takes longer than the two kernels.
bool HasManyRows(const Shape& space) {
  constexpr int64_t kMany = 16;
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < space.rank() && rows < kMany; ++i) {
    if (space[i].is_constant()) rows *= space[i].value();
  }
  return rows >= kMany;
}

// A topological order of the graph, kept while groups of its nodes become one.
class Order {
 public:
  Order(const Graph& graph, std::vector<NodeId> nodes)
      : graph_(graph), nodes_(std::move(nodes)), positions_(graph.node_bound(), 0) {
    for (size_t i = 0; i < nodes_.size(); ++i) PlaceAt(i, nodes_[i]);
  }

  size_t size() const { return nodes_.size(); }
  NodeId operator[](size_t position) const { return nodes_[position]; }
  size_t Position(NodeId id) const { return positions_[static_cast<size_t>(id.index)]; }

  // `made` has taken the place of nodes at positions from `first` to `last`. What reads its results
  // may stand between them: it moves behind.
  void Merge(size_t first, size_t last, NodeId made) {
    positions_.resize(graph_.node_bound(), 0);
    std::vector<bool> depends(graph_.node_bound(), false);
    depends[static_cast<size_t>(made.index)] = true;
    std::vector<NodeId> before, behind;
    for (size_t i = first; i <= last; ++i) {
      if (!graph_.Has(nodes_[i])) continue;
      const std::vector<ValueId> inputs = graph_.AllInputs(nodes_[i]);
      const bool moves = std::any_of(inputs.begin(), inputs.end(), [&](ValueId value) {
        const Node* producer = value.valid() ? graph_.Producer(value) : nullptr;
        return producer != nullptr && depends[static_cast<size_t>(producer->id.index)];
      });
      if (moves) depends[static_cast<size_t>(nodes_[i].index)] = true;
      (moves ? behind : before).push_back(nodes_[i]);
    }
    // The merged nodes leave places free at the beginning.
    before.push_back(made);
    before.insert(before.end(), behind.begin(), behind.end());
    const size_t start = last + 1 - before.size();
    for (size_t i = first; i < start; ++i) nodes_[i] = NodeId();
    for (size_t i = 0; i < before.size(); ++i) PlaceAt(start + i, before[i]);
  }

 private:
  void PlaceAt(size_t position, NodeId id) {
    nodes_[position] = id;
    positions_[static_cast<size_t>(id.index)] = position;
  }

  const Graph& graph_;
  std::vector<NodeId> nodes_;  // invalid: nothing
  std::vector<size_t> positions_;
};

class Group {
 public:
  Group(const PassContext& context, const Order& order, const Node& last)
      : context_(context), graph_(context.graph()), order_(order), last_(last) {}

  // False where the node is no last one of a group.
  bool Grow() {
    const auto space = SpaceOf(last_, 0);
    if (!space) return false;
    space_ = *space;
    images_ = space_.rank() == 4 && FitsBlocks(last_);
    Add(last_);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = graph_.node(nodes_[i]);
      for (const ValueId input : node.inputs) {
        const Node* producer = input.valid() ? graph_.Producer(input) : nullptr;
        if (producer != nullptr && !Has(producer->id) && Joins(*producer)) Add(*producer);
      }
      // A producer whose other reader joined later may join now.
      if (i + 1 == nodes_.size() && Retry()) continue;
    }
    return nodes_.size() >= 2 || IsNarrow(last_);
  }

  // True when the nodes have become one; `first` is where the first of them stood.
  bool Submit(PassContext& context, size_t& first) const {
    std::vector<NodeId> ordered = nodes_;
    std::sort(ordered.begin(), ordered.end(),
              [&](NodeId a, NodeId b) { return order_.Position(a) < order_.Position(b); });
    first = order_.Position(ordered.front());
    VectorLowering lowering(graph_, space_.rank());
    for (const NodeId id : ordered) lowering.Lower(graph_.node(id));
    std::vector<ValueId> results;
    for (const NodeId id : ordered) {
      const ValueId out = graph_.node(id).outputs[0];
      if (id != last_.id && !IsReadOutside(out)) continue;
      results.push_back(out);
      lowering.program().outputs.push_back(
          {graph_.value(out).type.dtype, lowering.InstructionOf(out)});
    }
    lowering.DropLastRounding();
    const VectorProgram& program = lowering.program();
    const std::string_view fusion = program.HasReductions() ? kRows : kElementwise;
    if (Status status = program.Verify(lowering.inputs().size(), results.size()); !status.ok()) {
      context.Reject(fusion, last_, status.message());
      return false;
    }
    if (!context.Allows(fusion, last_, ordered)) return false;
    Patch patch(fusion, last_);
    for (const NodeId id : ordered) patch.Remove(id);
    std::vector<ValueId> inputs;
    for (const VectorLowering::Input& input : lowering.inputs()) {
      if (input.value.valid()) {
        inputs.push_back(input.value);
        continue;
      }
      const VectorLowering::Constant& constant = lowering.constants()[input.constant];
      inputs.push_back(patch.AddConstant(constant.tensor, graph_.value(constant.stands_for).name));
    }
    AttributeMap attributes;
    attributes.Set("program", program.ToText());
    const std::vector<ValueId> made =
        patch.AddNode(OpRegistry::Global().Find("asc", "VectorProgram"), std::move(inputs),
                      std::move(attributes), results.size());
    for (size_t i = 0; i < results.size(); ++i) patch.Replace(results[i], made[i]);
    return context.Submit(patch);
  }

 private:
  static constexpr size_t kMostNodes = 40;
  static constexpr size_t kMostInputs = 16;

  // On float16 or bfloat16, for which there are no other vector kernels but for casts of float32.
  bool IsNarrow(const Node& node) const {
    constexpr TypeSet kNarrow{DataType::kFloat16, DataType::kBFloat16};
    const DataType from = graph_.value(node.inputs[0]).type.dtype,
                   to = graph_.value(node.outputs[0]).type.dtype;
    if (node.Is("Cast") && (from == DataType::kFloat32 || to == DataType::kFloat32)) return false;
    return kNarrow.Contains(from) || kNarrow.Contains(to);
  }

  bool Has(NodeId id) const { return std::find(nodes_.begin(), nodes_.end(), id) != nodes_.end(); }
  const Shape& ShapeOf(ValueId id) const { return graph_.value(id).type.shape; }

  void Add(const Node& node) {
    nodes_.push_back(node.id);
    for (const ValueId input : node.inputs) {
      if (input.valid() && !graph_.value(input).is_constant()) ++inputs_;
    }
  }

  // The index space of a group that ends with this node. Row values that come from a reduction
  // have the space of what that reduces.
  std::optional<Shape> SpaceOf(const Node& node, int depth) const {
    constexpr int kDeepest = 16;
    const VectorRole role = VectorRoleOf(graph_, node);
    if (role == VectorRole::kNone) return std::nullopt;
    if (role == VectorRole::kReduction) {
      const Shape& space = ShapeOf(node.inputs[0]);
      return HasShortRows(space) ? std::nullopt : std::optional(space);
    }
    const Shape& shape = ShapeOf(node.outputs[0]);
    if (role == VectorRole::kRowFunction)
      return FitsRowFunction(node, shape) ? std::optional(shape) : std::nullopt;
    const bool row = role == VectorRole::kElementwise && shape.rank() > 0 &&
                     shape[shape.rank() - 1].IsConstant(1);
    if (row && depth < kDeepest) {
      for (const ValueId input : node.inputs) {
        const Node* producer = input.valid() ? graph_.Producer(input) : nullptr;
        if (producer == nullptr || SoleUser(graph_, input) == nullptr) continue;
        const auto space = SpaceOf(*producer, depth + 1);
        if (space && !SameShape(*space, shape) && IsRowShape(shape, *space)) return space;
      }
    }
    return shape;
  }

  bool FitsRowFunction(const Node& node, const Shape& space) const {
    return IsNarrow(node) || (HasManyRows(space) && !HasShortRows(space));
  }

  // All its operands are such that the kernels take blocked images for it.
  bool FitsBlocks(const Node& node) const {
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      if (!id.valid()) return true;
      const Value& value = graph_.value(id);
      if (value.is_constant() && value.constant.size() == 1) return true;
      if (ChannelConstant(graph_, id, 4) || node.Is("BatchNormalization")) return true;
      if (value.type.shape.rank() <= 1 && value.type.shape.ElementCount().IsConstant(1))
        return value.type.dtype == DataType::kFloat32;
      return value.type.dtype == DataType::kFloat32 && value.type.shape.rank() == 4 &&
             value.type.shape[1] == space_[1];
    });
  }

  // Casts to bool: their results are written, not read on.
  static bool IsLastOnly(const Graph& graph, const Node& node) {
    return node.Is("Cast") && graph.value(node.outputs[0]).type.dtype == DataType::kBool;
  }

  bool IsReadOutside(ValueId value) const {
    if (graph_.IsOutput(value)) return true;
    const std::vector<Use>& uses = graph_.value(value).uses;
    return std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
      return !Has(use.node) || use.slot >= graph_.node(use.node).inputs.size();
    });
  }

  bool Joins(const Node& node) const {
    if (nodes_.size() >= kMostNodes || inputs_ >= kMostInputs || context_.Touched(node.id))
      return false;
    const VectorRole role = VectorRoleOf(graph_, node);
    if (role == VectorRole::kNone || IsLastOnly(graph_, node)) return false;
    const ValueId out = node.outputs[0];
    const bool wide = SameShape(ShapeOf(out), space_);
    if (role == VectorRole::kReduction) {
      if (HasShortRows(space_) || !SameShape(ShapeOf(node.inputs[0]), space_)) return false;
    } else if (role == VectorRole::kRowFunction) {
      if (!wide || !FitsRowFunction(node, space_)) return false;
    } else if (!wide && !(role == VectorRole::kElementwise && IsOfRows(node, 0))) {
      return false;
    }
    if (images_ && (role != VectorRole::kElementwise || !FitsBlocks(node))) return false;
    if (!IsReadOutside(out)) return true;
    // Several results: images stay with one, which layouts are made for.
    return wide && space_.rank() != 4 && IsConvexWith(node);
  }

  // Computed from reductions of the space and numbers alone.
  bool IsOfRows(const Node& node, int depth) const {
    constexpr int kDeepest = 16;
    if (depth > kDeepest || !IsRowShape(ShapeOf(node.outputs[0]), space_)) return false;
    bool any = false;
    for (const ValueId input : node.inputs) {
      if (!input.valid() || ScalarConstant(graph_, input)) continue;
      const Node* producer = graph_.Producer(input);
      if (producer == nullptr) return false;
      const VectorRole role = VectorRoleOf(graph_, *producer);
      const bool reduction =
          role == VectorRole::kReduction && SameShape(ShapeOf(producer->inputs[0]), space_);
      if (!reduction && !(role == VectorRole::kElementwise && IsOfRows(*producer, depth + 1)))
        return false;
      any = true;
    }
    return any;
  }

  // Nothing that the group reads from outside depends on the node: otherwise a reader of its result
  // would have to run in the middle of the group.
  bool IsConvexWith(const Node& node) const {
    std::deque<NodeId> rest;
    std::vector<bool> seen(graph_.node_bound(), false);
    const auto visit = [&](ValueId value) {
      const Node* producer = value.valid() ? graph_.Producer(value) : nullptr;
      if (producer == nullptr || Has(producer->id) || seen[static_cast<size_t>(producer->id.index)])
        return;
      if (order_.Position(producer->id) < order_.Position(node.id)) return;
      seen[static_cast<size_t>(producer->id.index)] = true;
      rest.push_back(producer->id);
    };
    for (const NodeId id : nodes_) {
      for (const ValueId value : graph_.AllInputs(id)) {
        // The node itself joins.
        if (value.valid() && graph_.Producer(value) == &node) continue;
        visit(value);
      }
    }
    for (; !rest.empty(); rest.pop_front()) {
      if (rest.front() == node.id) return false;
      for (const ValueId value : graph_.AllInputs(rest.front())) visit(value);
    }
    return true;
  }

  // Tries the producers again that have not joined; true when one did.
  bool Retry() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const ValueId input : graph_.node(nodes_[i]).inputs) {
        const Node* producer = input.valid() ? graph_.Producer(input) : nullptr;
        if (producer == nullptr || Has(producer->id) || !Joins(*producer)) continue;
        Add(*producer);
        return true;
      }
    }
    return false;
  }

  const PassContext& context_;
  const Graph& graph_;
  const Order& order_;
  const Node& last_;
  Shape space_;
  bool images_ = false;  // kernels take blocked images for all nodes
  std::vector<NodeId> nodes_;
  size_t inputs_ = 0;  // at most so many
};

class VectorFusion : public Pass {
 public:
  std::string_view name() const override { return "VectorFusion"; }

  void Run(PassContext& context) override {
    const Graph& graph = context.graph();
    auto nodes = graph.TopologicalOrder();
    if (!nodes.ok()) return;
    Order order(graph, std::move(nodes).value());
    for (size_t i = order.size(); i-- > 0;) {
      const NodeId id = order[i];
      if (context.AtLimit()) return;
      if (!graph.Has(id) || context.Touched(id)) continue;
      Group group(context, order, graph.node(id));
      size_t first = i;
      if (!group.Grow() || !group.Submit(context, first)) continue;
      order.Merge(first, i, NodeId{static_cast<int32_t>(graph.node_bound()) - 1});
      ++i;  // another node may stand there now
    }
  }
};
}  // namespace

std::unique_ptr<Pass> MakeVectorFusion() { return std::make_unique<VectorFusion>(); }

std::vector<FusionInfo> VectorFusionFusions() {
  using Mode = FusionSettings::Mode;
  return {{std::string(kElementwise), "VectorFusion",
           "neighbouring element-wise operators are one pass over memory", Mode::kDefault},
          {std::string(kRows), "VectorFusion",
           "element-wise operators and reductions over the last axis are one pass over memory",
           Mode::kDefault}};
}

}  // namespace asc
