#include <gtest/gtest.h>

#include "tests/core/onnx/onnx_bytes.h"

namespace asc::onnx {
namespace {

// The type of the graph input `x`, as text, or the error.
std::string InputType(const Message& type) {
  const auto graph = Import(
      GraphParts{.nodes = {}, .inputs = {ValueInfo("x", type)}, .outputs = {ValueInfo("x", "")}});
  if (!graph.ok()) return CodeName(graph.status().code()) + " " + graph.status().message();
  return (*graph)->value((*graph)->inputs()[0]).type.ToString();
}

TEST(Types, Dimensions) {
  EXPECT_EQ(InputType(TensorType(DataType::kFloat32, {"N", "3", "N"})), "float32[N, 3, N]");
  EXPECT_EQ(InputType(TensorType(DataType::kFloat32, {})), "float32[]");
  EXPECT_EQ(InputType(TensorType(DataType::kFloat32)), "float32[*]");
  const auto graph = Import(GraphParts{
      .nodes = {}, .inputs = {Float("x", {"", "-1", "?", "0"})}, .outputs = {ValueInfo("x", "")}});
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const Shape& shape = (*graph)->value((*graph)->inputs()[0]).type.shape;
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(shape[i].is_unknown()) << i;
  EXPECT_FALSE(shape[0] == shape[1]);
  EXPECT_TRUE(shape[3].IsConstant(0));
}

TEST(Types, AnyTextIsADimensionName) {
  const std::string text = InputType(
      TensorType(DataType::kFloat32, {"a b", "a_b", "a b", "max", "N*2", "DynamicDimension.0"}));
  EXPECT_EQ(text, "float32[a_b, _a_b, a_b, _max, N_2, DynamicDimension.0]");
}

TEST(Types, SequencesOptionalsAndMaps) {
  const Message tensor = TensorType(DataType::kInt64, {"2"});
  EXPECT_EQ(InputType(ElementType(TypeField::kSequence, tensor)), "sequence(int64[2])");
  EXPECT_EQ(InputType(ElementType(TypeField::kOptional, ElementType(TypeField::kSequence, tensor))),
            "optional(sequence(int64[2]))");
  const auto map = [&](int key, bool value) {
    return Write([&](auto& w) {
      w.add_message(TypeField::kMap, Write([&](auto& m) {
                      m.add_int32(MapTypeField::kKeyType, key);
                      if (value) m.add_message(MapTypeField::kValueType, tensor);
                    }));
    });
  };
  EXPECT_EQ(InputType(map(static_cast<int>(DataType::kString), true)), "map(string, int64[2])");
  EXPECT_EQ(InputType(map(static_cast<int>(DataType::kFloat32), true)).substr(0, 5), "E5006");
  EXPECT_EQ(InputType(map(static_cast<int>(DataType::kInt64), false)).substr(0, 5), "E5006");
}

TEST(Types, OthersAreRefusedByName) {
  const auto other = [](uint32_t kind) {
    return Write([&](auto& w) { w.add_message(kind, Message()); });
  };
  EXPECT_NE(InputType(other(TypeField::kSparseTensor)).find("sparse_tensor"), std::string::npos);
  EXPECT_NE(InputType(other(TypeField::kOpaque)).find("opaque"), std::string::npos);
  EXPECT_EQ(InputType(TensorType(static_cast<DataType>(99), {})).substr(0, 5), "E5006");
  EXPECT_EQ(InputType(ElementType(TypeField::kSequence, "")).substr(0, 5), "E5006");
}

TEST(Types, NestingIsLimited) {
  Message type = TensorType(DataType::kFloat32, {});
  for (int i = 0; i < 1000; ++i) type = ElementType(TypeField::kSequence, type);
  EXPECT_NE(InputType(type).find("nested deeper"), std::string::npos);
}

}  // namespace
}  // namespace asc::onnx
