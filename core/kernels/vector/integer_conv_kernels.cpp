// ConvInteger and QLinearConv: products of packed filters with panels of pixels that are gathered from a padded image. Where each
// filter reads one channel there is nothing to share between filters: those go row by row over an image of floats.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/integer_product.h"
#include "core/ops/window.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
constexpr int64_t kGrain = 1 << 17;  // products that a thread should get at least

struct Places {
  size_t x, x_zero, w, w_zero;
};
constexpr Places kInteger{0, 2, 1, 3}, kLinear{0, 2, 3, 5};
enum LinearInput : size_t { kXScale = 1, kWScale = 4, kYScale = 6, kYZero = 7, kBias = 8 };

bool IsLinear(const Node& node) { return node.schema->name == "QLinearConv"; }
Places PlacesOf(const Node& node) { return IsLinear(node) ? kLinear : kInteger; }

bool Supports(const KernelRequest& request) {
  const Places at = PlacesOf(request.node);
  return simd::IsPlain(request.inputs[at.x]) && simd::IsPlain(request.outputs[0]) &&
         ElementCount(request.inputs[at.x].dims) > 0 && ElementCount(request.outputs[0].dims) > 0 &&
         ElementCount(request.inputs[at.w].dims) > 0;
}

std::vector<int32_t> Zeros(KernelContext& context, size_t i) {
  if (!context.HasInput(i)) return {0};
  const Tensor& zero = context.input(i);
  std::vector<int32_t> out;
  for (int64_t k = 0; k < zero.size(); ++k)
    out.push_back(static_cast<int32_t>(ReadAsInt64(zero.dtype(), zero.raw(), k)));
  return out;
}

class IntegerConv : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> Create(const KernelRequest& request) {
    auto kernel = std::make_unique<IntegerConv>();
    ASC_RETURN_IF_ERROR(kernel->Prepare(request));
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  Status Run(KernelContext& context) const override {
    // The image comes behind all that is read in pairs: its size may be odd.
    auto* sums = static_cast<int32_t*>(context.planned_scratch());
    auto* filters = reinterpret_cast<int16_t*>(sums + sum_count());
    int16_t* rooms = filters + left_total();
    int16_t* image = rooms + threads_ * simd::PanelSize(depth());
    auto* bytes = reinterpret_cast<std::byte*>(image + image_size());
    const Tensor &x = context.input(at_.x), &w = context.input(at_.w);
    const std::vector<int32_t> x_zeros = Zeros(context, at_.x_zero),
                               w_zeros = Zeros(context, at_.w_zero);
    const int64_t zero_step = w_zeros.size() == 1 ? 0 : 1;
    const simd::IntegerOperand pixels{x.raw(), x.dtype() == DataType::kInt8, x_zeros.data(), 0};
    if (by_channel_) {
      for (int64_t n = 0; n < batch_; ++n) {
        ConvolveChannels(pixels, w, w_zeros, n, sums, reinterpret_cast<float*>(filters));
        Store(context, n, sums, reinterpret_cast<std::byte*>(filters) + ChannelRooms());
      }
      return Ok();
    }
    for (int64_t g = 0; g < groups_; ++g) {
      const int64_t first = g * filters_;
      simd::PackLeft({static_cast<const std::byte*>(w.raw()) + first * depth(),
                      w.dtype() == DataType::kInt8, w_zeros.data() + first * zero_step, zero_step},
                     filters_, depth(), filters + g * simd::LeftSize(filters_, depth()));
    }
    simd::FillImage(pixels, image_size(), image);
    for (int64_t n = 0; n < batch_; ++n) {
      CopyImage(pixels, n, image);
      Multiply(pixels, filters, image, rooms, sums);
      Store(context, n, sums, bytes);
    }
    return Ok();
  }

  size_t scratch_bytes() const override {
    const auto results = static_cast<size_t>(sum_count()) * (sizeof(int32_t) + 1);
    if (by_channel_) return results + ChannelRooms();
    return static_cast<size_t>(left_total() + image_size() + threads_ * simd::PanelSize(depth())) *
               sizeof(int16_t) +
           results;
  }
  std::string_view name() const override { return "vector:integer_conv"; }

