// BatchNormalization of float32 with given statistics, plain or blocked.
#include <cmath>

#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/rows.h"

namespace asc {
namespace {
constexpr int64_t kGrain = 1 << 15;

// Mean, scale / sqrt(var + epsilon) and bias of each channel, one after the other. Channels that
// pad a block get zeros, so that the padding of the result is zero.
struct Parameters {
  const float *mean, *factor, *bias;
};

class BatchNormKernel : public Kernel {
 public:
  // c0 is 0 for plain data; `ready`: the parameters, where all are constants.
  BatchNormKernel(int64_t images, int64_t channels, int64_t size, int64_t c0, float epsilon,
                  std::shared_ptr<Buffer> ready)
      : images_(images),
        channels_(channels),
        size_(size),
        c0_(c0),
        epsilon_(epsilon),
        ready_(std::move(ready)) {}

  static int64_t Padded(int64_t channels, int64_t c0) {
    return c0 == 0 ? channels : (channels + c0 - 1) / c0 * c0;
  }

  static void Fill(const Tensor& scale, const Tensor& bias, const Tensor& mean,
                   const Tensor& variance, double epsilon, int64_t padded, float* to) {
    std::fill_n(to, 3 * padded, 0.0f);
    for (int64_t c = 0; c < scale.size(); ++c) {
      to[c] = mean.data<float>()[c];
      to[padded + c] = static_cast<float>(scale.data<float>()[c] /
                                          std::sqrt(variance.data<float>()[c] + epsilon));
      to[2 * padded + c] = bias.data<float>()[c];
    }
  }

  Status Run(KernelContext& context) const override {
    const float* x = context.input(0).data<float>();
    float* y = context.output(0).data<float>();
    const int64_t padded = Padded(channels_, c0_);
    const float* table = ready_ ? reinterpret_cast<const float*>(ready_->data()) : nullptr;
    if (table == nullptr) {
      auto* filled = static_cast<float*>(context.planned_scratch());
      Fill(context.input(1), context.input(2), context.input(3), context.input(4), epsilon_, padded,
           filled);
      table = filled;
    }
    const Parameters p{table, table + padded, table + 2 * padded};
    if (size_ == 0) return Ok();
    if (c0_ != 0) {
      const int64_t blocks = padded / c0_, row = size_ * c0_;
      ParallelFor(images_ * blocks, std::max<int64_t>(1, kGrain / row),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t plane = begin; plane < end; ++plane) {
                      const int64_t c = plane % blocks * c0_;
                      simd::CenterScalePixels(x + plane * row, y + plane * row, size_, c0_,
                                              p.mean + c, p.factor + c, p.bias + c);
                    }
                  });
      return Ok();
    }
    if (size_ == 1) {
      ParallelFor(images_, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, channels_)),
                  [&](int64_t begin, int64_t end) {
                    simd::CenterScaleColumns(x + begin * channels_, y + begin * channels_,
                                             end - begin, channels_, p.mean, p.factor, p.bias);
                  });
      return Ok();
    }
    ParallelFor(
        images_ * channels_, std::max<int64_t>(1, kGrain / size_), [&](int64_t begin, int64_t end) {
          for (int64_t plane = begin; plane < end;) {
            const int64_t c = plane % channels_, some = std::min(end - plane, channels_ - c);
            simd::CenterScaleRows(x + plane * size_, y + plane * size_, some, size_, p.mean + c,
                                  p.factor + c, p.bias + c);
            plane += some;
          }
        });
    return Ok();
  }
  size_t scratch_bytes() const override {
    return ready_ ? 0 : static_cast<size_t>(3 * Padded(channels_, c0_)) * sizeof(float);
  }
  std::string_view name() const override { return "vector:batch_norm"; }

 private:
  int64_t images_, channels_, size_, c0_;
  double epsilon_;
  std::shared_ptr<Buffer> ready_;
};

bool SupportsBatchNorm(const KernelRequest& request) {
  const OperandDesc &x = request.inputs[0], &y = request.outputs[0];
  if (request.node.attributes.Int("training_mode", 0) != 0 || request.outputs.size() != 1)
    return false;
  if (!simd::IsFloat(x) || !simd::IsFloat(y) || x.layout != y.layout || x.dims.size() < 2)
    return false;
  if (!simd::IsPlain(x) && !(simd::IsBlockedImage(x) && x.layout.c0 <= 64)) return false;
  return std::all_of(request.inputs.begin() + 1, request.inputs.end(), simd::IsPlainFloat);
}

Result<std::unique_ptr<Kernel>> MakeBatchNorm(const KernelRequest& request) {
  const OperandDesc& x = request.inputs[0];
  const float epsilon = request.node.attributes.Float("epsilon", 1e-5f);
  const int64_t c0 = x.layout.c0, padded = BatchNormKernel::Padded(x.dims[1], c0);
  std::shared_ptr<Buffer> ready;
  const auto& in = request.inputs;
  if (std::all_of(in.begin() + 1, in.end(),
                  [](const OperandDesc& o) { return o.constant != nullptr; })) {
    ASC_ASSIGN_OR_RETURN(ready, Buffer::Allocate(request.allocator, MemoryUse::kPackedWeight,
                                                 static_cast<size_t>(3 * padded) * sizeof(float)));
    BatchNormKernel::Fill(*in[1].constant, *in[2].constant, *in[3].constant, *in[4].constant,
                          epsilon, padded, reinterpret_cast<float*>(ready->data()));
  }
  return simd::Make<BatchNormKernel>(x.dims[0], x.dims[1], ElementCount(x.dims, 2, x.dims.size()),
                                     c0, epsilon, std::move(ready));
}
}  // namespace

void AddVectorBatchNorm(KernelTable& table) {
  table.push_back(
      {"BatchNormalization", "", "vector.batch_norm", SupportsBatchNorm, nullptr, MakeBatchNorm});
}

}  // namespace asc
