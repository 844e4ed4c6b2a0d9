// FusedAttention: softmax(scale * q k^T, masked) v is one operator, which reads q, k and v in the
// order of axes that they have before Transpose, and writes its result in the order after it.
#include <algorithm>
#include <cmath>

#include "core/ops/fused_attention.h"
#include "core/ops/registry.h"
#include "core/passes/match.h"
#include "core/passes/passes.h"
#include "core/passes/permutation.h"

namespace asc {
namespace {
constexpr std::string_view kFusion = "Attention";

// A value and how it is read.
struct Operand {
  ValueId value;
  Arrangement arrangement;
};

struct Found {
  Operand q, k, v;
  ValueId condition, mask, result;
  FusedAttentionForm form;
  std::vector<NodeId> nodes;    // that the new one replaces
  std::vector<NodeId> matched;  // that it looks through
};

class Matcher {
 public:
  explicit Matcher(const Graph& graph) : graph_(graph) {}

  // `node` multiplies weights with values.
  std::optional<Found> Match(const Node& node) {
    const auto weighted = ProductOf(node);
    if (!weighted || weighted->swap[0] || weighted->alpha != 1 || weighted->addend.valid())
      return std::nullopt;
    found_.nodes = {node.id};
    const Node* softmax = SoftmaxOf(node.inputs[0]);
    if (softmax == nullptr || !Scores(softmax->inputs[0])) return std::nullopt;
    if (!Read(node.inputs[1], weighted->swap[1], Axis::kAnyOfMatrix, found_.v)) return std::nullopt;
    found_.result = node.outputs[0];
    TakeTransposeAfter();
    return found_;
  }

 private:
  struct Product {
    bool swap[2] = {false, false};
    float alpha = 1;
    ValueId addend;
  };

  // A product of stacks of matrices with at most one thing added to it.
  std::optional<Product> ProductOf(const Node& node) const {
    const bool fused = node.Is("FusedMatMul", "asc");
    if (!fused && !node.Is("MatMul")) return std::nullopt;
    for (size_t i = 0; i < 2; ++i) {
      const Shape& shape = graph_.value(node.inputs[i]).type.shape;
      if (!shape.has_rank() || shape.rank() < 2) return std::nullopt;
    }
    Product product;
    if (!fused) return product;
    const ValueId bias = node.input(2), residual = node.input(3);
    if (!node.attributes.String("activation", "").empty() || (bias.valid() && residual.valid()))
      return std::nullopt;
    product.swap[0] = node.attributes.Int("transA", 0) != 0;
    product.swap[1] = node.attributes.Int("transB", 0) != 0;
    product.alpha = node.attributes.Float("alpha", 1);
    product.addend = bias.valid() ? bias : residual;
    return product;
  }

  // The node that makes the value, which nothing else uses.
  const Node* Inner(ValueId value) const {
    const Node* producer = graph_.Producer(value);
    return producer != nullptr && SoleUser(graph_, value) != nullptr ? producer : nullptr;
  }

  // The Softmax along the last axis behind the weights, with NaN cleared or not.
  const Node* SoftmaxOf(ValueId weights) {
    const Node* node = Inner(weights);
    if (node != nullptr && node->Is("Where")) {
      const Node* is_nan = Inner(node->inputs[0]);
      const ValueId raw = node->inputs[2];
      if (is_nan == nullptr || !is_nan->Is("IsNaN") || is_nan->inputs[0] != raw ||
          ScalarConstant(graph_, node->inputs[1]) != 0.0 || graph_.IsOutput(raw) ||
          graph_.value(raw).uses.size() != 2 || !FitsScores(node->inputs[1], raw))
        return nullptr;
      found_.form.clear_nan = true;
      found_.nodes.push_back(node->id);
      found_.nodes.push_back(is_nan->id);
      node = graph_.Producer(raw);
    }
    if (node == nullptr || !node->Is("Softmax")) return nullptr;
    const Shape& shape = graph_.value(node->inputs[0]).type.shape;
    const int64_t axis = node->attributes.Int("axis", -1);
    if (!shape.has_rank() || shape.rank() < 2 ||
        (axis != -1 && axis != static_cast<int64_t>(shape.rank()) - 1))
      return nullptr;
    found_.nodes.push_back(node->id);
    return node;
  }

