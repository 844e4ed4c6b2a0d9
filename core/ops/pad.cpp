// Pad and CenterCropPad: growing and cropping at the borders.
#include <algorithm>
#include <cstring>

#include "core/ops/families.h"
#include "core/ops/shape_facts.h"
#include "core/ops/strided_copy.h"

namespace asc {
namespace {

enum class PadMode { kConstant, kReflect, kEdge, kWrap };

Result<PadMode> ReadMode(const AttributeMap& attributes) {
  const std::string mode = attributes.String("mode", "constant");
  if (mode == "constant") return PadMode::kConstant;
  if (mode == "reflect") return PadMode::kReflect;
  if (mode == "edge") return PadMode::kEdge;
  if (mode == "wrap") return PadMode::kWrap;
  return InvalidArgument("Pad mode '", mode,
                         "' is not known: expected constant, reflect, edge or wrap");
}

struct AxisPad {
  int64_t begin = 0, end = 0;  // negative: cropped
};

using AxisPads = absl::InlinedVector<AxisPad, 6>;

// `pads` is begins, then ends, of the named axes (default: all).
Result<AxisPads> ReadPads(std::span<const int64_t> pads,
                          std::optional<std::span<const int64_t>> named, size_t rank) {
  Dims axes(rank);
  for (size_t i = 0; i < rank; ++i) axes[i] = static_cast<int64_t>(i);
  if (named) {
    ASC_ASSIGN_OR_RETURN(axes, NormalizeAxes(*named, static_cast<int64_t>(rank), "Pad"));
  }
  if (pads.size() != 2 * axes.size()) {
    return ShapeError("Pad of ", axes.size(), " axes needs ", 2 * axes.size(),
                      " numbers in 'pads', given ", pads.size());
  }
  AxisPads out(rank);
  for (size_t i = 0; i < axes.size(); ++i)
    out[static_cast<size_t>(axes[i])] = {pads[i], pads[axes.size() + i]};
  return out;
}

Status CheckAxisPad(const AxisPad& pad, int64_t extent, size_t axis, PadMode mode) {
  const Dim out = Dim(extent) + Dim(pad.begin) + Dim(pad.end);  // saturates
  if (out.value() < 0) {
    return ShapeError("Pad crops axis ", axis, " of ", extent, " elements by ", pad.begin, " and ",
                      pad.end, ": nothing is left");
  }
  if (mode == PadMode::kConstant) return Ok();
  // What is left of the axis after cropping is what the new elements are taken from.
  const int64_t kept = extent + std::min<int64_t>(0, std::max(pad.begin, -extent - 1)) +
                       std::min<int64_t>(0, std::max(pad.end, -extent - 1));
  const int64_t most = std::max(pad.begin, pad.end);
  if (most > 0 && kept <= 0)
    return ShapeError("Pad of axis ", axis, ": there are no elements to repeat");
  if (mode == PadMode::kReflect && most > 0 && most > kept - 1) {
    return ShapeError("Pad by ", most, " reflects more of axis ", axis, " than it has: at most ",
                      kept - 1);
  }
  return Ok();
}

Status InferPad(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const PadMode mode, ReadMode(context.attributes()));
  const Shape& in = context.shape(0);
  context.SetOutput(0, context.dtype(0), in.has_rank() ? Shape::UnknownDims(in.rank()) : Shape());
  if (context.HasInput(2) && context.shape(2).is_static() &&
      context.shape(2).ElementCount().value() != 1) {
    return ShapeError("Pad constant_value must be a scalar, given shape ", context.shape(2));
  }
  if (!in.has_rank()) return Ok();
  ASC_RETURN_IF_ERROR(VectorLength(context, 1).status());
  const auto axes = context.Ints(3);
  if (context.HasInput(3) && !axes) return Ok();
  const auto pads = context.Ints(1);
  if (!pads) return Ok();
  ASC_ASSIGN_OR_RETURN(const AxisPads all, ReadPads(*pads, axes, in.rank()));
  Shape out = in;
  for (size_t i = 0; i < in.rank(); ++i) {
    if (in[i].is_constant()) ASC_RETURN_IF_ERROR(CheckAxisPad(all[i], in[i].value(), i, mode));
    out[i] = in[i] + Dim(all[i].begin) + Dim(all[i].end);
  }
  context.SetOutput(0, context.dtype(0), std::move(out));
  return CheckSize(context, 0);
}

// Copies the part of `in` that stays to its place in `out`; `first[i]` may be negative (cropped).
void CopyInterior(const Tensor& in, Tensor& out, const Dims& first) {
  const Dims in_strides = ContiguousStrides(in.dims()), out_strides = ContiguousStrides(out.dims());
  Dims dims;
  int64_t in_offset = 0, out_offset = 0;
  for (size_t i = 0; i < in.rank(); ++i) {
    const int64_t begin = std::max<int64_t>(0, first[i]),
                  end = std::min(out.dim(i), first[i] + in.dim(i));
    if (end <= begin) return;
    dims.push_back(end - begin);
    out_offset += begin * out_strides[i];
    in_offset += (begin - first[i]) * in_strides[i];
  }
  StridedCopy(in.dtype(), dims, {in.raw(), in_offset, in_strides},
              {out.raw(), out_offset, out_strides});
}

// Copies `count` planes of `out` along `axis`: plane `to + k` from plane `from + k * step`. Axes
// before `axis` hold only what is inside `box`: the borders of later axes come later.
void CopyPlanes(Tensor& out, const Dims& box_first, const Dims& box_dims, size_t axis, int64_t to,
                int64_t from, int64_t step, int64_t count) {
  const Dims strides = ContiguousStrides(out.dims());
  Dims dims = box_dims, in_strides = strides;
  int64_t offset = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i != axis) offset += box_first[i] * strides[i];
  }
  dims[axis] = count;
  in_strides[axis] = step * strides[axis];
  StridedCopy(out.dtype(), dims, {out.raw(), offset + from * strides[axis], in_strides},
              {out.raw(), offset + to * strides[axis], strides});
}

