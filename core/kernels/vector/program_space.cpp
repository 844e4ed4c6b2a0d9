#include "core/kernels/vector/program_space.h"

#include <optional>

namespace asc::simd {
namespace {
struct Axis {
  int64_t extent;
  std::vector<int64_t> strides;  // by operand
};

// Axes of extent 1 vanish, and an axis that every operand passes through evenly together with the
// one before it becomes part of that.
std::vector<Axis> MergedAxes(const Dims& dims, const std::vector<Dims>& strides, size_t count) {
  std::vector<Axis> axes;
  for (size_t i = 0; i < count; ++i) {
    if (dims[i] == 1) continue;
    Axis axis{dims[i], {}};
    for (const Dims& of : strides) axis.strides.push_back(of[i]);
    bool merge = !axes.empty();
    for (size_t k = 0; merge && k < strides.size(); ++k)
      merge = axes.back().strides[k] == axis.strides[k] * axis.extent;
    if (merge) {
      axes.back().extent *= axis.extent;
      axes.back().strides = std::move(axis.strides);
    } else {
      axes.push_back(std::move(axis));
    }
  }
  return axes;
}
}  // namespace

ProgramSpace MakeProgramSpace(const Dims& dims, const std::vector<Dims>& strides, bool keep_rows,
                              const std::vector<bool>& repeats, int64_t most_period) {
  using Within = ProgramSpace::Within;
  ProgramSpace space;
  space.operands.resize(strides.size());
  const bool keep = keep_rows && !dims.empty();
  std::vector<Axis> axes = MergedAxes(dims, strides, keep ? dims.size() - 1 : dims.size());
  Axis row{1, std::vector<int64_t>(strides.size(), 0)};
  if (keep) {
    row.extent = dims.back();
    for (size_t k = 0; k < strides.size(); ++k) row.strides[k] = strides[k].back();
  } else if (!axes.empty()) {
    row = std::move(axes.back());
    axes.pop_back();
  }
  space.count = row.extent;
  for (size_t k = 0; k < strides.size(); ++k)
    space.operands[k].within =
        row.strides[k] == 0 && row.extent != 1 ? Within::kScalar : Within::kMoving;
  // Short rows that some operands repeat, and that the others pass through evenly.
  if (!keep && !axes.empty() && row.extent != 0 && row.extent <= most_period) {
    // Longer rows lose less by being run one by one than by what repeats each of their elements.
    constexpr int64_t kMostRepeated = 96;
    const auto within = [&](size_t k) -> std::optional<Within> {
      const int64_t above = axes.back().strides[k], along = row.strides[k];
      if (above == along * row.extent) return space.operands[k].within;
      if (!repeats[k]) return std::nullopt;
      if (above == 0 && along == 1) return Within::kPattern;
      if (above == 1 && along == 0 && row.extent <= kMostRepeated) return Within::kRepeated;
      return std::nullopt;
    };
    bool fits = true;
    for (size_t k = 0; fits && k < strides.size(); ++k) fits = within(k).has_value();
    if (fits) {
      space.period = row.extent;
      space.count = row.extent * axes.back().extent;
      for (size_t k = 0; k < strides.size(); ++k) space.operands[k].within = *within(k);
      axes.pop_back();
    }
  }
  for (const Axis& axis : axes) {
    space.outer.push_back(axis.extent);
    for (size_t k = 0; k < strides.size(); ++k)
      space.operands[k].strides.push_back(axis.strides[k]);
  }
  if (space.outer.empty()) {
    space.outer.push_back(1);
    for (ProgramSpace::Operand& operand : space.operands) operand.strides.push_back(0);
  }
  return space;
}

}  // namespace asc::simd
