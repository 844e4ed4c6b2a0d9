// softmax(scale * q k^T, masked) v as exporters write it out, in one node: made by a fusion pass. The
// reference kernel does what the nodes did, one after the other, in the compute type, and rounds
// once at the end.
#include "core/ops/fused_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops/compute_buffer.h"
#include "core/ops/cost.h"
#include "core/ops/expansion.h"
#include "core/ops/families.h"
#include "core/ops/matmul.h"
#include "core/ops/strided_copy.h"

namespace asc {

FusedAttentionForm ReadFusedAttention(const AttributeMap& attributes) {
  FusedAttentionForm form;
  form.operands[0] = {attributes.Ints("q_perm"), attributes.Int("q_index", -1)};
  form.operands[1] = {attributes.Ints("k_perm"), attributes.Int("k_index", -1)};
  form.operands[2] = {attributes.Ints("v_perm"), attributes.Int("v_index", -1)};
  form.y_perm = attributes.Ints("y_perm");
  form.scale = attributes.Float("scale", 1);
  form.fill = attributes.Float("fill", 0);
  form.fill_where = attributes.Int("fill_where", 0) != 0;
  form.clear_nan = attributes.Int("clear_nan", 0) != 0;
  return form;
}

ArrangedView Arrange(const Dims& dims, const Arrangement& arrangement) {
  ArrangedView view{dims, ContiguousStrides(dims), 0};
  if (!arrangement.perm.empty()) {
    const ArrangedView plain = view;
    for (size_t i = 0; i < dims.size(); ++i) {
      view.dims[i] = plain.dims[static_cast<size_t>(arrangement.perm[i])];
      view.strides[i] = plain.strides[static_cast<size_t>(arrangement.perm[i])];
    }
  }
  if (arrangement.index >= 0) {
    view.offset = arrangement.index * view.strides[0];
    view.dims.erase(view.dims.begin());
    view.strides.erase(view.strides.begin());
  }
  return view;
}

namespace {
Status CheckPermutation(const std::vector<int64_t>& perm, size_t rank) {
  std::vector<int64_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  bool fits = perm.size() == rank;
  for (size_t i = 0; fits && i < rank; ++i) fits = sorted[i] == static_cast<int64_t>(i);
  if (fits) return Ok();
  return ShapeError("asc.FusedAttention needs an order of ", rank, " axes, given ", perm);
}

Result<Shape> ArrangedShape(const InferContext& context, size_t i, const Arrangement& arrangement) {
  const Shape& shape = context.shape(i);
  if (!shape.has_rank()) return Shape();
  std::vector<Dim> dims(shape.dims().begin(), shape.dims().end());
  if (!arrangement.perm.empty()) {
    ASC_RETURN_IF_ERROR(CheckPermutation(arrangement.perm, dims.size()));
    for (size_t k = 0; k < dims.size(); ++k)
      dims[k] = shape[static_cast<size_t>(arrangement.perm[k])];
  }
  if (arrangement.index >= 0) {
    if (dims.empty() || (dims[0].is_constant() && arrangement.index >= dims[0].value())) {
      return ShapeError("asc.FusedAttention takes place ", arrangement.index, " of input '",
                        context.schema().inputs[i].name, "' ", shape, ", which has fewer");
    }
    dims.erase(dims.begin());
  }
  if (dims.size() < 2) {
    return ShapeError("asc.FusedAttention needs matrices, given '", context.schema().inputs[i].name,
                      "' ", shape);
  }
  return Shape(std::move(dims));
}

Status InferFusedAttention(InferContext& context) {
  const FusedAttentionForm form = ReadFusedAttention(context.attributes());
  context.SetOutput(0, context.dtype(0));
  Shape shapes[3];
  for (size_t i = 0; i < 3; ++i) {
    ASC_ASSIGN_OR_RETURN(shapes[i], ArrangedShape(context, i, form.operands[i]));
  }
  const std::string op = context.schema().FullName();
  ASC_ASSIGN_OR_RETURN(Shape scores, MatMulShape(op, shapes[0], shapes[1], false, true));
  for (const size_t i : {kFusedCondition, kFusedMask}) {
    if (!context.HasInput(i)) continue;
    ASC_ASSIGN_OR_RETURN(scores, BroadcastShapes(scores, context.shape(i)));
  }
  ASC_ASSIGN_OR_RETURN(const Shape y, MatMulShape(op, scores, shapes[2]));
  if (!y.has_rank()) return Ok();
  std::vector<Dim> dims(y.dims().begin(), y.dims().end());
  if (!form.y_perm.empty()) {
    ASC_RETURN_IF_ERROR(CheckPermutation(form.y_perm, dims.size()));
    for (size_t k = 0; k < dims.size(); ++k) dims[k] = y[static_cast<size_t>(form.y_perm[k])];
  }
  context.SetOutput(0, context.dtype(0), Shape(std::move(dims)));
  return Ok();
}

// A dense array in scratch memory.
template <typename A>
struct Array {
  Dims dims;
  std::shared_ptr<Buffer> memory;

