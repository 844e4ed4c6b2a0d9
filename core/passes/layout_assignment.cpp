// LayoutAssignment: decides for the whole graph which image operators work on channels in blocks
// (NC1HWC0), and puts TransData between them and the rest. Moved bytes are what it minimises: those
// of TransData, and those that a convolution moves by itself when its operands are not blocked.
// This is a minimum cut between blocked and plain nodes. One block size serves the whole graph: a
// narrower one than the target prefers, where that leaves less padding.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <set>

#include "core/ops/registry.h"
#include "core/passes/match.h"
#include "core/passes/min_cut.h"
#include "core/passes/passes.h"

namespace asc {
namespace {
// What an open extent counts as; only relations between values matter.
constexpr double kOpenExtent = 32;
// Keeps a TransData from coming for free where values are empty, and makes fewer better than more.
constexpr double kPerNode = 64;
// Narrower blocks may cost arithmetic: they have to save this part of all bytes of images.
constexpr double kNarrowerGain = 1.0 / 32;

bool IsImage(const Graph& graph, ValueId id) {
  if (!id.valid()) return false;
  const ValueType& type = graph.value(id).type;
  return type.is_tensor() && type.shape.has_rank() && type.shape.rank() == 4;
}

double Bytes(const Graph& graph, ValueId id) {
  const ValueType& type = graph.value(id).type;
  double bytes = static_cast<double>(ElementSize(type.dtype));
  for (const Dim& dim : type.shape.dims())
    bytes *= dim.is_constant() ? static_cast<double>(dim.value()) : kOpenExtent;
  return bytes + kPerNode;
}

bool IsConvolution(const Node& node) {
  return node.Is("Conv") || node.Is("ConvTranspose") || node.Is("FusedConv", "asc");
}

// Pictures as they come, with a few channels: blocks would be mostly padding, and convolutions read
// them plain as fast.
bool HasFewChannels(const Graph& graph, ValueId id) {
  const Dim& channels = graph.value(id).type.shape[1];
  return channels.is_constant() && channels.value() <= 4;
}

// Operand `slot` is one that blocks: not the weight of a convolution, nor a picture that it reads,
// nor anything that is no image.
bool Blocks(const Graph& graph, const Node& node, size_t slot) {
  if (!IsImage(graph, node.inputs[slot])) return false;
  if (!IsConvolution(node)) return true;
  return slot == 0 ? !HasFewChannels(graph, node.inputs[0]) : slot != 1;
}

bool ElementwiseOfOneShape(const Graph& graph, const Node& node, const Layout& layout) {
  const Shape& shape = graph.value(node.outputs[0]).type.shape;
  const bool whole = shape[1].is_constant() && shape[1].value() % layout.c0 == 0;
  return whole && node.schema->op_class == OpClass::kElementwise &&
         std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId id) { return id.valid() && graph.value(id).type.shape == shape; });
}

bool IsOneOf(const Node& node, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view n) { return node.Is(n); });
}

// Values whose extents depend on the elements of others: plans know them only when the nodes before
// have run, and blocked layouts are for extents that a plan knows.
class ExtentsOfData {
 public:
  explicit ExtentsOfData(const Graph& graph) {
    const auto order = graph.TopologicalOrder();
    if (!order.ok()) return;
    for (const NodeId id : *order) {
      const Node& node = graph.node(id);
      // Shapes alone decide what is computed from shapes.
      const bool from_shapes = IsOneOf(node, {"Shape", "Size"});
      const std::vector<ValueId> inputs = graph.AllInputs(id);
      const bool elements =
          from_shapes ? extents_.contains(node.inputs[0])
                      : !node.regions.empty() ||
                            std::any_of(inputs.begin(), inputs.end(),
                                        [&](ValueId input) { return OfData(graph, input); });
      bool extents = Chooses(node), operands = false;
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].valid() || graph.value(inputs[i]).is_constant()) continue;
        extents = extents || extents_.contains(inputs[i]);
        operands = operands || (i > 0 && OfData(graph, inputs[i]));
      }
      extents = extents || (operands && ReadsExtents(node));
      for (const ValueId output : node.outputs) {
        if (!output.valid()) continue;
        if (elements) elements_.insert(output);
        const ValueType& type = graph.value(output).type;
        const bool open = !type.is_tensor() || !type.shape.has_rank() ||
                          std::any_of(type.shape.dims().begin(), type.shape.dims().end(),
                                      [](const Dim& dim) { return dim.is_unknown(); });
        if (extents && open) extents_.insert(output);
      }
    }
  }

  bool contains(ValueId id) const { return extents_.contains(id); }

 private:
  bool OfData(const Graph& graph, ValueId id) const {
    if (!id.valid() || graph.value(id).is_constant()) return false;
    return graph.Producer(id) == nullptr || elements_.contains(id);
  }
  // How many elements there are depends on what they are, or on what a region does.
  static bool Chooses(const Node& node) {
    return !node.regions.empty() ||
           IsOneOf(node, {"Compress", "NonMaxSuppression", "NonZero", "Unique", "SequenceAt",
                          "ConcatFromSequence", "OptionalGetElement"});
  }
  static bool ReadsExtents(const Node& node) {
    return IsOneOf(node, {"CenterCropPad", "ConstantOfShape", "Expand", "Pad", "Range", "Reshape",
                          "Resize", "Slice", "Split", "Tile", "TopK"});
  }

  std::set<ValueId> elements_, extents_;
};