// Fills the borders axis by axis from what is there already, so that corners follow by themselves.
void FillBorders(Tensor& out, const AxisPads& pads, PadMode mode) {
  Dims first, dims;
  for (size_t i = 0; i < out.rank(); ++i) {
    const int64_t before = std::max<int64_t>(0, pads[i].begin),
                  after = std::max<int64_t>(0, pads[i].end);
    first.push_back(before);
    dims.push_back(out.dim(i) - before - after);
  }
  for (size_t axis = 0; axis < out.rank(); ++axis) {
    const int64_t before = first[axis], kept = dims[axis], after = out.dim(axis) - before - kept;
    switch (mode) {
      case PadMode::kConstant:
        break;
      case PadMode::kEdge:
        if (before > 0) CopyPlanes(out, first, dims, axis, 0, before, 0, before);
        if (after > 0)
          CopyPlanes(out, first, dims, axis, before + kept, before + kept - 1, 0, after);
        break;
      case PadMode::kReflect:
        if (before > 0) CopyPlanes(out, first, dims, axis, 0, 2 * before, -1, before);
        if (after > 0)
          CopyPlanes(out, first, dims, axis, before + kept, before + kept - 2, -1, after);
        break;
      case PadMode::kWrap:
        // More than one turn where the border is longer than the axis.
        for (int64_t done = 0; done < before; done += kept) {
          const int64_t count = std::min(kept, before - done);
          CopyPlanes(out, first, dims, axis, before - done - count, before + kept - count, 1,
                     count);
        }
        for (int64_t done = 0; done < after; done += kept) {
          CopyPlanes(out, first, dims, axis, before + kept + done, before, 1,
                     std::min(kept, after - done));
        }
        break;
    }
    first[axis] = 0;
    dims[axis] = out.dim(axis);
  }
}

void FillZero(Tensor& out) {
  if (out.dtype() == DataType::kString) {
    std::fill_n(out.data<std::string>(), out.size(), std::string());
    return;
  }
  std::memset(out.raw(), 0, out.bytes());
}

