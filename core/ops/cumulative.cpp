// CumSum and CumProd along an axis. Running values of floats are kept in float64; integers wrap
// around.
#include <algorithm>

#include "core/ops/elementwise_map.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"

namespace asc {
namespace {
Status InferCumulative(InferContext& context) {
  const std::string op = context.schema().FullName();
  const Shape& axis = context.shape(1);
  if (axis.has_rank() &&
      (axis.rank() > 1 || (axis.rank() == 1 && axis[0].is_constant() && axis[0] != Dim(1)))) {
    return ShapeError(op, " needs one axis, given axes of shape ", axis);
  }
  if (const auto known = context.Ints(1); known && !known->empty() && context.shape(0).has_rank()) {
    Result<int64_t> normal =
        NormalizeAxis((*known)[0], static_cast<int64_t>(context.shape(0).rank()));
    if (!normal.ok()) return std::move(normal).status().WithContext(op);
  }
  return InferSameAsFirst(context);
}

// Rows along the axis; neighbouring rows (inner > 1) are a stride of 1 apart and are worked on
// together.
template <typename T, typename Op>
void Accumulate(const T* x, T* y, int64_t outer, int64_t length, int64_t inner, bool exclusive,
                bool reverse, Op op) {
  using State = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
  constexpr int64_t kLanes = 64;
  const int64_t groups = (inner + kLanes - 1) / kLanes;
  const int64_t work = std::max<int64_t>(1, length * std::min(inner, kLanes));
  ParallelFor(
      outer * groups, std::max<int64_t>(1, kElementGrain / work), [&](int64_t begin, int64_t end) {
        State states[kLanes];
        for (int64_t unit = begin; unit < end; ++unit) {
          const int64_t first = unit % groups * kLanes, lanes = std::min(kLanes, inner - first);
          const int64_t start = unit / groups * length * inner + first;
          std::fill_n(states, lanes, static_cast<State>(op.Start()));
          for (int64_t i = 0; i < length; ++i) {
            const int64_t at = start + (reverse ? length - 1 - i : i) * inner;
            const T* from = x + at;
            T* to = y + at;
            if (exclusive) {
              for (int64_t lane = 0; lane < lanes; ++lane) {
                const State before = states[lane];
                states[lane] = op(before, static_cast<State>(Widen(from[lane])));
                to[lane] = static_cast<T>(static_cast<ComputeType<T>>(before));
              }
            } else {
              for (int64_t lane = 0; lane < lanes; ++lane) {
                states[lane] = op(states[lane], static_cast<State>(Widen(from[lane])));
                to[lane] = static_cast<T>(static_cast<ComputeType<T>>(states[lane]));
              }
            }
          }
        }
      });
}

struct Plus {
  int Start() const { return 0; }
  template <typename S>
  S operator()(S a, S b) const {
    return a + b;
  }
};
struct Times {
  int Start() const { return 1; }
  template <typename S>
  S operator()(S a, S b) const {
    return a * b;
  }
};

template <typename Op>
Status Cumulative(KernelContext& context) {
  const Tensor& x = context.input(0);
  ASC_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, ToInt64Vector(context.input(1)));
  Result<int64_t> normal = NormalizeAxis(axes[0], static_cast<int64_t>(x.rank()));
  if (!normal.ok()) return std::move(normal).status().WithContext(context.schema().FullName());
  const auto axis = static_cast<size_t>(*normal);
  const bool exclusive = context.attributes().Int("exclusive", 0) != 0,
             reverse = context.attributes().Int("reverse", 0) != 0;
  const bool done = VisitType<float, double, Half, BFloat16, int32_t, int64_t, uint32_t, uint64_t>(
      x.dtype(), [&](auto zero) {
        using T = decltype(zero);
        Accumulate(x.data<T>(), context.output(0).data<T>(), ElementCount(x.dims(), 0, axis),
                   x.dim(axis), ElementCount(x.dims(), axis + 1, x.rank()), exclusive, reverse,
                   Op{});
      });
  return done ? Ok() : NoKernel(context);
}
}  // namespace

void AddCumulativeOps(OpTable& table) {
  const auto add = [&](std::string_view name, std::string_view method, int since,
                       ReferenceKernel kernel, std::string_view doc) {
    table.Add(name, since)
        .Doc(doc)
        .Method(method)
        .Input("x", "T")
        .Input("axis", "T2")
        .Output("y", "T")
        .Types("T", types::kFloats | TypeSet{DataType::kInt32, DataType::kInt64, DataType::kUInt32,
                                             DataType::kUInt64})
        .Types("T2", types::kIndex)
        .Attr("exclusive", int64_t{0}, "", "1: an element does not count for itself")
        .Attr("reverse", int64_t{0}, "", "1: from the end to the front")
        .Infer(InferCumulative)
        .Kernel(kernel);
  };
  add("CumProd", "cumprod", 26, Cumulative<Times>, "product of all elements so far along an axis");
  add("CumSum", "cumsum", 14, Cumulative<Plus>, "sum of all elements so far along an axis");
}

}  // namespace asc