class Assignment {
 public:
  // With the block size at `choice` in each type's list.
  Assignment(const PassContext& context, size_t choice)
      : graph_(context.graph()),
        options_(context.options()),
        choice_(choice),
        of_data_(graph_),
        vertices_(graph_.node_bound()) {}

  bool FindCandidates() {
    for (const NodeId id : graph_.Nodes()) {
      const Node& node = graph_.node(id);
      const auto layout = LayoutFor(node);
      if (!layout) continue;
      candidates_.push_back(id);
      vertices_[Index(id)] = cut_.AddVertex();
    }
    return !candidates_.empty();
  }

  void Solve() {
    for (const NodeId id : candidates_) {
      const Node& node = graph_.node(id);
      if (!IsConvolution(node)) continue;
      // Left plain, a convolution reorders its operands itself.
      double moved = Bytes(graph_, node.outputs[0]);
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (Blocks(graph_, node, i)) moved += Bytes(graph_, node.inputs[i]);
      }
      cut_.AddEdge(MinCut::kSource, Vertex(id), moved);
    }
    for (const ValueId id : graph_.Values()) AddValue(graph_.value(id));
    const std::vector<bool> side = cut_.Solve();
    blocked_.assign(graph_.node_bound(), false);
    cost_ = cut_.cost();
    for (const NodeId id : candidates_) {
      blocked_[Index(id)] = side[Vertex(id)];
      if (IsBlocked(id)) cost_ += PaddingBytes(graph_.node(id).outputs[0]);
    }
  }

  const std::vector<NodeId>& candidates() const { return candidates_; }
  bool IsBlocked(NodeId id) const { return blocked_[Index(id)]; }
  // The bytes that are moved from layout to layout, and those of padding; known once solved.
  double cost() const { return cost_; }

  Layout LayoutOf(ValueId id) const { return {Format::kNC1HWC0, C0(graph_.value(id).type.dtype)}; }

 private:
  static size_t Index(NodeId id) { return static_cast<size_t>(id.index); }
  size_t Vertex(NodeId id) const { return vertices_[Index(id)]; }

  // 0: the type is not blocked.
  int C0(DataType type) const {
    const auto sizes = options_.c0.find(type);
    if (sizes == options_.c0.end() || sizes->second.empty()) return 0;
    return sizes->second[std::min(choice_, sizes->second.size() - 1)];
  }

  double PaddingBytes(ValueId id) const {
    const ValueType& type = graph_.value(id).type;
    if (!type.shape[1].is_constant() || type.shape[1].value() == 0) return 0;
    const int64_t c0 = C0(type.dtype), channels = type.shape[1].value();
    const int64_t padding = (c0 - channels % c0) % c0;
    return Bytes(graph_, id) * static_cast<double>(padding) / static_cast<double>(channels);
  }

  // The blocked layout that the node could work in.
  std::optional<Layout> LayoutFor(const Node& node) const {
    if (node.outputs.size() != 1 || !IsImage(graph_, node.outputs[0]) || !node.regions.empty())
      return std::nullopt;
    const Value& result = graph_.value(node.outputs[0]);
    const int c0 = C0(result.type.dtype);
    if (c0 <= 0 || result.variable >= 0 || of_data_.contains(result.id)) return std::nullopt;
    bool any = IsConvolution(node);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i].valid() || !Blocks(graph_, node, i)) continue;
      if (graph_.value(node.inputs[i]).type.dtype != result.type.dtype) return std::nullopt;
      if (of_data_.contains(node.inputs[i])) return std::nullopt;
      any = true;
    }
    const Layout layout{Format::kNC1HWC0, c0};
    const bool accepted = options_.accepts_layout ? options_.accepts_layout(graph_, node, layout)
                                                  : ElementwiseOfOneShape(graph_, node, layout);
    return any && accepted ? std::optional(layout) : std::nullopt;
  }

  // Plain nodes, graph inputs, outputs and captures are the sink itself.
  size_t VertexOr(NodeId id, size_t otherwise) const {
    return id.valid() && Vertex(id) != 0 ? Vertex(id) : otherwise;
  }

  void AddValue(const Value& value) {
    if (!IsImage(graph_, value.id)) return;
    const size_t from = VertexOr(value.producer, MinCut::kSink);
    std::vector<size_t> users;
    for (const Use& use : value.uses) {
      const Node& user = graph_.node(use.node);
      const bool blocks = use.slot < user.inputs.size() && Blocks(graph_, user, use.slot);
      users.push_back(blocks ? VertexOr(use.node, MinCut::kSink) : MinCut::kSink);
    }
    if (graph_.IsOutput(value.id)) users.push_back(MinCut::kSink);
    const bool touches =
        from != MinCut::kSink ||
        std::any_of(users.begin(), users.end(), [](size_t u) { return u != MinCut::kSink; });
    if (!touches || users.empty()) return;
    // One TransData serves all users on the other side: paid once for each direction, through a
    // vertex that stands for it.
    const double cost = Bytes(graph_, value.id);
    const size_t to_plain = cut_.AddVertex(), to_blocked = cut_.AddVertex();
    cut_.AddEdge(from, to_plain, cost);
    cut_.AddEdge(to_blocked, from, cost);
    for (const size_t user : users) {
      cut_.AddEdge(to_plain, user, MinCut::kInfinite);
      cut_.AddEdge(user, to_blocked, MinCut::kInfinite);
    }
  }

  const Graph& graph_;
  const PassOptions& options_;
  MinCut cut_;
  size_t choice_;
  const ExtentsOfData of_data_;
  std::vector<NodeId> candidates_;
  std::vector<size_t> vertices_;  // by node; 0: no candidate
  std::vector<bool> blocked_;     // by node: works on blocks
  double cost_ = 0;
};