  static Result<Array> Make(KernelContext& context, const Dims& dims) {
    Array array{dims, nullptr};
    ASC_ASSIGN_OR_RETURN(array.memory,
                         context.Scratch(static_cast<size_t>(ElementCount(dims)) * sizeof(A)));
    return array;
  }
  A* data() const { return reinterpret_cast<A*>(memory->data()); }
};

template <typename A>
Result<Array<A>> ArrangedInput(KernelContext& context, size_t i, const Arrangement& arrangement) {
  ASC_ASSIGN_OR_RETURN(const auto input, ComputeInput<A>::Make(context, context.input(i)));
  const ArrangedView view = Arrange(context.input(i).dims(), arrangement);
  ASC_ASSIGN_OR_RETURN(Array<A> array, Array<A>::Make(context, view.dims));
  StridedCopy(DataTypeOf<A>::value, view.dims, {input.data(), view.offset, view.strides},
              {array.data(), 0, ContiguousStrides(view.dims)});
  return array;
}

// The extents of the product of two stacks of matrices [..., n, k] and [..., k, m].
Result<Dims> ProductDims(const Dims& a, const Dims& b, int64_t columns) {
  ASC_ASSIGN_OR_RETURN(Dims dims,
                       BroadcastDims(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2)));
  dims.push_back(a[a.size() - 2]);
  dims.push_back(columns);
  return dims;
}

template <typename A>
void Softmax(A* row, int64_t count, bool clear_nan) {
  A largest = -std::numeric_limits<A>::infinity();
  for (int64_t j = 0; j < count; ++j) largest = row[j] > largest ? row[j] : largest;
  double sum = 0;
  for (int64_t j = 0; j < count; ++j) {
    row[j] = std::exp(row[j] - largest);
    sum += static_cast<double>(row[j]);
  }
  const A scale = static_cast<A>(1 / sum);
  for (int64_t j = 0; j < count; ++j) {
    row[j] *= scale;
    if (clear_nan && row[j] != row[j]) row[j] = 0;
  }
}

// Scores with the condition and the mask, whose extents may be larger.
template <typename A>
Result<Array<A>> Masked(KernelContext& context, const FusedAttentionForm& form, Array<A> scores) {
  Dims dims = scores.dims;
  for (const size_t i : {kFusedCondition, kFusedMask}) {
    if (!context.HasInput(i)) continue;
    ASC_ASSIGN_OR_RETURN(dims, BroadcastDims(dims, context.input(i).dims()));
  }
  if (dims != scores.dims) {
    ASC_ASSIGN_OR_RETURN(Array<A> wide, Array<A>::Make(context, dims));
    StridedCopy(DataTypeOf<A>::value, dims, {scores.data(), 0, BroadcastStrides(scores.dims, dims)},
                {wide.data(), 0, ContiguousStrides(dims)});
    scores = std::move(wide);
  }
  A* const y = scores.data();
  if (context.HasInput(kFusedCondition)) {
    const Tensor& condition = context.input(kFusedCondition);
    const bool* truth = condition.data<bool>();
    const auto walk = BroadcastWalk(dims, condition.dims());
    const int64_t step = walk.inner_stride(0);
    walk.Rows(0, walk.size(), [&](int64_t index, const auto& offsets, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        if (truth[offsets[0] + i * step] == form.fill_where)
          y[index + i] = static_cast<A>(form.fill);
      }
    });
  }
  if (context.HasInput(kFusedMask)) {
    CombineBroadcast(context.input(kFusedMask), dims, y, [](A a, A b) { return a + b; });
  }
  return scores;
}

