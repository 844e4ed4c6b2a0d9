// Small weights are packed as oneDNN's own reorders pack them.
#include <gtest/gtest.h>

#include <vector>

#include "core/kernels/onednn/small_weights.h"

namespace asc::onednn {
namespace {
using dnnl::memory;
using Tag = memory::format_tag;

dnnl::engine& Cpu() {
  static auto* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

void ExpectLikeReorder(const memory::dims& dims, Tag from_tag, Tag to_tag) {
  const memory::desc from(dims, memory::data_type::f32, from_tag),
      to(dims, memory::data_type::f32, to_tag);
  std::vector<float> source(from.get_size() / sizeof(float));
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<float>(i + 1);
  std::vector<float> got(to.get_size() / sizeof(float), -1), want(got.size(), -2);
  ASSERT_TRUE(ReorderSmall(from, source.data(), to, got.data()));
  memory from_memory(from, Cpu(), source.data()), to_memory(to, Cpu(), want.data());
  dnnl::stream stream(Cpu());
  dnnl::reorder(from_memory, to_memory).execute(stream, from_memory, to_memory);
  stream.wait();
  EXPECT_EQ(got, want) << "layout " << static_cast<int>(to_tag);
}

TEST(SmallWeights, AreLikeReordered) {
  for (const Tag tag : {Tag::oihw, Tag::hwio, Tag::OIhw8i8o, Tag::OIhw16i16o, Tag::Ohwi8o,
                        Tag::OIhw4i16o4i, Tag::OIhw8o8i}) {
    ExpectLikeReorder({32, 16, 3, 3}, Tag::oihw, tag);
    ExpectLikeReorder({5, 3, 3, 2}, Tag::oihw, tag);  // blocks with padding
    ExpectLikeReorder({35, 23, 1, 2}, Tag::oihw,
                      tag);  // whole blocks and a rest, also within blocks of blocks
  }
  for (const Tag tag : {Tag::Goihw8g, Tag::Goihw16g, Tag::gOIhw8i8o})
    ExpectLikeReorder({20, 1, 1, 3, 3}, Tag::goihw, tag);
  for (const Tag tag : {Tag::ba, Tag::BA16a16b, Tag::BA16a48b, Tag::AB16b16a}) {
    ExpectLikeReorder({40, 70}, Tag::ab, tag);
    ExpectLikeReorder({40, 70}, Tag::ba, tag);
  }
}

TEST(SmallWeights, OtherLayoutsAreRefused) {
  const memory::dims dims = {16, 16};
  const memory::desc plain(dims, memory::data_type::f32, Tag::ab),
      blocked(dims, memory::data_type::f32, Tag::BA16a16b);
  const memory::desc bytes(dims, memory::data_type::s8, Tag::ab),
      smaller({16, 8}, memory::data_type::f32, Tag::ab);
  std::vector<float> source(256), target(256);
  EXPECT_FALSE(ReorderSmall(blocked, source.data(), plain, target.data()));
  EXPECT_FALSE(ReorderSmall(plain, source.data(), bytes, target.data()));
  EXPECT_FALSE(ReorderSmall(smaller, source.data(), plain, target.data()));
}
}  // namespace
}  // namespace asc::onednn
