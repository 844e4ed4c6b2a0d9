// DeformConv: convolution whose taps are moved by offsets and weighted by a mask, both given for
// each output position.
#include <algorithm>
#include <cmath>
#include <mutex>

#include "core/ops/bilinear_cells.h"
#include "core/ops/compute_buffer.h"
#include "core/ops/convolution.h"
#include "core/ops/families.h"
#include "core/ops/matmul.h"

namespace asc {
namespace {
constexpr int64_t kPositions = 64;  // outputs that are gathered and multiplied together
enum Input : size_t { kX, kW, kOffset, kBias, kMask };

bool Differ(const Dim& a, const Dim& b) { return a.is_constant() && b.is_constant() && a != b; }

// [N, offset_group * taps * per_tap, output...]
Status CheckMap(const InferContext& context, size_t i, const Shape& out, int64_t per_group) {
  if (!context.HasInput(i) || !context.shape(i).has_rank()) return Ok();
  const Shape& map = context.shape(i);
  const int64_t groups = context.attributes().Int("offset_group", 1);
  bool fits = map.rank() == out.rank() && !Differ(map[0], out[0]) &&
              !Differ(map[1], Dim(groups) * Dim(per_group));
  for (size_t axis = 2; fits && axis < out.rank(); ++axis) fits = !Differ(map[axis], out[axis]);
  if (fits) return Ok();
  return ShapeError("DeformConv needs '", context.schema().inputs[i].name, "' with ", groups, " * ",
                    per_group, " channels and the output's extents ", out, ", given ", map);
}

Status InferDeformConv(InferContext& context) {
  const int64_t groups = context.attributes().Int("offset_group", 1);
  if (groups < 1) return InvalidArgument("DeformConv needs offset_group >= 1, given ", groups);
  ASC_ASSIGN_OR_RETURN(Shape shape, InferConvolution(context, kX, kW));
  ASC_RETURN_IF_ERROR(CheckConvBias(context, kBias, kW));
  const Shape& x = context.shape(kX);
  if (x.has_rank() && x[1].is_constant() && x[1].value() % groups != 0) {
    return ShapeError("DeformConv cannot divide the channels of ", x, " into ", groups,
                      " offset groups");
  }
  const auto kernel = WeightKernel(context.shape(kW));
  if (kernel && shape.has_rank()) {
    int64_t taps = 1;
    for (const int64_t extent : *kernel) taps *= extent;
    ASC_RETURN_IF_ERROR(
        CheckMap(context, kOffset, shape, taps * static_cast<int64_t>(kernel->size())));
    ASC_RETURN_IF_ERROR(CheckMap(context, kMask, shape, taps));
  }
  context.SetOutput(0, context.dtype(kX), std::move(shape));
  return Ok();
}

// Linear interpolation between the corners of the cell that holds a place; corners outside the
// image count as zeros.
template <typename A>
struct Corners {
  std::vector<int64_t> at;
  std::vector<A> weights;

  void Find(const std::vector<WindowAxis>& axes, const std::vector<A>& place) {
    at.assign(1, 0);
    weights.assign(1, A(1));
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      const auto extent = static_cast<A>(axes[axis].input);
      // Places that are no number, or far outside, read nothing.
      if (!(place[axis] > A(-1) && place[axis] < extent)) {
        at.clear();
        weights.clear();
        return;
      }
      const A floor = std::floor(place[axis]), part = place[axis] - floor;
      const auto low = static_cast<int64_t>(floor);
      const size_t count = at.size();
      for (size_t i = 0; i < count; ++i) {
        const int64_t base = at[i] * axes[axis].input;
        const A weight = weights[i];
        // The upper corner goes to the end of the list, the lower one takes the old place.
        at.push_back(base + std::min(low + 1, axes[axis].input - 1));
        weights.push_back(low + 1 < axes[axis].input ? weight * part : A(0));
        at[i] = base + std::max<int64_t>(low, 0);
        weights[i] = low >= 0 ? weight * (A(1) - part) : A(0);
      }
    }
  }

