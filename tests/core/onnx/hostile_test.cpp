// Whatever the bytes are, import answers with a graph or a status.
#include <gtest/gtest.h>

#include <random>

#include "tests/core/onnx/onnx_bytes.h"

namespace asc::onnx {
namespace {

// One of everything that the importer reads.
Message SmallModel() {
  const Message body = GraphMessage(
      {.nodes = {Node("Exp", {"r"}, {"e"})}, .inputs = {}, .outputs = {ValueInfo("e", "")}});
  const Message sparse = Write([&](auto& w) {
    w.add_message(SparseTensorField::kValues, RawTensor<float>("s", {1}, {5}));
    w.add_message(SparseTensorField::kIndices, RawTensor<int64_t>("", {1}, {1}));
    const std::vector<int64_t> dims = {3};
    w.add_packed_int64(SparseTensorField::kDims, dims.begin(), dims.end());
  });
  const std::vector<int32_t> narrow = {1, 2, 3};
  return ModelMessage(
      GraphMessage(
          {.nodes = {Node("Relu", {"x"}, {"r"}, {}, "first"),
                     Node("Clip", {"r"}, {"c"}, {Attr("min", -1.0f), Attr("max", 6.0f)}),
                     Node("F", {"c"}, {"f"}, {Attr("slope", 0.5f)}, "call", "mine"),
                     Node("Constant", {}, {"k"},
                          {TensorAttr("value", RawTensor<float>("", {3}, {1, 2, 3}))}),
                     Node("Add", {"f", "k"}, {"a"}, {Attr("broadcast", 1), Attr("axis", 1)}),
                     Node("Add", {"a", "w"}, {"b"}), Node("Add", {"b", "s"}, {"y"})},
           .inputs = {Float("x", {"N", "3"}),
                      ValueInfo("q", ElementType(TypeField::kSequence,
                                                 TensorType(DataType::kInt64, {"M"})))},
           .outputs = {Float("y", {"N", "3"}), ValueInfo("t", "")},
           .initializers = {RawTensor<float>("w", {3}, {1, 2, 3}),
                            TypedTensor("t", DataType::kInt8, {3},
                                        [&](auto& w) {
                                          w.add_packed_int32(TensorField::kInt32Data,
                                                             narrow.begin(), narrow.end());
                                        })},
           .value_info = {Float("r", {"N", "3"})},
           .sparse_initializers = {sparse}}),
      {.opset = 6,
       .functions = {Function(
           {.domain = "mine",
            .name = "F",
            .inputs = {"a"},
            .outputs = {"b"},
            .nodes = {Node("LeakyRelu", {"a"}, {"b"},
                           {ReferenceAttr("alpha", "slope", AttributeKind::kFloat)})},
            .defaults = {Attr("slope", 0.25f)},
            .opset = 6})},
       .metadata = {{"key", "value"}},
       .domains = {{"mine", 1}}});
}

TEST(Hostile, TheModelItselfIsFine) {
  const auto graph = Import(SmallModel());
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
}

// The bytes end where their allocation ends, so that the address sanitizer sees every step too far.
void TryBytes(std::string_view bytes) {
  const auto exact = std::make_shared<std::vector<std::byte>>(bytes.size());
  if (!bytes.empty()) std::memcpy(exact->data(), bytes.data(), bytes.size());
  const auto graph = ImportOnnxBytes(Buffer::Wrap(
      exact->data(), bytes.size(), [exact] {}, /*read_only=*/true));
  if (!graph.ok()) {
    EXPECT_NE(graph.status().code(), Code::kInternal) << graph.status().ToString();
    EXPECT_FALSE(graph.status().hint().empty()) << graph.status().ToString();
  }
}

TEST(Hostile, CutShortAnywhere) {
  const Message model = SmallModel();
  for (size_t size = 0; size < model.size(); ++size)
    TryBytes(std::string_view(model).substr(0, size));
}

TEST(Hostile, BitsFlipped) {
  const Message model = SmallModel();
  std::mt19937 random(20240229);
  for (int round = 0; round < 20000; ++round) {
    Message broken = model;
    const int flips = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < flips; ++i)
      broken[random() % broken.size()] ^= static_cast<char>(1u << random() % 8);
    TryBytes(broken);
  }
}

TEST(Hostile, BytesReplaced) {
  const Message model = SmallModel();
  std::mt19937 random(7);
  for (size_t at = 0; at < model.size(); ++at) {
    for (const int byte : {0x00, 0x01, 0x7f, 0x80, 0xff, static_cast<int>(random() % 256)}) {
      Message broken = model;
      broken[at] = static_cast<char>(byte);
      TryBytes(broken);
    }
  }
}

// protozero keeps 32 bits of a length: 2^32 + 3 would be taken for 3.
TEST(Hostile, LengthsBeyond32BitsAreNotCut) {
  Message model = Write([](auto& w) { w.add_int64(ModelField::kIrVersion, 8); });
  model += static_cast<char>(ModelField::kGraph << 3 | 2);
  model += std::string("\x83\x80\x80\x80\x10", 5);  // 2^32 + 3
  model += "abc";
  const Status status = Import(model).status();
  EXPECT_EQ(status.code(), Code::kInvalidModel);
  EXPECT_NE(status.message().find("4294967299"), std::string::npos) << status.ToString();
}

TEST(Hostile, FieldNumbersBeyond32BitsAreNotCut) {
  Message model = Write([](auto& w) { w.add_int64(ModelField::kIrVersion, 8); });
  model += std::string("\xba\x80\x80\x80\x10\x00", 6);  // 2^32 + (graph, delimited)
  EXPECT_EQ(Import(model).status().code(), Code::kInvalidModel);
}

TEST(Hostile, WrongWireTypes) {
  EXPECT_EQ(Import(Write([](auto& w) { w.add_int64(ModelField::kGraph, 1); })).status().code(),
            Code::kInvalidModel);
  EXPECT_EQ(
      Import(Write([](auto& w) { w.add_string(ModelField::kIrVersion, "8"); })).status().code(),
      Code::kInvalidModel);
  EXPECT_EQ(
      Import(Write([](auto& w) { w.add_fixed32(ModelField::kIrVersion, 8); })).status().code(),
      Code::kInvalidModel);
}

TEST(Hostile, UnknownFieldsAreSkipped) {
  Message model = SmallModel();
  protozero::pbf_writer writer(model);
  writer.add_string(1000, "later");
  writer.add_int64(1001, 1);
  writer.add_fixed32(1002, 1);
  writer.add_fixed64(1003, 1);
  EXPECT_TRUE(Import(model).ok());
}

TEST(Hostile, AttributesOfUnknownKinds) {
  for (const int64_t kind : {0, 9, 10, 12, 14, 99, -1}) {
    const Message attribute = Write([&](auto& w) {
      w.add_string(AttributeField::kName, "a");
      w.add_int64(AttributeField::kKind, kind);
    });
    const auto graph = Import(GraphParts{.nodes = {Node("Relu", {"x"}, {"y"}, {attribute}, "relu")},
                                         .inputs = {Float("x", {"2"})},
                                         .outputs = {Float("y", {"2"})}});
    EXPECT_EQ(graph.status().code(), Code::kInvalidModel) << kind;
    EXPECT_EQ(graph.status().node(), "relu");
  }
}

}  // namespace
}  // namespace asc::onnx
