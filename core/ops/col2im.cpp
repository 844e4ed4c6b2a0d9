// Col2Im: adds overlapping blocks, given as columns, into images; the adjoint of taking blocks out.
#include <algorithm>
#include <complex>

#include "core/base/parallel.h"
#include "core/ops/families.h"
#include "core/ops/shape_facts.h"
#include "core/tensor/element.h"

namespace asc {
namespace {

struct Blocks {
  std::vector<int64_t> image, block, dilations, strides, pads;  // pads: begins, then ends
  Dims steps;  // positions of the block along each axis
  int64_t block_size = 1, positions = 1;
};

Result<Blocks> ReadBlocks(const AttributeMap& attributes, std::vector<int64_t> image,
                          std::vector<int64_t> block) {
  const size_t rank = image.size();
  if (rank == 0 || block.size() != rank) {
    return ShapeError("Col2Im needs image_shape and block_shape of one length, given ", image,
                      " and ", block);
  }
  Blocks out;
  out.image = std::move(image);
  out.block = std::move(block);
  out.dilations = attributes.Ints("dilations", std::vector<int64_t>(rank, 1));
  out.strides = attributes.Ints("strides", std::vector<int64_t>(rank, 1));
  out.pads = attributes.Ints("pads", std::vector<int64_t>(2 * rank, 0));
  if (out.dilations.size() != rank || out.strides.size() != rank || out.pads.size() != 2 * rank) {
    return InvalidArgument(
        "Col2Im of ", rank,
        " axes needs as many dilations and strides and twice as many pads, given ", out.dilations,
        ", ", out.strides, ", ", out.pads);
  }
  constexpr int64_t kLargest = int64_t{1} << 31;
  Dims block_dims;
  for (size_t i = 0; i < rank; ++i) {
    const auto good = [](int64_t value, int64_t least) {
      return value >= least && value < kLargest;
    };
    if (!good(out.image[i], 0) || !good(out.block[i], 1) || !good(out.dilations[i], 1) ||
        !good(out.strides[i], 1) || !good(out.pads[i], 0) || !good(out.pads[rank + i], 0)) {
      return InvalidArgument("Col2Im axis ", i, ": image ", out.image[i], ", block ", out.block[i],
                             ", dilation ", out.dilations[i], ", stride ", out.strides[i],
                             ", pads ", out.pads[i], " and ", out.pads[rank + i],
                             ": sizes must be positive, pads not negative");
    }
    const int64_t room =
        out.image[i] + out.pads[i] + out.pads[rank + i] - out.dilations[i] * (out.block[i] - 1) - 1;
    out.steps.push_back(room < 0 ? 0 : room / out.strides[i] + 1);
    block_dims.push_back(out.block[i]);
  }
  const auto block_size = CheckedElementCount(block_dims),
             positions = CheckedElementCount(out.steps);
  if (!block_size || !positions)
    return InvalidArgument("Col2Im blocks ", block_dims, " or their positions are too many");
  out.block_size = *block_size;
  out.positions = *positions;
  return out;
}

Status InferCol2Im(InferContext& context) {
  const Shape& in = context.shape(0);
  ASC_RETURN_IF_ERROR(CheckRank(context, 0, 3));
  ASC_ASSIGN_OR_RETURN(const auto image_length, VectorLength(context, 1));
  ASC_ASSIGN_OR_RETURN(const auto block_length, VectorLength(context, 2));
  const auto image = context.Dims(1);
  const auto block = context.Ints(2);
  const auto length = image_length ? image_length : block_length;
  if (!image || !block || !in.has_rank()) {
    context.SetOutput(0, context.dtype(0),
                      length ? Shape::UnknownDims(static_cast<size_t>(*length) + 2) : Shape());
    return Ok();
  }
  int64_t block_size = 1;
  if (const auto ints = context.Ints(1)) {
    ASC_ASSIGN_OR_RETURN(const Blocks blocks, ReadBlocks(context.attributes(), *ints, *block));
    block_size = blocks.block_size;
    if ((in[1].is_constant() && in[1].value() % block_size != 0) ||
        (in[2].is_constant() && !in[2].IsConstant(blocks.positions))) {
      return ShapeError("Col2Im of image ", *image, " with blocks ", *block, " needs input [N, C*",
                        block_size, ", ", blocks.positions, "], given ", in);
    }
  } else {
    for (const int64_t extent : *block) {
      if (extent < 1 || __builtin_mul_overflow(block_size, extent, &block_size)) {
        return InvalidArgument("Col2Im block_shape ", *block,
                               " must be positive and not too large");
      }
    }
  }
  std::vector<Dim> dims = {in[0], Dim::FloorDiv(in[1], Dim(block_size))};
  dims.insert(dims.end(), image->begin(), image->end());
  context.SetOutput(0, context.dtype(0), Shape(std::move(dims)));
  return CheckSize(context, 0);
}

// A run of positions of one element of the block that land in the image: `count` columns from `column` on
// go to elements `target`, `target + step`, ...
struct Run {
  int64_t column, target, count;
};

// The next index of the first `count` axes of `extents`, in row-major order.
template <typename Extents>
void NextIndex(Dims& index, const Extents& extents, size_t count) {
  for (size_t i = count; i-- > 0;) {
    if (++index[i] < extents[i]) return;
    index[i] = 0;
  }
}

// All runs, element by element of the block, so that sums come in the order of the columns.
std::vector<Run> Runs(const Blocks& blocks) {
  std::vector<Run> runs;
  const size_t last = blocks.image.size() - 1;
  Dims offset(last + 1, 0);    // of the element in the block
  Dims position(last + 1, 0);  // of the block; the last axis stays 0
  for (int64_t e = 0; e < blocks.block_size; ++e) {
    // Positions [low, high) of the last axis are in the image.
    const int64_t start = offset[last] * blocks.dilations[last] - blocks.pads[last];
    const int64_t stride = blocks.strides[last];
    const int64_t low = start >= 0 ? 0 : (-start + stride - 1) / stride;
    const int64_t high =
        start >= blocks.image[last]
            ? 0
            : std::min(blocks.steps[last], (blocks.image[last] - 1 - start) / stride + 1);
    const int64_t rows = blocks.positions / std::max<int64_t>(1, blocks.steps[last]);
    for (int64_t row = 0; row < rows && low < high; ++row) {
      int64_t base = 0;
      bool inside = true;
      for (size_t i = 0; i < last; ++i) {
        const int64_t x =
            position[i] * blocks.strides[i] + offset[i] * blocks.dilations[i] - blocks.pads[i];
        inside = inside && x >= 0 && x < blocks.image[i];
        base = (base + x) * blocks.image[i + 1];
      }
      if (inside) {
        runs.push_back({e * blocks.positions + row * blocks.steps[last] + low,
                        base + start + low * stride, high - low});
      }
      NextIndex(position, blocks.steps, last);
    }
    NextIndex(offset, blocks.block, last + 1);
  }
  return runs;
}

// Integers wrap.
template <typename T, typename Sum>
Sum Add(Sum sum, T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(x));
  } else {
    return sum + static_cast<Sum>(x);
  }
}