  A Read(const A* plane) const {
    A sum = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      if (weights[i] != A(0)) sum += weights[i] * plane[at[i]];
    }
    return sum;
  }
};

// The cell of a place all of whose corners are in the image and count; false for other places.
template <typename A>
bool FindCell(int64_t height, int64_t width, A row, A column, BilinearCell<A>& cell) {
  if (!(row > A(0) && row < static_cast<A>(height - 1) && column > A(0) &&
        column < static_cast<A>(width - 1)))
    return false;
  const auto low_row = static_cast<int64_t>(row), low_column = static_cast<int64_t>(column);
  const A down = row - static_cast<A>(low_row), right = column - static_cast<A>(low_column);
  // Elements of weight zero are not read: they may be infinite.
  if (down == A(0) || right == A(0)) return false;
  cell.at = low_row * width + low_column;
  cell.weight[0] = (A(1) - down) * (A(1) - right);
  cell.weight[1] = (A(1) - down) * right;
  cell.weight[2] = down * (A(1) - right);
  cell.weight[3] = down * right;
  return true;
}

template <typename A>
struct Operands {
  const A* x;
  const A* w;
  const A* offset;
  const A* bias;  // or null
  const A* mask;  // or null
  A* y;
  int64_t input_size = 1, output_size = 1, taps = 1, offset_groups = 1;
};

// Gathers what all taps of all channels read for outputs [first, first + count) of an image:
// columns [channels * taps, count].
template <typename A>
void Gather(const ConvGeometry& g, const Operands<A>& in, int64_t image, int64_t first,
            int64_t count, A* columns) {
  const auto rank = static_cast<int64_t>(g.axes.size());
  const int64_t channels = g.channels * g.groups, per_group = channels / in.offset_groups;
  Corners<A> corners;
  std::vector<A> place(g.axes.size());
  BilinearCell<A> cells[kPositions];
  int64_t starts[2][kPositions];  // of images of two axes: without taps
  if (rank == 2) {
    for (int64_t i = 0; i < count; ++i) {
      starts[0][i] = g.axes[0].Start((first + i) / g.axes[1].output);
      starts[1][i] = g.axes[1].Start((first + i) % g.axes[1].output);
    }
  }
  for (int64_t group = 0; group < in.offset_groups; ++group) {
    for (int64_t tap = 0; tap < in.taps; ++tap) {
      const int64_t map = (image * in.offset_groups + group) * in.taps + tap;
      int64_t cell_count = 0;
      for (int64_t i = 0; i < count; ++i) {
        const A weight = in.mask == nullptr ? A(1) : in.mask[map * in.output_size + first + i];
        if (rank == 2) {
          const A* moved = in.offset + map * 2 * in.output_size + first + i;
          const WindowAxis &height_axis = g.axes[0], &width_axis = g.axes[1];
          const A row = static_cast<A>(starts[0][i] +
                                       tap / width_axis.kernel * height_axis.dilation) +
                        moved[0],
                  column =
                      static_cast<A>(starts[1][i] + tap % width_axis.kernel * width_axis.dilation) +
                      moved[in.output_size];
          BilinearCell<A>& cell = cells[cell_count];
          if (FindCell(height_axis.input, width_axis.input, row, column, cell)) {
            cell.factor = weight;
            cell.to = i;
            ++cell_count;
            continue;
          }
        }
        int64_t rest = first + i, rest_tap = tap;
        for (size_t axis = g.axes.size(); axis-- > 0;) {
          const WindowAxis& a = g.axes[axis];
          const A moved =
              in.offset[(map * rank + static_cast<int64_t>(axis)) * in.output_size + first + i];
          place[axis] =
              static_cast<A>(a.Start(rest % a.output) + rest_tap % a.kernel * a.dilation) + moved;
          rest /= a.output;
          rest_tap /= a.kernel;
        }
        corners.Find(g.axes, place);
        for (int64_t c = group * per_group; c < (group + 1) * per_group; ++c) {
          columns[(c * in.taps + tap) * count + i] =
              weight * corners.Read(in.x + (image * channels + c) * in.input_size);
        }
      }
      if (cell_count == 0) continue;
      const int64_t channel = group * per_group;
      ReadCells(cells, cell_count, per_group, in.x + (image * channels + channel) * in.input_size,
                in.input_size, g.axes[1].input, columns + (channel * in.taps + tap) * count,
                in.taps * count);
    }
  }
}

