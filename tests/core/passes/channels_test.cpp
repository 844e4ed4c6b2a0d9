// The scaling of weights that a pass folds into a convolution: small ones at once, big ones part by part.
#include "core/passes/channels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace asc {
namespace {
// Weights whose element i is i % 1000 + 1.
Tensor Counted(const Dims& dims) {
  Tensor tensor = Tensor::Allocate(DataType::kFloat32, dims).value();
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.data<float>()[i] = static_cast<float>(i % 1000 + 1);
  return tensor;
}

void ExpectScaled(const Dims& dims, bool transposed, int64_t groups, bool lazy) {
  const Tensor weight = Counted(dims);
  const int64_t channels = transposed ? dims[1] * groups : dims[0],
                window = ElementCount(dims, 2, dims.size());
  std::vector<double> scale(static_cast<size_t>(channels));
  for (size_t i = 0; i < scale.size(); ++i) scale[i] = 0.5 + static_cast<double>(i);
  const ConvParts conv{nullptr, &weight,  nullptr,     transposed,
                       groups,  channels, dims.size(), DataType::kFloat32};
  const auto scaled = ScaledWeight(conv, scale);
  ASSERT_TRUE(scaled.has_value());
  EXPECT_EQ(scaled->is_lazy(), lazy);
  for (int64_t i = 0; i < weight.size(); ++i) {
    const int64_t row = i / window / dims[1], column = i / window % dims[1];
    const int64_t channel = transposed ? row / (dims[0] / groups) * dims[1] + column : row;
    ASSERT_EQ(scaled->data<float>()[i],
              static_cast<float>(weight.data<float>()[i] * scale[static_cast<size_t>(channel)]))
        << "element " << i;
  }
}

TEST(ScaledWeightTest, FactorsOfFilters) {
  ExpectScaled({6, 4, 3, 3}, false, 1, false);
  ExpectScaled({6, 4, 3, 3}, true, 1, false);
  ExpectScaled({6, 4, 3, 3}, true, 2, false);
}

TEST(ScaledWeightTest, BigWeightsStayLazy) {
  ExpectScaled({256, 171, 3, 3}, false, 1, true);
  ExpectScaled({171, 256, 3, 3}, true, 1, true);
  ExpectScaled({172, 128, 3, 5}, true, 2, true);
}

TEST(ScaledWeightTest, WhatWouldNotBeFiniteIsRefused) {
  for (const Dims& dims : {Dims{2, 2, 1, 1}, Dims{512, 512, 1, 1}}) {
    Tensor weight = Counted(dims);
    weight.data<float>()[weight.size() - 1] = std::numeric_limits<float>::max();
    const ConvParts conv{nullptr, &weight, nullptr, false, 1, dims[0], 4, DataType::kFloat32};
    EXPECT_FALSE(
        ScaledWeight(conv, std::vector<double>(static_cast<size_t>(dims[0]), 2.0)).has_value());
    // In the vectorised part too.
    std::swap(weight.data<float>()[0], weight.data<float>()[weight.size() - 1]);
    EXPECT_FALSE(
        ScaledWeight(conv, std::vector<double>(static_cast<size_t>(dims[0]), -2.0)).has_value());
  }
}

TEST(ScaledWeightTest, WhatIsNotFiniteAnywayMayStaySo) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Dims& dims : {Dims{4, 32, 1, 1}, Dims{512, 512, 1, 1}}) {
    Tensor weight = Counted(dims);
    weight.data<float>()[0] = -kInfinity;
    weight.data<float>()[1] = std::numeric_limits<float>::quiet_NaN();
    weight.data<float>()[2] = std::numeric_limits<float>::max();
    std::vector<double> scale(static_cast<size_t>(dims[0]), 3.0);
    scale[0] = -1;
    const ConvParts conv{nullptr, &weight, nullptr, false, 1, dims[0], 4, DataType::kFloat32};
    const auto scaled = ScaledWeight(conv, scale);
    ASSERT_TRUE(scaled.has_value());
    EXPECT_EQ(scaled->data<float>()[0], kInfinity);
    EXPECT_TRUE(std::isnan(scaled->data<float>()[1]));
    EXPECT_EQ(scaled->data<float>()[2], -std::numeric_limits<float>::max());
  }
}
}  // namespace
}  // namespace asc