  // The value's rank is at most that of the scores: it adds no axes.
  bool FitsScores(ValueId value, ValueId scores) const {
    const Shape &shape = graph_.value(value).type.shape, &target = graph_.value(scores).type.shape;
    return shape.has_rank() && target.has_rank() && shape.rank() <= target.rank();
  }

  // where(condition, scale * q k^T, fill) + mask, of which all but the product may be missing.
  bool Scores(ValueId value) {
    const Node* node = Inner(value);
    if (node == nullptr) return false;
    if (node->Is("Add") && !found_.mask.valid() && !found_.condition.valid()) {
      for (const size_t slot : {size_t{0}, size_t{1}}) {
        const ValueId mask = node->inputs[1 - slot];
        if (!FitsScores(mask, node->inputs[slot]) || mask == node->inputs[slot]) continue;
        const Found before = found_;
        found_.mask = mask;
        found_.nodes.push_back(node->id);
        if (Scores(node->inputs[slot])) return true;
        found_ = before;
      }
      return false;
    }
    if (node->Is("Where") && !found_.condition.valid()) return Filled(*node);
    const auto product = ProductOf(*node);
    if (!product) return false;
    if (product->addend.valid()) {
      // What is added before Where is another form.
      if (found_.mask.valid() || found_.condition.valid() ||
          !FitsScores(product->addend, node->outputs[0]))
        return false;
      found_.mask = product->addend;
    }
    found_.form.scale = product->alpha;
    found_.nodes.push_back(node->id);
    return Read(node->inputs[0], product->swap[0], Axis::kLast, found_.q) &&
           Read(node->inputs[1], !product->swap[1], Axis::kAnyOfMatrix, found_.k);
  }

  bool Filled(const Node& node) {
    for (const size_t slot : {size_t{1}, size_t{2}}) {
      const ValueId fill = node.inputs[3 - slot];
      const auto value = ScalarConstant(graph_, fill);
      if (!value || !FitsScores(fill, node.inputs[slot]) ||
          !FitsScores(node.inputs[0], node.inputs[slot]))
        continue;
      found_.form.fill = static_cast<float>(*value);
      found_.form.fill_where = slot == 2;
      found_.condition = node.inputs[0];
      found_.nodes.push_back(node.id);
      return Scores(node.inputs[slot]);
    }
    return false;
  }

  // Which axis of an operand may be the one whose elements stand next to each other.
  enum class Axis { kLast, kAnyOfMatrix };

  // How `value`, with its last two axes swapped where `swap` says so, is read from what is behind a
  // Transpose and, behind that, a Gather of one place along the first axis; or as it is, where it would
  // be read in strides otherwise.
  bool Read(ValueId value, bool swap, Axis inner, Operand& operand) {
    const Shape& shape = graph_.value(value).type.shape;
    if (graph_.value(value).is_constant()) return false;  // a product with packed weights is faster
    Permutation plain(shape.rank());
    for (size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<int64_t>(i);
    if (swap) std::swap(plain[plain.size() - 1], plain[plain.size() - 2]);
    Permutation order = plain;
    ValueId source = value;
    std::vector<NodeId> seen;
    int64_t index = -1;
    if (const Node* gather = ProducerOf(graph_, value, "Gather")) {
      const auto place = PlaceOf(*gather);
      const Node* transpose = ProducerOf(graph_, gather->inputs[0], "Transpose");
      if (place && transpose != nullptr) {
        index = *place;
        seen.push_back(gather->id);
        source = gather->inputs[0];
        // The axis that Gather takes away stands first.
        for (int64_t& axis : order) ++axis;
        order.insert(order.begin(), 0);
      }
    }
    if (const Node* transpose = ProducerOf(graph_, source, "Transpose")) {
      if (const auto perm = PermutationOf(graph_, *transpose)) {
        seen.push_back(transpose->id);
        source = transpose->inputs[0];
        order = Compose(*perm, order);
      } else if (index >= 0) {
        return false;
      }
    }
    if (!IsReadInRows(order, inner)) {
      if (!IsReadInRows(plain, inner)) return false;
      source = value;
      order = plain;
      seen.clear();
      index = -1;
    }
    if (IsVariable(graph_, source)) return false;
    operand.value = source;
    operand.arrangement.index = index;
    if (!IsIdentity(order)) operand.arrangement.perm = order;
    found_.matched.insert(found_.matched.end(), seen.begin(), seen.end());
    return true;
  }

  static bool IsReadInRows(const Permutation& order, Axis inner) {
    const auto last = static_cast<int64_t>(order.size()) - 1;
    return order.back() == last || (inner == Axis::kAnyOfMatrix && order[order.size() - 2] == last);
  }

  // The constant place along the first axis that a Gather takes, counted from the front.
  std::optional<int64_t> PlaceOf(const Node& gather) const {
    const Tensor* index = graph_.Constant(gather.inputs[1]);
    const Shape& shape = graph_.value(gather.inputs[0]).type.shape;
    if (index == nullptr || index->rank() != 0 || gather.attributes.Int("axis", 0) != 0 ||
        !shape.has_rank() || shape.rank() < 3 || !shape[0].is_constant())
      return std::nullopt;
    const auto place = ToInt64Vector(*index);
    const int64_t extent = shape[0].value();
    if (!place.ok() || place->front() < -extent || place->front() >= extent) return std::nullopt;
    return place->front() < 0 ? place->front() + extent : place->front();
  }

  void TakeTransposeAfter() {
    const Node* transpose = SoleUser(graph_, found_.result);
    if (transpose == nullptr || !transpose->Is("Transpose")) return;
    const auto perm = PermutationOf(graph_, *transpose);
    // The elements of a row stay next to each other.
    if (!perm || perm->back() != static_cast<int64_t>(perm->size()) - 1) return;
    found_.form.y_perm = *perm;
    found_.nodes.push_back(transpose->id);
    found_.result = transpose->outputs[0];
  }

  const Graph& graph_;
  Found found_;
};

class FusedAttention : public NodePass {
 public:
  std::string_view name() const override { return "FusedAttention"; }

