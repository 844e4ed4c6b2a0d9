// Loops of element-wise kernels. float16 and bfloat16 are computed in float32 and rounded once.
#ifndef ASC_CORE_OPS_ELEMENTWISE_MAP_H_
#define ASC_CORE_OPS_ELEMENTWISE_MAP_H_

#include <type_traits>

#include "core/base/parallel.h"
#include "core/graph/op_schema.h"
#include "core/ops/broadcast_iterator.h"
#include "core/tensor/element.h"

namespace asc {

// The type that arithmetic on T happens in.
template <typename T>
using ComputeType =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

template <typename T>
ComputeType<T> Widen(T x) {
  return static_cast<ComputeType<T>>(x);
}

// Signed arithmetic that wraps around happens in the unsigned type of the same width.
template <typename T>
T WrapAdd(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
}
template <typename T>
T WrapSub(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(static_cast<U>(a) - static_cast<U>(b)));
}
template <typename T>
T WrapMul(T a, T b) {
  // 16-bit factors would be promoted to int, whose product can overflow.
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

inline Status NoKernel(const KernelContext& context) {
  return InternalError(context.schema().FullName(), " has no kernel for ",
                       DataTypeName(context.input(0).dtype()));
}

// y[i] = f(x[i]) for `count` elements.
template <typename T, typename R, typename F>
void MapElements(const T* x, R* y, int64_t count, F f) {
  ParallelFor(count, kElementGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = static_cast<R>(f(Widen(x[i])));
  });
}

// Input 0 to output 0, of equal type.
template <typename T, typename F>
void Map(KernelContext& context, F f) {
  MapElements(context.input(0).data<T>(), context.output(0).data<T>(), context.input(0).size(), f);
}

template <typename F>
Status MapFloats(KernelContext& context, F f) {
  const auto map = [&](auto zero) { Map<decltype(zero)>(context, f); };
  return VisitFloats(context.input(0).dtype(), map) ? Ok() : NoKernel(context);
}
template <typename F>
Status MapIntegers(KernelContext& context, F f) {
  const auto map = [&](auto zero) { Map<decltype(zero)>(context, f); };
  return VisitIntegers(context.input(0).dtype(), map) ? Ok() : NoKernel(context);
}
template <typename F>
Status MapNumeric(KernelContext& context, F f) {
  const auto map = [&](auto zero) { Map<decltype(zero)>(context, f); };
  return VisitNumeric(context.input(0).dtype(), map) ? Ok() : NoKernel(context);
}

// out[i] = f(a[i], b[i]) with both broadcast to the output's shape. A and B are element types of
// the inputs, R that of the output; f takes and gives compute types.
template <typename A, typename B, typename R, typename F>
void MapBroadcast(const Tensor& a, const Tensor& b, Tensor& out, F f) {
  const auto walk = BroadcastWalk(out.dims(), a.dims(), b.dims());
  const A* x = static_cast<const A*>(a.raw());
  const B* y = static_cast<const B*>(b.raw());
  R* z = static_cast<R*>(out.raw());
  const int64_t step_x = walk.inner_stride(0), step_y = walk.inner_stride(1);
  ParallelFor(walk.size(), kElementGrain, [&](int64_t begin, int64_t end) {
    walk.Rows(begin, end, [&](int64_t index, const auto& offsets, int64_t count) {
      const A* px = x + offsets[0];
      const B* py = y + offsets[1];
      R* pz = z + index;
      // Rows have steps 0 or 1: three loops that the compiler can vectorise.
      if (step_x == 0) {
        const auto left = Widen(*px);
        for (int64_t i = 0; i < count; ++i) pz[i] = static_cast<R>(f(left, Widen(py[i * step_y])));
      } else if (step_y == 0) {
        const auto right = Widen(*py);
        for (int64_t i = 0; i < count; ++i) pz[i] = static_cast<R>(f(Widen(px[i]), right));
      } else {
        for (int64_t i = 0; i < count; ++i) pz[i] = static_cast<R>(f(Widen(px[i]), Widen(py[i])));
      }
    });
  });
}

// Inputs 0 and 1 to output 0, all of one type T.
template <typename T, typename F>
void MapBinary(KernelContext& context, F f) {
  MapBroadcast<T, T, T>(context.input(0), context.input(1), context.output(0), f);
}

}  // namespace asc

#endif  // ASC_CORE_OPS_ELEMENTWISE_MAP_H_
