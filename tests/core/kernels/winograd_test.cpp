#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/strings.h"
#include "core/kernels/winograd/redo.h"
#include "core/kernels/winograd/weights.h"
#include "tests/core/kernels/vector_test.h"

namespace asc {
namespace {
using testing::ExpectKernelsAgree;
using testing::ForEachTarget;
using testing::KernelCase;
using testing::Noise;
using Names = std::vector<std::string>;

// Sums of noise in [-1, 1) have errors of about this part of the largest one.
constexpr double kTolerance = 5e-6;

Names Expected() {
  Names names = {"winograd.f4x4", "winograd.f2x2"};
#ifdef ASC_WITH_ONEDNN
  names.emplace_back("onednn.convolution");
#endif
  return names;
}

struct Extents {
  int64_t images, channels, rows, columns, outputs;
};

// On every instruction set.
void ExpectAgrees(const KernelCase& test, double tolerance = kTolerance) {
  ForEachTarget([&] { EXPECT_EQ(ExpectKernelsAgree(test, tolerance), Expected()); });
}

KernelCase Case(const Extents& e, int c0, std::vector<int64_t> pads = {1, 1, 1, 1}) {
  KernelCase test{"FusedConv",
                  "asc",
                  {Noise({e.images, e.channels, e.rows, e.columns}),
                   Noise({e.outputs, e.channels, 3, 3}, 2), Noise({e.outputs}, 3)},
                  {1, 2}};
  test.attributes.Set("pads", std::move(pads));
  test.c0 = c0;
  test.plain_inputs = {1};
  test.winograd = true;
  return test;
}

TEST(Winograd, TilesThatReachOverTheEdge) {
  for (const int c0 : {8, 16}) {
    for (const int64_t extent : {1, 2, 3, 4, 5, 7, 9}) {
      ExpectAgrees(Case({1, 16, extent, 10 - extent, 16}, c0));
    }
  }
}

TEST(Winograd, PadsOfAnySize) {
  for (const auto& pads :
       {std::vector<int64_t>{0, 0, 0, 0}, {1, 0, 2, 3}, {0, 2, 1, 0}, {5, 7, 6, 5}}) {
    ExpectAgrees(Case({2, 16, 6, 7, 16}, 8, pads));
  }
}

TEST(Winograd, ChannelsThatDoNotFillBlocks) {
  for (const int c0 : {8, 16}) {
    for (const int64_t channels : {1, 5, 8, 12, 21}) {
      for (const int64_t outputs : {1, 4, 9, 16, 24, 35}) {
        for (const char* activation : {"", "Sigmoid"}) {
          KernelCase test = Case({2, channels, 6, 5, outputs}, c0);
          if (*activation) test.attributes.Set("activation", std::string(activation));
          ExpectAgrees(test);
        }
      }
    }
  }
}

TEST(Winograd, BiasResidualAndActivation) {
  for (const bool bias : {false, true}) {
    for (const bool residual : {false, true}) {
      for (const char* activation : {"", "Relu", "Sigmoid", "HardSwish", "Silu", "LeakyRelu",
                                     "Clip", "Tanh", "Gelu", "Elu", "Softplus"}) {
        KernelCase test = Case({1, 8, 9, 6, 20}, 8);
        if (!bias) test.inputs[2] = std::nullopt;
        if (residual) test.inputs.emplace_back(Noise({1, 20, 9, 6}, 4));
        if (*activation) test.attributes.Set("activation", std::string(activation));
        if (activation == std::string("Clip"))
          test.attributes.Set("activation_params", std::vector<float>{0.5f, 2.0f});
        // Errors are those of sums up to 5; some of these functions are never larger than 1.
        ExpectAgrees(test, 3 * kTolerance);
      }
    }
  }
}

// Few tiles are divided by outputs, many by tiles; more threads than either has.
TEST(Winograd, AnyNumberOfThreads) {
  for (const int threads : {1, 2, 3, 7}) {
    for (const Extents& e : {Extents{1, 16, 5, 5, 80}, {2, 8, 33, 30, 20}, {3, 8, 4, 4, 8}}) {
      KernelCase test = Case(e, 8);
      test.threads = threads;
      ExpectAgrees(test);
    }
  }
}

TEST(Winograd, OnlyOnRequestAndOnlyOfItsKind) {
  const auto supported = [](const KernelCase& test) {
    const Names names = ExpectKernelsAgree(test);
    return std::find(names.begin(), names.end(), "winograd.f4x4") != names.end();
  };
  KernelCase off = Case({1, 8, 6, 6, 8}, 8);
  off.winograd = false;
  EXPECT_FALSE(supported(off));
  KernelCase stride = Case({1, 8, 6, 6, 8}, 8);
  stride.attributes.Set("strides", std::vector<int64_t>{2, 1});
  EXPECT_FALSE(supported(stride));
  KernelCase dilation = Case({1, 8, 6, 6, 8}, 8);
  dilation.attributes.Set("dilations", std::vector<int64_t>{1, 2});
  EXPECT_FALSE(supported(dilation));
  KernelCase groups = Case({1, 8, 6, 6, 8}, 8);
  groups.inputs[1] = Noise({8, 1, 3, 3});
  groups.attributes.Set("group", int64_t{8});
  EXPECT_FALSE(supported(groups));
  KernelCase window = Case({1, 8, 6, 6, 8}, 8);
  window.inputs[1] = Noise({8, 8, 3, 5});
  EXPECT_FALSE(supported(window));
  KernelCase variable = Case({1, 8, 6, 6, 8}, 8);
  variable.constants = {};
  EXPECT_FALSE(supported(variable));
}

// One element that is not finite, or overflows in the transforms, must show where a direct
// convolution shows it and nowhere else.
TEST(Winograd, OneElementSpoilsNoOtherWindows) {
  for (const float odd : {std::nanf(""), INFINITY, -INFINITY, 3e38f, -1e38f}) {
    for (const int threads : {1, 2}) {
      for (const int64_t outputs : {16, 12}) {
        KernelCase test = Case({1, 40, 11, 10, outputs}, 8);
        test.inputs.emplace_back(Noise({1, outputs, 11, 10}, 4));
        test.inputs[0]->data<float>()[7 * 110 + 57] = odd;
        test.attributes.Set("activation", std::string("Relu"));
        test.threads = threads;
        ExpectAgrees(test);
      }
    }
  }
}

TEST(Winograd, WeightsAndBiasesThatAreNotFinite) {
  KernelCase test = Case({1, 8, 6, 6, 20}, 8);
  test.inputs[1]->data<float>()[9 * 8 * 3 + 4] = std::nanf("");
  test.inputs[1]->data<float>()[9 * 8 * 17 + 8] = INFINITY;
  test.inputs[2]->data<float>()[1] = -INFINITY;
  test.inputs[2]->data<float>()[2] = std::nanf("");
  ExpectAgrees(test);
}

// Remembers one form.
class OneForm : public PackedConstants {
 public:
  Result<std::shared_ptr<Buffer>> GetOrMake(
      const Tensor&, std::string_view form, size_t bytes,
      const std::function<Result<std::shared_ptr<Buffer>>(const std::shared_ptr<Allocator>&)>& make)
      override {
    ASC_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> packed, make(allocator));
    EXPECT_EQ(packed->size(), bytes) << form;
    return packed;
  }
  std::vector<std::string> Forms(const Tensor&) const override { return {}; }
  std::shared_ptr<Allocator> allocator = std::make_shared<Allocator>("test");
};

winograd::Problem SmallProblem(int64_t tile) {
  winograd::Problem p;
  p.images = 1;
  p.channels = 40;
  p.outputs = 35;
  p.rows = p.columns = p.out_rows = p.out_columns = 6;
  p.pad_top = p.pad_left = 1;
  p.c0 = 8;
  p.tile = tile;
  return p;
}

Tensor LazyCopy(const Tensor& tensor) {
  const auto read = [tensor](size_t begin, size_t count, std::byte* to) {
    std::memcpy(to, static_cast<const std::byte*>(tensor.raw()) + begin, count);
  };
  return Tensor::FromBuffer(
             tensor.dtype(), tensor.dims(),
             Buffer::Lazy(HostAllocator(), MemoryUse::kConstant, tensor.bytes(), read))
      .value();
}

// Lazy weights are read in parts, when they are packed and when a tile is made directly, and stay
// lazy.
TEST(Winograd, LazyWeights) {
  const Tensor weight = Noise({35, 40, 3, 3}), lazy = LazyCopy(weight);
  for (const int64_t tile : {2, 4}) {
    const winograd::Problem p = SmallProblem(tile);
    OneForm forms;
    const auto want = winograd::PackWeights(p, forms, weight),
               got = winograd::PackWeights(p, forms, lazy);
    ASSERT_TRUE(want.ok() && got.ok());
    EXPECT_EQ(std::memcmp((*want)->data(), (*got)->data(), (*want)->size()), 0);
    const Tensor x = Noise({1, 5, 6, 6, 8}, 2);
    Tensor direct = Tensor::Allocate(DataType::kFloat32, {1, 5, 6, 6, 8}).value(),
           again = direct.Clone().value();
    winograd::ConvolveTile(p, x.data<float>(), weight, {}, 1, 32, 3, direct.data<float>());
    winograd::ConvolveTile(p, x.data<float>(), lazy, {}, 1, 32, 3, again.data<float>());
    EXPECT_EQ(direct.data<float>()[4 * 36 * 8 + 4 * 8], again.data<float>()[4 * 36 * 8 + 4 * 8]);
    EXPECT_TRUE(lazy.is_lazy());
  }
}

TEST(Winograd, PackingSaysSoWhereMemoryIsRefused) {
  OneForm forms;
  ASSERT_TRUE(forms.allocator->SetLimit(1000).ok());
  EXPECT_EQ(winograd::PackWeights(SmallProblem(4), forms, Noise({35, 40, 3, 3})).status().code(),
            Code::kOutOfMemory);
  EXPECT_EQ(forms.allocator->stats().current_bytes, 0);
}

// Against sums in double precision, as parts of the largest output, for inputs that are not
// negative: the errors that docs/performance.md states.
TEST(Winograd, IsAccurate) {
  struct Limits {
    int64_t tile, channels;
    double mean, largest;
  };
  for (const Limits& limit : {Limits{2, 64, 2e-7, 2e-6},
                              {2, 512, 4e-7, 4e-6},
                              {4, 64, 5e-7, 5e-6},
                              {4, 512, 1e-6, 1e-5}}) {
    winograd::Problem p = SmallProblem(limit.tile);
    p.channels = limit.channels;
    p.outputs = 16;
    p.rows = p.columns = p.out_rows = p.out_columns = 16;
    Tensor x = Noise({1, p.channels / 8, 16, 16, 8});
    for (int64_t i = 0; i < x.size(); ++i) x.data<float>()[i] = std::max(0.0f, x.data<float>()[i]);
    const Tensor weight = Noise({p.outputs, p.channels, 3, 3}, 2);
    const Dims dims = {1, 2, 16, 16, 8};
    Tensor got = Tensor::Allocate(DataType::kFloat32, dims).value();
    Tensor want = Tensor::Allocate(DataType::kFloat32, dims).value();
    OneForm forms;
    const auto packed = winograd::PackWeights(p, forms, weight).value();
    std::vector<float> products(static_cast<size_t>(
        winograd::Problem::product_step(winograd::kMostTiles) * p.points() + 16));
    std::vector<float> inputs(
        static_cast<size_t>(p.input_step(winograd::kMostTiles) * p.points() + 16));
    const auto aligned = [](std::vector<float>& v) {
      return reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(v.data()) + 63) / 64 * 64);
    };
    for (int64_t tile = 0; tile < p.tiles(); ++tile) {
      const winograd::TileRange one{tile, 1};
      winograd::TransformInput(p, x.data<float>(), one, 0, p.channel_blocks(), aligned(inputs));
      winograd::Multiply(p, 0, 1, aligned(inputs), reinterpret_cast<const float*>(packed->data()),
                         aligned(products));
      winograd::TransformOutput(
          p, one, 0, aligned(products), {}, got.data<float>(),
          [](int64_t, int64_t, int64_t) { ADD_FAILURE() << "a sum is not finite"; });
      for (const int64_t channel : {0, 8})
        winograd::ConvolveTile(p, x.data<float>(), weight, {}, tile, channel, 8,
                               want.data<float>());
    }
    double largest = 0, sum = 0, worst = 0;
    for (int64_t i = 0; i < want.size(); ++i) {
      const double right = want.data<float>()[i], error = std::fabs(got.data<float>()[i] - right);
      largest = std::max(largest, std::fabs(right));
      worst = std::max(worst, error);
      sum += error;
    }
    const double mean = sum / static_cast<double>(want.size());
    RecordProperty(Cat("f", p.tile, "_", p.channels), Cat(mean / largest, " ", worst / largest));
    EXPECT_LT(mean / largest, limit.mean);
    EXPECT_LT(worst / largest, limit.largest);
  }
}
}  // namespace
}  // namespace asc
