// MatMul and Gemm.
#include "core/ops/matmul.h"

#include "core/ops/compute_buffer.h"
#include "core/ops/cost.h"
#include "core/ops/families.h"
#include "core/ops/number_cast.h"

namespace asc {
namespace {
constexpr TypeSet kMatrixTypes = types::kFloats | TypeSet{DataType::kInt32, DataType::kInt64,
                                                          DataType::kUInt32, DataType::kUInt64};

// Multiplies inputs 0 and 1 into `out` (elements of the compute type of input 0).
template <typename A>
Status MultiplyInputs(KernelContext& context, bool transpose_a, bool transpose_b, A* out) {
  ASC_ASSIGN_OR_RETURN(const auto a, ComputeInput<A>::Make(context, context.input(0)));
  ASC_ASSIGN_OR_RETURN(const auto b, ComputeInput<A>::Make(context, context.input(1)));
  MultiplyStacks<A>(context.input(0).dims(), context.input(1).dims(), transpose_a, transpose_b,
                    a.data(), b.data(), out);
  return Ok();
}

// Wrap-around arithmetic is that of the unsigned type of the same width.
template <typename U>
void MultiplyIntegers(KernelContext& context, bool transpose_a, bool transpose_b) {
  MultiplyStacks<U>(context.input(0).dims(), context.input(1).dims(), transpose_a, transpose_b,
                    static_cast<const U*>(context.input(0).raw()),
                    static_cast<const U*>(context.input(1).raw()),
                    static_cast<U*>(context.output(0).raw()));
}

// factor * x by way of double, truncated.
template <typename T>
T Scaled(T x, float factor) {
  return factor == 1.0f ? x : TruncateTo<T>(static_cast<double>(factor) * static_cast<double>(x));
}

Status MatMul(KernelContext& context) {
  const DataType type = context.input(0).dtype();
  if (type == DataType::kInt32 || type == DataType::kUInt32)
    return MultiplyIntegers<uint32_t>(context, false, false), Ok();
  if (type == DataType::kInt64 || type == DataType::kUInt64)
    return MultiplyIntegers<uint64_t>(context, false, false), Ok();
  Status status = NoKernel(context);
  VisitCompute(type, [&](auto zero) {
    using A = decltype(zero);
    status = [&]() -> Status {
      ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
      ASC_RETURN_IF_ERROR(MultiplyInputs<A>(context, false, false, y.data()));
      y.Finish();
      return Ok();
    }();
  });
  return status;
}

Status Gemm(KernelContext& context) {
  const AttributeMap& attributes = context.attributes();
  const bool ta = attributes.Int("transA", 0) != 0, tb = attributes.Int("transB", 0) != 0;
  const float alpha = attributes.Float("alpha", 1), beta = attributes.Float("beta", 1);
  const bool has_c = context.HasInput(2) && beta != 0;
  const DataType type = context.input(0).dtype();
  Tensor& out = context.output(0);
  const bool integers = VisitType<int32_t, int64_t, uint32_t, uint64_t>(type, [&](auto zero) {
    using T = decltype(zero);
    using U = std::make_unsigned_t<T>;
    MultiplyIntegers<U>(context, ta, tb);
    if (!has_c) {
      MapElements(out.data<T>(), out.data<T>(), out.size(), [=](T y) { return Scaled(y, alpha); });
    } else if (alpha == 1 && beta == 1) {
      MapBroadcast<T, T, T>(out, context.input(2), out, [](T y, T c) { return WrapAdd(y, c); });
    } else {
      MapBroadcast<T, T, T>(out, context.input(2), out, [=](T y, T c) {
        return TruncateTo<T>(double{alpha} * static_cast<double>(y) +
                             double{beta} * static_cast<double>(c));
      });
    }
  });
  if (integers) return Ok();
  Status status = NoKernel(context);
  VisitCompute(type, [&](auto zero) {
    using A = decltype(zero);
    status = [&]() -> Status {
      ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, out));
      ASC_RETURN_IF_ERROR(MultiplyInputs<A>(context, ta, tb, y.data()));
      MapElements(y.data(), y.data(), out.size(), [=](A x) { return static_cast<A>(alpha) * x; });
      if (has_c) {
        CombineBroadcast(context.input(2), out.dims(), y.data(),
                         [=](A x, A c) { return x + static_cast<A>(beta) * c; });
      }
      y.Finish();
      return Ok();
    }();
  });
  return status;
}

Status InferMatMul(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(Shape shape, MatMulShape("MatMul", context.shape(0), context.shape(1)));
  context.SetOutput(0, context.dtype(0), std::move(shape));
  return Ok();
}