Status Pad(KernelContext& context) {
  const Tensor& in = context.input(0);
  Tensor& out = context.output(0);
  ASC_ASSIGN_OR_RETURN(const PadMode mode, ReadMode(context.attributes()));
  ASC_ASSIGN_OR_RETURN(const Dims pads, ReadIntegers(context.input(1)));
  std::optional<Dims> axes;
  if (context.HasInput(3)) {
    ASC_ASSIGN_OR_RETURN(axes, ReadIntegers(context.input(3)));
  }
  ASC_ASSIGN_OR_RETURN(const AxisPads all, ReadPads(pads, axes, in.rank()));
  Dims first;
  bool grows = false;
  for (size_t i = 0; i < in.rank(); ++i) {
    ASC_RETURN_IF_ERROR(CheckAxisPad(all[i], in.dim(i), i, mode));
    if (in.dim(i) + all[i].begin + all[i].end != out.dim(i)) {
      return ShapeError("Pad by ", pads, " of shape ", in.dims(),
                        " does not give the planned shape ", out.dims());
    }
    first.push_back(all[i].begin);
    grows |= all[i].begin > 0 || all[i].end > 0;
  }
  if (out.size() == 0) return Ok();
  if (mode == PadMode::kConstant && grows) {
    if (context.HasInput(2)) {
      FillElements(context.input(2), out);
    } else {
      FillZero(out);
    }
  }
  CopyInterior(in, out, first);
  if (grows) FillBorders(out, all, mode);
  return Ok();
}

// ---- CenterCropPad ----

Result<Dims> CropAxes(const AttributeMap& attributes, size_t rank) {
  if (const auto* axes = attributes.Get<std::vector<int64_t>>("axes")) {
    return NormalizeAxes(*axes, static_cast<int64_t>(rank), "CenterCropPad");
  }
  Dims axes(rank);
  for (size_t i = 0; i < rank; ++i) axes[i] = static_cast<int64_t>(i);
  return axes;
}

Status InferCenterCropPad(InferContext& context) {
  const Shape& in = context.shape(0);
  if (!in.has_rank()) {
    context.SetOutput(0, context.dtype(0));
    return Ok();
  }
  ASC_ASSIGN_OR_RETURN(const Dims axes, CropAxes(context.attributes(), in.rank()));
  ASC_ASSIGN_OR_RETURN(const std::optional<int64_t> length, VectorLength(context, 1));
  if (length && static_cast<size_t>(*length) != axes.size()) {
    return ShapeError("CenterCropPad needs one extent for each of ", axes.size(), " axes, given ",
                      *length);
  }
  const auto wanted = context.Dims(1);
  Shape out = in;
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& dim = out[static_cast<size_t>(axes[i])];
    dim = wanted ? (*wanted)[i] : Dim::Unknown();
    if (dim.is_constant() && dim.value() < 0)
      return InvalidArgument("CenterCropPad extents must not be negative, given ", *wanted);
  }
  context.SetOutput(0, context.dtype(0), std::move(out));
  return CheckSize(context, 0);
}

Status CenterCropPad(KernelContext& context) {
  const Tensor& in = context.input(0);
  Tensor& out = context.output(0);
  Dims first;
  bool grows = false;
  for (size_t i = 0; i < in.rank(); ++i) {
    // An odd difference leaves the smaller half in front, cropping and padding alike.
    const int64_t difference = out.dim(i) - in.dim(i);
    first.push_back(difference >= 0 ? difference / 2 : -((-difference) / 2));
    grows |= difference > 0;
  }
  if (grows) FillZero(out);
  CopyInterior(in, out, first);
  return Ok();
}
}  // namespace

void AddPadOps(OpTable& table) {
  table.Add("Pad", 25)
      .Doc("adds borders (constant, reflect, edge, wrap); negative pads crop")
      .Input("data", "T")
      .Input("pads", "tensor(int64)")
      .OptionalInput("constant_value", "T")
      .OptionalInput("axes", "Tind")
      .Output("output", "T")
      .Types("T", types::kAll)
      .Types("tensor(int64)", types::kInt64)
      .Types("Tind", types::kIndex)
      .Attr("mode", std::string("constant"), "mode")
      .Class(OpClass::kDataMovement)
      .Infer(InferPad)
      .Kernel(Pad);
  table.Add("CenterCropPad", 18)
      .Doc("crops or pads with zeros around the centre to the given extents")
      .Input("input_data", "T")
      .Input("shape", "Tind")
      .Output("output_data", "T")
      .Types("T", types::kAll)
      .Types("Tind", types::kIndex)
      .OptionalAttr("axes", AttributeType::kInts)
      .Class(OpClass::kDataMovement)
      .Infer(InferCenterCropPad)
      .Kernel(CenterCropPad);
}

}  // namespace asc
