// NonZero, Compress, Unique, TopK, NonMaxSuppression.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/core/ops/op_test.h"

namespace asc::testing {
namespace {

using I = std::vector<int64_t>;

TEST(NonZero, ListsIndices) {
  const Tensor out = RunOp1("NonZero", {F32({2, 3}, {0, 1, 0, NAN, -0.0f, 2})});
  EXPECT_EQ(out.TypeString(), "int64[2, 3]");
  EXPECT_EQ(ValuesOf<int64_t>(out), (I{0, 1, 1, 1, 0, 2}));
  EXPECT_EQ(RunOp1("NonZero", {F32({2}, {0, 0})}).TypeString(), "int64[1, 0]");
  EXPECT_EQ(RunOp1("NonZero", {F32({}, {3})}).TypeString(), "int64[0, 1]");
}

TEST(Compress, KeepsWhatTheConditionSays) {
  const Tensor x = I32({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto mask = [](std::initializer_list<bool> values) {
    return Tensor::FromValues<bool>({static_cast<int64_t>(values.size())}, values);
  };
  EXPECT_EQ(
      ValuesOf<int32_t>(RunOp1("Compress", {x, mask({false, true, true})}, {{"axis", int64_t{0}}})),
      (std::vector<int32_t>{3, 4, 5, 6}));
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("Compress", {x, mask({false, true})}, {{"axis", int64_t{1}}})),
            (std::vector<int32_t>{2, 4, 6}));
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("Compress", {x, mask({true, false, true})})),
            (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(
      RunOp("Compress", {x, mask({false, false, true})}, {{"axis", int64_t{1}}}).status().code(),
      Code::kOutOfRange);
}

void ExpectUnique(const Tensor& x, OpAttributes attributes, const std::vector<float>& y,
                  const I& first, const I& inverse, const I& counts) {
  const auto out = RunOp("Unique", {x}, attributes, 4);
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  EXPECT_EQ(ValuesOf<float>((*out)[0].tensor()), y);
  EXPECT_EQ(ValuesOf<int64_t>((*out)[1].tensor()), first);
  EXPECT_EQ(ValuesOf<int64_t>((*out)[2].tensor()), inverse);
  EXPECT_EQ(ValuesOf<int64_t>((*out)[3].tensor()), counts);
}

TEST(Unique, FindsDifferentElements) {
  const Tensor x = F32({6}, {2, 1, 1, 3, 4, 3});
  ExpectUnique(x, {{"sorted", int64_t{0}}}, {2, 1, 3, 4}, {0, 1, 3, 4}, {0, 1, 1, 2, 3, 2},
               {1, 2, 2, 1});
  ExpectUnique(x, {}, {1, 2, 3, 4}, {1, 0, 3, 4}, {1, 0, 0, 2, 3, 2}, {2, 1, 2, 1});
}

TEST(Unique, FindsDifferentSlices) {
  ExpectUnique(F32({2, 4, 2}, {1, 1, 0, 1, 2, 1, 0, 1, 1, 1, 0, 1, 2, 1, 0, 1}),
               {{"axis", int64_t{1}}}, {0, 1, 1, 1, 2, 1, 0, 1, 1, 1, 2, 1}, {1, 0, 2},
               {1, 0, 2, 0}, {2, 1, 1});
}

TEST(Unique, TakesNaNAsOneValue) {
  const auto out = RunOp("Unique", {F32({4}, {NAN, 1, NAN, 0})}, {}, 4);
  ASSERT_TRUE(out.ok());
  ExpectTensor((*out)[0].tensor(), {3}, {0, 1, NAN});
}

TEST(Unique, WorksOnEmptyTensors) {
  EXPECT_EQ(RunOp1("Unique", {F32({0}, {})}).TypeString(), "float32[0]");
}

void ExpectTopK(const Tensor& x, int64_t k, OpAttributes attributes,
                const std::vector<double>& values, const I& indices) {
  const auto out = RunOp("TopK", {x, I64({1}, {k})}, attributes, 2);
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  ExpectTensor((*out)[0].tensor(), (*out)[1].tensor().dims(), values);
  EXPECT_EQ(ValuesOf<int64_t>((*out)[1].tensor()), indices);
}

TEST(TopK, OrdersValuesThenIndices) {
  ExpectTopK(F32({5}, {1, 3, 2, 3, 0}), 3, {}, {3, 3, 2}, {1, 3, 2});
  ExpectTopK(F32({5}, {1, 3, 2, 3, 0}), 2, {{"largest", int64_t{0}}}, {0, 1}, {4, 0});
  ExpectTopK(F32({2, 2}, {1, 2, 3, 0}), 1, {{"axis", int64_t{0}}}, {3, 2}, {1, 0});
  ExpectTopK(F32({3}, {1, NAN, 2}), 2, {}, {NAN, 2}, {1, 2});
  ExpectTopK(F32({3}, {NAN, 1, 2}), 3, {{"largest", int64_t{0}}}, {1, 2, NAN}, {1, 2, 0});
  ExpectTopK(F32({3}, {1, 2, 3}), 0, {}, {}, {});
  EXPECT_EQ(RunOp("TopK", {F32({2}, {1, 2}), I64({1}, {3})}, {}, 2).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("TopK", {F32({2}, {1, 2}), I64({1}, {-1})}, {}, 2).status().code(),
            Code::kShapeMismatch);
}

// Long rows, of which few elements are wanted, against a full sort.
TEST(TopK, SelectsFromLongRows) {
  constexpr int64_t kRows = 3, kLength = 1000;
  const auto expect = [](const std::vector<float>& x, int64_t k, bool largest) {
    std::vector<double> values;
    I indices;
    for (int64_t row = 0; row < kRows; ++row) {
      const float* from = x.data() + row * kLength;
      I order(kLength);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
        const float a = from[largest ? i : j], b = from[largest ? j : i];
        return std::isnan(a) ? !std::isnan(b) : !std::isnan(b) && a > b;
      });
      for (int64_t i = 0; i < k; ++i) {
        indices.push_back(order[static_cast<size_t>(i)]);
        values.push_back(static_cast<double>(from[indices.back()]));
      }
    }
    ExpectTopK(Tensor::FromValues<float>({kRows, kLength}, std::span<const float>(x)), k,
               {{"largest", int64_t{largest}}}, values, indices);
    // The same rows as columns.
    std::vector<float> columns(x.size());
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t i = 0; i < kLength; ++i)
        columns[static_cast<size_t>(i * kRows + row)] = x[static_cast<size_t>(row * kLength + i)];
    }
    const auto out =
        RunOp("TopK",
              {Tensor::FromValues<float>({kLength, kRows}, std::span<const float>(columns)),
               I64({1}, {k})},
              {{"largest", int64_t{largest}}, {"axis", int64_t{0}}}, 2);
    ASSERT_TRUE(out.ok()) << out.status().ToString();
    const I got = ValuesOf<int64_t>((*out)[1].tensor());
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t i = 0; i < k; ++i)
        ASSERT_EQ(got[static_cast<size_t>(i * kRows + row)],
                  indices[static_cast<size_t>(row * k + i)]);
    }
  };
  const Tensor noise = Pseudo({kRows * kLength});
  const std::vector<float> plain = ValuesOf<float>(noise);
  std::vector<float> rising(plain.size()), ties = plain, nans = plain;
  std::iota(rising.begin(), rising.end(), 0.0f);
  for (float& x : ties) x = std::round(x * 2);
  for (size_t i = 0; i < nans.size(); i += 7) nans[i] = NAN;
  for (const bool largest : {false, true}) {
    for (const int64_t k : {1, 5, 33, 250, 251, 1000}) {
      for (const auto& x : {plain, rising, ties, nans}) expect(x, k, largest);
      expect(std::vector<float>(plain.size(), NAN), k, largest);
    }
  }
}

