// asc.TransData: the same value stored in another layout. The origin shape stays; the kernel sees
// storage extents.
#include <algorithm>
#include <cstring>

#include "core/ops/expansion.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/strided_copy.h"
#include "core/tensor/format.h"

namespace asc {
namespace {

struct LayoutPair {
  Layout src, dst;
};

Result<LayoutPair> ReadLayouts(const AttributeMap& attributes) {
  LayoutPair out;
  for (const auto& [name, layout] : {std::pair{"src", &out.src}, std::pair{"dst", &out.dst}}) {
    const std::string text = attributes.String(name, "");
    const auto parsed = Layout::Parse(text);
    if (!parsed)
      return Error(Code::kLayout, "TransData attribute '", name, "': '", text, "' is no layout");
    *layout = *parsed;
  }
  const Layout nd;
  if (!out.src.is_blocked() && !out.dst.is_blocked() && !(out.src == out.dst) && !(out.src == nd) &&
      !(out.dst == nd)) {
    return Error(Code::kLayout, "TransData does not reorder axes: ", out.src.ToString(), " to ",
                 out.dst.ToString())
        .WithHint("use Transpose, which permutes the origin format too");
  }
  return out;
}

Status InferTransData(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const LayoutPair layouts, ReadLayouts(context.attributes()));
  if (context.shape(0).has_rank()) {
    for (const Layout& layout : {layouts.src, layouts.dst}) {
      ASC_RETURN_IF_ERROR(StorageShape(layout, Layout(), context.shape(0)).status());
    }
  }
  return InferSameAsFirst(context);
}

// Where index x of one origin axis lies: (x / block) * outer + (x % block) * inner elements from
// the start.
struct AxisPlace {
  int64_t extent;  // padded to whole blocks
  int64_t block, outer, inner;
};
using Places = std::vector<AxisPlace>;  // by origin axis

Places PlainPlaces(const Dims& dims) {
  const Dims strides = ContiguousStrides(dims);
  Places places;
  for (size_t i = 0; i < dims.size(); ++i) places.push_back({dims[i], 1, strides[i], 0});
  return places;
}

// The formulae of StorageShape (core/tensor/format.h) read backwards.
Result<Places> PlacesOf(const Layout& layout, const Dims& storage) {
  const Dims s = ContiguousStrides(storage);
  const auto whole = [&](size_t axis) { return AxisPlace{storage[axis], 1, s[axis], 0}; };
  const auto blocked = [&](size_t outer, size_t inner) {
    return AxisPlace{storage[outer] * storage[inner], storage[inner], s[outer], s[inner]};
  };
  const auto misfit = [&] {
    return Error(Code::kLayout, "storage extents ", storage, " do not fit the layout ",
                 layout.ToString());
  };
  if (!layout.is_blocked()) return PlainPlaces(storage);
  if (storage.empty() || storage.back() != layout.c0) return misfit();
  switch (layout.format) {
    case Format::kNC1HWC0:
      if (storage.size() != 5) return misfit();
      return Places{whole(0), blocked(1, 4), whole(2), whole(3)};
    case Format::kNDC1HWC0:
      if (storage.size() != 6) return misfit();
      return Places{whole(0), blocked(2, 5), whole(1), whole(3), whole(4)};
    case Format::kFractalNz: {
      if (storage.size() < 4) return misfit();
      const size_t lead = storage.size() - 4;
      Places places;
      for (size_t i = 0; i < lead; ++i) places.push_back(whole(i));
      places.push_back(blocked(lead + 1, lead + 2));
      places.push_back(blocked(lead, lead + 3));
      return places;
    }
    default:
      return misfit();
  }
}

// FRACTAL_Z joins C1, H and W in one storage axis: their extents come from the other side.
Result<Places> FractalZPlaces(const Layout& layout, const Dims& storage, const Dims& origin) {
  if (storage.size() != 4 || origin.size() != 4 || storage[3] != layout.c0) {
    return Error(Code::kLayout, "storage extents ", storage, " of ", layout.ToString(),
                 " do not fit origin extents ", origin);
  }
  const int64_t height = origin[2], width = origin[3], c1 = (origin[1] + layout.c0 - 1) / layout.c0;
  if (storage[0] != c1 * height * width) {
    return Error(Code::kLayout, "storage extents ", storage, " of ", layout.ToString(),
                 " do not fit origin extents ", origin);
  }
  const Dims s = ContiguousStrides(storage);
  return Places{{storage[1] * storage[2], storage[2], s[1], s[2]},
                {c1 * layout.c0, layout.c0, height * width * s[0], s[3]},
                {height, 1, width * s[0], 0},
                {width, 1, s[0], 0}};
}

// Copies the elements that both sides have. Axes that a side blocks are walked as (block, within):
// whole blocks first, then the started one.
void CopyPlaces(DataType type, const Places& src, const void* in, const Places& dst, void* out,
                size_t axis, Dims dims, Dims in_strides, Dims out_strides, int64_t in_offset,
                int64_t out_offset) {
  if (axis == src.size()) {
    StridedCopy(type, dims, {in, in_offset, in_strides}, {out, out_offset, out_strides});
    return;
  }
  const AxisPlace &a = src[axis], &b = dst[axis];
  const int64_t extent = std::min(a.extent, b.extent), block = std::max(a.block, b.block);
  const auto strides = [&](const AxisPlace& place) {
    return place.block == 1 ? std::pair(block * place.outer, place.outer)
                            : std::pair(place.outer, place.inner);
  };
  const auto [in_outer, in_inner] = strides(a);
  const auto [out_outer, out_inner] = strides(b);
  for (const bool tail : {false, true}) {
    const int64_t outer = tail ? 1 : extent / block, inner = tail ? extent % block : block;
    if (outer == 0 || inner == 0) continue;
    Dims more = dims, more_in = in_strides, more_out = out_strides;
    for (const auto& [list, first, second] :
         {std::tuple{&more, outer, inner}, std::tuple{&more_in, in_outer, in_inner},
          std::tuple{&more_out, out_outer, out_inner}}) {
      list->push_back(first);
      list->push_back(second);
    }
    const int64_t done = tail ? extent / block : 0;
    CopyPlaces(type, src, in, dst, out, axis + 1, more, more_in, more_out,
               in_offset + done * in_outer, out_offset + done * out_outer);
  }
}

Status CopyBetween(DataType type, const Places& src, const Tensor& in, const Places& dst,
                   Tensor& out) {
  if (src.size() != dst.size()) {
    return Error(Code::kLayout, "TransData of ", in.dims(), " to ", out.dims(),
                 ": the origin ranks differ");
  }
  bool padded = false;
  for (size_t i = 0; i < src.size(); ++i) padded |= dst[i].extent > src[i].extent;
  if (padded) std::memset(out.raw(), 0, out.bytes());  // the elements that fill up blocks are zeros
  CopyPlaces(type, src, in.raw(), dst, out.raw(), 0, {}, {}, {}, 0, 0);
  return Ok();
}

// The origin extents that a blocked tensor stands for, padded.
Dims PaddedOrigin(const Places& places) {
  Dims dims;
  for (const AxisPlace& place : places) dims.push_back(place.extent);
  return dims;
}

Status TransData(KernelContext& context) {
  const Tensor& in = context.input(0);
  Tensor& out = context.output(0);
  ASC_ASSIGN_OR_RETURN(const LayoutPair layouts, ReadLayouts(context.attributes()));
  const bool from_z = layouts.src.format == Format::kFractalZ,
             to_z = layouts.dst.format == Format::kFractalZ;
  if (from_z && to_z && !(layouts.src == layouts.dst)) {
    return Error(Code::kLayout, "TransData from ", layouts.src.ToString(), " to ",
                 layouts.dst.ToString(), " needs a plain layout between them");
  }
  if (from_z && to_z) return CopyElements(in, out), Ok();
  Places src, dst;
  if (!from_z) {
    ASC_ASSIGN_OR_RETURN(src, PlacesOf(layouts.src, in.dims()));
  }
  if (!to_z) {
    ASC_ASSIGN_OR_RETURN(dst, PlacesOf(layouts.dst, out.dims()));
  }
  if (from_z) {
    ASC_ASSIGN_OR_RETURN(src, FractalZPlaces(layouts.src, in.dims(), PaddedOrigin(dst)));
  }
  if (to_z) {
    ASC_ASSIGN_OR_RETURN(dst, FractalZPlaces(layouts.dst, out.dims(), PaddedOrigin(src)));
  }
  bool blocks_differ = false;
  for (size_t i = 0; i < std::min(src.size(), dst.size()); ++i) {
    blocks_differ |= src[i].block > 1 && dst[i].block > 1 && src[i].block != dst[i].block;
  }
  if (!blocks_differ) return CopyBetween(in.dtype(), src, in, dst, out);
  const Dims plain = PaddedOrigin(src);
  ASC_ASSIGN_OR_RETURN(Tensor between, Tensor::Allocate(in.dtype(), plain, context.run().allocator,
                                                        MemoryUse::kScratch));
  ASC_RETURN_IF_ERROR(CopyBetween(in.dtype(), src, in, PlainPlaces(plain), between));
  return CopyBetween(in.dtype(), PlainPlaces(plain), between, dst, out);
}
}  // namespace

Status ExpandTransData(Expansion& expansion) {
  // The value is the same one; where it is stored is no matter of ONNX.
  expansion.Replace(0, expansion.input(0));
  return Ok();
}

void AddTransDataOps(OpTable& table) {
  table.Add("TransData", 1, "asc")
      .Doc("stores a value in another layout; the origin shape stays")
      .Input("input", "T")
      .Output("output", "T")
      .Types("T", types::kAll - types::kString)
      .RequiredAttr("src", AttributeType::kString, "",
                    "layout of the input: \"NCHW\", \"NC1HWC0(16)\"")
      .RequiredAttr("dst", AttributeType::kString, "", "layout of the output")
      .Class(OpClass::kDataMovement)
      .Infer(InferTransData)
      .Kernel(TransData);
}

}  // namespace asc
