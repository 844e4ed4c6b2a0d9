// Resize of float32 images [N, C, rows, columns]: nearest and linear, plain or blocked.
#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/resize.h"
#include "core/ops/resize_axis.h"

namespace asc {
namespace {
constexpr int64_t kGrain = 1 << 14;

class ResizeKernel : public Kernel {
 public:
  ResizeKernel(bool linear, simd::ResizeTable rows, simd::ResizeTable columns, int64_t planes,
               int64_t c0, int threads)
      : linear_(linear),
        rows_(std::move(rows)),
        columns_(std::move(columns)),
        planes_(planes),
        c0_(c0),
        threads_(threads) {}

  Status Run(KernelContext& context) const override {
    const float* x = context.input(0).data<float>();
    float* y = context.output(0).data<float>();
    const int64_t in = rows_.input * columns_.input * c0_, row = columns_.output() * c0_,
                  out = rows_.output() * row;
    if (planes_ * out == 0) return Ok();
    const int64_t all = planes_ * rows_.output();
    const int64_t parts = std::clamp<int64_t>(all * row / kGrain, 1, threads_);
    // The parts are numbered, so that each has a line of its own.
    ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        float* line = linear_ && c0_ == 1
                          ? static_cast<float*>(context.planned_scratch()) + part * columns_.input
                          : nullptr;
        for (int64_t at = all * part / parts; at < all * (part + 1) / parts;) {
          const int64_t plane = at / rows_.output(), begin = at % rows_.output();
          const int64_t end = std::min(rows_.output(), begin + all * (part + 1) / parts - at);
          if (linear_) {
            simd::ResizeLinear(rows_, columns_, c0_, x + plane * in, y + plane * out, begin, end,
                               line);
          } else {
            simd::ResizeNearest(rows_, columns_, c0_, x + plane * in, y + plane * out, begin, end);
          }
          at += end - begin;
        }
      }
    });
    return Ok();
  }
  size_t scratch_bytes() const override {
    return linear_ && c0_ == 1 ? static_cast<size_t>(threads_ * columns_.input) * sizeof(float) : 0;
  }
  std::string_view name() const override {
    return linear_ ? "vector:resize_linear" : "vector:resize_nearest";
  }

 private:
  bool linear_;
  simd::ResizeTable rows_, columns_;
  int64_t planes_, c0_, threads_;
};

simd::ResizeTable NearestTable(const ResizeSpec& spec, const ResizeAxis& axis) {
  simd::ResizeTable table;
  table.input = axis.input;
  for (const int64_t index : NearestIndices(spec, axis))
    table.first.push_back(static_cast<int32_t>(index));
  const int64_t factor = axis.input == 0 ? 0 : axis.output / axis.input;
  bool repeats = factor > 0 && factor * axis.input == axis.output;
  for (int64_t i = 0; repeats && i < axis.output; ++i)
    repeats = table.first[static_cast<size_t>(i)] == i / factor;
  table.factor = repeats ? factor : 0;
  return table;
}

// nullopt where more than two inputs count.
std::optional<simd::ResizeTable> LinearTable(const ResizeSpec& spec, const ResizeAxis& axis) {
  simd::ResizeTable table;
  table.input = axis.input;
  if (axis.IsIdentity()) {
    for (int64_t i = 0; i < axis.output; ++i) table.first.push_back(static_cast<int32_t>(i));
    table.second = table.first;
    table.first_weight.assign(table.first.size(), 1.0f);
    table.second_weight.assign(table.first.size(), 0.0f);
    return table;
  }
  const ResizeTaps taps = InterpolationTaps(spec, axis);
  if (taps.taps != 2) return std::nullopt;
  for (size_t i = 0; i < static_cast<size_t>(axis.output); ++i) {
    table.first.push_back(static_cast<int32_t>(taps.indices[2 * i]));
    table.second.push_back(static_cast<int32_t>(taps.indices[2 * i + 1]));
    table.first_weight.push_back(static_cast<float>(taps.weights[2 * i]));
    table.second_weight.push_back(static_cast<float>(taps.weights[2 * i + 1]));
  }
  return table;
}

