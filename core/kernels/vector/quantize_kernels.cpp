// QuantizeLinear of float32 to integers of 8 and 16 bits, with one scale or one for each element of an axis, and
// DynamicQuantizeLinear.
#include <algorithm>
#include <vector>

#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/quantize.h"
#include "core/ops/broadcast_iterator.h"
#include "core/ops/dynamic_quantization.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
constexpr TypeSet kResults = {DataType::kInt8, DataType::kUInt8, DataType::kInt16,
                              DataType::kUInt16};
constexpr int64_t kShortestRow = 16;  // that is worth a call

// The data as rows of which each has one scale; null where scales change too often.
struct Rows {
  int64_t scales, length;  // row r has scale r % scales
};
std::optional<Rows> RowsOf(const KernelRequest& request) {
  const Dims &x = request.inputs[0].dims, &scale = request.inputs[1].dims;
  if (ElementCount(scale) == 1 && scale.size() <= 1) return Rows{1, ElementCount(x)};
  const AttributeMap& attributes = request.node.attributes;
  const auto rank = static_cast<int64_t>(x.size());
  int64_t axis = rank == 1 ? 0 : attributes.Int("axis", 1);
  if (axis < 0) axis += rank;
  if (attributes.Int("block_size", 0) != 0 || scale.size() != 1 || axis < 0 || axis >= rank ||
      x[static_cast<size_t>(axis)] != scale[0])
    return std::nullopt;
  const int64_t length = ElementCount(x, static_cast<size_t>(axis) + 1, x.size());
  if (length < kShortestRow) return std::nullopt;
  return Rows{scale[0], length};
}

class QuantizeKernel : public Kernel {
 public:
  explicit QuantizeKernel(Rows rows) : rows_(rows) {}
  Status Run(KernelContext& context) const override {
    const Tensor &x = context.input(0), &scale = context.input(1);
    const Tensor* zero = context.HasInput(2) ? &context.input(2) : nullptr;
    Tensor& y = context.output(0);
    // Parts of rows, so that one long row is split too.
    const int64_t parts = (rows_.length + kElementGrain - 1) / kElementGrain;
    const int64_t rows = x.size() / rows_.length;
    ParallelFor(rows * parts, std::max<int64_t>(1, kElementGrain / rows_.length),
                [&](int64_t begin, int64_t end) {
                  for (int64_t unit = begin; unit < end; ++unit) {
                    const int64_t row = unit / parts, from = unit % parts * kElementGrain,
                                  which = row % rows_.scales, at = row * rows_.length + from;
                    const double offset =
                        zero == nullptr ? 0 : ReadAsDouble(zero->dtype(), zero->raw(), which);
                    simd::QuantizeRow(x.data<float>() + at, scale.data<float>()[which],
                                      static_cast<float>(offset),
                                      std::min(kElementGrain, rows_.length - from), y.dtype(),
                                      static_cast<std::byte*>(y.raw()) +
                                          static_cast<size_t>(at) * ElementSize(y.dtype()));
                  }
                });
    return Ok();
  }
  std::string_view name() const override { return "vector:quantize"; }

 private:
  Rows rows_;
};

class DynamicQuantizeKernel : public Kernel {
 public:
  explicit DynamicQuantizeKernel(int64_t threads) : threads_(threads) {}
  Status Run(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    const float* values = x.data<float>();
    const int64_t parts = std::clamp<int64_t>(x.size() / kElementGrain, 1, threads_);
    std::vector<simd::Extremes> extremes(static_cast<size_t>(parts));
    ParallelFor(parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        const int64_t from = x.size() * part / parts;
        extremes[static_cast<size_t>(part)] =
            simd::ExtremesOf(values + from, x.size() * (part + 1) / parts - from);
      }
    });
    float low = 0, high = 0;
    for (const simd::Extremes& part : extremes) {
      low = std::min(low, part.low);
      high = std::max(high, part.high);
    }
    const auto [scale, zero] = FitRange(low, high);
    uint8_t* y = context.output(0).data<uint8_t>();
    ParallelFor(x.size(), kElementGrain, [&](int64_t begin, int64_t end) {
      simd::QuantizeRow(values + begin, scale, zero, end - begin, DataType::kUInt8, y + begin);
    });
    context.output(1).data<float>()[0] = scale;
    context.output(2).data<uint8_t>()[0] = zero;
    return Ok();
  }
  std::string_view name() const override { return "vector:dynamic_quantize"; }

 private:
  int64_t threads_;
};

bool SupportsQuantize(const KernelRequest& request) {
  const auto precision = request.node.attributes.Type("precision");
  const auto& in = request.inputs;
  const bool zero_fits =
      in.size() < 3 || !in[2].present || ElementCount(in[2].dims) == ElementCount(in[1].dims);
  return simd::IsPlainFloat(in[0]) && simd::IsPlainFloat(in[1]) && zero_fits &&
         ElementCount(in[0].dims) > 0 && kResults.Contains(request.outputs[0].dtype) &&
         simd::IsPlain(request.outputs[0]) &&
         precision.value_or(DataType::kFloat32) == DataType::kFloat32 &&
         RowsOf(request).has_value();
}
Result<std::unique_ptr<Kernel>> MakeQuantize(const KernelRequest& request) {
  return simd::Make<QuantizeKernel>(*RowsOf(request));
}

bool SupportsDynamic(const KernelRequest& request) {
  return simd::IsPlainFloat(request.inputs[0]) && simd::IsPlain(request.outputs[0]) &&
         ElementCount(request.inputs[0].dims) > 0;
}
Result<std::unique_ptr<Kernel>> MakeDynamic(const KernelRequest& request) {
  return simd::Make<DynamicQuantizeKernel>(request.threads);
}
}  // namespace

void AddVectorQuantize(KernelTable& table) {
  table.push_back({"DynamicQuantizeLinear", "", "vector.dynamic_quantize", SupportsDynamic, nullptr,
                   MakeDynamic});
  table.push_back(
      {"QuantizeLinear", "", "vector.quantize", SupportsQuantize, nullptr, MakeQuantize});
}

}  // namespace asc
