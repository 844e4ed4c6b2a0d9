// RoiAlign and MaxRoiPool: regions of images pooled to a fixed size.
#include <cmath>

#include "core/ops/compute_buffer.h"
#include "core/ops/families.h"

namespace asc {
namespace {
constexpr int64_t kMostExtent = int64_t{1} << 20;  // of one pooled axis
constexpr double kMostSamples = 1 << 20;           // along one axis of one bin

Status CheckImages(const InferContext& context) {
  const Shape& x = context.shape(0);
  if (!x.has_rank() || x.rank() == 4) return Ok();
  return ShapeError(context.schema().FullName(), " needs images [N, C, H, W], given ", x);
}

Status CheckRegions(const InferContext& context, int64_t columns) {
  const Shape& rois = context.shape(1);
  if (!rois.has_rank()) return Ok();
  if (rois.rank() == 2 && (!rois[1].is_constant() || rois[1] == Dim(columns))) return Ok();
  return ShapeError(context.schema().FullName(), " needs regions [count, ", columns, "], given ",
                    rois);
}

Shape PooledShape(const InferContext& context, int64_t height, int64_t width) {
  const Shape& x = context.shape(0);
  const Shape& rois = context.shape(1);
  return Shape(std::vector<Dim>{rois.has_rank() ? rois[0] : Dim::Unknown(),
                                x.has_rank() ? x[1] : Dim::Unknown(), Dim(height), Dim(width)});
}

Status CheckPooled(const OpSchema& schema, int64_t height, int64_t width) {
  if (std::min(height, width) >= 1 && std::max(height, width) <= kMostExtent) return Ok();
  return InvalidArgument(schema.FullName(), " needs pooled extents from 1 to ", kMostExtent,
                         ", given ", height, " and ", width);
}

Status InferRoiAlign(InferContext& context) {
  const AttributeMap& attributes = context.attributes();
  const std::string mode = attributes.String("mode", "avg"),
                    coordinates = attributes.String("coordinate_transformation_mode", "half_pixel");
  if (mode != "avg" && mode != "max")
    return InvalidArgument("RoiAlign has mode avg or max, given '", mode, "'");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel") {
    return InvalidArgument(
        "RoiAlign has coordinate_transformation_mode half_pixel or output_half_pixel, given '",
        coordinates, "'");
  }
  if (attributes.Int("sampling_ratio", 0) < 0) {
    return InvalidArgument("RoiAlign needs sampling_ratio >= 0, given ",
                           attributes.Int("sampling_ratio", 0));
  }
  const int64_t height = attributes.Int("output_height", 1),
                width = attributes.Int("output_width", 1);
  ASC_RETURN_IF_ERROR(CheckPooled(context.schema(), height, width));
  ASC_RETURN_IF_ERROR(CheckImages(context));
  ASC_RETURN_IF_ERROR(CheckRegions(context, 4));
  const Shape& indices = context.shape(2);
  const Shape& rois = context.shape(1);
  if (indices.has_rank() &&
      (indices.rank() != 1 || (rois.has_rank() && rois[0].is_constant() &&
                               indices[0].is_constant() && rois[0] != indices[0]))) {
    return ShapeError("RoiAlign needs one batch index a region, given ", indices, " for regions ",
                      rois);
  }
  context.SetOutput(0, context.dtype(0), PooledShape(context, height, width));
  return Ok();
}

// Where one sample reads: four neighbours and their weights; all weights 0 outside the image.
struct Sample {
  int64_t at[4] = {0, 0, 0, 0};
  double weight[4] = {0, 0, 0, 0};
};

// The two pixels along one axis that a place lies between, and how far it is from the lower one.
struct AxisSample {
  bool inside;
  int64_t low, high;
  double part;
};

AxisSample AxisSampleAt(double place, int64_t extent) {
  if (!(place >= -1 && place <= static_cast<double>(extent))) return {false, 0, 0, 0};
  place = std::max(place, 0.0);
  const int64_t low = std::min(static_cast<int64_t>(place), extent - 1);
  return {true, low, std::min(low + 1, extent - 1),
          low == extent - 1 ? 0.0 : place - static_cast<double>(low)};
}

Sample BilinearSample(double y, double x, int64_t height, int64_t width) {
  Sample out;
  const AxisSample row = AxisSampleAt(y, height), column = AxisSampleAt(x, width);
  if (!row.inside || !column.inside) return out;
  const int64_t rows[] = {row.low, row.low, row.high, row.high},
                columns[] = {column.low, column.high, column.low, column.high};
  const double fy = row.part, fx = column.part,
               weights[] = {(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx};
  for (int i = 0; i < 4; ++i) {
    out.at[i] = rows[i] * width + columns[i];
    out.weight[i] = weights[i];
  }
  return out;
}

struct Grid {
  double start, bin;
  int64_t samples;

  double Place(int64_t cell, int64_t sample) const {
    return start + static_cast<double>(cell) * bin +
           (static_cast<double>(sample) + 0.5) * bin / static_cast<double>(samples);
  }
};

// What the samples of one cell along one axis take of each pixel in a row of pixels: their bilinear
// weights summed. Samples outside the image take nothing.
struct AxisWeights {
  int64_t first = 0;            // pixel
  std::vector<double> weights;  // of first, first + 1, ...

  AxisWeights(const Grid& grid, int64_t cell, int64_t extent) {
    int64_t last = -1;
    first = extent;
    const auto each = [&](auto&& visit) {
      for (int64_t i = 0; i < grid.samples; ++i) {
        const AxisSample sample = AxisSampleAt(grid.Place(cell, i), extent);
        if (sample.inside) visit(sample);
      }
    };
    each([&](const AxisSample& s) {
      first = std::min(first, s.low);
      last = std::max(last, s.high);
    });
    weights.assign(static_cast<size_t>(std::max<int64_t>(0, last - first + 1)), 0.0);
    each([&](const AxisSample& s) {
      weights[static_cast<size_t>(s.low - first)] += 1 - s.part;
      weights[static_cast<size_t>(s.high - first)] += s.part;
    });
  }
  int64_t end() const { return first + static_cast<int64_t>(weights.size()); }
};

// The mean of bilinear samples is a sum over rows of sums over columns, as the samples of a cell form
// a grid: rows are weighted and added once for all cells beside each other.
template <typename A>
void AverageRegion(const A* planes, int64_t channels, int64_t height, int64_t width, const Grid& gy,
                   const Grid& gx, int64_t out_height, int64_t out_width, A* out) {
  std::vector<AxisWeights> columns;
  int64_t left = width, right = 0;
  for (int64_t cell = 0; cell < out_width; ++cell) {
    columns.emplace_back(gx, cell, width);
    if (columns.back().weights.empty()) continue;
    left = std::min(left, columns.back().first);
    right = std::max(right, columns.back().end());
  }
  const double samples = std::max(1.0, static_cast<double>(gy.samples * gx.samples));
  std::vector<A> row(static_cast<size_t>(width));
  for (int64_t cell_y = 0; cell_y < out_height; ++cell_y) {
    const AxisWeights rows(gy, cell_y, height);
    for (int64_t c = 0; c < channels; ++c) {
      const A* plane = planes + c * height * width;
      if (left < right) std::fill(row.begin() + left, row.begin() + right, A(0));
      for (int64_t y = rows.first; y < rows.end(); ++y) {
        const A weight =
            static_cast<A>(rows.weights[static_cast<size_t>(y - rows.first)] / samples);
        const A* pixels = plane + y * width;
        for (int64_t x = left; x < right; ++x) row[static_cast<size_t>(x)] += weight * pixels[x];
      }
      A* cells = out + (c * out_height + cell_y) * out_width;
      for (int64_t cell = 0; cell < out_width; ++cell) {
        const AxisWeights& column = columns[static_cast<size_t>(cell)];
        A sum = 0;
        for (int64_t x = column.first; x < column.end(); ++x) {
          sum += static_cast<A>(column.weights[static_cast<size_t>(x - column.first)]) *
                 row[static_cast<size_t>(x)];
        }
        cells[cell] = sum;
      }
    }
  }
}

// The max mode takes the largest weighted neighbour, as the operator's first implementation did and
// the reference does.
template <typename A>
void LargestOfRegion(const A* planes, int64_t channels, int64_t height, int64_t width,
                     const Grid& gy, const Grid& gx, int64_t out_height, int64_t out_width,
                     A* out) {
  std::vector<Sample> samples(static_cast<size_t>(gy.samples * gx.samples));
  for (int64_t cell = 0; cell < out_height * out_width; ++cell) {
    for (int64_t i = 0; i < gy.samples * gx.samples; ++i) {
      samples[static_cast<size_t>(i)] =
          BilinearSample(gy.Place(cell / out_width, i / gx.samples),
                         gx.Place(cell % out_width, i % gx.samples), height, width);
    }
    for (int64_t c = 0; c < channels; ++c) {
      const A* plane = planes + c * height * width;
      double largest = 0;
      for (size_t i = 0; i < samples.size(); ++i) {
        double best = 0;
        for (int k = 0; k < 4; ++k) {
          const double value = samples[i].weight[k] * static_cast<double>(plane[samples[i].at[k]]);
          best = k == 0 || value > best || value != value ? value : best;
        }
        largest = i == 0 || best > largest || best != best ? best : largest;
      }
      out[c * out_height * out_width + cell] = static_cast<A>(largest);
    }
  }
}

template <typename A>
Status RoiAlignAs(KernelContext& context) {
  const AttributeMap& attributes = context.attributes();
  const Dims& dims = context.input(0).dims();
  const Dims& pooled = context.output(0).dims();
  const bool half_pixel =
      attributes.String("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  const bool average = attributes.String("mode", "avg") == "avg";
  const double scale = attributes.Float("spatial_scale", 1), offset = half_pixel ? 0.5 : 0.0;
  const int64_t ratio = attributes.Int("sampling_ratio", 0);
  ASC_ASSIGN_OR_RETURN(const auto x, ComputeInput<A>::Make(context, context.input(0)));
  ASC_ASSIGN_OR_RETURN(const auto rois, ComputeInput<A>::Make(context, context.input(1)));
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
  const int64_t* images = context.input(2).data<int64_t>();
  if (dims[2] * dims[3] == 0 && context.output(0).size() > 0)
    return ShapeError("RoiAlign of empty images ", dims);
  std::vector<Grid> grids;
  for (int64_t r = 0; r < pooled[0]; ++r) {
    if (images[r] < 0 || images[r] >= dims[0]) {
      return Error(Code::kOutOfRange, "RoiAlign has batch index ", images[r], " for ", dims[0],
                   " images");
    }
    for (int axis = 0; axis < 2; ++axis) {  // y, then x
      const auto corner = [&](int k) {
        return static_cast<double>(rois.data()[r * 4 + k]) * scale - offset;
      };
      const double start = corner(1 - axis);
      double length = corner(3 - axis) - start;
      if (!half_pixel) length = std::max(length, 1.0);
      const double bin = length / static_cast<double>(pooled[static_cast<size_t>(2 + axis)]);
      const double samples = ratio > 0 ? static_cast<double>(ratio) : std::ceil(bin);
      if (!(samples <= kMostSamples))
        return InvalidArgument("RoiAlign would take ", samples, " samples along one axis of a bin");
      grids.push_back({start, bin, std::max<int64_t>(0, static_cast<int64_t>(samples))});
    }
  }
  ParallelFor(pooled[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const auto align = average ? AverageRegion<A> : LargestOfRegion<A>;
      align(x.data() + images[r] * dims[1] * dims[2] * dims[3], dims[1], dims[2], dims[3],
            grids[static_cast<size_t>(2 * r)], grids[static_cast<size_t>(2 * r + 1)], pooled[2],
            pooled[3], y.data() + r * dims[1] * pooled[2] * pooled[3]);
    }
  });
  y.Finish();
  return Ok();
}

Status RoiAlign(KernelContext& context) {
  return context.input(0).dtype() == DataType::kFloat64 ? RoiAlignAs<double>(context)
                                                        : RoiAlignAs<float>(context);
}

Status InferMaxRoiPool(InferContext& context) {
  const std::vector<int64_t> pooled = context.attributes().Ints("pooled_shape");
  if (pooled.size() != 2)
    return InvalidArgument("MaxRoiPool needs pooled_shape [height, width], given ", pooled);
  ASC_RETURN_IF_ERROR(CheckPooled(context.schema(), pooled[0], pooled[1]));
  ASC_RETURN_IF_ERROR(CheckImages(context));
  ASC_RETURN_IF_ERROR(CheckRegions(context, 5));
  context.SetOutput(0, context.dtype(0), PooledShape(context, pooled[0], pooled[1]));
  return Ok();
}

// Pixels [first, last) of an axis.
struct Range {
  int64_t first, last;
};

struct Region {
  int64_t image;
  std::vector<Range> rows, columns;  // of each cell, within the image
};

std::vector<Range> CellRanges(double start, double end, int64_t cells, int64_t extent) {
  // Multiplied before divided: a cell that ends on a whole pixel takes no pixel more by rounding.
  const auto cell_edge = [size = std::max(end - start + 1, 1.0), cells](int64_t number) {
    return size * static_cast<double>(number) / static_cast<double>(cells);
  };
  const auto pixel = [&](double place) {
    return static_cast<int64_t>(std::clamp(place + start, 0.0, static_cast<double>(extent)));
  };
  std::vector<Range> ranges;
  for (int64_t cell = 0; cell < cells; ++cell) {
    ranges.push_back({pixel(std::floor(cell_edge(cell))), pixel(std::ceil(cell_edge(cell + 1)))});
  }
  return ranges;
}

// NaN counts as the largest; 0 for no pixels.
template <typename T>
T LargestPixel(const T* plane, int64_t width, const Range& rows, const Range& columns) {
  if (rows.first >= rows.last || columns.first >= columns.last) return T(0);
  T best = plane[rows.first * width + columns.first];
  for (int64_t y = rows.first; y < rows.last; ++y) {
    for (int64_t x = columns.first; x < columns.last; ++x) {
      const T pixel = plane[y * width + x];
      if (Widen(pixel) != Widen(pixel)) return pixel;
      best = Widen(pixel) > Widen(best) ? pixel : best;
    }
  }
  return best;
}

Status MaxRoiPool(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& rois = context.input(1);
  Tensor& y = context.output(0);
  const Dims& dims = x.dims();
  const Dims& pooled = y.dims();
  const double scale = context.attributes().Float("spatial_scale", 1);
  std::vector<Region> regions;
  for (int64_t r = 0; r < pooled[0]; ++r) {
    double region[5];
    for (int64_t k = 0; k < 5; ++k) {
      const double value = ReadAsDouble(rois.dtype(), rois.raw(), r * 5 + k);
      region[k] = k == 0 ? value : std::round(value * scale);
      if (!std::isfinite(region[k]))
        return InvalidArgument("MaxRoiPool has a region that is not finite: number ", r);
    }
    if (!(region[0] >= 0 && region[0] < static_cast<double>(dims[0]))) {
      return Error(Code::kOutOfRange, "MaxRoiPool has batch index ", region[0], " for ", dims[0],
                   " images");
    }
    regions.push_back({static_cast<int64_t>(region[0]),
                       CellRanges(region[2], region[4], pooled[2], dims[2]),
                       CellRanges(region[1], region[3], pooled[3], dims[3])});
  }
  VisitFloats(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    ParallelFor(pooled[0] * pooled[1], 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Region& region = regions[static_cast<size_t>(i / pooled[1])];
        const T* plane = x.data<T>() + (region.image * dims[1] + i % pooled[1]) * dims[2] * dims[3];
        T* cell = y.data<T>() + i * pooled[2] * pooled[3];
        for (const Range& rows : region.rows) {
          for (const Range& columns : region.columns)
            *cell++ = LargestPixel(plane, dims[3], rows, columns);
        }
      }
    });
  });
  return Ok();
}
}  // namespace

