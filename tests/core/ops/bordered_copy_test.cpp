// Borders against an element-by-element model.
#include "core/ops/bordered_copy.h"

#include <gtest/gtest.h>

#include "core/base/parallel.h"
#include "tests/core/ops/raw_elements.h"

namespace asc::testing {
namespace {

// The index that NumPy's pad reads for index `at`, counted from the first element that is kept.
int64_t Wrapped(int64_t at, int64_t kept, BorderMode mode) {
  if (at >= 0 && at < kept) return at;
  if (mode == BorderMode::kConstant) return -1;
  if (mode == BorderMode::kEdge) return at < 0 ? 0 : kept - 1;
  if (mode == BorderMode::kReflect) return at < 0 ? -at : 2 * kept - 2 - at;
  while (at < 0) at += kept;
  return at % kept;
}

void Check(DataType type, const Dims& dims, const AxisBorders& borders, BorderMode mode) {
  const Tensor in = Filled(type, dims, 5), value = Filled(type, {1}, 6);
  Dims out_dims;
  for (size_t k = 0; k < dims.size(); ++k)
    out_dims.push_back(dims[k] + borders[k].begin + borders[k].end);
  Tensor out = Tensor::Allocate(type, out_dims).value();
  BorderedCopy(in, borders, mode, &value, out);
  const Dims in_strides = ContiguousStrides(dims), out_strides = ContiguousStrides(out_dims);
  for (int64_t i = 0; i < out.size(); ++i) {
    int64_t from = 0;
    for (size_t k = 0; k < dims.size(); ++k) {
      const int64_t first = std::max<int64_t>(0, -borders[k].begin),
                    kept = dims[k] - first - std::max<int64_t>(0, -borders[k].end);
      const int64_t at = i / out_strides[k] % out_dims[k] - std::max<int64_t>(0, borders[k].begin);
      const int64_t source = Wrapped(at, kept, mode);
      from = from < 0 || source < 0 ? -1 : from + (first + source) * in_strides[k];
    }
    ASSERT_TRUE(SameElement(out, i, from < 0 ? value : in, std::max<int64_t>(0, from)))
        << DataTypeName(type) << " " << ToString(dims) << " element " << i << " mode "
        << static_cast<int>(mode);
  }
}

constexpr BorderMode kModes[] = {BorderMode::kConstant, BorderMode::kReflect, BorderMode::kEdge,
                                 BorderMode::kWrap};

TEST(BorderedCopy, FollowsTheDefinitionForEveryTypeAndShape) {
  const std::vector<std::pair<Dims, AxisBorders>> cases = {
      {{7}, {{2, 3}}},
      {{7}, {{-1, 3}}},
      {{9}, {{3, -2}}},
      {{5, 3}, {{2, 1}, {0, 0}}},
      {{5, 3}, {{0, 0}, {2, 1}}},
      {{40, 3}, {{0, 2}, {1, -1}}},
      {{2, 3, 4, 5}, {{0, 0}, {1, 2}, {0, 0}, {3, 3}}},
      {{2, 6, 7, 3}, {{0, 0}, {2, 3}, {3, 1}, {0, 0}}},
      {{2, 3, 40}, {{1, 1}, {-1, 0}, {19, 19}}},
      {{3, 17, 30}, {{0, 0}, {1, 1}, {1, 1}}},
      {{3, 2, 150}, {{1, 0}, {1, 0}, {-7, -9}}},
  };
  for (const int threads : {1, 3}) {
    const ScopedThreads scoped(threads);
    for (const DataType type :
         {DataType::kUInt8, DataType::kFloat16, DataType::kFloat32, DataType::kInt64,
          DataType::kComplex128, DataType::kString, DataType::kInt4, DataType::kUInt2}) {
      for (const BorderMode mode : kModes) {
        for (const auto& [dims, borders] : cases) Check(type, dims, borders, mode);
      }
    }
  }
}

TEST(BorderedCopy, SharesLargeArraysOut) {
  const ScopedThreads scoped(3);
  for (const BorderMode mode : kModes) {
    Check(DataType::kFloat32, {200000}, {{30000, 40000}}, mode);
    Check(DataType::kUInt8, {3, 200000}, {{1, 1}, {7, 100001}}, mode);
    Check(DataType::kFloat32, {64, 56, 56}, {{0, 0}, {3, 3}, {3, 3}}, mode);
    Check(DataType::kFloat32, {30, 30, 64}, {{2, 2}, {2, 2}, {0, 0}}, mode);
    Check(DataType::kInt4, {40001, 9}, {{0, 0}, {1, 2}}, mode);
  }
}

TEST(BorderedCopy, WrapsMoreThanOnce) {
  Check(DataType::kInt32, {3}, {{10, 8}}, BorderMode::kWrap);
  Check(DataType::kInt32, {2, 3, 2}, {{5, 0}, {4, 7}, {0, 0}}, BorderMode::kWrap);
}

TEST(BorderedCopy, FillsWhatHasNothingOfTheInput) {
  Check(DataType::kFloat32, {0}, {{2, 1}}, BorderMode::kConstant);
  Check(DataType::kFloat32, {0, 3}, {{1, 1}, {1, 0}}, BorderMode::kConstant);
  Check(DataType::kFloat32, {3, 0}, {{1, 1}, {1, 2}}, BorderMode::kConstant);
  Check(DataType::kFloat32, {4}, {{-6, 5}}, BorderMode::kConstant);
  Check(DataType::kFloat32, {4, 2}, {{5, -6}, {0, 1}}, BorderMode::kConstant);
}
}  // namespace
}  // namespace asc::testing