template <typename A>
Status FusedAttentionAs(KernelContext& context) {
  const FusedAttentionForm form = ReadFusedAttention(context.attributes());
  ASC_ASSIGN_OR_RETURN(const Array<A> q, ArrangedInput<A>(context, 0, form.operands[0]));
  ASC_ASSIGN_OR_RETURN(const Array<A> k, ArrangedInput<A>(context, 1, form.operands[1]));
  ASC_ASSIGN_OR_RETURN(const Array<A> v, ArrangedInput<A>(context, 2, form.operands[2]));
  ASC_ASSIGN_OR_RETURN(const Dims score_dims,
                       ProductDims(q.dims, k.dims, k.dims[k.dims.size() - 2]));
  ASC_ASSIGN_OR_RETURN(Array<A> scores, Array<A>::Make(context, score_dims));
  MultiplyStacks<A>(q.dims, k.dims, false, true, q.data(), k.data(), scores.data());
  const auto scale = static_cast<A>(form.scale);
  MapElements(scores.data(), scores.data(), ElementCount(score_dims),
              [=](A x) { return scale * x; });
  ASC_ASSIGN_OR_RETURN(scores, Masked<A>(context, form, std::move(scores)));
  const int64_t keys = scores.dims.back();
  const int64_t rows = ElementCount(scores.dims, 0, scores.dims.size() - 1);
  ParallelFor(rows, std::max<int64_t>(1, (1 << 12) / std::max<int64_t>(1, keys)),
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row)
                  Softmax(scores.data() + row * keys, keys, form.clear_nan);
              });
  ASC_ASSIGN_OR_RETURN(const Dims y_dims, ProductDims(scores.dims, v.dims, v.dims.back()));
  ASC_ASSIGN_OR_RETURN(const Array<A> weighted, Array<A>::Make(context, y_dims));
  MultiplyStacks<A>(scores.dims, v.dims, false, false, scores.data(), v.data(), weighted.data());
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
  const ArrangedView view = Arrange(y_dims, {form.y_perm, -1});
  StridedCopy(DataTypeOf<A>::value, view.dims, {weighted.data(), 0, view.strides},
              {y.data(), 0, ContiguousStrides(view.dims)});
  y.Finish();
  return Ok();
}

Status FusedAttention(KernelContext& context) {
  return context.input(0).dtype() == DataType::kFloat64 ? FusedAttentionAs<double>(context)
                                                        : FusedAttentionAs<float>(context);
}

CostEstimate FusedAttentionCost(const std::vector<ValueType>& inputs,
                                const std::vector<ValueType>& outputs,
                                const AttributeMap& attributes) {
  CostEstimate cost;
  cost.bytes = DenseBytes(inputs, outputs);
  const auto k = inputs[kFusedKey].shape.ToDims();
  if (!k) return cost;
  // Each element of q meets each key, and each weight a row of v as long as the output's.
  const ArrangedView view = Arrange(*k, ReadFusedAttention(attributes).operands[kFusedKey]);
  const auto keys = static_cast<double>(view.dims[view.dims.size() - 2]);
  cost.flops = 4 * keys * KnownElementCount(outputs[0]);
  return cost;
}

