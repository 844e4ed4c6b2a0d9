// The Reduce operators. Sums of floats are taken in float64; integers wrap around; NaN propagates.
#include <cmath>
#include <limits>

#include "core/ops/elementwise_map.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/number_cast.h"
#include "core/ops/reduce_iterator.h"

namespace asc {
namespace {
// Marks the axes to fold. `axes` empty: all of them, or none with noop.
Result<std::vector<bool>> MarkAxes(std::string_view op, const std::vector<int64_t>& axes,
                                   size_t rank, bool noop) {
  std::vector<bool> reduced(rank, axes.empty() && !noop);
  for (const int64_t axis : axes) {
    Result<int64_t> normal = NormalizeAxis(axis, static_cast<int64_t>(rank));
    if (!normal.ok()) return std::move(normal).status().WithContext(op);
    if (reduced[static_cast<size_t>(*normal)])
      return InvalidArgument(op, " has an axis twice in its axes ", axes);
    reduced[static_cast<size_t>(*normal)] = true;
  }
  return reduced;
}

bool Noop(const AttributeMap& attributes) { return attributes.Int("noop_with_empty_axes", 0) != 0; }

// What is known when the axes are not: the rank, at best.
Shape ShapeOfUnknownAxes(const InferContext& context, bool keep) {
  const Shape& x = context.shape(0);
  if (keep) return Shape::UnknownDims(x.rank());
  const Shape& axes = context.shape(1);
  const bool counted = axes.has_rank() && axes.rank() == 1 && axes[0].is_constant();
  // No axes at all may mean all of them.
  if (!counted || axes[0].value() <= 0 || axes[0].value() > static_cast<int64_t>(x.rank()))
    return Shape();
  return Shape::UnknownDims(x.rank() - static_cast<size_t>(axes[0].value()));
}

Status InferReduce(InferContext& context) {
  const std::string op = context.schema().FullName();
  const Shape& x = context.shape(0);
  const bool keep = context.attributes().Int("keepdims", 1) != 0;
  context.SetOutput(0, context.dtype(0));
  std::vector<int64_t> axes;
  if (context.HasInput(1)) {
    if (context.shape(1).has_rank() && context.shape(1).rank() != 1) {
      return ShapeError(op, " needs its axes as a list, given shape ", context.shape(1));
    }
    const auto known = context.Ints(1);
    if (!known) {
      if (x.has_rank()) context.SetOutput(0, context.dtype(0), ShapeOfUnknownAxes(context, keep));
      return Ok();
    }
    axes = *known;
  }
  if (!x.has_rank()) return Ok();
  ASC_ASSIGN_OR_RETURN(const std::vector<bool> reduced,
                       MarkAxes(op, axes, x.rank(), Noop(context.attributes())));
  std::vector<Dim> out;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (!reduced[i]) out.push_back(x[i]);
    if (reduced[i] && keep) out.push_back(Dim(1));
  }
  context.SetOutput(0, context.dtype(0), Shape(std::move(out)));
  return Ok();
}

// The same for integers whose elements shape computations know.
template <Dim (*kCombine)(const Dim&, const Dim&)>
Status InferReduceElements(InferContext& context) {
  ASC_RETURN_IF_ERROR(InferReduce(context));
  const auto elements = KnownElements(context, 0);
  const Shape& out = context.outputs()[0].type.shape;
  if (!elements || elements->empty() || !out.has_rank() || !out.is_static() ||
      ElementCount(*out.ToDims()) != 1)
    return Ok();
  Dim folded = (*elements)[0];
  for (size_t i = 1; i < elements->size(); ++i) folded = kCombine(folded, (*elements)[i]);
  SetKnownElements(context, 0, {folded});
  return Ok();
}
Dim AddDims(const Dim& a, const Dim& b) { return a + b; }
Dim MultiplyDims(const Dim& a, const Dim& b) { return a * b; }

// A result in float64 as an element: integers truncate.
template <typename T>
T FromReal(double x) {
  if constexpr (std::is_integral_v<T>) {
    return TruncateTo<T>(x);
  } else {
    return T(static_cast<ComputeType<T>>(x));
  }
}

// States of sums: float64 for floats, wrap-around 64 bits for integers.
template <typename T>
using SumState = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;

template <typename T>
struct SumOp {
  SumState<T> Start() const { return 0; }
  void Step(SumState<T>& state, T x) const { state += static_cast<SumState<T>>(Widen(x)); }
  T Finish(SumState<T> state, int64_t) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(state);
    else
      return T(static_cast<ComputeType<T>>(state));
  }
};

