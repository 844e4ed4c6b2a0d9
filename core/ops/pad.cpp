// Pad and CenterCropPad: growing and cropping at the borders.
#include <algorithm>

#include "core/ops/bordered_copy.h"
#include "core/ops/families.h"
#include "core/ops/shape_facts.h"

namespace asc {
namespace {

Result<BorderMode> ReadMode(const AttributeMap& attributes) {
  const std::string mode = attributes.String("mode", "constant");
  if (mode == "constant") return BorderMode::kConstant;
  if (mode == "reflect") return BorderMode::kReflect;
  if (mode == "edge") return BorderMode::kEdge;
  if (mode == "wrap") return BorderMode::kWrap;
  return InvalidArgument("Pad mode '", mode,
                         "' is not known: expected constant, reflect, edge or wrap");
}

// `pads` is begins, then ends, of the named axes (default: all).
Result<AxisBorders> ReadPads(std::span<const int64_t> pads,
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
  AxisBorders out(rank);
  for (size_t i = 0; i < axes.size(); ++i)
    out[static_cast<size_t>(axes[i])] = {pads[i], pads[axes.size() + i]};
  return out;
}

Status CheckAxisPad(const AxisBorder& pad, int64_t extent, size_t axis, BorderMode mode) {
  const Dim out = Dim(extent) + Dim(pad.begin) + Dim(pad.end);  // saturates
  if (out.value() < 0) {
    return ShapeError("Pad crops axis ", axis, " of ", extent, " elements by ", pad.begin, " and ",
                      pad.end, ": nothing is left");
  }
  if (mode == BorderMode::kConstant) return Ok();
  // What is left of the axis after cropping is what the new elements are taken from.
  const int64_t kept = extent + std::min<int64_t>(0, std::max(pad.begin, -extent - 1)) +
                       std::min<int64_t>(0, std::max(pad.end, -extent - 1));
  const int64_t most = std::max(pad.begin, pad.end);
  if (most > 0 && kept <= 0)
    return ShapeError("Pad of axis ", axis, ": there are no elements to repeat");
  if (mode == BorderMode::kReflect && most > 0 && most > kept - 1) {
    return ShapeError("Pad by ", most, " reflects more of axis ", axis, " than it has: at most ",
                      kept - 1);
  }
  return Ok();
}

Status InferPad(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const BorderMode mode, ReadMode(context.attributes()));
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
  ASC_ASSIGN_OR_RETURN(const AxisBorders all, ReadPads(*pads, axes, in.rank()));
  Shape out = in;
  for (size_t i = 0; i < in.rank(); ++i) {
    if (in[i].is_constant()) ASC_RETURN_IF_ERROR(CheckAxisPad(all[i], in[i].value(), i, mode));
    out[i] = in[i] + Dim(all[i].begin) + Dim(all[i].end);
  }
  context.SetOutput(0, context.dtype(0), std::move(out));
  return CheckSize(context, 0);
}

Status Pad(KernelContext& context) {
  const Tensor& in = context.input(0);
  Tensor& out = context.output(0);
  ASC_ASSIGN_OR_RETURN(const BorderMode mode, ReadMode(context.attributes()));
  ASC_ASSIGN_OR_RETURN(const Dims pads, ReadIntegers(context.input(1)));
  std::optional<Dims> axes;
  if (context.HasInput(3)) {
    ASC_ASSIGN_OR_RETURN(axes, ReadIntegers(context.input(3)));
  }
  ASC_ASSIGN_OR_RETURN(const AxisBorders all, ReadPads(pads, axes, in.rank()));
  for (size_t i = 0; i < in.rank(); ++i) {
    ASC_RETURN_IF_ERROR(CheckAxisPad(all[i], in.dim(i), i, mode));
    if (in.dim(i) + all[i].begin + all[i].end != out.dim(i)) {
      return ShapeError("Pad by ", pads, " of shape ", in.dims(),
                        " does not give the planned shape ", out.dims());
    }
  }
  BorderedCopy(in, all, mode, context.HasInput(2) ? &context.input(2) : nullptr, out);
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
  AxisBorders borders;
  for (size_t i = 0; i < in.rank(); ++i) {
    // An odd difference leaves the smaller half in front, cropping and padding alike.
    const int64_t difference = out.dim(i) - in.dim(i), begin = difference / 2;
    borders.push_back({begin, difference - begin});
  }
  BorderedCopy(in, borders, BorderMode::kConstant, nullptr, out);
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