ValueId Arranged(Expansion& expansion, size_t i, const Arrangement& arrangement) {
  ValueId x = expansion.input(i);
  if (!arrangement.perm.empty()) x = expansion.Add("Transpose", {x}, "perm", arrangement.perm);
  if (arrangement.index < 0) return x;
  const ValueId index = expansion.Constant(Tensor::Scalar(arrangement.index));
  return expansion.Add("Gather", {x, index}, "axis", int64_t{0});
}
}  // namespace

Status ExpandFusedAttention(Expansion& expansion) {
  const FusedAttentionForm form = ReadFusedAttention(expansion.attributes());
  const ValueId q = Arranged(expansion, kFusedQuery, form.operands[0]);
  const ValueId k = Arranged(expansion, kFusedKey, form.operands[1]);
  const ValueId v = Arranged(expansion, kFusedValue, form.operands[2]);
  ASC_RETURN_IF_ERROR(expansion.status());
  ASC_ASSIGN_OR_RETURN(const size_t rank, expansion.Rank(k, "keys"));
  std::vector<int64_t> swapped(rank);
  for (size_t i = 0; i < rank; ++i) swapped[i] = static_cast<int64_t>(i);
  std::swap(swapped[rank - 2], swapped[rank - 1]);
  const auto number = [&](double value) { return expansion.Number(expansion.input(0), value); };
  ValueId scores =
      expansion.Add("MatMul", {q, expansion.Add("Transpose", {k}, "perm", std::move(swapped))});
  if (form.scale != 1) scores = expansion.Add("Mul", {scores, number(form.scale)});
  if (expansion.HasInput(kFusedCondition)) {
    const ValueId condition = expansion.input(kFusedCondition), fill = number(form.fill);
    scores = form.fill_where ? expansion.Add("Where", {condition, fill, scores})
                             : expansion.Add("Where", {condition, scores, fill});
  }
  if (expansion.HasInput(kFusedMask))
    scores = expansion.Add("Add", {scores, expansion.input(kFusedMask)});
  ValueId weights = expansion.Add("Softmax", {scores}, "axis", int64_t{-1});
  if (form.clear_nan)
    weights = expansion.Add("Where", {expansion.Add("IsNaN", {weights}), number(0), weights});
  ValueId y = expansion.Add("MatMul", {weights, v});
  if (!form.y_perm.empty()) y = expansion.Add("Transpose", {y}, "perm", form.y_perm);
  expansion.Replace(0, y);
  return Ok();
}

void AddFusedAttentionOps(OpTable& table) {
  OpBuilder builder = table.Add("FusedAttention", 1, "asc");
  builder.Doc("softmax(where(condition, scale * q * k^T, fill) + mask) * v")
      .Method("fused_attention")
      .Input("q", "T")
      .Input("k", "T")
      .Input("v", "T")
      .OptionalInput("condition", "B")
      .OptionalInput("mask", "T")
      .Output("y", "T")
      .Types("T", types::kFloats)
      .Types("B", types::kBool);
  for (const char* operand : {"q", "k", "v"}) {
    builder.Attr(Cat(operand, "_perm"), std::vector<int64_t>{}, "",
                 "order in which the axes are read; empty: as they are");
    builder.Attr(
        Cat(operand, "_index"), int64_t{-1}, "",
        "the place along the first axis in that order that is read; -1: the axis is not there");
  }
  builder.Attr("y_perm", std::vector<int64_t>{}, "", "order of the result's axes")
      .Attr("scale", 1.0f)
      .Attr("fill", 0.0f, "", "the score where the condition says so")
      .Attr("fill_where", int64_t{0}, "", "1: where it is true; 0: where it is false")
      .Attr("clear_nan", int64_t{0}, "", "1: weights that are NaN become 0")
      .Class(OpClass::kMatMul)
      .Infer(InferFusedAttention)
      .Kernel(FusedAttention)
      .Cost(FusedAttentionCost);
}

}  // namespace asc