template <typename T>
struct MeanOp : SumOp<T> {
  T Finish(SumState<T> state, int64_t count) const {
    if constexpr (!std::is_integral_v<T>) {
      return T(static_cast<ComputeType<T>>(state / static_cast<double>(count)));
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(static_cast<int64_t>(state) / count);
    } else {
      return static_cast<T>(state / static_cast<uint64_t>(count));
    }
  }
};

template <typename T>
struct ProdOp : SumOp<T> {
  SumState<T> Start() const { return 1; }
  void Step(SumState<T>& state, T x) const { state *= static_cast<SumState<T>>(Widen(x)); }
};

template <typename T>
struct L1Op : SumOp<T> {
  void Step(SumState<T>& state, T x) const {
    if constexpr (std::is_integral_v<T>)
      state += static_cast<uint64_t>(std::is_signed_v<T> && x < T(0) ? WrapSub<T>(0, x) : x);
    else
      state += std::fabs(static_cast<double>(Widen(x)));
  }
};

template <typename T>
struct SumSquareOp : SumOp<T> {
  void Step(SumState<T>& state, T x) const {
    const auto wide = static_cast<SumState<T>>(Widen(x));
    state += wide * wide;
  }
};

// The norm of integers is truncated, from float64.
template <typename T>
struct L2Op {
  double Start() const { return 0; }
  void Step(double& state, T x) const {
    state += static_cast<double>(Widen(x)) * static_cast<double>(Widen(x));
  }
  T Finish(double state, int64_t) const { return FromReal<T>(std::sqrt(state)); }
};

template <typename T>
struct LogSumOp : SumOp<T> {
  T Finish(SumState<T> state, int64_t) const {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      return FromReal<T>(std::log(static_cast<double>(static_cast<int64_t>(state))));
    } else {
      return FromReal<T>(std::log(static_cast<double>(state)));
    }
  }
};

// log(sum(exp(x))) with the largest x so far taken out, so that nothing overflows.
template <typename T>
struct LogSumExpOp {
  struct State {
    double largest, sum;
  };
  State Start() const { return {-std::numeric_limits<double>::infinity(), 0}; }
  void Step(State& state, T element) const {
    const auto x = static_cast<double>(Widen(element));
    if (x > state.largest) {
      state.sum = state.sum * std::exp(state.largest - x) + 1;
      state.largest = x;
    } else if (x == state.largest) {
      // Infinities have no difference.
      if (x != -std::numeric_limits<double>::infinity()) state.sum += 1;
    } else {
      state.sum += std::exp(x - state.largest);
    }
  }
  T Finish(const State& state, int64_t) const {
    return FromReal<T>(state.largest + std::log(state.sum));
  }
};

template <typename T, bool kMax>
struct ExtremeOp {
  // What no element can be worse than.
  T Start() const {
    using C = ComputeType<T>;
    using Limits = std::numeric_limits<C>;
    if constexpr (std::is_floating_point_v<C>)
      return T(kMax ? -Limits::infinity() : Limits::infinity());
    else
      return kMax ? Limits::lowest() : Limits::max();
  }
  void Step(T& state, T x) const {
    const auto value = Widen(x), best = Widen(state);
    if ((kMax ? value > best : value < best) || value != value) state = x;
  }
  T Finish(T state, int64_t) const { return state; }
};
template <typename T>
using MaxOp = ExtremeOp<T, true>;
template <typename T>
using MinOp = ExtremeOp<T, false>;

template <template <typename> class Op, typename T>
void Fold(const Tensor& x, const std::vector<bool>& reduced, Tensor& out) {
  const ReduceWalk walk(x.dims(), reduced);
  const Op<T> op;
  T* y = out.data<T>();
  walk.Run(x.data<T>(), op,
           [&](int64_t i, const auto& state) { y[i] = op.Finish(state, walk.folded()); });
}