// sum[i * step] += x[i]
template <typename T, typename Sum>
void AddRun(const T* __restrict x, Sum* __restrict sum, int64_t count, int64_t step) {
  if (step == 1) {
    for (int64_t i = 0; i < count; ++i) sum[i] = Add<T>(sum[i], x[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) sum[i * step] = Add<T>(sum[i * step], x[i]);
  }
}

template <typename T>
void AddBlocks(const Tensor& in, Tensor& out, const Blocks& blocks, const std::vector<Run>& runs) {
  const int64_t per_plane = blocks.block_size * blocks.positions, step = blocks.strides.back();
  const int64_t planes = out.dim(0) * out.dim(1), image = ElementCount(out.dims(), 2, out.rank());
  using Sum = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;
  constexpr bool kNarrow = !std::is_same_v<T, Sum>;  // summed apart, and rounded once
  ParallelFor(planes, 1, [&](int64_t begin, int64_t end) {
    std::vector<Sum> apart(kNarrow ? static_cast<size_t>(image) : 0);
    for (int64_t plane = begin; plane < end; ++plane) {
      T* const y = out.data<T>() + plane * image;
      Sum* sums;
      if constexpr (kNarrow) {
        sums = apart.data();
      } else {
        sums = y;
      }
      std::fill_n(sums, image, Sum(0));
      for (const Run& run : runs)
        AddRun(in.data<T>() + plane * per_plane + run.column, sums + run.target, run.count, step);
      if constexpr (kNarrow) std::transform(sums, sums + image, y, [](Sum sum) { return T(sum); });
    }
  });
}

Status Col2Im(KernelContext& context) {
  const Tensor& in = context.input(0);
  ASC_ASSIGN_OR_RETURN(std::vector<int64_t> image, ToInt64Vector(context.input(1)));
  ASC_ASSIGN_OR_RETURN(std::vector<int64_t> block, ToInt64Vector(context.input(2)));
  ASC_ASSIGN_OR_RETURN(const Blocks blocks,
                       ReadBlocks(context.attributes(), std::move(image), std::move(block)));
  if (in.dim(1) % blocks.block_size != 0 || in.dim(2) != blocks.positions) {
    return ShapeError("Col2Im needs input [N, C*", blocks.block_size, ", ", blocks.positions,
                      "], given ", in.dims());
  }
  const std::vector<Run> runs = Runs(blocks);
  VisitType<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
            uint32_t, uint64_t, std::complex<float>, std::complex<double>>(
      in.dtype(),
      [&](auto zero) { AddBlocks<decltype(zero)>(in, context.output(0), blocks, runs); });
  return Ok();
}
}  // namespace

void AddCol2ImOps(OpTable& table) {
  table.Add("Col2Im", 18)
      .Doc("images from columns of overlapping blocks, which are added")
      .Input("input", "T")
      .Input("image_shape", "tensor(int64)")
      .Input("block_shape", "tensor(int64)")
      .Output("output", "T")
      .Types("T", types::kNumeric | types::kComplex)
      .Types("tensor(int64)", types::kInt64)
      .OptionalAttr("dilations", AttributeType::kInts)
      .OptionalAttr("pads", AttributeType::kInts)
      .OptionalAttr("strides", AttributeType::kInts)
      .Infer(InferCol2Im)
      .Kernel(Col2Im);
}

}  // namespace asc
