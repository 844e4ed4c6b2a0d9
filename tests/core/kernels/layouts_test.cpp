// What layout assignment may keep blocked: each case that is accepted must have a kernel for it.
#include "core/kernels/layouts.h"

#include <gtest/gtest.h>

#include "core/graph/infer.h"
#include "core/ops/registry.h"

namespace asc {
namespace {
constexpr Layout kBlocked{Format::kNC1HWC0, 8};

ValueType Float32(std::vector<Dim> dims) {
  return ValueType::Tensor(DataType::kFloat32, Shape(std::move(dims)));
}

// Whether the operator on inputs of these types (or constants) may work in blocks of 8.
bool Accepts(std::string_view op, const std::vector<std::variant<ValueType, Tensor>>& inputs,
             std::initializer_list<std::pair<std::string_view, AttributeValue>> attributes = {}) {
  Graph graph;
  std::vector<ValueId> ids;
  for (const auto& input : inputs) {
    ids.push_back(std::holds_alternative<Tensor>(input)
                      ? graph.AddConstant("c", std::get<Tensor>(input))
                      : graph.AddInput("x", std::get<ValueType>(input)));
  }
  AttributeMap map;
  for (const auto& [name, value] : attributes) map.Set(name, value);
  const NodeId id =
      graph.AddNode(OpRegistry::Global().Find(op == "VectorProgram" ? "asc" : "", op),
                    std::move(ids), 1, std::move(map));
  const Status status = InferNode(graph, id);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return AcceptsLayoutOnHost(graph, graph.node(id), kBlocked);
}

const Dim kBatch = Dim::Symbol("N");
const ValueType kImage = Float32({kBatch, 16, Dim::Symbol("H"), Dim::Symbol("W")});
const ValueType kThin =
    Float32({kBatch, 12, Dim::Symbol("H"), Dim::Symbol("W")});  // the last block is padded
const ValueType kGate = Float32({kBatch, 16, 1, 1});

TEST(Layouts, PoolsAndReductionsOfPlanes) {
  const AttributeValue kernel = std::vector<int64_t>{3, 3};
  EXPECT_TRUE(Accepts("MaxPool", {kImage}, {{"kernel_shape", kernel}}));
  EXPECT_TRUE(Accepts("AveragePool", {kImage}, {{"kernel_shape", kernel}}));
  EXPECT_TRUE(Accepts("MaxPool", {kThin}, {{"kernel_shape", kernel}}));
  // A window in which there is nothing would make something of the padding.
  EXPECT_FALSE(
      Accepts("MaxPool", {kThin}, {{"kernel_shape", kernel}, {"ceil_mode", int64_t{1}}}));
  EXPECT_FALSE(Accepts("MaxPool", {kThin},
                       {{"kernel_shape", kernel}, {"dilations", std::vector<int64_t>{2, 1}}}));
  EXPECT_TRUE(Accepts("GlobalAveragePool", {kThin}));
  EXPECT_TRUE(Accepts("GlobalAveragePool", {kImage}));
  EXPECT_TRUE(Accepts("ReduceMean", {kImage, FromInt64Vector(std::vector<int64_t>{2, -1})}));
  EXPECT_FALSE(Accepts("ReduceMean", {kImage, FromInt64Vector(std::vector<int64_t>{1, 2})}));
  EXPECT_FALSE(Accepts("ReduceMean", {kImage, FromInt64Vector(std::vector<int64_t>{2, 3})},
                       {{"keepdims", int64_t{0}}}));
  EXPECT_FALSE(
      Accepts("ReduceMean", {kImage, ValueType::Tensor(DataType::kInt64, Shape({Dim(2)}))}));
}

TEST(Layouts, ElementwiseOperandsThatFitBlocks) {
  EXPECT_TRUE(Accepts("HardSwish", {kImage}));
  EXPECT_TRUE(Accepts("HardSwish", {kThin}));
  EXPECT_TRUE(Accepts("Sigmoid", {kImage}));
  EXPECT_FALSE(Accepts("Sigmoid", {kThin}));  // 0.5 in the padding
  EXPECT_TRUE(Accepts("Sin", {kImage}));
  EXPECT_TRUE(Accepts("Sin", {kThin}));
  EXPECT_FALSE(Accepts("Cos", {kThin}));  // 1 in the padding
  EXPECT_TRUE(Accepts("Clip", {kImage, Tensor::Scalar(0.0f), Tensor::Scalar(6.0f)}));
  EXPECT_TRUE(Accepts("Clip", {kThin, Tensor::Scalar(0.0f), Tensor::Scalar(6.0f)}));
  EXPECT_TRUE(Accepts("Clip", {kThin}));
  EXPECT_FALSE(Accepts("Clip", {kThin, Tensor::Scalar(1.0f)}));
  EXPECT_FALSE(Accepts("Clip", {kThin, Float32({})}));
  EXPECT_TRUE(Accepts("Mul", {kImage, kGate}));
  EXPECT_TRUE(Accepts("Add", {kThin, kThin}));
  EXPECT_FALSE(Accepts("Div", {kThin, kThin}));
  EXPECT_FALSE(Accepts("Add", {kThin, Tensor::Scalar(3.0f)}));
  EXPECT_TRUE(Accepts("Mul", {kGate, kImage}));
  EXPECT_TRUE(Accepts("Add", {kImage, Tensor::Scalar(3.0f)}));
  EXPECT_FALSE(Accepts("Mul", {kImage, Float32({kBatch, 1, Dim::Symbol("H"), Dim::Symbol("W")})}));
  EXPECT_FALSE(Accepts("Mul", {kImage, Float32({16, 1, 1})}));
  EXPECT_FALSE(Accepts("Softmax", {kImage}));
}

TEST(Layouts, ConcatAlongAnyAxis) {
  EXPECT_TRUE(Accepts("Concat", {kImage, kImage}, {{"axis", int64_t{1}}}));
  EXPECT_TRUE(Accepts("Concat", {kImage, kImage}, {{"axis", int64_t{-1}}}));
  EXPECT_TRUE(Accepts("Concat", {kThin, kImage}, {{"axis", int64_t{1}}}));
}

TEST(Layouts, ConvolutionsWhoseGroupsAreBlocksOrChannels) {
  const auto weight = [](int64_t out, int64_t in) {
    const auto count = static_cast<size_t>(out * in);
    return Tensor::FromValues<float>({out, in, 1, 1}, std::vector<float>(count));
  };
  EXPECT_TRUE(Accepts("Conv", {kImage, weight(24, 16)}));
  EXPECT_TRUE(Accepts("Conv", {kThin, weight(7, 12)}));
  EXPECT_TRUE(Accepts("Conv", {kThin, weight(12, 1)}, {{"group", int64_t{12}}}));
  EXPECT_TRUE(Accepts("Conv", {kImage, weight(16, 8)}, {{"group", int64_t{2}}}));
  EXPECT_FALSE(Accepts("Conv", {kImage, weight(16, 4)}, {{"group", int64_t{4}}}));
  EXPECT_FALSE(Accepts("Conv", {kThin, weight(12, 6)}, {{"group", int64_t{2}}}));
  EXPECT_FALSE(Accepts("Conv", {kImage, Float32({24, 16, 1, 1})}));
}

TEST(Layouts, BatchNormalization) {
  const ValueType parameter = Float32({16});
  EXPECT_TRUE(Accepts("BatchNormalization", {kImage, parameter, parameter, parameter, parameter}));
  EXPECT_FALSE(Accepts("BatchNormalization", {kImage, parameter, parameter, parameter, parameter},
                       {{"training_mode", int64_t{1}}}));
}

TEST(Layouts, Resize) {
  const Tensor none = Tensor::FromValues<float>({0}, {}),
               twice = Tensor::FromValues<float>({4}, {1, 1, 2, 2});
  EXPECT_TRUE(Accepts("Resize", {kImage, none, twice}));
  EXPECT_TRUE(Accepts("Resize", {kImage, none, twice}, {{"mode", std::string("linear")}}));
  EXPECT_FALSE(Accepts("Resize", {kImage, none, twice}, {{"mode", std::string("cubic")}}));
  EXPECT_FALSE(Accepts("Resize", {kImage, none, Tensor::FromValues<float>({4}, {1, 0.5, 2, 2})}));
}

TEST(Layouts, VectorPrograms) {
  const auto accepts = [](std::string_view program,
                          const std::vector<std::variant<ValueType, Tensor>>& inputs) {
    return Accepts("VectorProgram", inputs, {{"program", std::string(program)}});
  };
  constexpr std::string_view kChain = "%0 = mul in0, in1; %1 = exp %0; float32 %1";
  EXPECT_TRUE(accepts(kChain, {kImage, kGate}));
  EXPECT_TRUE(accepts(kChain, {kThin, kThin}));  // the kernel clears the padding
  EXPECT_TRUE(accepts(kChain, {kImage, Float32({})}));
  EXPECT_FALSE(accepts(kChain, {kImage, Float32({16, 1, 1})}));
  EXPECT_FALSE(accepts(kChain, {kImage, Float32({kBatch, 1, 1, 1})}));
  constexpr std::string_view kChannels = "%0 = fma in0, ch1, ch1; float32 %0";
  const Tensor channels = Tensor::FromValues<float>({12}, std::vector<float>(12, 1));
  EXPECT_TRUE(accepts(kChannels, {kThin, channels}));
  EXPECT_FALSE(accepts(kChannels, {kThin, Float32({12})}));
  EXPECT_FALSE(accepts("%0 = reduce_max in0; %1 = sub in0, %0; float32 %1", {kImage}));
}
}  // namespace
}  // namespace asc
