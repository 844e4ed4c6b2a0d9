// Narrow floats as float: kernels whose elements are used many times widen them once, compute, and
// round once at the end.
#ifndef ASC_CORE_OPS_COMPUTE_BUFFER_H_
#define ASC_CORE_OPS_COMPUTE_BUFFER_H_

#include "core/graph/op_schema.h"
#include "core/ops/elementwise_map.h"

namespace asc {

// Calls f(A{}) with the type that `type` is computed in: double for float64, float for the other
// floats; false for the rest.
template <typename F>
bool VisitCompute(DataType type, F&& f) {
  if (type == DataType::kFloat64) return f(double{}), true;
  if (types::kFloats.Contains(type)) return f(float{}), true;
  return false;
}

// Reads a floating tensor as A (float or double): its own elements where the types agree, else a
// converted copy.
template <typename A>
class ComputeInput {
 public:
  static Result<ComputeInput> Make(KernelContext& context, const Tensor& tensor) {
    ComputeInput input;
    if (tensor.dtype() == DataTypeOf<A>::value) {
      input.data_ = tensor.data<A>();
      return input;
    }
    ASC_ASSIGN_OR_RETURN(input.copy_,
                         context.Scratch(static_cast<size_t>(tensor.size()) * sizeof(A)));
    A* copy = reinterpret_cast<A*>(input.copy_->data());
    VisitFloats(tensor.dtype(), [&](auto zero) {
      MapElements(tensor.data<decltype(zero)>(), copy, tensor.size(),
                  [](auto x) { return static_cast<A>(x); });
    });
    input.data_ = copy;
    return input;
  }
  // Input `i` of the kernel; null data where it is absent.
  static Result<ComputeInput> MakeOptional(KernelContext& context, size_t i) {
    return context.HasInput(i) ? Make(context, context.input(i)) : ComputeInput();
  }
  const A* data() const { return data_; }

 private:
  const A* data_ = nullptr;
  std::shared_ptr<Buffer> copy_;
};

// Where to write a floating tensor as A; Finish rounds into the tensor where the types differ.
template <typename A>
class ComputeOutput {
 public:
  static Result<ComputeOutput> Make(KernelContext& context, Tensor& tensor) {
    ComputeOutput output;
    output.tensor_ = &tensor;
    if (tensor.dtype() == DataTypeOf<A>::value) {
      output.data_ = tensor.data<A>();
      return output;
    }
    ASC_ASSIGN_OR_RETURN(output.copy_,
                         context.Scratch(static_cast<size_t>(tensor.size()) * sizeof(A)));
    output.data_ = reinterpret_cast<A*>(output.copy_->data());
    return output;
  }
  A* data() { return data_; }
  void Finish() {
    if (!copy_) return;
    VisitFloats(tensor_->dtype(), [&](auto zero) {
      using T = decltype(zero);
      MapElements(data_, tensor_->data<T>(), tensor_->size(),
                  [](A x) { return static_cast<ComputeType<T>>(x); });
    });
  }

 private:
  Tensor* tensor_ = nullptr;
  A* data_ = nullptr;
  std::shared_ptr<Buffer> copy_;
};

// y[i] = f(y[i], term[i]) for y of shape `dims`, with the floating tensor `term` broadcast to it
// and widened to A.
template <typename A, typename F>
void CombineBroadcast(const Tensor& term, const Dims& dims, A* y, F f) {
  const auto walk = BroadcastWalk(dims, term.dims());
  const int64_t step = walk.inner_stride(0);
  VisitFloats(term.dtype(), [&](auto zero) {
    const auto* from = term.data<decltype(zero)>();
    ParallelFor(walk.size(), kElementGrain, [&](int64_t begin, int64_t end) {
      walk.Rows(begin, end, [&](int64_t index, const auto& offsets, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          y[index + i] = f(y[index + i], static_cast<A>(Widen(from[offsets[0] + i * step])));
        }
      });
    });
  });
}

}  // namespace asc

#endif  // ASC_CORE_OPS_COMPUTE_BUFFER_H_