// The assignment with the block size that serves the graph best; null where nothing can be blocked.
std::unique_ptr<Assignment> Assign(const PassContext& context) {
  const Graph& graph = context.graph();
  size_t choices = 0;
  for (const auto& [type, sizes] : context.options().c0) choices = std::max(choices, sizes.size());
  double bytes = 0;
  for (const ValueId id : graph.Values()) {
    if (IsImage(graph, id) && !graph.value(id).is_constant()) bytes += Bytes(graph, id);
  }
  std::unique_ptr<Assignment> best;
  for (size_t choice = 0; choice < choices; ++choice) {
    auto next = std::make_unique<Assignment>(context, choice);
    if (!next->FindCandidates()) continue;
    next->Solve();
    if (!best || next->cost() + kNarrowerGain * bytes < best->cost()) best = std::move(next);
  }
  return best;
}

class LayoutAssignment : public Pass {
 public:
  std::string_view name() const override { return "LayoutAssignment"; }
  bool ChangesFacts() const override { return false; }

  void Run(PassContext& context) override {
    const Graph& graph = context.graph();
    for (const ValueId id : graph.Values()) {
      if (graph.value(id).storage.is_blocked()) return;  // done already
    }
    const std::unique_ptr<Assignment> assignment = Assign(context);
    if (!assignment) return;
    const auto first =
        std::find_if(assignment->candidates().begin(), assignment->candidates().end(),
                     [&](NodeId id) { return assignment->IsBlocked(id); });
    if (first == assignment->candidates().end()) return;
    Patch patch("NC1HWC0", graph.node(*first));
    for (const ValueId id : graph.Values()) Convert(graph, *assignment, id, patch);
    context.Submit(patch);
  }

 private:
  static ValueId AddTransData(const Graph& graph, const Layout& from, const Layout& to,
                              ValueId value, Patch& patch) {
    AttributeMap attributes;
    attributes.Set("src", from.ToString());
    attributes.Set("dst", to.ToString());
    const ValueId out = patch.AddNode(OpRegistry::Global().Find("asc", "TransData"), {value},
                                      std::move(attributes));
    patch.Describe(out, Cat(graph.value(value).name, "_", FormatName(to.format)),
                   graph.value(value).producer);
    patch.SetStorage(out, to);
    return out;
  }

  // Sets the value's layout and sends the users that want the other one through a TransData.
  static void Convert(const Graph& graph, const Assignment& assignment, ValueId id, Patch& patch) {
    const Value& value = graph.value(id);
    if (!IsImage(graph, id)) return;
    const bool made_blocked = value.producer.valid() && assignment.IsBlocked(value.producer);
    std::vector<Use> same, other;
    for (const Use& use : value.uses) {
      const Node& user = graph.node(use.node);
      const bool wants = assignment.IsBlocked(use.node) && use.slot < user.inputs.size() &&
                         Blocks(graph, user, use.slot);
      (wants == made_blocked ? same : other).push_back(use);
    }
    const bool plain_output = made_blocked && graph.IsOutput(id);
    const Layout plain;
    if (!other.empty() || plain_output) {
      const Layout block = assignment.LayoutOf(id);
      const ValueId converted = AddTransData(graph, made_blocked ? block : plain,
                                             made_blocked ? plain : block, id, patch);
      if (plain_output) {
        // The output goes over with all users; those that stay are named.
        patch.Replace(id, converted);
        for (const Use& use : same) patch.SetInput(use.node, use.slot, id);
      } else {
        for (const Use& use : other) patch.SetInput(use.node, use.slot, converted);
      }
    }
    if (made_blocked) patch.SetStorage(id, assignment.LayoutOf(id));
  }
};
}  // namespace

std::unique_ptr<Pass> MakeLayoutAssignment() { return std::make_unique<LayoutAssignment>(); }

}  // namespace asc
