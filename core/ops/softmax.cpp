// Softmax, LogSoftmax and Hardmax along one axis.
#include <algorithm>
#include <cmath>

#include "core/ops/compute_buffer.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"

namespace asc {
namespace {
constexpr int64_t kLanes =
    64;  // neighbouring rows that are worked on together where the axis is not the last one

Status InferSoftmax(InferContext& context) {
  const Shape& x = context.shape(0);
  if (x.has_rank()) {
    // A scalar counts as one row of one element.
    const auto rank = std::max<int64_t>(1, static_cast<int64_t>(x.rank()));
    ASC_RETURN_IF_ERROR(NormalizeAxis(context.attributes().Int("axis", -1), rank).status());
  }
  return InferSameAsFirst(context);
}

// Rows of `length` elements that are `step` apart; a lane is the distance 1 to the next row.
template <typename A>
struct Rows {
  const A* x;
  A* y;
  int64_t length, step;
};

// The first largest element's place and value of each lane; the first NaN wins.
template <typename A>
void LargestOfLanes(const Rows<A>& rows, int64_t lanes, A* largest, int64_t* place) {
  std::copy_n(rows.x, lanes, largest);
  std::fill_n(place, lanes, int64_t{0});
  for (int64_t i = 1; i < rows.length; ++i) {
    const A* x = rows.x + i * rows.step;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      if (x[lane] > largest[lane] || (x[lane] != x[lane] && largest[lane] == largest[lane])) {
        largest[lane] = x[lane];
        place[lane] = i;
      }
    }
  }
}

template <typename A, bool kLog>
void SoftmaxRows(const Rows<A>& rows, int64_t lanes) {
  A largest[kLanes];
  int64_t place[kLanes];
  double sum[kLanes] = {};
  LargestOfLanes(rows, lanes, largest, place);
  for (int64_t i = 0; i < rows.length; ++i) {
    const A* x = rows.x + i * rows.step;
    A* y = rows.y + i * rows.step;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const A shifted = x[lane] - largest[lane];
      const A power = std::exp(shifted);
      sum[lane] += static_cast<double>(power);
      y[lane] = kLog ? shifted : power;
    }
  }
  A change[kLanes];
  for (int64_t lane = 0; lane < lanes; ++lane) {
    change[lane] = static_cast<A>(kLog ? std::log(sum[lane]) : 1.0 / sum[lane]);
  }
  for (int64_t i = 0; i < rows.length; ++i) {
    A* y = rows.y + i * rows.step;
    for (int64_t lane = 0; lane < lanes; ++lane)
      y[lane] = kLog ? y[lane] - change[lane] : y[lane] * change[lane];
  }
}

template <typename A>
void HardmaxRows(const Rows<A>& rows, int64_t lanes) {
  if (rows.step == 1) {
    int64_t first = 0;
    for (int64_t i = 1; i < rows.length && rows.x[first] == rows.x[first]; ++i) {
      if (!(rows.x[i] <= rows.x[first])) first = i;
    }
    std::fill_n(rows.y, rows.length, A(0));
    rows.y[first] = A(1);
    return;
  }
  A largest[kLanes];
  int64_t place[kLanes];
  LargestOfLanes(rows, lanes, largest, place);
  for (int64_t i = 0; i < rows.length; ++i) {
    A* y = rows.y + i * rows.step;
    for (int64_t lane = 0; lane < lanes; ++lane) y[lane] = place[lane] == i ? A(1) : A(0);
  }
}

// Calls f(rows, lanes) for all rows along the axis.
template <typename A, typename F>
Status ForRows(KernelContext& context, F f) {
  const Dims& dims = context.input(0).dims();
  ASC_ASSIGN_OR_RETURN(const auto x, ComputeInput<A>::Make(context, context.input(0)));
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
  const auto rank = static_cast<int64_t>(dims.size());
  int64_t axis = context.attributes().Int("axis", -1);
  axis = axis < 0 ? axis + rank : axis;
  const int64_t length = rank == 0 ? 1 : dims[static_cast<size_t>(axis)];
  const int64_t inner =
      rank == 0 ? 1 : ElementCount(dims, static_cast<size_t>(axis) + 1, dims.size());
  const int64_t outer = rank == 0 ? 1 : ElementCount(dims, 0, static_cast<size_t>(axis));
  if (length == 0) return Ok();
  const int64_t groups = (inner + kLanes - 1) / kLanes;
  const int64_t work = std::max<int64_t>(1, length * std::min(inner, kLanes));
  ParallelFor(
      outer * groups, std::max<int64_t>(1, (1 << 12) / work), [&](int64_t begin, int64_t end) {
        for (int64_t unit = begin; unit < end; ++unit) {
          const int64_t first = unit % groups * kLanes;
          const int64_t at = unit / groups * length * inner + first;
          f(Rows<A>{x.data() + at, y.data() + at, length, inner}, std::min(kLanes, inner - first));
        }
      });
  y.Finish();
  return Ok();
}

template <bool kLog>
Status SoftmaxKernel(KernelContext& context) {
  if (context.input(0).dtype() == DataType::kFloat64)
    return ForRows<double>(context, SoftmaxRows<double, kLog>);
  return ForRows<float>(context, SoftmaxRows<float, kLog>);
}

Status Hardmax(KernelContext& context) {
  if (context.input(0).dtype() == DataType::kFloat64)
    return ForRows<double>(context, HardmaxRows<double>);
  return ForRows<float>(context, HardmaxRows<float>);
}
}  // namespace

void AddSoftmaxOps(OpTable& table) {
  const auto add = [&](std::string_view name, ReferenceKernel kernel, std::string_view doc) {
    return table.Add(name, 13)
        .Doc(doc)
        .Input("input", "T")
        .Output("output", "T")
        .Types("T", types::kFloats)
        .Attr("axis", int64_t{-1}, "dim", "the axis along which elements belong together")
        .Class(OpClass::kNormalization)
        .Infer(InferSoftmax)
        .Kernel(kernel);
  };
  add("Hardmax", Hardmax, "1 at the first largest element along the axis, 0 elsewhere");
  add("LogSoftmax", SoftmaxKernel<true>, "log(softmax(x)) along the axis");
  add("Softmax", SoftmaxKernel<false>, "exp(x) / sum(exp(x)) along the axis");
}

}  // namespace asc
