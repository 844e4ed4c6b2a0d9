// The copy loop against an element-by-element model, over shapes that reach each of its branches.
#include "core/ops/strided_copy.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/base/parallel.h"
#include "tests/core/ops/op_test.h"
#include "tests/core/ops/raw_elements.h"

namespace asc::testing {
namespace {

void CheckPermutation(DataType type, const Dims& dims, const std::vector<size_t>& perm) {
  const Tensor in = Filled(type, dims);
  const Dims strides = ContiguousStrides(dims);
  Dims out_dims, in_strides;
  for (const size_t axis : perm) {
    out_dims.push_back(dims[axis]);
    in_strides.push_back(strides[axis]);
  }
  Tensor out = Tensor::Allocate(type, out_dims).value();
  const Dims out_strides = ContiguousStrides(out_dims);
  StridedCopy(type, out_dims, {in.raw(), 0, in_strides}, {out.raw(), 0, out_strides});
  for (int64_t i = 0; i < out.size(); ++i) {
    int64_t at = 0;
    for (size_t k = 0; k < out_dims.size(); ++k)
      at += i / out_strides[k] % out_dims[k] * in_strides[k];
    ASSERT_TRUE(SameElement(out, i, in, at))
        << DataTypeName(type) << " " << ToString(dims) << " element " << i;
  }
}

TEST(StridedCopy, PermutesEveryTypeAndShape) {
  for (const int threads : {1, 3}) {
    const ScopedThreads scoped(threads);
    for (const DataType type :
         {DataType::kInt4, DataType::kUInt2, DataType::kBool, DataType::kFloat16,
          DataType::kFloat32, DataType::kInt64, DataType::kComplex128, DataType::kString}) {
      CheckPermutation(type, {2, 3, 4}, {0, 1, 2});
      CheckPermutation(type, {2, 3, 4}, {2, 1, 0});
      CheckPermutation(type, {5, 7, 9, 3}, {0, 2, 3, 1});
      CheckPermutation(type, {3, 37, 70}, {0, 2, 1});
      CheckPermutation(type, {3, 5, 7, 4}, {1, 0, 2, 3});
      CheckPermutation(type, {3, 5, 7, 4}, {1, 2, 0, 3});
      CheckPermutation(type, {1, 6, 1, 8}, {3, 2, 1, 0});
      CheckPermutation(type, {}, {});
    }
    CheckPermutation(DataType::kFloat32, {4, 64, 300}, {0, 2, 1});
    CheckPermutation(DataType::kUInt8, {300, 400, 3}, {2, 0, 1});
    CheckPermutation(DataType::kFloat32, {100000}, {0});
  }
}

// Runs from one element to past the longest that is copied in two moves, and tiles with edges, of every element size.
TEST(StridedCopy, ShortRunsAndTileEdges) {
  for (const int threads : {1, 3}) {
    const ScopedThreads scoped(threads);
    for (const DataType type : {DataType::kUInt8, DataType::kFloat16, DataType::kFloat32,
                                DataType::kFloat64, DataType::kComplex128}) {
      for (int64_t run = 1; run < 70; run += 1 + run / 8)
        CheckPermutation(type, {3, 2, 5, run}, {1, 2, 0, 3});
      for (const int64_t extent : {15, 16, 33, 64}) {
        CheckPermutation(type, {2, extent, 35}, {0, 2, 1});
        CheckPermutation(type, {extent, 2, 40}, {2, 1, 0});
      }
    }
    CheckPermutation(DataType::kFloat32, {40, 300, 7, 4}, {2, 1, 0, 3});
  }
}

TEST(StridedCopy, RunsBackwardsAndOfOneElementOfEverySize) {
  for (const DataType type : {DataType::kUInt8, DataType::kFloat16, DataType::kFloat32,
                              DataType::kFloat64, DataType::kComplex128}) {
    for (const int64_t count : {1, 3, 4, 17, 70}) {
      const Tensor in = Filled(type, {2, count});
      for (const int64_t step : {-1, 0}) {
        Tensor out = Tensor::Allocate(type, {2, count}).value();
        const int64_t first = step == 0 ? 0 : count - 1;
        StridedCopy(type, {2, count}, {in.raw(), first, {count, step}}, {out.raw(), 0, {count, 1}});
        for (int64_t i = 0; i < out.size(); ++i) {
          const int64_t at = i / count * count + first + i % count * step;
          ASSERT_TRUE(SameElement(out, i, in, at))
              << DataTypeName(type) << count << " element " << i;
        }
      }
    }
  }
}

TEST(StridedCopy, EveryOtherElementOfEverySize) {
  for (const DataType type : {DataType::kUInt8, DataType::kFloat16, DataType::kFloat32,
                              DataType::kFloat64, DataType::kComplex128}) {
    for (const int64_t count : {1, 3, 4, 5, 16, 17, 70}) {
      for (const int64_t first : {0, 1}) {
        // Where `first` is 1 the last element that is taken is the array's last one.
        const Tensor in = Filled(type, {3, 2 * count});
        Tensor out = Tensor::Allocate(type, {3, count}).value();
        StridedCopy(type, {3, count}, {in.raw(), first, {2 * count, 2}},
                    {out.raw(), 0, {count, 1}});
        for (int64_t i = 0; i < out.size(); ++i) {
          ASSERT_TRUE(SameElement(out, i, in, 2 * i + first))
              << DataTypeName(type) << count << " element " << i;
        }
      }
    }
  }
}

// Columns that lie a multiple of 512 bytes apart go by way of a buffer.
TEST(StridedCopy, TransposesColumnsThatShareCacheSets) {
  for (const DataType type : {DataType::kUInt8, DataType::kFloat32, DataType::kComplex128}) {
    CheckPermutation(type, {67, 512}, {1, 0});
    CheckPermutation(type, {2, 33, 1024}, {0, 2, 1});
  }
}

TEST(StridedCopy, ReadsBackwardsAndRepeats) {
  const Tensor in = I32({4}, {1, 2, 3, 4});
  Tensor out = Tensor::Allocate(DataType::kInt32, {2, 4}).value();
  StridedCopy(DataType::kInt32, {2, 4}, {in.raw(), 3, {0, -1}}, {out.raw(), 0, {4, 1}});
  EXPECT_EQ(ValuesOf<int32_t>(out), (std::vector<int32_t>{4, 3, 2, 1, 4, 3, 2, 1}));
}

// Rows from one element to past the longest that are copied again and again from what is there.
TEST(StridedCopy, RepeatsRowsOfEverySize) {
  for (const int threads : {1, 3}) {
    const ScopedThreads scoped(threads);
    for (const DataType type :
         {DataType::kInt4, DataType::kUInt8, DataType::kFloat32, DataType::kString}) {
      for (const int64_t row : {1, 2, 7, 56, 300, 5000}) {
        for (const int64_t repeats : {2, 3, 100, 301}) {
          const Tensor in = Filled(type, {3, row});
          Tensor out = Tensor::Allocate(type, {3, repeats, row}).value();
          StridedCopy(type, {3, repeats, row}, {in.raw(), 0, {row, 0, 1}},
                      {out.raw(), 0, {repeats * row, row, 1}});
          for (int64_t i = 0; i < out.size(); ++i) {
            ASSERT_TRUE(SameElement(out, i, in, i / (repeats * row) * row + i % row))
                << DataTypeName(type) << " " << repeats << " times " << row << " element " << i;
          }
        }
      }
    }
  }
}

TEST(StridedCopy, LeavesNeighboursOfPackedElements) {
  Tensor out = Tensor::Allocate(DataType::kUInt4, {4}).value();
  std::memset(out.raw(), 0xff, 2);
  Tensor in = Tensor::Allocate(DataType::kUInt4, {2}).value();
  std::memset(in.raw(), 0x21, 1);
  StridedCopy(DataType::kUInt4, {2}, {in.raw(), 0, {1}}, {out.raw(), 1, {1}});
  const std::vector<int> want = {15, 1, 2, 15};
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(ReadPacked(DataType::kUInt4, out.raw(), i), want[static_cast<size_t>(i)]);
}

}  // namespace
}  // namespace asc::testing