void AddRoiOps(OpTable& table) {
  table.Add("MaxRoiPool", 22)
      .Doc("the largest element in each cell of regions [image, x1, y1, x2, y2]")
      .Method("roi_pool")
      .Input("x", "T")
      .Input("rois", "T")
      .Output("y", "T")
      .Types("T", types::kFloats)
      .RequiredAttr("pooled_shape", AttributeType::kInts, "output_size", "cells: [height, width]")
      .Attr("spatial_scale", 1.0f, "", "from the regions' coordinates to pixels")
      .Class(OpClass::kPooling)
      .Infer(InferMaxRoiPool)
      .Kernel(MaxRoiPool);
  table.Add("RoiAlign", 22)
      .Doc("bilinear samples pooled in each cell of regions [x1, y1, x2, y2]")
      .Input("x", "T1")
      .Input("rois", "T1")
      .Input("batch_indices", "T2")
      .Output("y", "T1")
      .Types("T1", types::kFloats)
      .Types("T2", types::kInt64)
      .Attr("coordinate_transformation_mode", "half_pixel", "",
            "half_pixel, or output_half_pixel for the older behaviour")
      .Attr("mode", "avg", "", "avg or max")
      .Attr("output_height", int64_t{1})
      .Attr("output_width", int64_t{1})
      .Attr("sampling_ratio", int64_t{0}, "",
            "samples along each axis of a cell; 0: as many as pixels")
      .Attr("spatial_scale", 1.0f, "", "from the regions' coordinates to pixels")
      .Class(OpClass::kPooling)
      .Infer(InferRoiAlign)
      .Kernel(RoiAlign);
}

}  // namespace asc
