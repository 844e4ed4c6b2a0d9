#include <algorithm>
#include <cmath>

#include "tests/core/ops/op_test.h"

namespace asc {
namespace {
using testing::ExpectTensor;
using testing::F32;
using testing::I64;
using testing::InferText;
using testing::Pseudo;
using testing::RunOp;
using testing::RunOp1;
using Ints = std::vector<int64_t>;

Tensor Scaled(Tensor x, float factor) {
  for (int64_t i = 0; i < x.size(); ++i) x.data<float>()[i] *= factor;
  return x;
}
Tensor Regions() { return F32({3, 4}, {0.5, 1, 4, 3.5, 1, 0, 2, 4.2, -1, 2, 7, 8}); }

// Expected values from the ONNX reference evaluator (RoiAlign) and ONNX Runtime 1.32.
TEST(Roi, AlignAndMaxPool) {
  const Tensor x = Pseudo({2, 2, 5, 6}), images = I64({3}, {1, 0, 1});
  ExpectTensor(RunOp1("RoiAlign", {x, Regions(), images},
                      {{"output_height", 2}, {"output_width", 2}, {"sampling_ratio", 2}}),
               {3, 2, 2, 2},
               {-0.1077005, -0.4126713, -0.1633038, -0.0190096, -0.3101155,  -0.08464651,
                -0.4533149, 0.4822329,  0.3974152,  0.6651284,  -0.1926664,  -0.007129271,
                -0.2056529, -0.0376683, -0.2367455, -0.3063148, -0.03303812, 0.1962834,
                0,          0,          -0.1345568, -0.2208513, 0,           0},
               2e-6);
  ExpectTensor(RunOp1("RoiAlign", {x, Regions(), images},
                      {{"output_height", 2},
                       {"output_width", 2},
                       {"coordinate_transformation_mode", "output_half_pixel"},
                       {"mode", "max"},
                       {"spatial_scale", 0.5f}}),
               {3, 2, 2, 2},
               {0.1049835,   -0.01427883, 0.07268091, 0.07894422, 0.03018687, 0.07607685,
                -0.06538824, -0.02088439, 0.4680399,  0.4680399,  0.3675885,  0.3675885,
                0.01198274,  0.1514239,   0.1571328,  0.1571328,  0.258421,   0.2806906,
                0.1598805,   0.2894252,   0,          0.6900797,  0.0957755,  0.8748922},
               2e-6);
  const Tensor rois = F32({3, 5}, {1, 0.5, 1, 4, 3.5, 0, 1, 0, 2, 4.2, 1, -1, 2, 7, 8});
  ExpectTensor(
      RunOp1("MaxRoiPool", {x, rois}, {{"pooled_shape", Ints{2, 2}}}), {3, 2, 2, 2},
      {0.3207892, 0.2218777, 0.4630803, 0.8984799, -0.06600499, 0.7886626, 0.9998769, 0.7188566,
       0.8461738, 0.7923651, 0.8901628, 0.7772956, 0.2501618,   0.821282,  0.2501618, 0.8729385,
       0.4630803, 0.9599771, 0,         0,         0.9998769,   0.7886626, 0,         0},
      2e-6);
}

TEST(Roi, CellThatEndsOnAPixelTakesNoneMore) {
  // 29 / 7 rounded times 7 is above 29; the row below the region must stay out.
  Tensor image = Pseudo({1, 1, 30, 1});
  std::fill_n(image.data<float>(), 30, 0.0f);
  image.data<float>()[29] = 1;
  const Tensor y =
      RunOp1("MaxRoiPool", {image, F32({1, 5}, {0, 0, 0, 0, 28})}, {{"pooled_shape", Ints{7, 1}}});
  ExpectTensor(y, {1, 1, 7, 1}, std::vector<double>(7, 0.0), 0);
}

TEST(Roi, BadInput) {
  const Tensor x = Pseudo({2, 1, 4, 4}), region = F32({1, 4}, {0, 0, 1, 1});
  EXPECT_EQ(RunOp("RoiAlign", {x, region, I64({1}, {2})}).status().code(), Code::kOutOfRange);
  EXPECT_EQ(RunOp("RoiAlign", {x, F32({1, 4}, {0, 0, 1e30f, 1}), I64({1}, {0})}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(RunOp("RoiAlign", {x, F32({1, 4}, {NAN, 0, 1, 1}), I64({1}, {0})}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(RunOp("RoiAlign", {x, region, I64({1}, {0})}, {{"output_height", 0}}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(RunOp("RoiAlign", {x, F32({1, 3}, {0, 0, 1}), I64({1}, {0})}).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("MaxRoiPool", {x, F32({1, 5}, {3, 0, 0, 1, 1})}, {{"pooled_shape", Ints{1, 1}}})
                .status()
                .code(),
            Code::kOutOfRange);
  EXPECT_EQ(
      RunOp("MaxRoiPool", {x, F32({1, 5}, {0, INFINITY, 0, 1, 1})}, {{"pooled_shape", Ints{1, 1}}})
          .status()
          .code(),
      Code::kInvalidArgument);
  EXPECT_EQ(InferText("RoiAlign",
                      {{DataType::kFloat32, "[N, C, H, W]"},
                       {DataType::kFloat32, "[R, 4]"},
                       {DataType::kInt64, "[R]"}},
                      {{"output_width", 7}}),
            "float32[R, C, 1, 7]");
}

TEST(DeformConv, OffsetsMaskAndGroups) {
  const Tensor y =
      RunOp1("DeformConv",
             {Pseudo({1, 2, 4, 4}), Pseudo({2, 1, 2, 2}, 2), Scaled(Pseudo({1, 16, 3, 3}, 3), 1.5f),
              Pseudo({2}, 5), Pseudo({1, 8, 3, 3}, 4)},
             {{"group", 2}, {"offset_group", 2}});
  ExpectTensor(y, {1, 2, 3, 3},
               {-0.7262973, -0.6924424, -0.7829599, -0.7395432, -1.022582, -0.4730074, -0.6040486,
                -0.7211768, -0.9324768, 0.01963875, 0.1141444, 0.2407419, 0.1247914, 0.7056792,
                0.5574132, -0.02450961, -0.3930447, 0.09473037},
               3e-6);
  // No offsets: a plain convolution, in one and three dimensions too.
  for (const Dims& extents : {Dims{6}, Dims{4, 5}, Dims{3, 4, 3}}) {
    Dims x_dims = {2, 2}, w_dims = {3, 2}, o_dims = {2, 0};
    int64_t taps = 1;
    for (const int64_t extent : extents) {
      x_dims.push_back(extent);
      w_dims.push_back(2);
      o_dims.push_back(extent - 1);
      taps *= 2;
    }
    o_dims[1] = taps * static_cast<int64_t>(extents.size());
    const Tensor x = Pseudo(x_dims), w = Pseudo(w_dims, 2);
    const Tensor want = RunOp1("Conv", {x, w});
    std::vector<double> values(want.data<float>(), want.data<float>() + want.size());
    ExpectTensor(RunOp1("DeformConv", {x, w, Scaled(Pseudo(o_dims), 0)}), want.dims(), values,
                 1e-5);
  }
  EXPECT_EQ(RunOp("DeformConv", {Pseudo({1, 2, 4, 4}), Pseudo({2, 2, 2, 2}), Pseudo({1, 7, 3, 3})})
                .status()
                .code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("DeformConv", {Pseudo({1, 2, 4, 4}), Pseudo({2, 2, 2, 2}), Pseudo({1, 8, 3, 3})},
                  {{"offset_group", 0}})
                .status()
                .code(),
            Code::kInvalidArgument);
}

// The same image as a volume of depth 1 goes another way.
TEST(DeformConv, ImagesEqualVolumesOfDepthOne) {
  const int64_t places = 10 * 11;
  const Tensor offset = Scaled(Pseudo({1, 36, 10, 11}, 3), 4.0f), mask = Pseudo({1, 18, 10, 11}, 4);
  Tensor deep = Scaled(Pseudo({1, 54, 1, 10, 11}), 0.0f);
  for (int64_t tap = 0; tap < 18; ++tap)
    std::copy_n(offset.data<float>() + 2 * tap * places, 2 * places,
                deep.data<float>() + (3 * tap + 1) * places);
  const Tensor want = RunOp1("DeformConv",
                             {Pseudo({1, 10, 1, 10, 11}), Pseudo({4, 10, 1, 3, 3}, 2), deep,
                              std::nullopt, Pseudo({1, 18, 1, 10, 11}, 4)},
                             {{"offset_group", int64_t{2}}, {"pads", Ints{0, 1, 1, 0, 1, 1}}});
  const std::vector<double> values(want.data<float>(), want.data<float>() + want.size());
  ExpectTensor(
      RunOp1("DeformConv",
             {Pseudo({1, 10, 10, 11}), Pseudo({4, 10, 3, 3}, 2), offset, std::nullopt, mask},
             {{"offset_group", int64_t{2}}, {"pads", Ints{1, 1, 1, 1}}}),
      {1, 4, 10, 11}, values, 1e-5);
}

TEST(MaxUnpool, PutsElementsBack) {
  const Tensor x = F32({1, 1, 2, 2}, {5, 6, 7, 8}), indices = I64({1, 1, 2, 2}, {5, 7, 13, 15});
  const Ints two = {2, 2};
  ExpectTensor(RunOp1("MaxUnpool", {x, indices}, {{"kernel_shape", two}, {"strides", two}}),
               {1, 1, 4, 4}, {0, 0, 0, 0, 0, 5, 0, 6, 0, 0, 0, 0, 0, 7, 0, 8});
  ExpectTensor(RunOp1("MaxUnpool", {x, indices, I64({4}, {1, 1, 5, 5})},
                      {{"kernel_shape", two}, {"strides", two}}),
               {1, 1, 5, 5},
               {0, 0, 0, 0, 0, 0, 5, 0, 6, 0, 0, 0, 0, 0, 0, 0, 7, 0, 8, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(RunOp("MaxUnpool", {x, I64({1, 1, 2, 2}, {5, 7, 13, 16})},
                  {{"kernel_shape", two}, {"strides", two}})
                .status()
                .code(),
            Code::kOutOfRange);
  EXPECT_EQ(RunOp("MaxUnpool", {x, indices, I64({4}, {1, 1, 3, 5})},
                  {{"kernel_shape", two}, {"strides", two}})
                .status()
                .code(),
            Code::kShapeMismatch);
  EXPECT_EQ(InferText("MaxUnpool",
                      {{DataType::kFloat32, "[N, C, H, 7]"}, {DataType::kInt64, "[N, C, H, 7]"}},
                      {{"kernel_shape", two}, {"strides", two}}),
            "float32[N, C, 2*H, 14]");
}

TEST(AffineGrid, FlatAndSolid) {
  const Tensor theta = Pseudo({1, 2, 3}), size = I64({4}, {1, 1, 2, 3});
  ExpectTensor(RunOp1("AffineGrid", {theta, size}), {1, 2, 3, 2},
               {0.176038, 1.263335, -0.4343174, 0.6613804, -1.044673, 0.05942541, 1.022212,
                0.3205232, 0.4118564, -0.2814317, -0.198499, -0.8833867},
               2e-6);
  ExpectTensor(RunOp1("AffineGrid", {theta, size}, {{"align_corners", 1}}), {1, 2, 3, 2},
               {0.05812883, 2.035719, -0.8574042, 1.132786, -1.772937, 0.229854, 1.750476,
                0.1500946, 0.8349433, -0.7528378, -0.08058977, -1.65577},
               2e-6);
  ExpectTensor(RunOp1("AffineGrid", {Pseudo({1, 3, 4}), I64({5}, {1, 1, 2, 1, 2})}),
               {1, 2, 1, 2, 3},
               {-0.4395506, 1.393705, -0.1687431, -1.355084, 0.4508932, 0.623622, -0.4507811,
                0.9749048, 0.2129826, -1.366314, 0.03209269, 1.005348},
               2e-6);
  EXPECT_EQ(RunOp("AffineGrid", {theta, I64({5}, {1, 1, 2, 1, 2})}).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("AffineGrid", {theta, I64({4}, {1, 1, -2, 1})}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(RunOp("AffineGrid", {theta, I64({1}, {1})}).status().code(), Code::kShapeMismatch);
}

TEST(Losses, ReductionsWeightsAndIgnoredLabels) {
  const Tensor x = F32({2, 3, 2}, {1, 2, 2, 2, 3, 2, 0, 1, 2, 2, 1, 2}),
               target = I64({2, 2}, {2, 1, 0, 2});
  const Tensor weight = F32({3}, {0.2, 0.3, 0.1});
  ExpectTensor(RunOp1("NegativeLogLikelihoodLoss", {x, target}, {{"reduction", "none"}}), {2, 2},
               {-3, -2, 0, -2});
  ExpectTensor(RunOp1("NegativeLogLikelihoodLoss", {x, target, weight}, {{"reduction", "sum"}}), {},
               {-1.1});
  ExpectTensor(RunOp1("NegativeLogLikelihoodLoss", {x, target, weight}), {}, {-1.1 / 0.7});
  ExpectTensor(RunOp1("NegativeLogLikelihoodLoss", {x, I64({2, 2}, {2, -100, 0, -100})},
                      {{"ignore_index", -100}}),
               {}, {-1.5});
  EXPECT_EQ(RunOp("NegativeLogLikelihoodLoss", {x, I64({2, 2}, {2, 3, 0, 1})}).status().code(),
            Code::kOutOfRange);
  EXPECT_EQ(RunOp("NegativeLogLikelihoodLoss", {x, I64({2}, {2, 3})}).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("NegativeLogLikelihoodLoss", {x, target}, {{"reduction", "max"}}).status().code(),
            Code::kInvalidArgument);
  const auto got =
      RunOp("SoftmaxCrossEntropyLoss", {F32({1, 2}, {0, std::log(3.0f)}), I64({1}, {1})}, {}, 2);
  ASSERT_TRUE(got.ok());
  ExpectTensor((*got)[0].tensor(), {}, {std::log(4 / 3.0)});
  ExpectTensor((*got)[1].tensor(), {1, 2}, {-std::log(4.0), std::log(0.75)});
}

TEST(BitCast, KeepsTheBits) {
  const Tensor y =
      RunOp1("BitCast", {F32({2}, {1, -0.0f})}, {{"to", static_cast<int64_t>(DataType::kUInt32)}});
  EXPECT_EQ(testing::ValuesOf<uint32_t>(y), (std::vector<uint32_t>{0x3f800000u, 0x80000000u}));
  const Tensor truth = RunOp1("BitCast", {Tensor::FromValues<uint8_t>({2}, {0, 2})},
                              {{"to", static_cast<int64_t>(DataType::kBool)}});
  ExpectTensor(truth, {2}, {0, 1});
  EXPECT_EQ(RunOp("BitCast", {F32({1}, {1})}, {{"to", static_cast<int64_t>(DataType::kInt64)}})
                .status()
                .code(),
            Code::kTypeMismatch);
}

TEST(SwiGlu, GateTimesValue) {
  ExpectTensor(RunOp1("SwiGLU", {F32({2}, {0, 2}), F32({2}, {3, 5})}, {{"alpha", 2.0f}}), {2},
               {0, 2 / (1 + std::exp(-4.0)) * 5});
  EXPECT_EQ(RunOp("SwiGLU", {F32({2}, {0, 2}), F32({1}, {3})}).status().code(),
            Code::kShapeMismatch);
}

// More boxes than are compared at once, here and there and on top of each other, against the definition.
TEST(NonMaxSuppression, ManyBoxes) {
  constexpr int64_t kCount = 500;
  for (const float spread : {3.0f, 40.0f, 5000.0f}) {
    Tensor boxes = Pseudo({1, kCount, 4}), scores = Pseudo({1, 1, kCount}, 2);
    auto* b = boxes.data<float>();
    const auto* score = scores.data<float>();
    for (int64_t i = 0; i < kCount; ++i) {
      const float height = 1.5f + b[4 * i + 2], width = i % 50 == 0 ? spread : 1.5f + b[4 * i + 3];
      b[4 * i] *= 2;
      b[4 * i + 1] *= spread;
      b[4 * i + 2] = b[4 * i] + height;
      b[4 * i + 3] = b[4 * i + 1] + width;
    }
    Ints order(kCount), want;
    for (int64_t i = 0; i < kCount; ++i) order[static_cast<size_t>(i)] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t i, int64_t j) { return score[i] > score[j]; });
    const auto overlap = [&](const float* p, const float* q) {
      const float height = std::min(p[2], q[2]) - std::max(p[0], q[0]),
                  width = std::min(p[3], q[3]) - std::max(p[1], q[1]);
      if (height <= 0 || width <= 0) return 0.0f;
      const auto area = [](const float* x) { return (x[2] - x[0]) * (x[3] - x[1]); };
      return height * width / (area(p) + area(q) - height * width);
    };
    for (const int64_t i : order) {
      const auto covers = [&](int64_t j) { return overlap(b + 4 * i, b + 4 * j) > 0.3f; };
      if (std::none_of(want.begin(), want.end(), covers)) want.push_back(i);
    }
    const Tensor got =
        RunOp1("NonMaxSuppression", {boxes, scores, I64({}, {kCount}), F32({}, {0.3f})});
    ASSERT_EQ(got.dim(0), static_cast<int64_t>(want.size()));
    for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(got.data<int64_t>()[3 * i + 2], want[i]);
  }
}
}  // namespace
}  // namespace asc
