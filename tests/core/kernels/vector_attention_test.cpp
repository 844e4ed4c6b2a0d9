// Attention against its reference kernel: lengths, head sizes, layouts, masks, special values.
#include <cmath>
#include <limits>

#include "tests/core/kernels/vector_test.h"

namespace asc::testing {
namespace {
using Ints = std::vector<int64_t>;
const Ints kHeadsSecond = {0, 2, 1,
                           3};  // [batch, steps, heads, size] read as [batch, heads, steps, size]

AttributeMap Attributes(std::initializer_list<std::pair<std::string_view, AttributeValue>> list) {
  AttributeMap map;
  for (const auto& [name, value] : list) map.Set(name, value);
  return map;
}

Tensor Truth(const Dims& dims, int64_t one_in) {
  Tensor out = Tensor::Allocate(DataType::kBool, dims).value();
  for (int64_t i = 0; i < out.size(); ++i) out.data<bool>()[i] = i * 7 % one_in != 0;
  return out;
}

void ExpectAttention(std::vector<std::optional<Tensor>> inputs, const AttributeMap& attributes) {
  ExpectVectorKernel({.op = "FusedAttention",
                      .domain = "asc",
                      .inputs = std::move(inputs),
                      .attributes = attributes},
                     "vector.attention", 3e-6);
}

TEST(VectorAttention, LengthsAndHeadSizes) {
  // Few queries are multiplied without packing; 197 tokens are ViT's, 129 keys a decoder's.
  for (const auto& [queries, keys] :
       {std::pair{1, 1}, {1, 129}, {5, 33}, {6, 6}, {15, 16}, {40, 70}, {197, 197}}) {
    for (const int64_t size : {1, 8, 24, 32, 64, 80}) {
      SCOPED_TRACE(Cat(queries, " queries, ", keys, " keys of ", size));
      ExpectAttention({Noise({2, 3, queries, size}, 1), Noise({2, 3, keys, size}, 2),
                       Noise({2, 3, keys, size + 1}, 3)},
                      Attributes({{"scale", 1.5f}}));
    }
  }
  ExpectAttention({Noise({300, 16}, 1), Noise({2100, 16}, 2), Noise({2100, 16}, 3)},
                  Attributes({{"scale", 3.0f}}));
}

TEST(VectorAttention, ReadsAndWritesHeadsInPlace) {
  for (const int64_t queries : {2, 50}) {
    const AttributeMap attributes = Attributes({{"q_perm", kHeadsSecond},
                                                {"k_perm", kHeadsSecond},
                                                {"v_perm", kHeadsSecond},
                                                {"y_perm", kHeadsSecond},
                                                {"scale", 0.3f}});
    ExpectAttention(
        {Noise({2, queries, 3, 32}, 1), Noise({2, 45, 3, 32}, 2), Noise({2, 45, 3, 16}, 3)},
        attributes);
    // Keys as columns, values as rows of one element's column.
    ExpectAttention(
        {Noise({2, 3, queries, 20}, 1), Noise({2, 3, 20, 45}, 2), Noise({2, 3, 16, 45}, 3)},
        Attributes({{"k_perm", Ints{0, 1, 3, 2}}, {"v_perm", Ints{0, 1, 3, 2}}}));
    const Tensor packed = Noise({2, queries, 3, 4, 16}, 5);
    const Ints perm = {2, 0, 3, 1, 4};
    ExpectAttention({packed, packed, packed}, Attributes({{"q_perm", perm},
                                                          {"k_perm", perm},
                                                          {"v_perm", perm},
                                                          {"q_index", int64_t{0}},
                                                          {"k_index", int64_t{1}},
                                                          {"v_index", int64_t{2}},
                                                          {"y_perm", kHeadsSecond},
                                                          {"scale", 4.0f}}));
  }
}

TEST(VectorAttention, MasksOfAllShapes) {
  for (const int64_t queries : {3, 30}) {
    const Tensor q = Noise({2, 3, queries, 16}, 1), k = Noise({2, 3, 37, 16}, 2),
                 v = Noise({2, 3, 37, 16}, 3);
    for (const Dims& dims : {Dims{37},
                             {1},
                             {},
                             {queries, 1},
                             {queries, 37},
                             {2, 1, 1, 37},
                             {2, 3, queries, 37},
                             {3, 1, 1}}) {
      SCOPED_TRACE(ToString(dims));
      ExpectAttention({q, k, v, std::nullopt, Noise(dims, 4)}, {});
      for (const int64_t where : {0, 1}) {
        const AttributeMap attributes =
            Attributes({{"fill", -2.5f}, {"fill_where", where}, {"scale", 2.0f}});
        ExpectAttention({q, k, v, Truth(dims, 3)}, attributes);
        ExpectAttention({q, k, v, Truth(dims, 3), Noise({37}, 4)}, attributes);
      }
    }
  }
  // One matrix of keys for all heads.
  ExpectAttention({Noise({2, 3, 20, 16}, 1), Noise({2, 1, 37, 16}, 2), Noise({37, 16}, 3)}, {});
}

TEST(VectorAttention, SpecialValues) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const int64_t queries : {3, 30}) {
    for (const int64_t clear : {0, 1}) {
      const Tensor q = Noise({2, queries, 16}, 1), k = Noise({2, 37, 16}, 2),
                   v = Noise({2, 37, 16}, 3);
      const AttributeMap attributes = Attributes({{"clear_nan", clear}, {"fill", -kInfinity}});
      // Rows that see no key, and one that sees keys at infinity.
      Tensor mask = Noise({queries, 37}, 4);
      std::fill_n(mask.data<float>(), 37, -kInfinity);
      std::fill_n(mask.data<float>() + 37, 30, -kInfinity);
      mask.data<float>()[2 * 37 + 5] = kInfinity;
      ExpectAttention({q, k, v, std::nullopt, mask}, attributes);
      Tensor condition = Truth({queries, 37}, 4);
      std::fill_n(condition.data<bool>(), 37, false);
      ExpectAttention({q, k, v, condition}, attributes);
      Tensor wild = q;
      wild = *wild.Clone();
      wild.data<float>()[3] = NAN;
      wild.data<float>()[16 * 2] = kInfinity;
      ExpectAttention({wild, k, v}, attributes);
      Tensor values = *v.Clone();
      values.data<float>()[7] = NAN;
      values.data<float>()[40] = kInfinity;
      ExpectAttention({q, k, values}, attributes);
    }
  }
}

// What the fast kernel leaves to the reference: scores that a mask makes larger, no keys at all.
TEST(VectorAttention, LeavesOtherShapesAlone) {
  const auto runs = [](std::vector<std::optional<Tensor>> inputs) {
    return !ExpectKernelsAgree(
                {.op = "FusedAttention", .domain = "asc", .inputs = std::move(inputs)})
                .empty();
  };
  EXPECT_FALSE(runs({Noise({3, 4}), Noise({1, 4}), Noise({5, 4}), std::nullopt, Noise({5})}));
  EXPECT_FALSE(runs({Noise({3, 4}), Noise({5, 4}), Noise({5, 4}), std::nullopt, Noise({2, 3, 5})}));
  EXPECT_FALSE(runs({Noise({3, 4}), Noise({0, 4}), Noise({0, 4})}));
}
}  // namespace
}  // namespace asc::testing
