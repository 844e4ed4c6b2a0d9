// AffineGrid: the places that affine maps give to the pixels of an image.
#include <algorithm>

#include "core/ops/compute_buffer.h"
#include "core/ops/families.h"

namespace asc {
namespace {
bool Differ(const Dim& a, const Dim& b) { return a.is_constant() && b.is_constant() && a != b; }

Status InferAffineGrid(InferContext& context) {
  const Shape& theta = context.shape(0);
  context.SetOutput(0, context.dtype(0));
  if (theta.has_rank()) {
    const bool flat = theta.rank() == 3 && !Differ(theta[1], Dim(2)) && !Differ(theta[2], Dim(3));
    const bool solid = theta.rank() == 3 && !Differ(theta[1], Dim(3)) && !Differ(theta[2], Dim(4));
    if (!flat && !solid)
      return ShapeError("AffineGrid needs maps [N, 2, 3] or [N, 3, 4], given ", theta);
  }
  const auto size = context.Dims(1);
  if (!size) return Ok();
  const size_t spatial = size->size() - 2;
  if (size->size() != 4 && size->size() != 5) {
    return ShapeError("AffineGrid needs size [N, C, H, W] or [N, C, D, H, W], given ", *size);
  }
  if (theta.has_rank() &&
      (Differ(theta[0], (*size)[0]) || Differ(theta[1], Dim(static_cast<int64_t>(spatial))))) {
    return ShapeError("AffineGrid of maps ", theta, " does not fit size ", *size);
  }
  std::vector<Dim> out = {(*size)[0]};
  for (size_t i = 2; i < size->size(); ++i) {
    if ((*size)[i].is_constant() && (*size)[i].value() < 0)
      return InvalidArgument("AffineGrid needs extents of 0 or more, given ", *size);
    out.push_back((*size)[i]);
  }
  out.push_back(Dim(static_cast<int64_t>(spatial)));
  context.SetOutput(0, context.dtype(0), Shape(std::move(out)));
  return Ok();
}

// The place of pixel `i` of `count`, from -1 to 1. With aligned corners the only pixel is the first: -1.
double Place(int64_t i, int64_t count, bool align_corners) {
  if (!align_corners) return (2 * static_cast<double>(i) + 1) / static_cast<double>(count) - 1;
  return count == 1 ? -1 : 2 * static_cast<double>(i) / static_cast<double>(count - 1) - 1;
}

// The places that the rows of `map` give to (x[i], y, z), or to (x[i], y).
template <size_t kSpatial, typename T>
void FillRow(const double* map, const double* __restrict x, double y, double z, int64_t count,
             T* __restrict out) {
  double scale[kSpatial], across[kSpatial], along[kSpatial], shift[kSpatial];
  for (size_t k = 0; k < kSpatial; ++k, map += kSpatial + 1) {
    scale[k] = map[0];
    across[k] = map[1] * y;
    along[k] = kSpatial == 3 ? map[2] * z : 0;
    shift[k] = map[kSpatial];
  }
  for (int64_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < kSpatial; ++k) {
      const double place = scale[k] * x[i] + across[k] + along[k] + shift[k];
      out[i * static_cast<int64_t>(kSpatial) + static_cast<int64_t>(k)] =
          static_cast<T>(static_cast<ComputeType<T>>(place));
    }
  }
}

Status AffineGrid(KernelContext& context) {
  Tensor& grid = context.output(0);
  const Dims& dims = grid.dims();
  const size_t spatial = dims.size() - 2;
  const bool align_corners = context.attributes().Int("align_corners", 0) != 0;
  ASC_ASSIGN_OR_RETURN(const auto theta, ComputeInput<double>::Make(context, context.input(0)));
  // Along each axis, x first.
  std::vector<double> places[3];
  for (size_t k = 0; k < spatial; ++k) {
    const int64_t count = dims[spatial - k];
    for (int64_t i = 0; i < count; ++i) places[k].push_back(Place(i, count, align_corners));
  }
  const int64_t width = dims[spatial], height = dims[spatial - 1];
  const int64_t rows = ElementCount(dims, 1, spatial);  // of one image
  VisitFloats(grid.dtype(), [&](auto zero) {
    using T = decltype(zero);
    ParallelFor(dims[0] * rows, std::max<int64_t>(1, 4096 / std::max<int64_t>(1, width)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const double* map =
                        theta.data() + i / rows * static_cast<int64_t>(spatial * (spatial + 1));
                    const int64_t row = i % rows;
                    T* out = grid.data<T>() + i * width * static_cast<int64_t>(spatial);
                    const double y = places[1][static_cast<size_t>(row % height)];
                    if (spatial == 2) {
                      FillRow<2>(map, places[0].data(), y, 0, width, out);
                    } else {
                      FillRow<3>(map, places[0].data(), y,
                                 places[2][static_cast<size_t>(row / height)], width, out);
                    }
                  }
                });
  });
  return Ok();
}
}  // namespace

void AddAffineGridOps(OpTable& table) {
  table.Add("AffineGrid", 20)
      .Doc("the places, from -1 to 1, that affine maps give to the pixels of an image")
      .Input("theta", "T1")
      .Input("size", "T2")
      .Output("grid", "T1")
      .Types("T1", types::kFloats)
      .Types("T2", types::kInt64)
      .Attr("align_corners", int64_t{0}, "",
            "1: -1 and 1 are centres of pixels; 0: their outer edges")
      .Infer(InferAffineGrid)
      .Kernel(AffineGrid);
}

}  // namespace asc