 private:
  Status Prepare(const KernelRequest& request) {
    at_ = PlacesOf(request.node);
    linear_ = IsLinear(request.node);
    threads_ = request.threads;
    const Dims &x = request.inputs[at_.x].dims, &w = request.inputs[at_.w].dims;
    const std::vector<int64_t> kernel(w.begin() + 2, w.end());
    ASC_ASSIGN_OR_RETURN(
        const WindowSpec spec,
        ReadWindow(request.node.schema->name, request.node.attributes, kernel, kernel.size()));
    ASC_ASSIGN_OR_RETURN(
        axes_, ResolveWindow(request.node.schema->name, spec, Dims(x.begin() + 2, x.end())));
    batch_ = x[0];
    channels_ = w[1];
    groups_ = request.node.attributes.Int("group", 1);
    filters_ = w[0] / groups_;
    // The padded image, row-major.
    strides_.assign(axes_.size(), 1);
    for (size_t i = axes_.size(); i-- > 0;) {
      strides_[i] = plane_;
      const WindowAxis& axis = axes_[i];
      plane_ *= std::max(axis.input + axis.pad_begin + axis.pad_end,
                         (axis.output - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1);
    }
    for (int64_t c = 0; c < channels_; ++c) AddTaps(0, c * plane_);
    AddStarts(0, 0);
    // Windows next to each other: what lies between the rows of the result is computed too and left out at the end.
    const bool dense = std::all_of(axes_.begin(), axes_.end(),
                                   [](const WindowAxis& axis) { return axis.stride == 1; });
    pixels_ = dense ? starts_.back() + 1 : static_cast<int64_t>(starts_.size());
    dense_ = dense && pixels_ <= 2 * static_cast<int64_t>(starts_.size());
    if (!dense_) pixels_ = static_cast<int64_t>(starts_.size());
    by_channel_ = channels_ == 1 && depth() <= simd::kMostExactTaps;
    return Ok();
  }
  void AddTaps(size_t axis, int64_t offset) {
    if (axis == axes_.size()) return taps_.push_back(offset);
    for (int64_t k = 0; k < axes_[axis].kernel; ++k)
      AddTaps(axis + 1, offset + k * axes_[axis].dilation * strides_[axis]);
  }
  void AddStarts(size_t axis, int64_t offset) {
    if (axis == axes_.size()) return starts_.push_back(offset);
    for (int64_t o = 0; o < axes_[axis].output; ++o)
      AddStarts(axis + 1, offset + o * axes_[axis].stride * strides_[axis]);
  }

  int64_t depth() const { return static_cast<int64_t>(taps_.size()); }
  int64_t sum_count() const { return groups_ * filters_ * pixels_; }
  int64_t left_total() const { return groups_ * simd::LeftSize(filters_, depth()); }
  // The last panel may read past the last plane.
  int64_t image_size() const { return groups_ * channels_ * plane_ + 2 * simd::kProductColumns; }
  int64_t panels() const { return (pixels_ + simd::kProductColumns - 1) / simd::kProductColumns; }

  // Where row number `row` of a channel stands in its padded plane.
  int64_t RowOffset(int64_t row) const {
    int64_t offset = axes_.back().pad_begin;
    for (size_t i = axes_.size() - 1; i-- > 0; row /= axes_[i].input)
      offset += (axes_[i].pad_begin + row % axes_[i].input) * strides_[i];
    return offset;
  }

  // What each thread needs where filters read one channel: its plane, the weights of a filter, and sums of
  // windows that are next to each other.
  int64_t Span() const {
    const WindowAxis& axis = axes_.back();
    return dense_ ? pixels_ : (axis.output - 1) * axis.stride + 1;
  }
  int64_t ChannelRoom() const { return plane_ + depth() + Span(); }
  size_t ChannelRooms() const {
    return static_cast<size_t>(threads_ * ChannelRoom()) * sizeof(float);
  }
  void ConvolveChannels(const simd::IntegerOperand& x, const Tensor& w,
                        const std::vector<int32_t>& w_zeros, int64_t n, int32_t* sums,
                        float* rooms) const {
    const int64_t width = axes_.back().input, rows = PlaneRows(), stride = axes_.back().stride,
                  out_width = axes_.back().output;
    const int64_t parts = std::clamp<int64_t>(groups_ * filters_ * pixels_ * depth() / kGrain, 1,
                                              std::min<int64_t>(threads_, groups_));
    ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        float* plane = rooms + part * ChannelRoom();
        float* weights = plane + plane_;
        auto* span = reinterpret_cast<int32_t*>(weights + depth());
        std::fill_n(plane, plane_, 0.0f);
        for (int64_t g = groups_ * part / parts; g < groups_ * (part + 1) / parts; ++g) {
          const auto* from =
              static_cast<const std::byte*>(x.data) + (n * groups_ + g) * rows * width;
          for (int64_t row = 0; row < rows; ++row) {
            simd::WidenRow({from + row * width, x.is_signed, x.zeros, 0}, width,
                           plane + RowOffset(row));
          }
          for (int64_t f = g * filters_; f < (g + 1) * filters_; ++f) {
            const int32_t* zero = w_zeros.data() + (w_zeros.size() == 1 ? 0 : f);
            simd::WidenRow({static_cast<const std::byte*>(w.raw()) + f * depth(),
                            w.dtype() == DataType::kInt8, zero, 0},
                           depth(), weights);
            int32_t* to = sums + f * pixels_;
            if (dense_) {
              simd::ConvolveRow(plane, taps_.data(), weights, depth(), pixels_, to);
              continue;
            }
            for (int64_t at = 0; at < pixels_; at += out_width) {
              simd::ConvolveRow(plane + starts_[static_cast<size_t>(at)], taps_.data(), weights,
                                depth(), Span(), span);
              for (int64_t j = 0; j < out_width; ++j) to[at + j] = span[j * stride];
            }
          }
        }
      }
    });
  }

  int64_t PlaneRows() const {
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < axes_.size(); ++i) rows *= axes_[i].input;
    return rows;
  }

  // The rows of the image number n into the padded one.
  void CopyImage(const simd::IntegerOperand& x, int64_t n, int16_t* image) const {
    const int64_t width = axes_.back().input, all = groups_ * channels_;
    const int64_t rows = PlaneRows();
    const auto* from = static_cast<const std::byte*>(x.data) + n * all * rows * width;
    ParallelFor(all, std::max<int64_t>(1, (1 << 14) / (rows * width)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t c = begin; c < end; ++c) {
                    for (int64_t row = 0; row < rows; ++row) {
                      simd::StoreImage({from + (c * rows + row) * width, x.is_signed, x.zeros, 0},
                                       width, image, c * plane_ + RowOffset(row));
                    }
                  }
                });
  }

  void Multiply(const simd::IntegerOperand& x, const int16_t* filters, const int16_t* image,
                int16_t* rooms, int32_t* sums) const {
    const int64_t tasks = groups_ * panels(), left = simd::LeftSize(filters_, depth());
    const int64_t parts = std::clamp<int64_t>(groups_ * filters_ * pixels_ * depth() / kGrain, 1,
                                              std::min<int64_t>(threads_, tasks));
    ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        int16_t* panel = rooms + part * simd::PanelSize(depth());
        for (int64_t task = tasks * part / parts; task < tasks * (part + 1) / parts; ++task) {
          const int64_t group = task / panels(), pixel = task % panels() * simd::kProductColumns;
          const int64_t columns = std::min(simd::kProductColumns, pixels_ - pixel);
          const int64_t plane = group * channels_ * plane_;
          if (dense_) {
            simd::PackPixels(x, image, taps_.data(), depth(), plane + pixel, nullptr, panel);
          } else {
            int64_t starts[simd::kProductColumns] = {};
            std::copy_n(starts_.data() + pixel, columns, starts);
            simd::PackPixels(x, image, taps_.data(), depth(), plane, starts, panel);
          }
          simd::MultiplyPanel(filters + group * left, filters_, depth(), panel, columns,
                              sums + group * filters_ * pixels_ + pixel, pixels_);
        }
      }
    });
  }

  // Whole planes are rounded at once, with what lies between their rows.
  void Store(KernelContext& context, int64_t n, const int32_t* sums, std::byte* bytes) const {
    Tensor& y = context.output(0);
    const int64_t width = axes_.back().output, rows = static_cast<int64_t>(starts_.size()) / width,
                  all = groups_ * filters_;
    const auto size = linear_ ? sizeof(uint8_t) : sizeof(int32_t);
    auto* to = static_cast<std::byte*>(y.raw());
    ParallelFor(all, std::max<int64_t>(1, (1 << 14) / (rows * width)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t f = begin; f < end; ++f) {
                    const auto* plane = reinterpret_cast<const std::byte*>(sums + f * pixels_);
                    if (linear_) {
                      simd::RequantizeRow(Rounding(context, f), sums + f * pixels_, pixels_,
                                          bytes + f * pixels_);
                      plane = bytes + f * pixels_;
                    }
                    for (int64_t row = 0; row < rows; ++row) {
                      const int64_t start =
                          dense_ ? starts_[static_cast<size_t>(row * width)] : row * width;
                      const int64_t at = ((n * all + f) * rows + row) * width;
                      std::memcpy(to + static_cast<size_t>(at) * size,
                                  plane + static_cast<size_t>(start) * size,
                                  static_cast<size_t>(width) * size);
                    }
                  }
                });
  }

  simd::Requantize Rounding(KernelContext& context, int64_t filter) const {
    const Tensor &w_scale = context.input(kWScale), &zero = context.input(kYZero);
    simd::Requantize how{};
    how.scale = context.input(kXScale).data<float>()[0] *
                w_scale.data<float>()[w_scale.size() == 1 ? 0 : filter] /
                context.input(kYScale).data<float>()[0];
    if (context.HasInput(kBias)) how.bias = context.input(kBias).data<int32_t>()[filter];
    how.zero = static_cast<float>(ReadAsInt64(zero.dtype(), zero.raw(), 0));
    how.is_signed = context.output(0).dtype() == DataType::kInt8;
    return how;
  }

  Places at_{};
  bool linear_ = false, dense_ = false, by_channel_ = false;
  int64_t batch_ = 0, groups_ = 1, channels_ = 0, filters_ = 0, plane_ = 1, pixels_ = 0,
          threads_ = 1;
  std::vector<WindowAxis> axes_;
  std::vector<int64_t> strides_, taps_,
      starts_;  // into the padded image; starts_ of the windows in row-major order
};
}  // namespace

void AddIntegerConvolutions(KernelTable& table) {
  table.push_back(
      {"ConvInteger", "", "vector.integer_conv", Supports, nullptr, IntegerConv::Create});
  table.push_back(
      {"QLinearConv", "", "vector.integer_conv", Supports, nullptr, IntegerConv::Create});
}

}  // namespace asc
