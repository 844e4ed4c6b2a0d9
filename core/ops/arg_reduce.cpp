// ArgMax and ArgMin: where along an axis the extreme element is.
#include "core/ops/elementwise_map.h"
#include "core/ops/families.h"
#include "core/ops/reduce_iterator.h"

namespace asc {
namespace {
Status InferArg(InferContext& context) {
  const Shape& x = context.shape(0);
  context.SetOutput(0, DataType::kInt64);
  if (!x.has_rank()) return Ok();
  ASC_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(context.attributes().Int("axis", 0),
                                                         static_cast<int64_t>(x.rank())));
  std::vector<Dim> out;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (static_cast<int64_t>(i) != axis) out.push_back(x[i]);
    if (static_cast<int64_t>(i) == axis && context.attributes().Int("keepdims", 1) != 0)
      out.push_back(Dim(1));
  }
  context.SetOutput(0, DataType::kInt64, Shape(std::move(out)));
  return Ok();
}

// Of equal elements the first counts, or the last if asked; NaN is more extreme than any number.
template <typename T, bool kMax>
struct ArgOp {
  struct State {
    T best;
    int64_t index, next;
  };
  bool select_last;

  State Start() const { return {T(), -1, 0}; }
  void Step(State& state, T x) const {
    const auto value = Widen(x), best = Widen(state.best);
    bool take = state.index < 0;
    if (!take) {
      const bool value_nan = value != value, best_nan = best != best;
      const bool better = value_nan ? !best_nan : !best_nan && (kMax ? value > best : value < best);
      take = better || (select_last && (value == best || (value_nan && best_nan)));
    }
    if (take) {
      state.best = x;
      state.index = state.next;
    }
    ++state.next;
  }
};

template <bool kMax>
Status Arg(KernelContext& context) {
  const Tensor& x = context.input(0);
  Tensor& out = context.output(0);
  ASC_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(context.attributes().Int("axis", 0),
                                                         static_cast<int64_t>(x.rank())));
  std::vector<bool> reduced(x.rank(), false);
  reduced[static_cast<size_t>(axis)] = true;
  const ReduceWalk walk(x.dims(), reduced);
  if (walk.folded() == 0 && walk.outputs() > 0) {
    return InvalidArgument(context.schema().FullName(), " along axis ", axis, " of shape ",
                           x.dims(), ": no element to choose");
  }
  const bool last = context.attributes().Int("select_last_index", 0) != 0;
  const bool done = VisitNumeric(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    walk.Run(x.data<T>(), ArgOp<T, kMax>{last},
             [&](int64_t i, const auto& state) { out.data<int64_t>()[i] = state.index; });
  });
  return done ? Ok() : NoKernel(context);
}
}  // namespace

void AddArgReduceOps(OpTable& table) {
  const auto add = [&](std::string_view name, std::string_view method, ReferenceKernel kernel,
                       std::string_view doc) {
    table.Add(name, 13)
        .Doc(doc)
        .Method(method)
        .Input("data", "T")
        .Output("reduced", "I")
        .Types("T", types::kNumeric)
        .Types("I", types::kInt64)
        .Attr("axis", int64_t{0}, "dim", "the axis to search along")
        .Attr("keepdims", int64_t{1}, "keepdim", "1: the axis stays, with extent 1")
        .Attr("select_last_index", int64_t{0}, "", "1: the last of equal elements counts")
        .Class(OpClass::kReduction)
        .Infer(InferArg)
        .Kernel(kernel);
  };
  add("ArgMax", "argmax", Arg<true>, "index of the largest element along an axis");
  add("ArgMin", "argmin", Arg<false>, "index of the smallest element along an axis");
}

}  // namespace asc
