// The compiler's own operators and what they are in ONNX's: the same results.
#include "core/ops/expansion.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/graph/infer.h"
#include "core/graph/verify.h"
#include "core/ops/registry.h"
#include "core/ops/vector_program.h"
#include "tests/core/onnx/run_graph.h"

namespace asc::onnx {
namespace {

using Attributes = std::initializer_list<std::pair<std::string_view, AttributeValue>>;

Tensor Numbers(const Dims& dims, float scale = 1) {
  Tensor tensor = Tensor::Allocate(DataType::kFloat32, dims).value();
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.data<float>()[i] = scale * static_cast<float>((i * 37 + 11) % 19 - 9) / 8;
  return tensor;
}

// What one node of domain asc gives, and what it gives expanded; both run by the reference kernels.
// An undefined tensor stands for an absent input. `open`: extents of the inputs are not known.
void ExpectSame(std::string_view op, const std::vector<Tensor>& inputs, Attributes attributes,
                size_t outputs = 1, bool open = false) {
  Graph graph;
  std::map<std::string, AnyValue> feeds;
  std::vector<ValueId> ids;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) {
      ids.emplace_back();
      continue;
    }
    const std::string name = Cat("in", i);
    const Shape shape = open ? Shape::UnknownDims(inputs[i].rank()) : Shape(inputs[i].dims());
    ids.push_back(graph.AddInput(name, ValueType::Tensor(inputs[i].dtype(), shape)));
    feeds[name] = inputs[i];
  }
  AttributeMap map;
  for (const auto& [name, value] : attributes) map.Set(name, value);
  const NodeId node =
      graph.AddNode(OpRegistry::Global().Find("asc", op), ids, outputs, std::move(map), "fused");
  Status status = InferNode(graph, node);
  ASSERT_TRUE(status.ok()) << status.ToString();
  for (size_t i = 0; i < outputs; ++i) graph.AddOutput(graph.node(node).outputs[i], Cat("y", i));

  const auto want = RunGraph(graph, feeds);
  ASSERT_TRUE(want.ok()) << want.status().ToString();
  EXPECT_TRUE(NeedsExpansion(graph));
  status = ExpandToOnnx(graph);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_FALSE(NeedsExpansion(graph));
  status = Verify(graph);
  EXPECT_TRUE(status.ok()) << status.ToString();
  const auto got = RunGraph(graph, feeds);
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  for (const auto& [name, value] : *want) {
    const Tensor &a = value.tensor(), &b = got->at(name).tensor();
    ASSERT_EQ(a.TypeString(), b.TypeString());
    if (a.dtype() != DataType::kFloat32) {
      EXPECT_TRUE(a.ContentEquals(b)) << name;
      continue;
    }
    for (int64_t i = 0; i < a.size(); ++i) {
      const float x = a.data<float>()[i], y = b.data<float>()[i];
      EXPECT_TRUE(std::isnan(x) ? std::isnan(y)
                                : x == y || std::fabs(x - y) <= 1e-5f * (1 + std::fabs(x)))
          << name << " " << i << ": " << x << " and " << y;
    }
  }
}

TEST(Expansion, ConvolutionWithBiasResidualAndActivation) {
  const Tensor x = Numbers({1, 2, 5, 4}), w = Numbers({3, 2, 3, 3}), b = Numbers({3});
  const std::vector<int64_t> pads(4, 1);
  ExpectSame("FusedConv", {x, w, b, Numbers({1, 3, 5, 4})},
             {{"pads", pads}, {"activation", std::string("Relu")}});
  ExpectSame("FusedConv", {x, w, Tensor(), Numbers({1, 3, 3, 2})},
             {{"activation", std::string("Clip")},
              {"activation_params", std::vector<float>{-0.5f, 0.75f}}});
}

TEST(Expansion, EveryActivation) {
  const Tensor a = Numbers({4, 3}, 2), b = Numbers({3, 5});
  for (const char* name : {"", "Relu", "Clip", "Sigmoid", "HardSigmoid", "HardSwish", "Silu",
                           "LeakyRelu", "Tanh", "Gelu", "GeluTanh", "Elu", "ThresholdedRelu",
                           "ScaledTanh", "Affine", "Softsign", "Softplus"}) {
    SCOPED_TRACE(name);
    ExpectSame("FusedMatMul", {a, b}, {{"activation", std::string(name)}});
  }
}

TEST(Expansion, ProductOfTransposedOperands) {
  ExpectSame("FusedMatMul", {Numbers({2, 3, 4}), Numbers({5, 3}), Numbers({5}), Numbers({2, 4, 5})},
             {{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 0.5f}}, 1, true);
}

TEST(Expansion, AttentionAsExportersWriteIt) {
  Tensor condition = Tensor::FromValues<bool>({1, 1, 1, 5}, {false, true, false, false, true});
  const std::vector<int64_t> heads{0, 2, 1, 3};
  ExpectSame("FusedAttention",
             {Numbers({1, 3, 2, 4}), Numbers({1, 5, 2, 4}), Numbers({1, 5, 2, 4}), condition,
              Numbers({1, 1, 3, 5})},
             {{"q_perm", heads},
              {"k_perm", heads},
              {"v_perm", heads},
              {"y_perm", heads},
              {"scale", 0.5f},
              {"fill", -1e4f},
              {"fill_where", int64_t{1}}},
             1, true);
}

