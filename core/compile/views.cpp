#include "core/compile/views.h"

#include <algorithm>

#include "core/ops/view.h"
#include "core/tensor/element.h"
#include "core/tensor/format.h"

namespace asc {
namespace {
// A part is copied, not looked at, when it is less than a quarter of a value larger than this: the copy is cheap, and the
// value's memory is free for others.
constexpr int64_t kSmallValue = 1 << 16;  // elements

// Between plain and NC1HWC0 images of one pixel, whose channels lie in order in both.
bool RelabelsPixel(const ViewRequest& request) {
  const Node& node = request.node;
  if (!node.Is("TransData", "asc")) return false;
  const auto src = Layout::Parse(node.attributes.String("src", ""));
  const auto dst = Layout::Parse(node.attributes.String("dst", ""));
  if (!src || !dst || src->is_blocked() == dst->is_blocked()) return false;
  const Dims& output_dims = request.output_dims[0];
  const Dims& blocked = src->is_blocked() ? request.input_dims : output_dims;
  return (src->is_blocked() ? *src : *dst).format == Format::kNC1HWC0 && blocked.size() == 5 && blocked[2] == 1 &&
         blocked[3] == 1 && ElementCount(request.input_dims) == ElementCount(output_dims);
}

bool KeepsElementOrder(const ViewRequest& request) {
  if (KeepsElements(*request.node.schema)) return true;
  if (!request.node.Is("Transpose")) return false;
  // Axes of more than one element stay in order.
  const auto rank = static_cast<int64_t>(request.input_dims.size());
  const auto* perm = request.node.attributes.Get<std::vector<int64_t>>("perm");
  int64_t last = -1;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t given = perm == nullptr ? rank - 1 - i : (*perm)[static_cast<size_t>(i)];
    const int64_t axis = given < 0 ? given + rank : given;
    if (request.input_dims[static_cast<size_t>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

// Whether all axes before `axis` have one element, so that what is cut along it is a run.
bool Leads(const Dims& dims, int64_t axis) {
  return std::all_of(dims.begin(), dims.begin() + axis, [](int64_t extent) { return extent == 1; });
}

// The element at which a Slice that is a run of its input begins.
std::optional<int64_t> SliceStart(const ViewRequest& request) {
  const Dims &in = request.input_dims, &out = request.output_dims[0];
  const auto known = [&](size_t i) -> std::optional<std::vector<int64_t>> {
    if (i >= request.known_inputs.size() || request.known_inputs[i] == nullptr) return std::nullopt;
    auto values = ToInt64Vector(*request.known_inputs[i]);
    return values.ok() ? std::optional(std::move(values).value()) : std::nullopt;
  };
  const auto starts = known(1);
  if (!starts || in.size() != out.size()) return std::nullopt;
  const bool has_axes = request.node.input(3).valid(), has_steps = request.node.input(4).valid();
  const auto axes = has_axes ? known(3) : std::nullopt, steps = has_steps ? known(4) : std::nullopt;
  if ((has_axes && !axes) || (has_steps && !steps)) return std::nullopt;
  int64_t cut = -1, start = 0;
  for (size_t i = 0; i < starts->size(); ++i) {
    const int64_t given = axes ? (*axes)[i] : static_cast<int64_t>(i);
    const int64_t axis = given < 0 ? given + static_cast<int64_t>(in.size()) : given;
    const int64_t extent = in[static_cast<size_t>(axis)];
    if (out[static_cast<size_t>(axis)] == extent && (!steps || (*steps)[i] == 1)) continue;
    if (cut >= 0 || !Leads(in, axis) || (steps && (*steps)[i] != 1)) return std::nullopt;
    cut = axis;
    const int64_t first = (*starts)[i] < 0 ? (*starts)[i] + extent : (*starts)[i];
    start = std::clamp<int64_t>(first, 0, extent);
  }
  return cut < 0 ? 0 : start * ElementCount(in, static_cast<size_t>(cut) + 1, in.size());
}

std::optional<int64_t> GatherStart(const ViewRequest& request) {
  const Dims& in = request.input_dims;
  const Tensor* index = request.known_inputs.size() > 1 ? request.known_inputs[1] : nullptr;
  const auto axis = NormalizeAxis(request.node.attributes.Int("axis", 0), static_cast<int64_t>(in.size()));
  if (index == nullptr || index->size() != 1 || !axis.ok() || !Leads(in, *axis)) return std::nullopt;
  const auto place = ToInt64Vector(*index);
  const int64_t extent = in[static_cast<size_t>(*axis)];
  // An index out of range is for the kernel to refuse.
  if (!place.ok() || place->front() < -extent || place->front() >= extent) return std::nullopt;
  const int64_t at = place->front() < 0 ? place->front() + extent : place->front();
  return at * ElementCount(in, static_cast<size_t>(*axis) + 1, in.size());
}

// The elements at which the outputs begin.
std::optional<std::vector<int64_t>> Starts(const ViewRequest& request) {
  const Dims& in = request.input_dims;
  const std::string_view name = request.node.schema->name;
  if (name == "Slice" || name == "Gather") {
    const auto start = name == "Slice" ? SliceStart(request) : GatherStart(request);
    return start ? std::optional(std::vector<int64_t>{*start}) : std::nullopt;
  }
  if (name != "Split") return std::nullopt;
  const auto axis = NormalizeAxis(request.node.attributes.Int("axis", 0), static_cast<int64_t>(in.size()));
  if (!axis.ok() || !Leads(in, *axis)) return std::nullopt;
  std::vector<int64_t> starts;
  int64_t at = 0;
  for (const Dims& out : request.output_dims) {
    starts.push_back(at);
    at += ElementCount(out);
  }
  return at == ElementCount(in) ? std::optional(std::move(starts)) : std::nullopt;
}
}  // namespace

std::optional<std::vector<size_t>> ViewOffsets(const ViewRequest& request) {
  if (request.output_dims.empty()) return std::nullopt;
  if (RelabelsPixel(request)) return std::vector<size_t>{0};
  if (!request.node.schema->domain.empty() || request.dtype == DataType::kString) return std::nullopt;
  const int64_t count = ElementCount(request.input_dims);
  if (KeepsElementOrder(request)) {
    if (request.output_dims.size() != 1 || count != ElementCount(request.output_dims[0])) return std::nullopt;
    return std::vector<size_t>{0};
  }
  if (IsSubByte(request.dtype)) return std::nullopt;
  const auto starts = Starts(request);
  if (!starts) return std::nullopt;
  int64_t seen = 0;
  for (const Dims& dims : request.output_dims) seen += ElementCount(dims);
  if (request.transient && count > kSmallValue && seen < count / 4) return std::nullopt;
  std::vector<size_t> offsets;
  for (const int64_t start : *starts) offsets.push_back(static_cast<size_t>(start) * ElementSize(request.dtype));
  return offsets;
}

std::optional<std::vector<size_t>> JoinOffsets(const JoinRequest& request) {
  const bool blocked = request.storage.is_blocked();
  if (!request.node.Is("Concat") || request.dtype == DataType::kString || IsSubByte(request.dtype)) return std::nullopt;
  if (blocked && request.storage.format != Format::kNC1HWC0) return std::nullopt;
  // The axes of NC1HWC0 but the last stand in the order of those of NCHW.
  const size_t count = request.input_dims.size();
  const auto rank = static_cast<int64_t>(request.input_extents[0].size());
  const auto axis = NormalizeAxis(request.node.attributes.Int("axis", 0), rank);
  if (!axis.ok()) return std::nullopt;
  std::vector<size_t> offsets;
  int64_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!Leads(request.input_dims[i], *axis)) return std::nullopt;
    // Channels that pad a block stand between those of neighbours.
    if (blocked && *axis == 1 && i + 1 < count && request.input_extents[i][1] % request.storage.c0 != 0) return std::nullopt;
    const size_t offset = static_cast<size_t>(at) * ElementSize(request.dtype);
    if (offset % kAlignment != 0) return std::nullopt;
    offsets.push_back(offset);
    at += ElementCount(request.input_dims[i]);
  }
  return offsets;
}

bool CanWriteInPlace(const Node& node, const Dims& input_dims, DataType input_type, const Dims& output_dims,
                     DataType output_type) {
  return node.schema->op_class == OpClass::kElementwise && node.outputs.size() == 1 && input_dims == output_dims &&
         input_type != DataType::kString && output_type != DataType::kString &&
         BitWidth(input_type) == BitWidth(output_type) && !IsSubByte(input_type);
}

}  // namespace asc
