// Normalisations of float32: LayerNormalization and RMSNormalization over the last axes,
// InstanceNormalization and GroupNormalization over the extents of channels.
#include <cmath>

#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/rows.h"

namespace asc {
namespace {
constexpr int64_t kGrain = 1 << 14;

class LayerNormKernel : public Kernel {
 public:
  LayerNormKernel(int64_t rows, int64_t length, float epsilon, bool centred)
      : rows_(rows), length_(length), epsilon_(epsilon), centred_(centred) {}

  Status Run(KernelContext& context) const override {
    simd::NormRows all{};
    all.x = context.input(0).data<float>();
    all.y = context.output(0).data<float>();
    all.n = length_;
    all.scale = context.input(1).data<float>();
    all.bias = context.HasInput(2) ? context.input(2).data<float>() : nullptr;
    all.epsilon = epsilon_;
    all.centred = centred_;
    all.means = context.HasOutput(1) ? context.output(1).data<float>() : nullptr;
    all.inverses = context.HasOutput(2) ? context.output(2).data<float>() : nullptr;
    ParallelFor(rows_, std::max<int64_t>(1, kGrain / length_), [&](int64_t begin, int64_t end) {
      simd::NormRows some = all;
      some.x += begin * length_;
      some.y += begin * length_;
      some.rows = end - begin;
      if (some.means != nullptr) some.means += begin;
      if (some.inverses != nullptr) some.inverses += begin;
      simd::NormaliseRows(some);
    });
    return Ok();
  }
  std::string_view name() const override {
    return centred_ ? "vector:layer_norm" : "vector:rms_norm";
  }

 private:
  int64_t rows_, length_;
  float epsilon_;
  bool centred_;
};

// The axis that the normalised extents begin at; -1 where it is none.
int64_t FirstAxis(const KernelRequest& request) {
  const auto rank = static_cast<int64_t>(request.inputs[0].dims.size());
  const Result<int64_t> axis = NormalizeAxis(request.node.attributes.Int("axis", -1), rank);
  return axis.ok() ? *axis : -1;
}

bool SupportsLayerNorm(const KernelRequest& request) {
  if (!simd::AllPlainFloat(request.inputs) || !simd::AllPlainFloat(request.outputs)) return false;
  const int64_t axis = FirstAxis(request);
  if (axis < 0) return false;
  const Dims& x = request.inputs[0].dims;
  const Dims normalised(x.begin() + axis, x.end());
  // Scale and bias may have axes of extent 1 in front, but do not broadcast.
  const auto fits = [&](const OperandDesc& operand) {
    if (!operand.present) return true;
    size_t skip = 0;
    while (skip < operand.dims.size() && operand.dims.size() - skip > normalised.size() &&
           operand.dims[skip] == 1)
      ++skip;
    return Dims(operand.dims.begin() + static_cast<int64_t>(skip), operand.dims.end()) ==
           normalised;
  };
  if (ElementCount(normalised) == 0 || !request.inputs[1].present) return false;
  return std::all_of(request.inputs.begin() + 1, request.inputs.end(), fits);
}
Result<std::unique_ptr<Kernel>> MakeLayerNorm(const KernelRequest& request) {
  const Dims& x = request.inputs[0].dims;
  const auto axis = static_cast<size_t>(FirstAxis(request));
  return simd::Make<LayerNormKernel>(ElementCount(x, 0, axis), ElementCount(x, axis, x.size()),
                                     request.node.attributes.Float("epsilon", 1e-5f),
                                     request.node.schema->name == "LayerNormalization");
}

// Each group of channels of each image is one row for the statistics; scale and bias belong to
// channels.
class GroupNormKernel : public Kernel {
 public:
  GroupNormKernel(int64_t images, int64_t channels, int64_t groups, int64_t size, float epsilon)
      : images_(images), channels_(channels), groups_(groups), size_(size), epsilon_(epsilon) {}

  Status Run(KernelContext& context) const override {
    const float* x = context.input(0).data<float>();
    float* y = context.output(0).data<float>();
    const float* scale = context.input(1).data<float>();
    const float* bias = context.input(2).data<float>();
    const int64_t members = channels_ / groups_, row = members * size_;
    ParallelFor(images_ * groups_, std::max<int64_t>(1, kGrain / row),
                [&](int64_t begin, int64_t end) {
                  for (int64_t group = begin; group < end; ++group) {
                    const simd::Moments moments = simd::MomentsOf(x + group * row, row);
                    const float inverse = 1.0f / std::sqrt(moments.variance + epsilon_);
                    for (int64_t member = 0; member < members; ++member) {
                      const int64_t channel = group % groups_ * members + member,
                                    at = group * row + member * size_;
                      const float factor = scale[channel] * inverse;
                      simd::CenterScaleRows(x + at, y + at, 1, size_, &moments.mean, &factor,
                                            bias + channel);
                    }
                  }
                });
    return Ok();
  }
  std::string_view name() const override { return "vector:group_norm"; }

 private:
  int64_t images_, channels_, groups_, size_;
  float epsilon_;
};

int64_t Groups(const KernelRequest& request) {
  const int64_t channels = request.inputs[0].dims[1];
  return request.node.schema->name == "InstanceNormalization"
             ? channels
             : request.node.attributes.Int("num_groups", 0);
}
bool SupportsGroupNorm(const KernelRequest& request) {
  const Dims& x = request.inputs[0].dims;
  if (!simd::AllPlainFloat(request.inputs) || !simd::AllPlainFloat(request.outputs)) return false;
  if (x.size() < 2 || ElementCount(x) == 0 || Groups(request) <= 0 || x[1] % Groups(request) != 0)
    return false;
  return request.inputs[1].dims == Dims{x[1]} && request.inputs[2].dims == Dims{x[1]};
}
Result<std::unique_ptr<Kernel>> MakeGroupNorm(const KernelRequest& request) {
  const Dims& x = request.inputs[0].dims;
  return simd::Make<GroupNormKernel>(x[0], x[1], Groups(request), ElementCount(x, 2, x.size()),
                                     request.node.attributes.Float("epsilon", 1e-5f));
}
}  // namespace

void AddVectorNormalisation(KernelTable& table) {
  for (const std::string_view op : {"LayerNormalization", "RMSNormalization"}) {
    table.push_back({op, "", "vector.layer_norm", SupportsLayerNorm, nullptr, MakeLayerNorm});
  }
  for (const std::string_view op : {"GroupNormalization", "InstanceNormalization"}) {
    table.push_back({op, "", "vector.group_norm", SupportsGroupNorm, nullptr, MakeGroupNorm});
  }
}

}  // namespace asc