TEST(Expansion, AttentionOverOnePackedOperand) {
  // [3, batch, steps, size]: query, key and value are its places.
  const Tensor packed = Numbers({3, 2, 4, 6});
  Tensor mask = Numbers({1, 4, 4});
  for (int64_t i = 0; i < 4; ++i) mask.data<float>()[i] = -INFINITY;
  ExpectSame("FusedAttention", {packed, packed, packed, Tensor(), mask},
             {{"q_index", int64_t{0}},
              {"k_index", int64_t{1}},
              {"v_index", int64_t{2}},
              {"clear_nan", int64_t{1}}});
}

TEST(Expansion, TransDataIsTheSameValue) {
  Graph graph;
  const ValueId x =
      graph.AddInput("x", ValueType::Tensor(DataType::kFloat32, Shape(Dims{1, 4, 2, 2})));
  AttributeMap attributes;
  attributes.Set("src", std::string("NCHW"));
  attributes.Set("dst", std::string("NC1HWC0(4)"));
  const NodeId node =
      graph.AddNode(OpRegistry::Global().Find("asc", "TransData"), {x}, 1, std::move(attributes));
  ASSERT_TRUE(InferNode(graph, node).ok());
  graph.AddOutput(graph.node(node).outputs[0], "y");
  ASSERT_TRUE(ExpandToOnnx(graph).ok());
  EXPECT_EQ(graph.node_count(), 0u);
  EXPECT_EQ(graph.outputs()[0].value, x);
}

void ExpectSameProgram(const std::string& program, const std::vector<Tensor>& inputs,
                       size_t outputs = 1) {
  for (const bool open : {false, true}) {
    SCOPED_TRACE(Cat(program, open ? " of open extents" : ""));
    ExpectSame("VectorProgram", inputs, {{"program", program}}, outputs, open);
  }
}

TEST(Expansion, EveryVectorInstruction) {
  const std::vector<Tensor> inputs = {Numbers({3, 4}), Numbers({4}, 2), Numbers({3, 1})};
#define ASC_OP(name, text, operands, parameters) VectorOp::k##name,
  for (const VectorOp op : {ASC_VECTOR_OPS(ASC_OP)}) {
#undef ASC_OP
    const VectorOpInfo& info = InfoOf(op);
    std::string program = Cat("%0 = ", info.text, " in0");
    for (int i = 1; i < info.operands; ++i) program += Cat(", in", i);
    for (int i = 0; i < info.parameters; ++i) program += Cat(", 0.", 25 + 50 * i);
    ExpectSameProgram(program + "; float32 %0", {inputs.begin(), inputs.begin() + info.operands});
  }
}

TEST(Expansion, ProgramsWithChannelsRowsAndConditions) {
  const Tensor image = Numbers({2, 3, 2, 2});
  ExpectSameProgram("%0 = mul in0, ch1; %1 = add %0, ch2; %2 = relu %1; float32 %2",
                    {image, Numbers({3}), Numbers({3}, 0.5f)});
  ExpectSameProgram(
      "%0 = reduce_mean in0; %1 = sub in0, %0; %2 = square %1; %3 = reduce_mean %2; %4 = add %3, "
      "1e-05;"
      " %5 = reciprocal_sqrt %4; %6 = mul %1, %5; %7 = mul %6, in1; float32 %7",
      {Numbers({3, 8}), Numbers({8})});
  ExpectSameProgram(
      "%0 = greater in0, 0; %1 = not %0; %2 = select %1, in1, in0; float32 %2; bool %0",
      {Numbers({2, 5}), Numbers({5})}, 2);
  // Values that are narrower than the space, whole and by rows; two outputs of one value.
  ExpectSameProgram(
      "%0 = exp in1; %1 = reduce_sum in1; %2 = add in0, %0; float32 %0; float32 %1; float32 %0; "
      "float16 %2",
      {Numbers({3, 4}), Numbers({1, 1})}, 4);
  // Numbers of other types.
  Tensor half = Tensor::FromValues<int32_t>({2}, {3, -4});
  ExpectSameProgram("%0 = mul in0, 0.5; bool %0; float16 %0", {half}, 2);
}

TEST(Expansion, RefusesWhatItCannotSay) {
  Graph graph;
  const ValueId x = graph.AddInput("x", ValueType::Tensor(DataType::kFloat32));
  AttributeMap attributes;
  attributes.Set("transB", int64_t{1});
  const NodeId node = graph.AddNode(OpRegistry::Global().Find("asc", "FusedMatMul"), {x, x}, 1,
                                    std::move(attributes), "product");
  ASSERT_TRUE(InferNode(graph, node).ok());
  const Status status = ExpandToOnnx(graph);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.node(), "product");
  EXPECT_NE(status.message().find("rank"), std::string::npos) << status.ToString();
}

}  // namespace
}  // namespace asc::onnx