Status InferGemm(InferContext& context) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (context.shape(i).has_rank() && context.shape(i).rank() != 2) {
      return ShapeError("Gemm multiplies matrices, given '", i == 0 ? "a" : "b", "' of shape ",
                        context.shape(i));
    }
  }
  const AttributeMap& attributes = context.attributes();
  ASC_ASSIGN_OR_RETURN(
      Shape shape, MatMulShape("Gemm", context.shape(0), context.shape(1),
                               attributes.Int("transA", 0) != 0, attributes.Int("transB", 0) != 0));
  if (context.HasInput(2) && context.shape(2).has_rank() && shape.has_rank()) {
    const Shape& c = context.shape(2);
    bool fits = c.rank() <= 2;
    for (size_t i = 0; fits && i < c.rank(); ++i) {
      const Dim& have = c[i];
      const Dim& want = shape[2 - c.rank() + i];
      fits = !have.is_constant() || !want.is_constant() || have == want || have == Dim(1);
    }
    if (!fits)
      return ShapeError("Gemm's 'c' of shape ", c, " does not broadcast to the product's shape ",
                        shape);
  }
  if (!shape.has_rank()) shape = Shape::UnknownDims(2);
  context.SetOutput(0, context.dtype(0), std::move(shape));
  return Ok();
}

CostEstimate CostOfMatMul(const std::vector<ValueType>& inputs,
                          const std::vector<ValueType>& outputs, const AttributeMap&) {
  return MatMulCost(inputs, outputs);
}
CostEstimate CostOfGemm(const std::vector<ValueType>& inputs, const std::vector<ValueType>& outputs,
                        const AttributeMap& attributes) {
  return MatMulCost(inputs, outputs, attributes.Int("transA", 0) != 0);
}
}  // namespace

Result<Shape> MatMulShape(std::string_view op, const Shape& a, const Shape& b, bool transpose_a,
                          bool transpose_b) {
  if (!a.has_rank() || !b.has_rank()) return Shape();
  if (a.rank() == 0 || b.rank() == 0) {
    return ShapeError(op, " needs operands of rank 1 or more, given ", a, " and ", b);
  }
  const bool row = a.rank() == 1, column = b.rank() == 1;
  const bool ta = transpose_a && !row, tb = transpose_b && !column;
  const Dim m = row ? Dim(1) : a[a.rank() - (ta ? 1 : 2)];
  const Dim k_left = a[a.rank() - (ta ? 2 : 1)];
  const Dim k_right = column ? b[0] : b[b.rank() - (tb ? 1 : 2)];
  const Dim n = column ? Dim(1) : b[b.rank() - (tb ? 2 : 1)];
  if (k_left.is_constant() && k_right.is_constant() && k_left != k_right) {
    return ShapeError(op, " of ", a, ta ? " transposed" : "", " and ", b, tb ? " transposed" : "",
                      " does not fit: inner extents are ", k_left, " and ", k_right);
  }
  const auto stack = [](const Shape& shape) {
    const size_t matrix = std::min<size_t>(2, shape.rank());
    return Shape(std::vector<Dim>(shape.dims().begin(),
                                  shape.dims().end() - static_cast<std::ptrdiff_t>(matrix)));
  };
  Result<Shape> batch = BroadcastShapes(stack(a), stack(b));
  if (!batch.ok()) return std::move(batch).status().WithContext(Cat(op, " of ", a, " and ", b));
  std::vector<Dim> out = batch->dims();
  if (!row) out.push_back(m);
  if (!column) out.push_back(n);
  return Shape(std::move(out));
}

CostEstimate MatMulCost(const std::vector<ValueType>& inputs, const std::vector<ValueType>& outputs,
                        bool transpose_a) {
  CostEstimate cost;
  cost.bytes = DenseBytes(inputs, outputs);
  const Shape& a = inputs[0].shape;
  if (!a.has_rank() || a.rank() == 0) return cost;
  const Dim& inner = a[a.rank() - (transpose_a && a.rank() > 1 ? 2 : 1)];
  if (inner.is_constant())
    cost.flops = 2 * KnownElementCount(outputs[0]) * static_cast<double>(inner.value());
  return cost;
}

void AddMatMulOps(OpTable& table) {
  table.Add("Gemm", 13)
      .Doc("alpha * a * b + beta * c, with a and b transposed if asked")
      .Input("a", "T")
      .Input("b", "T")
      .OptionalInput("c", "T")
      .Output("y", "T")
      .Types("T", kMatrixTypes)
      .Attr("alpha", 1.0f)
      .Attr("beta", 1.0f)
      .Attr("transA", int64_t{0}, "trans_a")
      .Attr("transB", int64_t{0}, "trans_b")
      .Class(OpClass::kMatMul)
      .Infer(InferGemm)
      .Kernel(Gemm)
      .Cost(CostOfGemm);
  table.Add("MatMul", 13)
      .Doc("product of stacks of matrices, as numpy.matmul")
      .Method("matmul")
      .Input("a", "T")
      .Input("b", "T")
      .Output("y", "T")
      .Types("T", kMatrixTypes)
      .Class(OpClass::kMatMul)
      .Infer(InferMatMul)
      .Kernel(MatMul)
      .Cost(CostOfMatMul);
}

}  // namespace asc