Tensor Boxes() {
  return F32({1, 6, 4}, {0, 0,  1, 1,  0, 0.1f,  1, 1.1f,  0, -0.1f, 1, 0.9f,
                         0, 10, 1, 11, 0, 10.1f, 1, 11.1f, 0, 100,   1, 101});
}

TEST(NonMaxSuppression, DropsOverlappingBoxes) {
  const Tensor scores = F32({1, 1, 6}, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f});
  EXPECT_EQ(ValuesOf<int64_t>(RunOp1("NonMaxSuppression", {Boxes(), scores, I64({1}, {3}),
                                                           F32({1}, {0.5f}), F32({1}, {0})})),
            (I{0, 0, 3, 0, 0, 0, 0, 0, 5}));
  EXPECT_EQ(ValuesOf<int64_t>(RunOp1("NonMaxSuppression", {Boxes(), scores, I64({1}, {3}),
                                                           F32({1}, {0.5f}), F32({1}, {0.4f})})),
            (I{0, 0, 3, 0, 0, 0}));
  EXPECT_EQ(RunOp1("NonMaxSuppression", {Boxes(), scores}).TypeString(), "int64[0, 3]");
  EXPECT_EQ(RunOp("NonMaxSuppression", {Boxes(), scores, I64({1}, {3}), F32({1}, {1.5f})})
                .status()
                .code(),
            Code::kInvalidArgument);
  EXPECT_EQ(RunOp("NonMaxSuppression", {Boxes(), F32({1, 1, 2}, {1, 1})}).status().code(),
            Code::kShapeMismatch);
}

}  // namespace
}  // namespace asc::testing
