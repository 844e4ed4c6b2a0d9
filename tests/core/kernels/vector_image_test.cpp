// Vector kernels of Resize, Concat and ConvTranspose against the reference kernels.
#include "tests/core/kernels/vector_test.h"

namespace asc::testing {
namespace {
Tensor Scales(std::initializer_list<float> scales) {
  return Tensor::FromValues<float>({static_cast<int64_t>(scales.size())}, scales);
}
Tensor Sizes(std::initializer_list<int64_t> sizes) {
  return Tensor::FromValues<int64_t>({static_cast<int64_t>(sizes.size())}, sizes);
}

KernelCase Resize(const Tensor& x, std::optional<Tensor> scales, std::optional<Tensor> sizes,
                  const char* mode, const char* coordinates, int c0,
                  const char* nearest = "floor") {
  KernelCase test{.op = "Resize",
                  .inputs = {x, std::nullopt, std::move(scales)},
                  .constants = {2, 3},
                  .c0 = c0};
  if (sizes) test.inputs.push_back(std::move(sizes));
  test.attributes.Set("mode", std::string(mode));
  test.attributes.Set("coordinate_transformation_mode", std::string(coordinates));
  test.attributes.Set("nearest_mode", std::string(nearest));
  return test;
}

TEST(VectorResize, Nearest) {
  const Tensor x = WildNoise({2, 13, 6, 37});
  for (const int c0 : {0, 8, 16}) {
    for (const char* coordinates : {"asymmetric", "half_pixel", "align_corners"}) {
      ExpectVectorKernel(Resize(x, Scales({1, 1, 2, 2}), {}, "nearest", coordinates, c0),
                         "vector.resize", 0);
      ExpectVectorKernel(Resize(x, Scales({1, 1, 4, 4}), {}, "nearest", coordinates, c0),
                         "vector.resize", 0);
      ExpectVectorKernel(
          Resize(x, Scales({1, 1, 1.7f, 3}), {}, "nearest", coordinates, c0, "round_prefer_ceil"),
          "vector.resize", 0);
      ExpectVectorKernel(Resize(x, {}, Sizes({2, 13, 4, 50}), "nearest", coordinates, c0),
                         "vector.resize", 0);
    }
  }
  ExpectVectorKernel(
      Resize(Noise({1, 3, 40, 40}), Scales({1, 1, 8, 8}), {}, "nearest", "asymmetric", 0),
      "vector.resize", 0);
}

TEST(VectorResize, Linear) {
  const Tensor x = WildNoise({2, 13, 6, 37});
  for (const int c0 : {0, 8, 16}) {
    for (const char* coordinates :
         {"asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel"}) {
      ExpectVectorKernel(Resize(x, Scales({1, 1, 2, 2}), {}, "linear", coordinates, c0),
                         "vector.resize");
      ExpectVectorKernel(Resize(x, Scales({1, 1, 0.6f, 1.3f}), {}, "linear", coordinates, c0),
                         "vector.resize");
      ExpectVectorKernel(Resize(x, {}, Sizes({2, 13, 6, 20}), "linear", coordinates, c0),
                         "vector.resize");
    }
  }
  ExpectVectorKernel(
      Resize(Noise({1, 8, 60, 70}), Scales({1, 1, 3, 3}), {}, "linear", "half_pixel", 0),
      "vector.resize");
}

TEST(VectorResize, OthersAreLeft) {
  const Tensor x = Noise({1, 4, 6, 7});
  EXPECT_TRUE(
      ExpectKernelsAgree(Resize(x, Scales({1, 2, 2, 2}), {}, "nearest", "asymmetric", 0)).empty());
  EXPECT_TRUE(
      ExpectKernelsAgree(Resize(x, Scales({1, 1, 2, 2}), {}, "cubic", "half_pixel", 0)).empty());
  KernelCase antialias = Resize(x, Scales({1, 1, 0.5f, 0.5f}), {}, "linear", "half_pixel", 0);
  antialias.attributes.Set("antialias", int64_t{1});
  EXPECT_TRUE(ExpectKernelsAgree(antialias).empty());
}

TEST(VectorUpsampleConv, AgreesWithReference) {
  for (const Dims& dims :
       {Dims{2, 7, 5, 37}, Dims{1, 24, 20, 32}, Dims{1, 3, 1, 1}, Dims{1, 4, 0, 3}}) {
    for (const int64_t outputs : {1, 13}) {
      KernelCase test{
          .op = "ConvTranspose",
          .inputs = {Noise(dims), Noise({dims[1], outputs, 2, 2}, 2), Noise({outputs}, 3)}};
      test.attributes.Set("strides", std::vector<int64_t>{2, 2});
      ExpectVectorKernel(test, "vector.upsample_conv");
      test.inputs.pop_back();
      ExpectVectorKernel(test, "vector.upsample_conv");
      test.attributes.Set("pads", std::vector<int64_t>{1, 0, 0, 0});
      if (dims[2] > 0) {
        const std::vector<std::string> others = ExpectKernelsAgree(test);
        EXPECT_EQ(std::count(others.begin(), others.end(), "vector.upsample_conv"), 0);
      }
    }
  }
}

TEST(VectorConcat, BlockedImages) {
  KernelCase test{
      .op = "Concat",
      .inputs = {Noise({2, 16, 3, 5}, 1), Noise({2, 32, 3, 5}, 2), Noise({2, 5, 3, 5}, 3)},
      .c0 = 16};
  test.attributes.Set("axis", int64_t{1});
  ExpectVectorKernel(test, "vector.concat", 0);
  test.c0 = 8;
  test.attributes.Set("axis", int64_t{-3});
  ExpectVectorKernel(test, "vector.concat", 0);
  std::swap(test.inputs[0], test.inputs[2]);  // a block that is not full in the middle
  ExpectVectorKernel(test, "vector.concat", 0);
  test.c0 = 16;
  test.inputs[1] = Noise({2, 11, 3, 5}, 2);  // all full at the end
  ExpectVectorKernel(test, "vector.concat", 0);
  for (const int64_t axis : {0, 2, 3}) {
    Dims other{2, 13, 3, 5};
    other[static_cast<size_t>(axis)] += 2;
    KernelCase along{.op = "Concat", .inputs = {Noise({2, 13, 3, 5}, 1), Noise(other, 2)}, .c0 = 8};
    along.attributes.Set("axis", axis);
    ExpectVectorKernel(along, "vector.concat", 0);
  }
}
}  // namespace
}  // namespace asc::testing
