// Where: elements of one tensor or the other, by a condition.
#include <algorithm>

#include "core/ops/elementwise_map.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"

namespace asc {
namespace {
template <typename T>
void Select(KernelContext& context) {
  const Tensor& condition = context.input(0);
  Tensor& out = context.output(0);
  const auto walk =
      BroadcastWalk(out.dims(), condition.dims(), context.input(1).dims(), context.input(2).dims());
  const bool* choose = condition.data<bool>();
  const T* x = static_cast<const T*>(context.input(1).raw());
  const T* y = static_cast<const T*>(context.input(2).raw());
  T* to = static_cast<T*>(out.raw());
  const int64_t step_c = walk.inner_stride(0), step_x = walk.inner_stride(1),
                step_y = walk.inner_stride(2);
  ParallelFor(walk.size(), kElementGrain, [&](int64_t begin, int64_t end) {
    walk.Rows(begin, end, [&](int64_t index, const auto& offsets, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        to[index + i] = choose[offsets[0] + i * step_c] ? x[offsets[1] + i * step_x]
                                                        : y[offsets[2] + i * step_y];
      }
    });
  });
}

Status Where(KernelContext& context) {
  const bool done =
      VisitBySize(context.output(0).dtype(), [&](auto zero) { Select<decltype(zero)>(context); });
  return done ? Ok() : NoKernel(context);
}

// The condition's elements where they are known; shape computations compare extents (Equal carries
// the answers).
std::optional<std::vector<Dim>> KnownCondition(const InferContext& context) {
  const Tensor* constant = context.constant(0);
  if (constant == nullptr) return context.Dims(0);
  const auto values = constant->values<bool>();
  return std::vector<Dim>(values.begin(), values.end());
}

Status InferWhere(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(Shape shape, BroadcastInputs(context));
  context.SetOutput(0, context.dtype(1), shape);
  const auto x = KnownElements(context, 1), y = KnownElements(context, 2);
  if (!x || !y || !shape.has_rank() || shape.rank() > 1) return Ok();
  const auto condition = KnownCondition(context);
  if (!condition || x->empty() || y->empty() || condition->empty()) return Ok();
  const auto at = [](const std::vector<Dim>& elements, size_t i) {
    return elements[elements.size() == 1 ? 0 : i];
  };
  std::vector<Dim> out;
  for (size_t i = 0; i < std::max({x->size(), y->size(), condition->size()}); ++i) {
    const Dim choose = at(*condition, i);
    out.push_back(!choose.is_constant()  ? Dim::Unknown()
                  : choose.IsConstant(0) ? at(*y, i)
                                         : at(*x, i));
  }
  SetKnownElements(context, 0, std::move(out));
  return Ok();
}
}  // namespace

void AddWhereOps(OpTable& table) {
  table.Add("Where", 16)
      .Doc("x where the condition is true, else y; all broadcast")
      .Input("condition", "B")
      .Input("X", "T")
      .Input("Y", "T")
      .Output("output", "T")
      .Types("B", types::kBool)
      .Types("T", types::kNumeric | types::kBool | types::kString | types::kComplex)
      .Class(OpClass::kElementwise)
      .Infer(InferWhere)
      .Kernel(Where);
}

}  // namespace asc