template <typename A>
Status DeformConvAs(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const ConvGeometry g, ReadConvGeometry(context, context.input(kX).dims(),
                                                              context.input(kW).dims()));
  ASC_ASSIGN_OR_RETURN(const auto x, ComputeInput<A>::MakeOptional(context, kX));
  ASC_ASSIGN_OR_RETURN(const auto w, ComputeInput<A>::MakeOptional(context, kW));
  ASC_ASSIGN_OR_RETURN(const auto offset, ComputeInput<A>::MakeOptional(context, kOffset));
  ASC_ASSIGN_OR_RETURN(const auto bias, ComputeInput<A>::MakeOptional(context, kBias));
  ASC_ASSIGN_OR_RETURN(const auto mask, ComputeInput<A>::MakeOptional(context, kMask));
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
  Operands<A> in{x.data(), w.data(), offset.data(), bias.data(), mask.data(), y.data()};
  in.offset_groups = context.attributes().Int("offset_group", 1);
  for (const WindowAxis& axis : g.axes) {
    in.input_size *= axis.input;
    in.output_size *= axis.output;
    in.taps *= axis.kernel;
  }
  const int64_t depth = g.channels * in.taps,
                blocks = (in.output_size + kPositions - 1) / kPositions;
  Status failure;
  std::mutex failure_mutex;
  ParallelFor(g.batch * blocks, 1, [&](int64_t begin, int64_t end) {
    auto buffer = context.Scratch(static_cast<size_t>((g.groups * depth + g.filters) * kPositions) *
                                  sizeof(A));
    if (!buffer.ok()) {
      const std::lock_guard lock(failure_mutex);
      failure = std::move(buffer).status();
      return;
    }
    A* columns = reinterpret_cast<A*>((*buffer)->data());
    A* sums = columns + g.groups * depth * kPositions;
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t image = unit / blocks, first = unit % blocks * kPositions,
                    count = std::min(kPositions, in.output_size - first);
      Gather(g, in, image, first, count, columns);
      for (int64_t group = 0; group < g.groups; ++group) {
        MultiplyMatrices<A>(g.filters, count, depth, {in.w + group * g.filters * depth, depth, 1},
                            {columns + group * depth * count, count, 1}, sums);
        for (int64_t f = 0; f < g.filters; ++f) {
          const int64_t filter = group * g.filters + f;
          A* to = in.y + (image * g.groups * g.filters + filter) * in.output_size + first;
          for (int64_t i = 0; i < count; ++i)
            to[i] = sums[f * count + i] + (in.bias == nullptr ? A(0) : in.bias[filter]);
        }
      }
    }
  });
  ASC_RETURN_IF_ERROR(std::move(failure));
  y.Finish();
  return Ok();
}

Status DeformConv(KernelContext& context) {
  return context.input(kX).dtype() == DataType::kFloat64 ? DeformConvAs<double>(context)
                                                         : DeformConvAs<float>(context);
}

CostEstimate DeformConvCost(const std::vector<ValueType>& inputs,
                            const std::vector<ValueType>& outputs, const AttributeMap&) {
  return ConvolutionCost(inputs, outputs, kW);
}
}  // namespace

void AddDeformConvOps(OpTable& table) {
  OpBuilder conv = table.Add("DeformConv", 22);
  conv.Doc("convolution with an offset and a weight for each tap of each output")
      .Method("deform_conv2d")
      .Input("x", "T")
      .Input("weight", "T")
      .Input("offset", "T")
      .OptionalInput("bias", "T")
      .OptionalInput("mask", "T")
      .Output("y", "T")
      .Types("T", types::kFloats)
      .Attr("offset_group", int64_t{1}, "", "groups of channels that share offsets")
      .Infer(InferDeformConv)
      .Kernel(DeformConv)
      .Cost(DeformConvCost);
  AddConvAttributes(conv);
}

}  // namespace asc
