// GridSample: reads an image at positions that a grid gives, with interpolation.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>

#include "core/base/parallel.h"
#include "core/ops/bilinear_cells.h"
#include "core/ops/families.h"
#include "core/ops/shape_facts.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
constexpr size_t kMostAxes =
    6;  // spatial ones: cubic interpolation reads 4^axes elements a position

enum class Mode { kNearest, kLinear, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

struct Sampling {
  Mode mode;
  Padding padding;
  bool align_corners;
};

Result<Sampling> ReadSampling(const AttributeMap& attributes) {
  const std::string mode = attributes.String("mode", "linear"),
                    padding = attributes.String("padding_mode", "zeros");
  Sampling out{Mode::kLinear, Padding::kZeros, attributes.Int("align_corners", 0) != 0};
  if (mode == "nearest") {
    out.mode = Mode::kNearest;
  } else if (mode == "cubic") {
    out.mode = Mode::kCubic;
  } else if (mode != "linear") {
    return InvalidArgument("GridSample mode '", mode,
                           "' is not known: expected linear, nearest or cubic");
  }
  if (padding == "border") {
    out.padding = Padding::kBorder;
  } else if (padding == "reflection") {
    out.padding = Padding::kReflection;
  } else if (padding != "zeros") {
    return InvalidArgument("GridSample padding_mode '", padding,
                           "' is not known: expected zeros, border or reflection");
  }
  return out;
}

Status InferGridSample(InferContext& context) {
  const Shape &x = context.shape(0), &grid = context.shape(1);
  ASC_ASSIGN_OR_RETURN(const Sampling sampling, ReadSampling(context.attributes()));
  if (context.dtype(0) == DataType::kString && sampling.mode != Mode::kNearest) {
    return TypeError("GridSample cannot interpolate strings")
        .WithHint("mode 'nearest' takes them as they are");
  }
  const Shape& ranked = x.has_rank() ? x : grid;
  if (!ranked.has_rank()) {
    context.SetOutput(0, context.dtype(0));
    return Ok();
  }
  if (ranked.rank() < 3 || ranked.rank() > kMostAxes + 2 ||
      (x.has_rank() && grid.has_rank() && x.rank() != grid.rank())) {
    return ShapeError("GridSample needs X of shape [N, C, D1, ...] with 1 to ", kMostAxes,
                      " spatial axes and a grid [N, D1_out, ..., axes], given ", x, " and ", grid);
  }
  Shape out = Shape::UnknownDims(ranked.rank());
  if (x.has_rank()) {
    out[0] = x[0];
    out[1] = x[1];
  }
  if (grid.has_rank()) {
    const Dim& width = grid[grid.rank() - 1];
    if (width.is_constant() && !width.IsConstant(static_cast<int64_t>(grid.rank()) - 2)) {
      return ShapeError("GridSample grid of shape ", grid, " must have ", grid.rank() - 2,
                        " coordinates a position");
    }
    if (x.has_rank() && x[0].is_constant() && grid[0].is_constant() && !(x[0] == grid[0])) {
      return ShapeError("GridSample needs one batch size, given shapes ", x, " and ", grid);
    }
    for (size_t i = 2; i < out.rank(); ++i) out[i] = grid[i - 1];
  }
  context.SetOutput(0, context.dtype(0), std::move(out));
  return CheckSize(context, 0);
}

// Reflects x into [low, high] as often as it takes.
template <typename C>
C Reflect(C x, C low, C high) {
  const C range = high - low;
  if (range <= 0) return low;
  const bool below = x < low;
  if (!below && x <= high) return x;
  const C distance = below ? low - x : x - high;
  const C turns = std::floor(distance / range), rest = distance - turns * range;
  const bool from_near = std::fmod(turns, C(2)) == 0;
  return below == from_near ? low + rest : high - rest;
}

// The elements along one axis that a position reads, -1 for padding, and their weights.
template <typename C>
struct Taps {
  int count = 0;
  std::array<int64_t, 4> index;
  std::array<C, 4> weight;
};

// Keys, "Cubic convolution interpolation for digital image processing", 1981, with a = -0.75.
template <typename C>
std::array<C, 4> CubicWeights(C t) {
  constexpr C a = C(-0.75);
  const auto far = [](C x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  const auto near = [](C x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

template <typename C>
Taps<C> TapsOf(C normalized, int64_t extent, const Sampling& sampling) {
  const C size = static_cast<C>(extent);
  C x = sampling.align_corners ? (normalized + 1) / 2 * (size - 1)
                               : ((normalized + 1) * size - 1) / 2;
  if (sampling.mode == Mode::kNearest) x = std::nearbyint(x);
  const C low = sampling.align_corners ? C(0) : C(-0.5),
          high = sampling.align_corners ? size - 1 : size - C(0.5);
  // Far positions all look alike, and the conversion to integers stays defined. Infinity over an extent of one is no number.
  constexpr C kFar = C(int64_t{1} << 40);
  x = x == x ? std::clamp(x, -kFar, kFar) : -kFar;
  if (sampling.padding == Padding::kBorder) x = std::clamp(x, C(0), size - 1);
  if (sampling.padding == Padding::kReflection) x = Reflect(x, low, high);
  const C floor = std::floor(x);
  Taps<C> taps;
  int64_t first = static_cast<int64_t>(floor);
  if (sampling.mode == Mode::kNearest) {
    first = static_cast<int64_t>(x);
    taps.count = 1;
    taps.weight[0] = 1;
  } else if (sampling.mode == Mode::kLinear) {
    taps.count = 2;
    taps.weight = {1 - (x - floor), x - floor, 0, 0};
  } else {
    --first;
    taps.count = 4;
    taps.weight = CubicWeights(x - floor);
  }
  for (int k = 0; k < taps.count; ++k) {
    int64_t index = first + k;
    if (index < 0 || index >= extent) {
      switch (sampling.padding) {
        case Padding::kZeros:
          index = -1;
          break;
        case Padding::kBorder:
          index = std::clamp<int64_t>(index, 0, extent - 1);
          break;
        case Padding::kReflection:
          index = std::clamp<int64_t>(
              static_cast<int64_t>(Reflect(static_cast<C>(index), low, high)), 0, extent - 1);
          break;
      }
    }
    taps.index[static_cast<size_t>(k)] = index;
  }
  return taps;
}

template <typename C>
struct Weighted {
  int64_t offset;
  C weight;
};

// All elements of one channel that a position reads. `grid` holds the last axis' coordinate first.
template <typename C>
void Gather(const std::array<C, kMostAxes>& position, const Dims& dims, const Sampling& sampling,
            std::vector<Weighted<C>>& out) {
  out.assign(1, {0, C(1)});
  std::vector<Weighted<C>> next;
  const size_t axes = dims.size() - 2;
  for (size_t axis = 0; axis < axes; ++axis) {
    const int64_t extent = dims[axis + 2];
    const Taps<C> taps = TapsOf(position[axes - 1 - axis], extent, sampling);
    next.clear();
    for (const Weighted<C>& element : out) {
      for (size_t k = 0; k < static_cast<size_t>(taps.count); ++k) {
        if (taps.index[k] >= 0)
          next.push_back(
              {element.offset * extent + taps.index[k], element.weight * taps.weight[k]});
      }
    }
    out.swap(next);
  }
}

// What a sum of T is kept in, and how it becomes a T.
template <typename T>
struct SumOf {
  using Type = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float,
                                  std::conditional_t<std::is_integral_v<T>, double, T>>;
};

template <typename T, typename S>
T Finish(S sum) {
  if constexpr (std::is_same_v<T, bool>) {
    return sum != 0;
  } else if constexpr (std::is_integral_v<T>) {
    // Cubic interpolation overshoots: the ends of the type hold.
    constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
    constexpr double kHigh = static_cast<double>(std::numeric_limits<T>::max());
    if (!(sum > kLow)) return std::numeric_limits<T>::min();
    return sum >= kHigh ? std::numeric_limits<T>::max() : static_cast<T>(sum);
  } else {
    return T(sum);
  }
}

template <typename T, typename C>
void WriteOne(const T* x, const std::vector<Weighted<C>>& elements, bool nearest, T& out) {
  if (nearest) {
    out = elements.empty() ? T{} : x[elements[0].offset];
  } else if constexpr (!std::is_same_v<T, std::string>) {
    using S = typename SumOf<T>::Type;
    S sum{};
    for (const Weighted<C>& element : elements) {
      if constexpr (std::is_same_v<S, std::complex<float>>) {
        sum += x[element.offset] * static_cast<float>(element.weight);
      } else if constexpr (std::is_same_v<S, std::complex<double>>) {
        sum += x[element.offset] * static_cast<double>(element.weight);
      } else {
        sum += static_cast<S>(x[element.offset]) * static_cast<S>(element.weight);
      }
    }
    out = Finish<T>(sum);
  }
}

// A position that is no number reads as NaN where the type has it, else as zero.
template <typename T>
T NotANumber() {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return std::numeric_limits<T>::quiet_NaN();
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(std::numeric_limits<float>::quiet_NaN());
  } else {
    return T{};
  }
}

// One result for each of `channels` planes of x, `y_plane` elements apart.
template <typename T, typename C>
void SamplePosition(const std::array<C, kMostAxes>& position, const Dims& dims,
                    const Sampling& sampling, const T* x, T* y, int64_t y_plane,
                    std::vector<Weighted<C>>& elements) {
  const auto axes = dims.size() - 2;
  const int64_t channels = dims[1], plane = ElementCount(dims, 2, dims.size());
  const bool number = std::none_of(position.begin(), position.begin() + axes,
                                   [](C coordinate) { return coordinate != coordinate; });
  if (number && plane > 0) Gather(position, dims, sampling, elements);
  for (int64_t channel = 0; channel < channels; ++channel) {
    T& out = y[channel * y_plane];
    if (number && plane > 0) {
      WriteOne(x + channel * plane, elements, sampling.mode == Mode::kNearest, out);
    } else {
      out = number ? T{} : NotANumber<T>();
    }
  }
}

// Linear in images of two axes: blocks of positions whose cells all channels share; positions without a whole cell, at the edges
// or no numbers, go their own way.
template <typename A>
void SampleBilinear(const Tensor& input, const Tensor& grid, Tensor& output,
                    const Sampling& sampling) {
  constexpr int64_t kBlock = 64;
  const Dims& dims = input.dims();
  const int64_t channels = dims[1], height = dims[2], width = dims[3], plane = height * width;
  const int64_t positions = ElementCount(output.dims(), 2, 4),
                blocks = (positions + kBlock - 1) / kBlock;
  ParallelFor(dims[0] * blocks, 4, [&](int64_t begin, int64_t end) {
    std::vector<Weighted<A>> elements;
    BilinearCell<A> cells[kBlock];
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t batch = unit / blocks, first = unit % blocks * kBlock;
      const A* x = input.data<A>() + batch * channels * plane;
      A* y = output.data<A>() + batch * channels * positions;
      int64_t count = 0;
      for (int64_t at = first; at < std::min(first + kBlock, positions); ++at) {
        const A* place = grid.data<A>() + (batch * positions + at) * 2;
        if (place[0] == place[0] && place[1] == place[1]) {
          const Taps<A> row = TapsOf(place[1], height, sampling),
                        column = TapsOf(place[0], width, sampling);
          if (row.index[0] >= 0 && row.index[1] == row.index[0] + 1 && column.index[0] >= 0 &&
              column.index[1] == column.index[0] + 1) {
            BilinearCell<A>& cell = cells[count++];
            cell.at = row.index[0] * width + column.index[0];
            for (size_t k = 0; k < 4; ++k)
              cell.weight[k] = row.weight[k / 2] * column.weight[k % 2];
            cell.factor = A(1);
            cell.to = at;
            continue;
          }
        }
        std::array<A, kMostAxes> position{place[0], place[1]};
        SamplePosition(position, dims, sampling, x, y + at, positions, elements);
      }
      ReadCells(cells, count, channels, x, plane, width, y, positions);
    }
  });
}

template <typename T, typename C>
void Sample(const Tensor& input, const Tensor& grid, Tensor& output, const Sampling& sampling) {
  const Dims& dims = input.dims();
  const auto axes = static_cast<int64_t>(dims.size()) - 2;
  const int64_t channels = dims[1], plane = ElementCount(dims, 2, dims.size());
  const int64_t positions = ElementCount(output.dims(), 2, output.rank());
  const T* x = input.data<T>();
  T* y = output.data<T>();
  ParallelFor(dims[0] * positions, 256, [&](int64_t begin, int64_t end) {
    std::vector<Weighted<C>> elements;
    for (int64_t i = begin; i < end; ++i) {
      std::array<C, kMostAxes> position{};
      for (int64_t k = 0; k < axes; ++k) {
        position[static_cast<size_t>(k)] =
            static_cast<C>(ReadAsDouble(grid.dtype(), grid.raw(), i * axes + k));
      }
      const int64_t batch = i / positions, at = i % positions;
      SamplePosition(position, dims, sampling, x + batch * channels * plane,
                     y + batch * channels * positions + at, positions, elements);
    }
  });
}

Status GridSample(KernelContext& context) {
  const Tensor &x = context.input(0), &grid = context.input(1);
  ASC_ASSIGN_OR_RETURN(const Sampling sampling, ReadSampling(context.attributes()));
  if (sampling.padding != Padding::kZeros && x.size() == 0 && context.output(0).size() > 0) {
    return ShapeError("GridSample has no elements to repeat in an input of shape ", x.dims());
  }
  VisitType<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
            uint32_t, uint64_t, bool, std::string, std::complex<float>, std::complex<double>>(
      x.dtype(), [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
          if (sampling.mode == Mode::kLinear && grid.dtype() == x.dtype() && x.rank() == 4 &&
              x.size() > 0) {
            return SampleBilinear<T>(x, grid, context.output(0), sampling);
          }
        }
        if (grid.dtype() == DataType::kFloat64) {
          Sample<T, double>(x, grid, context.output(0), sampling);
        } else {
          Sample<T, float>(x, grid, context.output(0), sampling);
        }
      });
  return Ok();
}
}  // namespace

void AddGridSampleOps(OpTable& table) {
  table.Add("GridSample", 22)
      .Doc(
          "reads X [N, C, D1, ...] at the positions of a grid [N, D1_out, ..., axes], from -1 to 1 "
          "on each axis")
      .Input("X", "T1")
      .Input("grid", "T2")
      .Output("Y", "T1")
      .Types("T1", types::kNumeric | types::kBool | types::kString | types::kComplex)
      .Types("T2", types::kFloats)
      .Attr("mode", std::string("linear"), "", "linear, nearest or cubic")
      .Attr("padding_mode", std::string("zeros"), "", "zeros, border or reflection")
      .Attr("align_corners", int64_t{0}, "",
            "1: -1 and 1 are the centres of the outer elements; 0: their outer edges")
      .Infer(InferGridSample)
      .Kernel(GridSample);
}

}  // namespace asc
