// Operators that permute axes: Transpose, DepthToSpace, SpaceToDepth.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/shape_facts.h"
#include "core/ops/strided_copy.h"

namespace asc {
namespace {

// Reads a dense array of extents `dims` with its axes in the order `perm`, and writes it densely.
void PermutedCopy(DataType type, const Dims& dims, const Dims& perm, const void* in, void* out) {
  const Dims strides = ContiguousStrides(dims);
  Dims out_dims, in_strides;
  for (const int64_t axis : perm) {
    out_dims.push_back(dims[static_cast<size_t>(axis)]);
    in_strides.push_back(strides[static_cast<size_t>(axis)]);
  }
  StridedCopy(type, out_dims, {in, 0, in_strides}, {out, 0, ContiguousStrides(out_dims)});
}

// ---- Transpose ----

// Without the attribute, axes are reversed.
Result<Dims> Permutation(const AttributeMap& attributes, size_t rank) {
  Dims perm(rank);
  if (const auto* given = attributes.Get<std::vector<int64_t>>("perm")) {
    if (given->size() != rank) {
      return ShapeError("Transpose perm ", *given, " has ", given->size(), " axes, the input has ",
                        rank);
    }
    return NormalizeAxes(*given, static_cast<int64_t>(rank), "Transpose");
  }
  for (size_t i = 0; i < rank; ++i) perm[i] = static_cast<int64_t>(rank - 1 - i);
  return perm;
}

Status InferTranspose(InferContext& context) {
  const Shape& in = context.shape(0);
  if (!in.has_rank()) {
    const auto* perm = context.attributes().Get<std::vector<int64_t>>("perm");
    context.SetOutput(0, context.dtype(0), perm ? Shape::UnknownDims(perm->size()) : Shape());
    return Ok();
  }
  ASC_ASSIGN_OR_RETURN(const Dims perm, Permutation(context.attributes(), in.rank()));
  std::vector<Dim> dims;
  for (const int64_t axis : perm) dims.push_back(in[static_cast<size_t>(axis)]);
  context.SetOutput(0, context.dtype(0), Shape(std::move(dims)));
  PassKnownElements(context, 0);
  return Ok();
}

Status Transpose(KernelContext& context) {
  const Tensor& in = context.input(0);
  ASC_ASSIGN_OR_RETURN(const Dims perm, Permutation(context.attributes(), in.rank()));
  PermutedCopy(in.dtype(), in.dims(), perm, in.raw(), context.output(0).raw());
  return Ok();
}

// ---- DepthToSpace, SpaceToDepth ----

// DCR: the block comes before the channels that stay; CRD: after them.
Result<bool> IsCrd(const OpSchema& schema, const AttributeMap& attributes) {
  const std::string mode = attributes.String("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") {
    return InvalidArgument(schema.FullName(), " mode must be 'DCR' or 'CRD', given '", mode, "'");
  }
  return mode == "CRD";
}

Status InferBlocks(InferContext& context, bool to_space) {
  const OpSchema& schema = context.schema();
  ASC_RETURN_IF_ERROR(IsCrd(schema, context.attributes()).status());
  ASC_RETURN_IF_ERROR(CheckRank(context, 0, 4));
  const int64_t block = context.attributes().Int("blocksize", 1);
  if (block < 1 || block > (1 << 20)) {
    return InvalidArgument(schema.FullName(), " blocksize must be positive and below 2^20, given ",
                           block);
  }
  const Shape& in = context.shape(0);
  if (!in.has_rank()) {
    context.SetOutput(0, context.dtype(0), Shape::UnknownDims(4));
    return Ok();
  }
  const auto divides = [](const Dim& dim, int64_t by) {
    return !dim.is_constant() || dim.value() % by == 0;
  };
  const Dim b(block), area(block * block);
  if (to_space) {
    if (!divides(in[1], block * block)) {
      return ShapeError("DepthToSpace with blocksize ", block, " needs channels divisible by ",
                        area, ", given shape ", in);
    }
    context.SetOutput(0, context.dtype(0),
                      Shape({in[0], Dim::FloorDiv(in[1], area), in[2] * b, in[3] * b}));
  } else {
    if (!divides(in[2], block) || !divides(in[3], block)) {
      return ShapeError("SpaceToDepth needs height and width divisible by blocksize ", block,
                        ", given shape ", in);
    }
    context.SetOutput(
        0, context.dtype(0),
        Shape({in[0], in[1] * area, Dim::FloorDiv(in[2], b), Dim::FloorDiv(in[3], b)}));
  }
  return Ok();
}

Status InferDepthToSpace(InferContext& context) { return InferBlocks(context, true); }
Status InferSpaceToDepth(InferContext& context) { return InferBlocks(context, false); }

Status DepthToSpace(KernelContext& context) {
  const Tensor& in = context.input(0);
  const int64_t b = context.attributes().Int("blocksize", 1), depth = in.dim(1) / (b * b);
  ASC_ASSIGN_OR_RETURN(const bool crd, IsCrd(context.schema(), context.attributes()));
  const Dims dims = crd ? Dims{in.dim(0), depth, b, b, in.dim(2), in.dim(3)}
                        : Dims{in.dim(0), b, b, depth, in.dim(2), in.dim(3)};
  const Dims perm = crd ? Dims{0, 1, 4, 2, 5, 3} : Dims{0, 3, 4, 1, 5, 2};
  PermutedCopy(in.dtype(), dims, perm, in.raw(), context.output(0).raw());
  return Ok();
}

Status SpaceToDepth(KernelContext& context) {
  const Tensor& in = context.input(0);
  const int64_t b = context.attributes().Int("blocksize", 1);
  ASC_ASSIGN_OR_RETURN(const bool crd, IsCrd(context.schema(), context.attributes()));
  const Dims dims{in.dim(0), in.dim(1), in.dim(2) / b, b, in.dim(3) / b, b};
  const Dims perm = crd ? Dims{0, 1, 3, 5, 2, 4} : Dims{0, 3, 5, 1, 2, 4};
  PermutedCopy(in.dtype(), dims, perm, in.raw(), context.output(0).raw());
  return Ok();
}
}  // namespace

void AddTransposeOps(OpTable& table) {
  table.Add("Transpose", 25)
      .Doc("permutes the axes: output axis i is input axis perm[i]; default: reversed")
      .Input("data", "T")
      .Output("transposed", "T")
      .Types("T", types::kAll)
      .OptionalAttr("perm", AttributeType::kInts)
      .Class(OpClass::kDataMovement)
      .Infer(InferTranspose)
      .Kernel(Transpose);
  table.Add("DepthToSpace", 28)
      .Doc("(N, C, H, W) to (N, C/b^2, H*b, W*b): channels become blocks of pixels")
      .Input("input", "T")
      .Output("output", "T")
      .Types("T", types::kAll)
      .RequiredAttr("blocksize", AttributeType::kInt)
      .Attr("mode", std::string("DCR"))
      .Class(OpClass::kDataMovement)
      .Infer(InferDepthToSpace)
      .Kernel(DepthToSpace);
  table.Add("SpaceToDepth", 28)
      .Doc("(N, C, H, W) to (N, C*b^2, H/b, W/b): blocks of pixels become channels")
      .Input("input", "T")
      .Output("output", "T")
      .Types("T", types::kAll)
      .RequiredAttr("blocksize", AttributeType::kInt)
      .Attr("mode", std::string("DCR"))
      .Class(OpClass::kDataMovement)
      .Infer(InferSpaceToDepth)
      .Kernel(SpaceToDepth);
}

}  // namespace asc
