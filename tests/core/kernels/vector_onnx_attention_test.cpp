// ONNX's Attention against its reference kernel: ranks, groups of heads, caches, masks, windows,
// lengths, special values, and all of them at random.
#include <cmath>
#include <limits>
#include <random>

#include "tests/core/kernels/vector_test.h"

namespace asc::testing {
namespace {
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr char kKernel[] = "vector.onnx_attention";
enum Input : size_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kLengths, kInputs };

// What a case has; extents as in the definition of the operator.
struct Setting {
  bool rank3 = false;
  int64_t batch = 2, kv_heads = 2, group = 1, queries = 20, new_keys = 37, past = 0, size = 16,
          v_size = 24;
  bool presents = false;
  std::vector<std::pair<std::string, AttributeValue>> attributes = {};

  int64_t heads() const { return kv_heads * group; }
  int64_t keys() const { return past + new_keys; }
};

KernelCase CaseOf(const Setting& s) {
  const auto dims = [&](int64_t heads, int64_t steps, int64_t size) {
    return s.rank3 ? Dims{s.batch, steps, heads * size} : Dims{s.batch, heads, steps, size};
  };
  KernelCase test{.op = "Attention", .domain = ""};
  test.inputs.resize(kInputs);
  test.inputs[kQuery] = Noise(dims(s.heads(), s.queries, s.size), 1);
  test.inputs[kKey] = Noise(dims(s.kv_heads, s.new_keys, s.size), 2);
  test.inputs[kValue] = Noise(dims(s.kv_heads, s.new_keys, s.v_size), 3);
  if (s.past > 0) {
    test.inputs[kPastKey] = Noise({s.batch, s.kv_heads, s.past, s.size}, 4);
    test.inputs[kPastValue] = Noise({s.batch, s.kv_heads, s.past, s.v_size}, 5);
  }
  if (s.rank3) {
    test.attributes.Set("q_num_heads", s.heads());
    test.attributes.Set("kv_num_heads", s.kv_heads);
  }
  for (const auto& [name, value] : s.attributes) test.attributes.Set(name, value);
  test.outputs = s.presents ? 3 : 1;
  return test;
}

void ExpectAttention(const KernelCase& test) { ExpectVectorKernel(test, kKernel, 3e-6); }

Tensor Truth(const Dims& dims, int64_t one_in) {
  Tensor out = Tensor::Allocate(DataType::kBool, dims).value();
  for (int64_t i = 0; i < out.size(); ++i) out.data<bool>()[i] = i * 7 % one_in != 0;
  return out;
}

Tensor Lengths(const std::vector<int64_t>& lengths) {
  return Tensor::FromValues<int64_t>({static_cast<int64_t>(lengths.size())}, lengths);
}

// Few queries are multiplied without packing.
TEST(VectorOnnxAttention, RanksGroupsAndCaches) {
  for (const bool rank3 : {false, true}) {
    for (const int64_t queries : {1, 5, 6, 70}) {
      for (const int64_t group : {1, 3, 9}) {
        for (const int64_t past : {0, 1, 40}) {
          for (const bool presents : {false, true}) {
            SCOPED_TRACE(Cat("rank3 ", rank3, ", ", queries, " queries, groups of ", group,
                             ", past ", past, ", presents ", presents));
            ExpectAttention(CaseOf({.rank3 = rank3,
                                    .group = group,
                                    .queries = queries,
                                    .past = past,
                                    .presents = presents}));
          }
        }
      }
    }
  }
  // The first step of a decoder has an empty cache.
  KernelCase first = CaseOf({.presents = true, .attributes = {{"is_causal", int64_t{1}}}});
  first.inputs[kPastKey] = Noise({2, 2, 0, 16});
  first.inputs[kPastValue] = Noise({2, 2, 0, 24});
  ExpectAttention(first);
}

TEST(VectorOnnxAttention, WhatQueriesSee) {
  for (const int64_t queries : {1, 4, 45, 130}) {
    for (const int64_t past : {0, 33}) {
      for (const int64_t causal : {0, 1}) {
        for (const auto& [left, right] : {std::pair{-1, -1}, {0, -1}, {-1, 2}, {5, 3}, {30, 30}}) {
          SCOPED_TRACE(Cat(queries, " queries, past ", past, ", causal ", causal, ", window ", left,
                           " to ", right));
          KernelCase test = CaseOf({.kv_heads = 1,
                                    .queries = queries,
                                    .new_keys = 130,
                                    .past = past,
                                    .attributes = {{"is_causal", causal},
                                                   {"left_window_size", int64_t{left}},
                                                   {"right_window_size", int64_t{right}}}});
          ExpectAttention(test);
          // Hidden values that are NaN are weighed with 0, which gives NaN.
          test.inputs[kValue]->data<float>()[24 * 125 + 3] = NAN;
          test.inputs[kValue]->data<float>()[24 * 60 + 7] = kInfinity;
          ExpectAttention(test);
          if (past > 0) continue;
          test.inputs[kLengths] = Lengths({40, 3});
          ExpectAttention(test);
          test.inputs[kLengths] = Lengths({130, 0});
          ExpectAttention(test);
        }
      }
    }
  }
}

TEST(VectorOnnxAttention, MasksOfAllShapes) {
  for (const int64_t queries : {3, 30}) {
    for (const float softcap : {0.0f, 0.7f}) {
      KernelCase test = CaseOf(
          {.group = 2, .queries = queries, .attributes = {{"softcap", softcap}, {"scale", 2.5f}}});
      // The last axis may be short.
      for (const int64_t keys : {37, 20, 1}) {
        for (const Dims& dims : {Dims{keys},
                                 {1, keys},
                                 {queries, keys},
                                 {4, 1, keys},
                                 {2, 1, 1, keys},
                                 {2, 4, queries, keys}}) {
          SCOPED_TRACE(Cat(ToString(dims), " softcap ", softcap));
          test.inputs[kMask] = Noise(dims, 6);
          ExpectAttention(test);
          test.inputs[kMask] = Truth(dims, 3);
          ExpectAttention(test);
        }
      }
    }
  }
}

TEST(VectorOnnxAttention, SpecialValues) {
  for (const int64_t queries : {3, 30}) {
    for (const float softcap : {0.0f, 2.0f}) {
      const KernelCase plain =
          CaseOf({.group = 2, .queries = queries, .attributes = {{"softcap", softcap}}});
      KernelCase test = plain;
      // Queries that see no key, and one that sees keys at infinity.
      Tensor mask = Noise({queries, 37}, 6);
      std::fill_n(mask.data<float>(), 37, -kInfinity);
      std::fill_n(mask.data<float>() + 37, 30, -kInfinity);
      mask.data<float>()[2 * 37 + 5] = kInfinity;
      test.inputs[kMask] = mask;
      ExpectAttention(test);
      // NaN among minus infinities stays; a hidden one does not.
      mask.data<float>()[11] = NAN;
      ExpectAttention(test);
      test.inputs[kKey]->data<float>()[5] = NAN;
      test.inputs[kQuery]->data<float>()[3] = kInfinity;
      Tensor truth = Truth({queries, 37}, 4);
      std::fill_n(truth.data<bool>(), 37, false);
      test.inputs[kMask] = truth;
      ExpectAttention(test);
      test.inputs[kMask] = std::nullopt;
      ExpectAttention(test);
      test.attributes.Set("is_causal", int64_t{1});
      ExpectAttention(test);
      test.inputs[kValue] = WildNoise({2, 2, 37, 24}, 7);
      ExpectAttention(test);
    }
  }
}

TEST(VectorOnnxAttention, AllAtRandom) {
  for (uint32_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(Cat("seed ", seed));
    std::mt19937 random(seed);
    const auto below = [&](int64_t n) { return static_cast<int64_t>(random()) % n; };
    const auto one_of = [&](std::initializer_list<int64_t> list) {
      return list.begin()[below(static_cast<int64_t>(list.size()))];
    };
    Setting s{.rank3 = below(2) == 0,
              .batch = 1 + below(3),
              .kv_heads = 1 + below(3),
              .group = one_of({1, 1, 2, 3, 4, 11}),
              .queries = one_of({1, 2, 5, 6, 7, 33, 64, 90}),
              .new_keys = one_of({1, 2, 31, 64, 100}),
              .past = one_of({0, 0, 1, 17, 60}),
              .size = one_of({1, 7, 16, 32}),
              .v_size = one_of({1, 5, 16, 48}),
              .presents = below(2) == 0,
              .attributes = {{"is_causal", below(2)},
                             {"left_window_size", one_of({-1, -1, 0, 3, 40})},
                             {"right_window_size", one_of({-1, -1, 0, 3, 40})},
                             {"softcap", below(3) == 0 ? 0.5f : 0.0f}}};
    if (below(2) == 0) s.attributes.emplace_back("scale", 1.25f);
    KernelCase test = CaseOf(s);
    if (below(2) == 0) {
      const int64_t columns = below(3) == 0 ? 1 + below(s.keys()) : s.keys();
      Dims dims = {one_of({1, s.batch}), one_of({1, s.heads()}), one_of({1, s.queries}), columns};
      dims.erase(dims.begin(), dims.begin() + below(4));
      test.inputs[kMask] = below(2) == 0 ? Truth(dims, 2 + below(5)) : Noise(dims, seed);
    }
    if (s.past == 0 && below(2) == 0) {
      std::vector<int64_t> lengths;
      for (int64_t b = 0; b < s.batch; ++b) lengths.push_back(below(s.keys() + 1));
      test.inputs[kLengths] = Lengths(lengths);
    }
    for (size_t i = 0; i < kInputs; ++i) {
      constexpr float kWild[] = {NAN, kInfinity, -kInfinity};
      if (!test.inputs[i] || test.inputs[i]->dtype() != DataType::kFloat32 || below(8) != 0)
        continue;
      Tensor& x = *test.inputs[i];
      for (int64_t j = 0; j < 3; ++j) x.data<float>()[below(x.size())] = kWild[below(3)];
    }
    ExpectAttention(test);
  }
}

// Blocks of queries need no values of keys that are hidden from all of them: with finite numbers
// assumed they are not read.
TEST(VectorOnnxAttention, AssumedFinite) {
  for (const int64_t queries : {1, 3, 60}) {
    KernelCase test =
        CaseOf({.queries = queries, .new_keys = 100, .attributes = {{"is_causal", int64_t{1}}}});
    test.assume_finite = true;
    ExpectAttention(test);
    test.inputs[kLengths] = Lengths({70, 30});
    ExpectAttention(test);
  }
}

// What the fast kernel leaves to the reference: the scores as an output, no keys at all, masks of
// other types.
TEST(VectorOnnxAttention, LeavesOtherCallsAlone) {
  KernelCase scores = CaseOf({});
  scores.outputs = 4;
  EXPECT_TRUE(ExpectKernelsAgree(scores).empty());
  EXPECT_TRUE(ExpectKernelsAgree(CaseOf({.new_keys = 0})).empty());
  KernelCase counted = CaseOf({});
  counted.inputs[kMask] = Tensor::FromValues<int32_t>({2}, {1, -3});
  EXPECT_TRUE(ExpectKernelsAgree(counted).empty());
}
}  // namespace
}  // namespace asc::testing
