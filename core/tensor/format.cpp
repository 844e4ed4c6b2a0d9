#include "core/tensor/format.h"

#include <charconv>

namespace asc {
namespace {
constexpr int64_t kFractalRows = 16;

struct Row {
  Format format;
  const char* name;
  const char* axes;  // of plain formats, in order; blocked ones: the plain format that they block
};
constexpr Row kRows[] = {
    {Format::kND, "ND", ""},
    {Format::kNCHW, "NCHW", "NCHW"},
    {Format::kNHWC, "NHWC", "NHWC"},
    {Format::kNCDHW, "NCDHW", "NCDHW"},
    {Format::kNDHWC, "NDHWC", "NDHWC"},
    {Format::kNC1HWC0, "NC1HWC0", "NCHW"},
    {Format::kNDC1HWC0, "NDC1HWC0", "NCDHW"},
    {Format::kFractalZ, "FRACTAL_Z", "NCHW"},
    {Format::kFractalNz, "FRACTAL_NZ", ""},
};

const Row& RowOf(Format format) { return kRows[static_cast<int>(format)]; }
}  // namespace

std::string_view FormatName(Format format) { return RowOf(format).name; }

std::optional<Format> ParseFormat(std::string_view name) {
  for (const Row& row : kRows) {
    if (name == row.name) return row.format;
  }
  return std::nullopt;
}

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

Format PlainFormat(Format format) { return ParseFormat(RowOf(format).axes).value_or(format); }

std::string Layout::ToString() const {
  return c0 == 0 ? std::string(FormatName(format)) : Cat(FormatName(format), "(", c0, ")");
}

std::optional<Layout> Layout::Parse(std::string_view text) {
  Layout out;
  const size_t open = text.find('(');
  if (open != std::string_view::npos) {
    const auto [end, error] = std::from_chars(text.data() + open + 1, text.data() + text.size(), out.c0);
    if (error != std::errc() || end != text.data() + text.size() - 1 || *end != ')' || out.c0 <= 0) return std::nullopt;
    text = text.substr(0, open);
  }
  const auto format = ParseFormat(text);
  if (!format) return std::nullopt;
  out.format = *format;
  return out;
}

int DefaultC0(DataType type) {
  const int bits = BitWidth(type);
  return bits == 0 || bits > 256 ? 1 : 256 / bits;
}

Result<Shape> StorageShape(const Layout& storage, const Layout& origin, const Shape& origin_shape) {
  const auto misfit = [&](std::string_view need) {
    return Error(Code::kLayout, "shape ", origin_shape, " (", FormatName(origin.format), ") cannot be stored as ",
                 storage.ToString(), ": ", need);
  };
  if (!storage.is_blocked()) return origin_shape;
  if (!origin_shape.has_rank()) return misfit("its rank is not known");
  const Dim c0(storage.c0), rows(kFractalRows);
  const Shape& s = origin_shape;
  switch (storage.format) {
    case Format::kNC1HWC0:
      if (s.rank() != 4) return misfit("rank 4 is needed");
      return Shape({s[0], Dim::CeilDiv(s[1], c0), s[2], s[3], c0});
    case Format::kNDC1HWC0:
      if (s.rank() != 5) return misfit("rank 5 is needed");
      return Shape({s[0], s[2], Dim::CeilDiv(s[1], c0), s[3], s[4], c0});
    case Format::kFractalZ:
      if (s.rank() != 4) return misfit("rank 4 is needed");
      return Shape({Dim::CeilDiv(s[1], c0) * s[2] * s[3], Dim::CeilDiv(s[0], rows), rows, c0});
    case Format::kFractalNz: {
      if (s.rank() < 2) return misfit("rank 2 or more is needed");
      std::vector<Dim> dims(s.dims().begin(), s.dims().end() - 2);
      const Dim &m = s[s.rank() - 2], &n = s[s.rank() - 1];
      dims.insert(dims.end(), {Dim::CeilDiv(n, c0), Dim::CeilDiv(m, rows), rows, c0});
      return Shape(std::move(dims));
    }
    default: return misfit("the format is not a blocked one");
  }
}

Result<Dims> StorageDims(const Layout& storage, const Layout& origin, const Dims& origin_dims) {
  ASC_ASSIGN_OR_RETURN(const Shape shape, StorageShape(storage, origin, Shape(origin_dims)));
  return *shape.ToDims();
}

Format PermuteFormat(Format origin, const std::vector<int64_t>& perm) {
  const std::string_view axes = RowOf(origin).axes;
  if (axes.size() != perm.size()) return Format::kND;
  std::string permuted;
  for (const int64_t axis : perm) {
    if (axis < 0 || axis >= static_cast<int64_t>(axes.size())) return Format::kND;
    permuted += axes[static_cast<size_t>(axis)];
  }
  const auto named = ParseFormat(permuted);
  return named.value_or(Format::kND);
}

}  // namespace asc
