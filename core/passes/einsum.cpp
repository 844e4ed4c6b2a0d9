// Einsum: a contraction of two operands becomes a matrix product, which has fast kernels:
// 'bid,bjd->bij' is MatMul(a, Transpose(b)). Where no axis is left to either operand alone
// ('ij,ij->i') it is ReduceSum(Mul(a, b)).
#include <algorithm>
#include <map>

#include "core/ops/einsum_equation.h"
#include "core/ops/registry.h"
#include "core/passes/match.h"
#include "core/passes/passes.h"
#include "core/passes/permutation.h"
#include "core/passes/reshape_target.h"

namespace asc {
namespace {
using Labels = std::vector<EinsumLabel>;

bool Has(const Labels& labels, EinsumLabel label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}
bool Repeats(Labels labels) {
  std::sort(labels.begin(), labels.end());
  return std::adjacent_find(labels.begin(), labels.end()) != labels.end();
}
Labels Join(std::initializer_list<const Labels*> parts) {
  Labels out;
  for (const Labels* part : parts) out.insert(out.end(), part->begin(), part->end());
  return out;
}

// Labels by their part in the product: of both operands and the output, of one operand and the
// output, of both operands alone.
struct Contraction {
  Labels batch, rows, columns, inner;
};
// nullopt where an operand has a label that only it has.
std::optional<Contraction> Classify(const Labels& a, const Labels& b, const Labels& output) {
  Contraction out;
  for (const EinsumLabel label : output) {
    const bool in_a = Has(a, label), in_b = Has(b, label);
    (in_a && in_b ? out.batch : in_a ? out.rows : out.columns).push_back(label);
  }
  for (const EinsumLabel label : a) {
    if (Has(output, label)) continue;
    if (!Has(b, label)) return std::nullopt;
    out.inner.push_back(label);
  }
  for (const EinsumLabel label : b) {
    if (!Has(output, label) && !Has(a, label)) return std::nullopt;
  }
  return out;
}

// Adds the nodes to the patch.
class Lowering {
 public:
  struct Operand {
    ValueId value;
    Labels labels;
  };

  Lowering(Patch& patch, const std::map<EinsumLabel, int64_t>& extents)
      : patch_(patch), extents_(extents) {}

  ValueId Add(const char* op, std::vector<ValueId> inputs, AttributeMap attributes = {}) {
    return patch_.AddNode(OpRegistry::Global().Find("", op), std::move(inputs),
                          std::move(attributes));
  }

  // The operand with its axes in the order `wanted`.
  ValueId Arrange(const Operand& in, const Labels& wanted) {
    Permutation perm;
    for (const EinsumLabel label : wanted) {
      perm.push_back(std::find(in.labels.begin(), in.labels.end(), label) - in.labels.begin());
    }
    return IsIdentity(perm) ? in.value : Transpose(in.value, std::move(perm));
  }

  // The operand as a stack of matrices: axes `batch`, all of `first` as one axis, all of `last` as
  // one axis. Where it lies in memory as the transposed matrices, these are transposed, which
  // products take in for nothing.
  ValueId Matrices(const Operand& in, const Labels& batch, const Labels& first,
                   const Labels& last) {
    if (in.labels == Join({&batch, &last, &first}) && !first.empty() && !last.empty()) {
      const ValueId swapped = Group(in.value, batch, last, first);
      Permutation perm;
      for (size_t i = 0; i < batch.size(); ++i) perm.push_back(static_cast<int64_t>(i));
      const auto rank = static_cast<int64_t>(batch.size());
      perm.insert(perm.end(), {rank + 1, rank});
      return Transpose(swapped, std::move(perm));
    }
    return Group(Arrange(in, Join({&batch, &first, &last})), batch, first, last);
  }

  ValueId Reshape(ValueId value, const std::vector<int64_t>& dims) {
    AttributeMap attributes;
    attributes.Set("allowzero", int64_t{1});  // extents of 0 are meant as such
    return Add("Reshape", {value, Integers(dims, "einsum_shape")}, std::move(attributes));
  }
  std::vector<int64_t> DimsOf(const Labels& labels) const {
    std::vector<int64_t> out;
    for (const EinsumLabel label : labels) out.push_back(extents_.at(label));
    return out;
  }
  ValueId Integers(const std::vector<int64_t>& values, const char* name) {
    return patch_.AddConstant(FromInt64Vector(values), name);
  }