struct Tables {
  bool linear;
  simd::ResizeTable rows, columns;
};
std::optional<Tables> ReadTables(const KernelRequest& request) {
  const Dims &x = request.inputs[0].dims, &y = request.outputs[0].dims;
  const Result<ResizeSpec> spec = ReadResizeSpec(request.node.attributes);
  if (!spec.ok() || x.size() != 4 || x[0] != y[0] || x[1] != y[1]) return std::nullopt;
  if (spec->mode == ResizeMode::kCubic || spec->antialias ||
      spec->coordinates == ResizeCoordinates::kTfCropAndResize) {
    return std::nullopt;
  }
  if (std::max({x[2], x[3], y[2], y[3]}) > INT32_MAX) return std::nullopt;
  ResizeAxis axes[4];
  for (size_t i = 0; i < 4; ++i) {
    axes[i].input = x[i];
    axes[i].output = y[i];
    axes[i].scale = x[i] == 0 ? 1 : static_cast<double>(y[i]) / static_cast<double>(x[i]);
    axes[i].length = static_cast<double>(y[i]);
  }
  const auto given = [&](size_t i) {
    return i < request.inputs.size() && request.inputs[i].present &&
           ElementCount(request.inputs[i].dims) > 0;
  };
  if (given(2)) {
    const Tensor* scales = request.inputs[2].constant;
    if (scales == nullptr || scales->dtype() != DataType::kFloat32) return std::nullopt;
    std::vector<int64_t> named = request.node.attributes.Ints("axes", {0, 1, 2, 3});
    if (static_cast<int64_t>(named.size()) != scales->size()) return std::nullopt;
    for (size_t k = 0; k < named.size(); ++k) {
      const Result<int64_t> axis = NormalizeAxis(named[k], 4);
      if (!axis.ok()) return std::nullopt;
      axes[*axis].SetScale(scales->data<float>()[k]);
    }
  } else if (spec->aspect != ResizeAspect::kStretch) {
    return std::nullopt;  // the scales are not the quotients of the extents
  }
  if (!axes[0].IsIdentity() || !axes[1].IsIdentity()) return std::nullopt;
  if (spec->mode == ResizeMode::kNearest) {
    return Tables{false, NearestTable(*spec, axes[2]), NearestTable(*spec, axes[3])};
  }
  auto rows = LinearTable(*spec, axes[2]), columns = LinearTable(*spec, axes[3]);
  if (!rows || !columns) return std::nullopt;
  return Tables{true, std::move(*rows), std::move(*columns)};
}

bool Supports(const KernelRequest& request) {
  const OperandDesc &x = request.inputs[0], &y = request.outputs[0];
  if (!simd::IsFloat(x) || !simd::IsFloat(y) || x.layout != y.layout) return false;
  const bool blocked = simd::IsBlockedImage(x) && (x.layout.c0 == 8 || x.layout.c0 == 16);
  return (simd::IsPlain(x) || blocked) && ReadTables(request).has_value();
}

Result<std::unique_ptr<Kernel>> MakeResize(const KernelRequest& request) {
  const OperandDesc& x = request.inputs[0];
  const int64_t c0 = x.layout.c0, blocks = c0 == 0 ? x.dims[1] : (x.dims[1] + c0 - 1) / c0;
  Tables tables = *ReadTables(request);
  return simd::Make<ResizeKernel>(tables.linear, std::move(tables.rows), std::move(tables.columns),
                                  x.dims[0] * blocks, std::max<int64_t>(1, c0), request.threads);
}
}  // namespace

void AddVectorResize(KernelTable& table) {
  table.push_back({"Resize", "", "vector.resize", Supports, nullptr, MakeResize});
}

}  // namespace asc