Result<std::vector<bool>> ReadAxes(const KernelContext& context) {
  std::vector<int64_t> axes;
  if (context.HasInput(1)) {
    ASC_ASSIGN_OR_RETURN(axes, ToInt64Vector(context.input(1)));
  }
  return MarkAxes(context.schema().FullName(), axes, context.input(0).rank(),
                  Noop(context.attributes()));
}

template <template <typename> class Op, typename... Ts>
Status Reduce(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReadAxes(context));
  const bool done = VisitType<Ts...>(context.input(0).dtype(), [&](auto zero) {
    Fold<Op, decltype(zero)>(context.input(0), reduced, context.output(0));
  });
  return done ? Ok() : NoKernel(context);
}
template <template <typename> class Op>
Status ReduceNumbers(KernelContext& context) {
  return Reduce<Op, float, double, Half, BFloat16, int32_t, int64_t, uint32_t, uint64_t>(context);
}
template <template <typename> class Op>
Status ReduceExtreme(KernelContext& context) {
  return Reduce<Op, float, double, Half, BFloat16, int32_t, int64_t, uint32_t, uint64_t, int8_t,
                uint8_t, bool>(context);
}

Status ReduceMean(KernelContext& context) {
  if (!IsFloat(context.input(0).dtype()) && context.input(0).size() == 0 &&
      context.output(0).size() > 0) {
    return Error(Code::kArithmetic, "ReduceMean of no elements of ",
                 DataTypeName(context.input(0).dtype()), ": 0 / 0");
  }
  return ReduceNumbers<MeanOp>(context);
}
}  // namespace

void AddReduceOps(OpTable& table) {
  constexpr TypeSet kNumbers = types::kFloats | TypeSet{DataType::kInt32, DataType::kInt64,
                                                        DataType::kUInt32, DataType::kUInt64};
  constexpr TypeSet kOrdered =
      kNumbers | TypeSet{DataType::kInt8, DataType::kUInt8, DataType::kBool};
  const auto reduce = [&](std::string_view name, int since, TypeSet types, ReferenceKernel kernel,
                          std::string_view doc) {
    return table.Add(name, since)
        .Doc(doc)
        .Input("data", "T")
        .OptionalInput("axes", "I")
        .Output("reduced", "T")
        .Types("T", types)
        .Types("I", types::kInt64)
        .Attr("keepdims", int64_t{1}, "keepdim", "1: reduced axes stay, with extent 1")
        .Attr("noop_with_empty_axes", int64_t{0}, "",
              "1: no axes means none of them rather than all")
        .Class(OpClass::kReduction)
        .Infer(InferReduce)
        .Kernel(kernel);
  };
  reduce("ReduceL1", 18, kNumbers, ReduceNumbers<L1Op>, "sum of |x| over axes").Method("reduce_l1");
  reduce("ReduceL2", 18, kNumbers, ReduceNumbers<L2Op>,
         "square root of the sum of squares over axes")
      .Method("reduce_l2");
  // Opset 28 takes floating types only; integers of older opsets are truncated, as ReduceL2's are.
  reduce("ReduceLogSum", 28, kNumbers, ReduceNumbers<LogSumOp>, "logarithm of the sum over axes");
  reduce("ReduceLogSumExp", 28, kNumbers, ReduceNumbers<LogSumExpOp>, "log(sum(exp(x))) over axes");
  reduce("ReduceMax", 20, kOrdered, ReduceExtreme<MaxOp>, "the largest over axes; NaN wins")
      .Infer(InferReduceElements<Dim::Max>);
  reduce("ReduceMean", 18, kNumbers, ReduceMean, "the mean over axes; that of integers truncates");
  reduce("ReduceMin", 20, kOrdered, ReduceExtreme<MinOp>, "the smallest over axes; NaN wins")
      .Infer(InferReduceElements<Dim::Min>);
  reduce("ReduceProd", 18, kNumbers, ReduceNumbers<ProdOp>, "the product over axes")
      .Infer(InferReduceElements<MultiplyDims>);
  reduce("ReduceSum", 13, kNumbers, ReduceNumbers<SumOp>, "the sum over axes")
      .Infer(InferReduceElements<AddDims>);
  reduce("ReduceSumSquare", 18, kNumbers, ReduceNumbers<SumSquareOp>,
         "the sum of squares over axes");
}

}  // namespace asc
