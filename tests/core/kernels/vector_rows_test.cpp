// Softmax, normalisations and reductions against the reference kernels: lengths with and without
// tails, axes, layouts.
#include "tests/core/kernels/vector_test.h"

namespace asc::testing {
namespace {
AttributeMap Attributes(std::initializer_list<std::pair<std::string_view, AttributeValue>> list) {
  AttributeMap map;
  for (const auto& [name, value] : list) map.Set(name, value);
  return map;
}
Tensor Scaled(Tensor x, float factor, float shift = 0) {
  for (int64_t i = 0; i < x.size(); ++i) x.data<float>()[i] = x.data<float>()[i] * factor + shift;
  return x;
}
Tensor Axes(std::initializer_list<int64_t> axes) {
  return Tensor::FromValues<int64_t>({static_cast<int64_t>(axes.size())}, axes);
}

constexpr int64_t kLengths[] = {1, 3, 16, 49, 64, 80, 197, 1000, 40000};

TEST(VectorSoftmax, AlongTheLastAxis) {
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    for (const int64_t length : kLengths) {
      SCOPED_TRACE(Cat(op, " of ", length));
      ExpectVectorKernel({.op = op, .inputs = {Scaled(Noise({5, length}), 20)}}, "vector.softmax");
    }
  }
}

TEST(VectorSoftmax, ShortRows) {
  for (const int64_t length : {2, 4, 8}) {
    for (const int64_t rows : {1, 2, 3, 7, 64, 1001}) {
      SCOPED_TRACE(Cat(rows, " rows of ", length));
      ExpectVectorKernel({.op = "Softmax", .inputs = {Scaled(Noise({rows, length}), 20)}},
                         "vector.softmax");
      ExpectVectorKernel({.op = "Softmax", .inputs = {WildNoise({rows, length})}},
                         "vector.softmax");
    }
  }
}

TEST(VectorSoftmax, AlongOtherAxes) {
  const Tensor x = Scaled(Noise({3, 7, 5, 30}), 10);
  for (const int64_t axis : {0, 1, 2, -1}) {
    ExpectVectorKernel({.op = "Softmax", .inputs = {x}, .attributes = Attributes({{"axis", axis}})},
                       "vector.softmax");
    ExpectVectorKernel(
        {.op = "LogSoftmax", .inputs = {x}, .attributes = Attributes({{"axis", axis}})},
        "vector.softmax");
  }
  ExpectVectorKernel({.op = "Softmax",
                      .inputs = {Scaled(Noise({700, 70}), 10)},
                      .attributes = Attributes({{"axis", int64_t{0}}})},
                     "vector.softmax");
  ExpectVectorKernel({.op = "Softmax", .inputs = {Noise({0, 4})}}, "vector.softmax");
  ExpectVectorKernel({.op = "Softmax", .inputs = {Tensor::Scalar(3.0f)}}, "vector.softmax");
}

TEST(VectorSoftmax, MasksAndSpecialValues) {
  Tensor masked = Scaled(Noise({4, 80}), 5);
  for (int64_t i = 0; i < masked.size(); i += 2)
    masked.data<float>()[i] = i % 4 == 0 ? -INFINITY : -1e30f;
  Tensor wild = Noise({6, 33});
  float* x = wild.data<float>();
  x[5] = NAN;
  x[33] = INFINITY;
  for (int64_t i = 66; i < 99; ++i) x[i] = -INFINITY;
  for (int64_t i = 99; i < 132; ++i) x[i] = 3e38f;
  for (const int64_t axis : {0, 1}) {
    for (const char* op : {"Softmax", "LogSoftmax"}) {
      ExpectVectorKernel({.op = op, .inputs = {masked}, .attributes = Attributes({{"axis", axis}})},
                         "vector.softmax");
      ExpectVectorKernel({.op = op, .inputs = {wild}, .attributes = Attributes({{"axis", axis}})},
                         "vector.softmax");
    }
  }
}

TEST(VectorLayerNorm, AgreesWithReference) {
  for (const int64_t length : kLengths) {
    SCOPED_TRACE(length);
    const Tensor x = Scaled(Noise({3, 2, length}), 3, 5), scale = Noise({length}, 2),
                 bias = Noise({length}, 3);
    ExpectVectorKernel({.op = "LayerNormalization", .inputs = {x, scale, bias}},
                       "vector.layer_norm", 2e-6);
    ExpectVectorKernel({.op = "LayerNormalization", .inputs = {x, scale, bias}, .outputs = 3},
                       "vector.layer_norm", 2e-6);
    ExpectVectorKernel({.op = "LayerNormalization", .inputs = {x, scale}}, "vector.layer_norm",
                       2e-6);
    ExpectVectorKernel({.op = "RMSNormalization", .inputs = {x, scale}}, "vector.layer_norm", 2e-6);
  }
  const Tensor x = Noise({4, 5, 6, 7});
  ExpectVectorKernel({.op = "LayerNormalization",
                      .inputs = {x, Noise({5, 6, 7}, 2), Noise({5, 6, 7}, 3)},
                      .attributes = Attributes({{"axis", int64_t{1}}, {"epsilon", 0.1f}})},
                     "vector.layer_norm");
  ExpectVectorKernel(
      {.op = "LayerNormalization", .inputs = {WildNoise({4, 30}), Noise({30}, 2), Noise({30}, 3)}},
      "vector.layer_norm");
  // Scale and bias that repeat.
  EXPECT_TRUE(ExpectKernelsAgree({.op = "LayerNormalization",
                                  .inputs = {x, Noise({6, 1}, 2)},
                                  .attributes = Attributes({{"axis", int64_t{2}}})})
                  .empty());
}

TEST(VectorGroupNorm, AgreesWithReference) {
  const Tensor scale = Noise({12}, 2), bias = Noise({12}, 3);
  for (const Dims& dims :
       {Dims{2, 12, 7, 7}, Dims{1, 12, 197}, Dims{3, 12, 40, 50}, Dims{2, 12, 1, 1}}) {
    const Tensor x = Scaled(Noise(dims), 3, 5);
    ExpectVectorKernel({.op = "InstanceNormalization", .inputs = {x, scale, bias}},
                       "vector.group_norm", 2e-6);
    for (const int64_t groups : {1, 3, 12}) {
      ExpectVectorKernel({.op = "GroupNormalization",
                          .inputs = {x, scale, bias},
                          .attributes = Attributes({{"num_groups", groups}})},
                         "vector.group_norm", 2e-6);
    }
  }
}

TEST(VectorLpNorm, AgreesWithReference) {
  for (const int64_t p : {1, 2}) {
    const auto expect = [&](const Tensor& x) {
      ExpectVectorKernel(
          {.op = "LpNormalization", .inputs = {x}, .attributes = Attributes({{"p", p}})},
          "vector.lp_norm", 2e-6);
    };
    expect(Noise({3, 5, 197}));
    expect(Noise({40, 1}));
    expect(WildNoise({7, 35}));
    for (const float size : {0.0f, 1e-40f, 1e-25f, 1e25f, 3e38f}) {
      expect(Tensor::FromValues<float>({2, 3}, {size, size, -size, size / 2, 0, 0}));
    }
  }
}

TEST(VectorMeanVariance, AgreesWithReference) {
  const auto expect = [](const Tensor& x, std::vector<int64_t> axes) {
    ExpectVectorKernel({.op = "MeanVarianceNormalization",
                        .inputs = {x},
                        .attributes = Attributes({{"axes", std::move(axes)}})},
                       "vector.mean_variance", 4e-6);
  };
  const Tensor x = Scaled(Noise({3, 12, 7, 5}), 3, 5);
  expect(x, {0, 2, 3});
  expect(x, {-1, 2});
  expect(x, {0, 1, 2, 3});
  expect(x, {1, 2, 3});
  // Images whose means differ; a small deviation from a large mean, none, no number.
  Tensor images = Noise({2, 3, 40});
  for (int64_t i = 0; i < 120; ++i) images.data<float>()[i] += 100;
  expect(images, {0, 2});
  expect(Scaled(Noise({2, 3, 40}), 1, 1000), {0, 2});
  expect(Scaled(Noise({2, 3, 40}), 0, 0.1f), {0, 2});
  expect(WildNoise({2, 3, 40}), {0, 2});
}

KernelCase BatchNorm(const Dims& dims, int c0, bool constant) {
  const Dims c{dims[1]};
  KernelCase test{.op = "BatchNormalization",
                  .inputs = {Noise(dims), Noise(c, 2), Noise(c, 3), Scaled(Noise(c, 4), 3),
                             Scaled(Noise(c, 5), 0.4f, 0.5f)},
                  .attributes = Attributes({{"epsilon", 1e-3f}}),
                  .c0 = c0};
  if (constant) test.constants = {1, 2, 3, 4};
  return test;
}
TEST(VectorBatchNorm, AgreesWithReference) {
  for (const bool constant : {false, true}) {
    for (const int c0 : {0, 8, 16}) {
      ExpectVectorKernel(BatchNorm({2, 13, 7, 7}, c0, constant), "vector.batch_norm");
      ExpectVectorKernel(BatchNorm({1, 32, 5, 3}, c0, constant), "vector.batch_norm");
      ExpectVectorKernel(BatchNorm({2, 16, 50, 50}, c0, constant), "vector.batch_norm");
    }
    ExpectVectorKernel(BatchNorm({50, 33}, 0, constant), "vector.batch_norm");
    ExpectVectorKernel(BatchNorm({2, 5, 3, 2, 2}, 0, constant), "vector.batch_norm");
  }
  KernelCase training = BatchNorm({2, 5, 7}, 0, true);
  training.attributes.Set("training_mode", int64_t{1});
  EXPECT_TRUE(ExpectKernelsAgree(training).empty());
}

TEST(VectorReduce, OverNeighbouringAxes) {
  const Tensor x = Noise({3, 4, 5, 49});
  for (const char* op : {"ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin",
                         "ReduceSum", "ReduceSumSquare"}) {
    SCOPED_TRACE(op);
    for (const auto& axes : {Axes({3}), Axes({2, 3}), Axes({-1, 1, 2}), Axes({1}), Axes({1, 2}),
                             Axes({0}), Axes({0, 1, 2, 3})}) {
      ExpectVectorKernel({.op = op, .inputs = {x, axes}, .constants = {1}}, "vector.reduce");
      ExpectVectorKernel({.op = op,
                          .inputs = {x, axes},
                          .constants = {1},
                          .attributes = Attributes({{"keepdims", int64_t{0}}})},
                         "vector.reduce");
    }
    ExpectVectorKernel({.op = op, .inputs = {x}}, "vector.reduce");
    ExpectVectorKernel({.op = op, .inputs = {WildNoise({40, 33}), Axes({1})}, .constants = {1}},
                       "vector.reduce");
    ExpectVectorKernel({.op = op, .inputs = {WildNoise({33, 40}), Axes({0})}, .constants = {1}},
                       "vector.reduce");
    // The axes are apart.
    EXPECT_TRUE(
        ExpectKernelsAgree({.op = op, .inputs = {x, Axes({0, 2})}, .constants = {1}}).empty());
  }
}

TEST(VectorReduce, PlanesOfBlockedImages) {
  for (const int c0 : {8, 16}) {
    for (const char* op : {"ReduceMean", "ReduceMax", "ReduceL2"}) {
      ExpectVectorKernel(
          {.op = op, .inputs = {Noise({2, 13, 7, 5}), Axes({2, -1})}, .constants = {1}, .c0 = c0},
          "vector.reduce");
    }
    EXPECT_TRUE(ExpectKernelsAgree({.op = "ReduceMean",
                                    .inputs = {Noise({2, 16, 7, 5}), Axes({1, 2})},
                                    .constants = {1},
                                    .c0 = c0})
                    .empty());
  }
}

TEST(VectorReduce, LongRowsStayAccurate) {
  for (const int64_t length : kLengths) {
    // All of one sign: rounding errors of a naive sum would add up.
    const Tensor x = Scaled(Noise({3, length}), 0.5f, 1);
    ExpectVectorKernel({.op = "ReduceSum", .inputs = {x, Axes({1})}, .constants = {1}},
                       "vector.reduce", 3e-7);
    const Tensor columns = Scaled(Noise({length, 37}), 0.5f, 1);
    ExpectVectorKernel({.op = "ReduceMean", .inputs = {columns, Axes({0})}, .constants = {1}},
                       "vector.reduce", 3e-7);
  }
}

TEST(VectorReduce, SumsThatOverflowOnTheWay) {
  const Tensor x = Scaled(Noise({4, 35}), 3e38f);
  for (const int64_t axis : {0, 1}) {
    ExpectVectorKernel({.op = "ReduceMean", .inputs = {x, Axes({axis})}, .constants = {1}},
                       "vector.reduce");
    ExpectVectorKernel({.op = "ReduceL2",
                        .inputs = {Scaled(Noise({4, 35}), 1e30f), Axes({axis})},
                        .constants = {1}},
                       "vector.reduce");
  }
}

TEST(VectorReduce, GlobalPools) {
  for (const char* op : {"GlobalAveragePool", "GlobalMaxPool"}) {
    for (const int c0 : {0, 8, 16}) {
      ExpectVectorKernel({.op = op, .inputs = {Noise({2, 13, 7, 7})}, .c0 = c0},
                         "vector.global_pool");
      ExpectVectorKernel({.op = op, .inputs = {WildNoise({1, 32, 31, 9})}, .c0 = c0},
                         "vector.global_pool");
    }
    ExpectVectorKernel({.op = op, .inputs = {Noise({2, 3, 0, 4})}}, "vector.global_pool");
    ExpectVectorKernel({.op = op, .inputs = {Noise({2, 16, 0, 4})}, .c0 = 8}, "vector.global_pool");
    ExpectVectorKernel({.op = op, .inputs = {Noise({2, 3, 500})}}, "vector.global_pool");
    ExpectVectorKernel({.op = op, .inputs = {Noise({2, 3, 4, 5, 6})}}, "vector.global_pool");
  }
}

TEST(VectorReduce, ArgOverTheLastAxis) {
  Tensor ties = Noise({50, 197});
  for (int64_t i = 0; i < ties.size(); ++i)
    ties.data<float>()[i] = std::round(ties.data<float>()[i] * 3);
  Tensor nans = Noise({7, 49});
  for (int64_t i = 0; i < nans.size(); i += 60) nans.data<float>()[i] = NAN;
  for (const char* op : {"ArgMax", "ArgMin"}) {
    for (const Tensor& x : {ties, nans, WildNoise({3, 35}), Noise({4, 1}), Noise({6000})}) {
      ExpectVectorKernel(
          {.op = op, .inputs = {x}, .attributes = Attributes({{"axis", int64_t{-1}}})},
          "vector.arg_reduce");
    }
    ExpectVectorKernel({.op = op,
                        .inputs = {ties},
                        .attributes = Attributes({{"axis", int64_t{1}}, {"keepdims", int64_t{0}}})},
                       "vector.arg_reduce");
    ExpectVectorKernel(
        {.op = op, .inputs = {WildNoise({1, 1})}, .attributes = Attributes({{"axis", int64_t{1}}})},
        "vector.arg_reduce");
  }
}

TEST(VectorReduce, ArgAndHardmaxOverAnyAxis) {
  Tensor ties = Noise({9, 21, 83});
  for (int64_t i = 0; i < ties.size(); ++i)
    ties.data<float>()[i] = std::round(ties.data<float>()[i] * 3);
  for (const auto& [op, kernel] : {std::pair{"ArgMax", "vector.arg_reduce"},
                                   {"ArgMin", "vector.arg_reduce"},
                                   {"Hardmax", "vector.hardmax"}}) {
    for (const int64_t axis : {0, 1, 2, -2}) {
      SCOPED_TRACE(Cat(op, " over axis ", axis));
      for (const Tensor& x : {ties, WildNoise({9, 21, 83}), WildNoise({2, 1, 3})}) {
        ExpectVectorKernel({.op = op, .inputs = {x}, .attributes = Attributes({{"axis", axis}})},
                           kernel);
      }
    }
  }
}

// Running values are kept in float64 by both, in one order.
TEST(VectorCumulative, EqualsTheReference) {
  for (const char* op : {"CumSum", "CumProd"}) {
    for (const Dims& dims : {Dims{9, 21, 83}, Dims{3, 40, 512}, Dims{5, 2}, Dims{1, 7, 3}}) {
      for (const int64_t axis : {int64_t{0}, static_cast<int64_t>(dims.size()) - 2}) {
        for (const int64_t flags : {0, 1, 2, 3}) {
          SCOPED_TRACE(Cat(op, dims, " over axis ", axis, " flags ", flags));
          ExpectVectorKernel(
              {.op = op,
               .inputs = {WildNoise(dims), Tensor::Scalar<int64_t>(axis)},
               .constants = {1},
               .attributes = Attributes({{"exclusive", flags % 2}, {"reverse", flags / 2}}),
               .threads = 3},
              "vector.cumulative", 0);
        }
      }
    }
  }
}
}  // namespace
}  // namespace asc::testing
