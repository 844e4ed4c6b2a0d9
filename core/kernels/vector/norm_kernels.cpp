// Normalisations of float32: LayerNormalization and RMSNormalization over the last axes,
// InstanceNormalization and GroupNormalization over the extents of channels, LpNormalization over
// the last axis, MeanVarianceNormalization.
#include <array>
#include <cmath>

#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/reduce.h"
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

// x / its norm along the last axis.
class LpNormKernel : public Kernel {
 public:
  LpNormKernel(simd::ReduceOp op, int64_t rows, int64_t length)
      : op_(op), rows_(rows), length_(length) {}

  Status Run(KernelContext& context) const override {
    const float* x = context.input(0).data<float>();
    float* y = context.output(0).data<float>();
    ParallelFor(rows_, std::max<int64_t>(1, kGrain / length_), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        NormaliseRow(x + row * length_, y + row * length_);
    });
    return Ok();
  }
  std::string_view name() const override { return "vector:lp_norm"; }

 private:
  void NormaliseRow(const float* x, float* y) const {
    float norm = 0;
    simd::ReduceRows(op_, x, &norm, 1, length_);
    // Elsewhere squares or the reciprocal leave the normal range, or there is no number.
    if (norm > 1e-15f && norm < 1e30f) {
      const float zero = 0, factor = 1 / norm;
      simd::CenterScaleRows(x, y, 1, length_, &zero, &factor, &zero);
      return;
    }
    double exact = 0;
    for (int64_t i = 0; i < length_; ++i) {
      const double size = std::fabs(static_cast<double>(x[i]));
      exact += op_ == simd::ReduceOp::kL1 ? size : size * size;
    }
    if (op_ == simd::ReduceOp::kL2) exact = std::sqrt(exact);
    for (int64_t i = 0; i < length_; ++i) y[i] = exact == 0 ? 0 : static_cast<float>(x[i] / exact);
  }

  simd::ReduceOp op_;
  int64_t rows_, length_;
};

bool SupportsLpNorm(const KernelRequest& request) {
  const Dims& x = request.inputs[0].dims;
  if (!simd::AllPlainFloat(request.inputs) || !simd::AllPlainFloat(request.outputs)) return false;
  return !x.empty() && x.back() > 0 && FirstAxis(request) == static_cast<int64_t>(x.size()) - 1;
}
Result<std::unique_ptr<Kernel>> MakeLpNorm(const KernelRequest& request) {
  const Dims& x = request.inputs[0].dims;
  const bool sizes = request.node.attributes.Int("p", 2) == 1;
  return simd::Make<LpNormKernel>(sizes ? simd::ReduceOp::kL1 : simd::ReduceOp::kL2,
                                  ElementCount(x, 0, x.size() - 1), x.back());
}

// MeanVarianceNormalization of [outer, kept, inner] over the first and the last.
class MeanVarianceKernel : public Kernel {
 public:
  MeanVarianceKernel(int64_t outer, int64_t kept, int64_t inner)
      : outer_(outer), kept_(kept), inner_(inner) {}

  Status Run(KernelContext& context) const override {
    const float* x = context.input(0).data<float>();
    float* y = context.output(0).data<float>();
    const float zero = 0;
    ParallelFor(kept_, std::max<int64_t>(1, kGrain / (outer_ * inner_)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) {
                    const auto [mean, factor] = CentreAndFactor(x + row * inner_);
                    for (int64_t i = 0; i < outer_; ++i) {
                      const int64_t at = (i * kept_ + row) * inner_;
                      simd::CenterScaleRows(x + at, y + at, 1, inner_, &mean, &factor, &zero);
                    }
                  }
                });
    return Ok();
  }
  std::string_view name() const override { return "vector:mean_variance"; }

 private:
  // The mean and 1 / the standard deviation of one of the kept.
  std::pair<float, float> CentreAndFactor(const float* x) const {
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < outer_; ++i) {
      const simd::Moments moments = simd::MomentsOf(x + i * kept_ * inner_, inner_);
      // What is added of the squared distance of the means follows from the pairwise update of
      // moments.
      const double off = moments.mean - mean, share = 1.0 / static_cast<double>(i + 1);
      mean += off * share;
      variance += (moments.variance - variance + off * off * (1 - share)) * share;
    }
    // A small deviation from a large mean, overflow and NaN: with all digits.
    if (!(variance > 1e-4 * mean * mean) || !std::isfinite(variance))
      ExactMoments(x, mean, variance);
    constexpr double kEpsilon = 1e-9;  // of the operator's definition; added to the deviation
    return {static_cast<float>(mean), static_cast<float>(1 / (std::sqrt(variance) + kEpsilon))};
  }
  void ExactMoments(const float* x, double& mean, double& variance) const {
    const auto average = [&](auto map) {
      double sum = 0;
      for (int64_t i = 0; i < outer_; ++i) {
        for (int64_t j = 0; j < inner_; ++j)
          sum += map(static_cast<double>(x[i * kept_ * inner_ + j]));
      }
      return sum / static_cast<double>(outer_ * inner_);
    };
    mean = average([](double v) { return v; });
    variance = average([&](double v) { return (v - mean) * (v - mean); });
  }

  int64_t outer_, kept_, inner_;
};

// [outer, kept, inner] of the axes; nullopt where they are not of that form.
std::optional<std::array<int64_t, 3>> MeanVarianceExtents(const KernelRequest& request) {
  const Dims& dims = request.inputs[0].dims;
  std::vector<bool> reduced(dims.size(), false);
  for (const int64_t axis : request.node.attributes.Ints("axes", {0, 2, 3})) {
    const Result<int64_t> normal = NormalizeAxis(axis, static_cast<int64_t>(dims.size()));
    if (!normal.ok()) return std::nullopt;
    reduced[static_cast<size_t>(*normal)] = true;
  }
  std::array<int64_t, 3> out{1, 1, 1};
  size_t part = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (part == 0 && !reduced[i]) part = 1;
    if (part == 1 && reduced[i]) part = 2;
    if (part == 2 && !reduced[i]) return std::nullopt;
    out[part] *= dims[i];
  }
  if (part == 0) std::swap(out[0], out[2]);
  return out;
}
bool SupportsMeanVariance(const KernelRequest& request) {
  if (!simd::AllPlainFloat(request.inputs) || !simd::AllPlainFloat(request.outputs)) return false;
  const auto extents = MeanVarianceExtents(request);
  constexpr int64_t kShort = 8;  // rows that are not worth vectors
  return extents && (*extents)[2] >= kShort && (*extents)[0] * (*extents)[1] > 0;
}
Result<std::unique_ptr<Kernel>> MakeMeanVariance(const KernelRequest& request) {
  const auto [outer, kept, inner] = *MeanVarianceExtents(request);
  return simd::Make<MeanVarianceKernel>(outer, kept, inner);
}
}  // namespace

void AddVectorNormalisation(KernelTable& table) {
  for (const std::string_view op : {"LayerNormalization", "RMSNormalization"}) {
    table.push_back({op, "", "vector.layer_norm", SupportsLayerNorm, nullptr, MakeLayerNorm});
  }
  for (const std::string_view op : {"GroupNormalization", "InstanceNormalization"}) {
    table.push_back({op, "", "vector.group_norm", SupportsGroupNorm, nullptr, MakeGroupNorm});
  }
  table.push_back({"LpNormalization", "", "vector.lp_norm", SupportsLpNorm, nullptr, MakeLpNorm});
  table.push_back({"MeanVarianceNormalization", "", "vector.mean_variance", SupportsMeanVariance,
                   nullptr, MakeMeanVariance});
}

}  // namespace asc