 private:
  ValueId Transpose(ValueId value, Permutation perm) {
    AttributeMap attributes;
    attributes.Set("perm", std::move(perm));
    return Add("Transpose", {value}, std::move(attributes));
  }
  ValueId Group(ValueId value, const Labels& batch, const Labels& first, const Labels& last) {
    if (first.size() == 1 && last.size() == 1) return value;
    std::vector<int64_t> dims = DimsOf(batch);
    for (const Labels* group : {&first, &last}) {
      int64_t count = 1;
      for (const EinsumLabel label : *group) count *= extents_.at(label);
      dims.push_back(count);
    }
    return Reshape(value, dims);
  }

  Patch& patch_;
  const std::map<EinsumLabel, int64_t>& extents_;
};

class EinsumLowering : public NodePass {
 public:
  std::string_view name() const override { return "EinsumLowering"; }

  void Visit(PassContext& context, const Node& node) override {
    if (!node.Is("Einsum") || node.inputs.size() != 2) return;
    const Graph& graph = context.graph();
    const DataType dtype = graph.value(node.inputs[0]).type.dtype;
    // Narrower types would be rounded in between; integers have no fast products.
    if (dtype != DataType::kFloat32 && dtype != DataType::kFloat64) return;
    const auto equation = ParseEinsum(node.attributes.String("equation", ""), 2);
    if (!equation.ok()) return;
    std::map<EinsumLabel, int64_t> extents;
    Labels labels[2];
    std::optional<size_t> hidden;
    for (size_t i = 0; i < 2; ++i) {
      const Shape& shape = graph.value(node.inputs[i]).type.shape;
      if (!shape.is_static()) return;
      const auto own = EllipsisRank(equation->inputs[i], shape.rank(), i);
      if (!own.ok()) return;
      if (equation->inputs[i].ellipsis) hidden = *own;
      labels[i] = equation->inputs[i].Labels(*own);
      if (Repeats(labels[i])) return;
      for (size_t axis = 0; axis < shape.rank(); ++axis) {
        const int64_t extent = shape[axis].value();
        // Extents of 1 that broadcast are left to the operator.
        if (extents.emplace(labels[i][axis], extent).first->second != extent) return;
      }
    }
    const Labels output = equation->output.Labels(hidden.value_or(0));
    auto parts = Classify(labels[0], labels[1], output);
    if (!parts || parts->inner.empty()) return;
    Lowering::Operand a{node.inputs[0], labels[0]}, b{node.inputs[1], labels[1]};
    // a b = (b' a')': in the order that the output has.
    if (!parts->rows.empty() && !parts->columns.empty() &&
        output == Join({&parts->batch, &parts->columns, &parts->rows})) {
      std::swap(a, b);
      std::swap(parts->rows, parts->columns);
    }
    Patch patch("Einsum", node);
    Lowering lowering(patch, extents);
    patch.Replace(node.outputs[0], parts->rows.empty() && parts->columns.empty()
                                       ? SumOfProducts(lowering, a, b, *parts)
                                       : Product(lowering, a, b, *parts, output));
    patch.Remove(node.id);
    context.Submit(patch);
  }

 private:
  static ValueId SumOfProducts(Lowering& lowering, const Lowering::Operand& a,
                               const Lowering::Operand& b, const Contraction& parts) {
    const Labels order = Join({&parts.batch, &parts.inner});
    const ValueId product =
        lowering.Add("Mul", {lowering.Arrange(a, order), lowering.Arrange(b, order)});
    std::vector<int64_t> axes;
    for (size_t i = parts.batch.size(); i < order.size(); ++i)
      axes.push_back(static_cast<int64_t>(i));
    AttributeMap attributes;
    attributes.Set("keepdims", int64_t{0});
    return lowering.Add("ReduceSum", {product, lowering.Integers(axes, "einsum_axes")},
                        std::move(attributes));
  }

  static ValueId Product(Lowering& lowering, const Lowering::Operand& a, const Lowering::Operand& b,
                         const Contraction& parts, const Labels& output) {
    ValueId product =
        lowering.Add("MatMul", {lowering.Matrices(a, parts.batch, parts.rows, parts.inner),
                                lowering.Matrices(b, parts.batch, parts.inner, parts.columns)});
    const Labels made = Join({&parts.batch, &parts.rows, &parts.columns});
    if (parts.rows.size() != 1 || parts.columns.size() != 1)
      product = lowering.Reshape(product, lowering.DimsOf(made));
    return lowering.Arrange({product, made}, output);
  }
};
}  // namespace

std::unique_ptr<Pass> MakeEinsumLowering() { return std::make_unique<EinsumLowering>(); }

}  // namespace asc