  void Visit(PassContext& context, const Node& node) override {
    const Graph& graph = context.graph();
    if (!node.Is("MatMul") && !node.Is("FusedMatMul", "asc")) return;
    if (graph.value(node.outputs[0]).type.dtype != DataType::kFloat32) return;
    const auto found = Matcher(graph).Match(node);
    if (!found) return;
    for (const ValueId value : {found->condition, found->mask}) {
      if (value.valid() && IsVariable(graph, value)) {
        context.Reject(kFusion, node, "its mask is a variable that may be overwritten");
        return;
      }
    }
    const auto touched = [&](NodeId id) { return context.Touched(id); };
    if (std::any_of(found->nodes.begin(), found->nodes.end(), touched) ||
        !context.Allows(kFusion, node, found->nodes))
      return;
    Patch patch(std::string(kFusion), node);
    for (const NodeId id : found->nodes) patch.Remove(id);
    for (const NodeId id : found->matched) patch.Match(id);
    std::vector<ValueId> inputs = {found->q.value, found->k.value, found->v.value, found->condition,
                                   found->mask};
    while (!inputs.back().valid()) inputs.pop_back();
    patch.Replace(found->result, patch.AddNode(OpRegistry::Global().Find("asc", "FusedAttention"),
                                               std::move(inputs), Attributes(*found)));
    context.Submit(patch);
  }

 private:
  static AttributeMap Attributes(const Found& found) {
    AttributeMap attributes;
    const auto add = [&](const std::string& name, const Arrangement& arrangement) {
      attributes.Set(name + "_perm", arrangement.perm);
      attributes.Set(name + "_index", arrangement.index);
    };
    add("q", found.q.arrangement);
    add("k", found.k.arrangement);
    add("v", found.v.arrangement);
    attributes.Set("y_perm", found.form.y_perm);
    attributes.Set("scale", found.form.scale);
    attributes.Set("fill", found.form.fill);
    attributes.Set("fill_where", int64_t{found.form.fill_where});
    attributes.Set("clear_nan", int64_t{found.form.clear_nan});
    return attributes;
  }
};
}  // namespace

std::unique_ptr<Pass> MakeFusedAttention() { return std::make_unique<FusedAttention>(); }

std::vector<FusionInfo> FusedAttentionFusions() {
  return {
      {std::string(kFusion), "FusedAttention",
       "softmax of a masked product, times values, is one operator that never writes the scores",
       FusionSettings::Mode::kDefault}};
}

}  // namespace asc
