// Initializers of every type and storage form.
#include <gtest/gtest.h>

#include "tests/core/onnx/onnx_bytes.h"

namespace asc::onnx {
namespace {

// Imports a model whose output is the initializer.
Result<Tensor> ReadBack(const Message& tensor, bool sparse = false) {
  GraphParts parts{.nodes = {}, .inputs = {}, .outputs = {ValueInfo("t", "")}};
  (sparse ? parts.sparse_initializers : parts.initializers) = {tensor};
  ASC_ASSIGN_OR_RETURN(const auto graph, Import(parts));
  return *graph->Constant(graph->outputs()[0].value);
}

Code Refusal(const Message& tensor, bool sparse = false) {
  return ReadBack(tensor, sparse).status().code();
}

template <typename T>
std::vector<T> Values(const Result<Tensor>& tensor) {
  if (!tensor.ok()) {
    ADD_FAILURE() << tensor.status().ToString();
    return {};
  }
  if (tensor->dtype() != DataTypeOf<T>::value) {
    ADD_FAILURE() << tensor->TypeString();
    return {};
  }
  return std::vector<T>(tensor->data<T>(), tensor->data<T>() + tensor->size());
}

Message Int32Data(DataType type, const std::vector<int64_t>& dims,
                  const std::vector<int32_t>& values) {
  return TypedTensor("t", type, dims, [&](auto& w) {
    w.add_packed_int32(TensorField::kInt32Data, values.begin(), values.end());
  });
}

TEST(Tensors, TypedFields) {
  const std::vector<float> floats = {1, -2, 3, 4};
  const auto add_floats = [&](auto& w) {
    w.add_packed_float(TensorField::kFloatData, floats.begin(), floats.end());
  };
  EXPECT_EQ(Values<float>(ReadBack(TypedTensor("t", DataType::kFloat32, {4}, add_floats))), floats);
  EXPECT_EQ(Values<std::complex<float>>(
                ReadBack(TypedTensor("t", DataType::kComplex64, {2}, add_floats))),
            (std::vector<std::complex<float>>{{1, -2}, {3, 4}}));
  const std::vector<double> doubles = {1.5, -2.5};
  const auto add_doubles = [&](auto& w) {
    w.add_packed_double(TensorField::kDoubleData, doubles.begin(), doubles.end());
  };
  EXPECT_EQ(Values<double>(ReadBack(TypedTensor("t", DataType::kFloat64, {2}, add_doubles))),
            doubles);
  EXPECT_EQ(Values<std::complex<double>>(
                ReadBack(TypedTensor("t", DataType::kComplex128, {}, add_doubles))),
            (std::vector<std::complex<double>>{{1.5, -2.5}}));
  const std::vector<int64_t> longs = {-1, INT64_MAX};
  EXPECT_EQ(Values<int64_t>(ReadBack(TypedTensor("t", DataType::kInt64, {2},
                                                 [&](auto& w) {
                                                   w.add_packed_int64(TensorField::kInt64Data,
                                                                      longs.begin(), longs.end());
                                                 }))),
            longs);
  const std::vector<uint64_t> unsigneds = {1, UINT32_MAX};
  const auto add_unsigned = [&](auto& w) {
    w.add_packed_uint64(TensorField::kUint64Data, unsigneds.begin(), unsigneds.end());
  };
  EXPECT_EQ(Values<uint64_t>(ReadBack(TypedTensor("t", DataType::kUInt64, {2}, add_unsigned))),
            unsigneds);
  EXPECT_EQ(Values<uint32_t>(ReadBack(TypedTensor("t", DataType::kUInt32, {2}, add_unsigned))),
            (std::vector<uint32_t>{1, UINT32_MAX}));
  EXPECT_EQ(Values<std::string>(ReadBack(TypedTensor("t", DataType::kString, {2},
                                                     [&](auto& w) {
                                                       w.add_bytes(TensorField::kStringData, "a");
                                                       w.add_bytes(TensorField::kStringData, "");
                                                     }))),
            (std::vector<std::string>{"a", ""}));
}

TEST(Tensors, UnpackedFields) {
  EXPECT_EQ(Values<float>(ReadBack(TypedTensor("t", DataType::kFloat32, {2},
                                               [&](auto& w) {
                                                 w.add_float(TensorField::kFloatData, 1);
                                                 w.add_float(TensorField::kFloatData, 2);
                                               }))),
            (std::vector<float>{1, 2}));
  EXPECT_EQ(Values<int64_t>(ReadBack(TypedTensor("t", DataType::kInt64, {2},
                                                 [&](auto& w) {
                                                   w.add_int64(TensorField::kInt64Data, -7);
                                                   w.add_int64(TensorField::kInt64Data, 8);
                                                 }))),
            (std::vector<int64_t>{-7, 8}));
}

TEST(Tensors, Int32FieldHoldsAllNarrowTypes) {
  EXPECT_EQ(Values<int32_t>(ReadBack(Int32Data(DataType::kInt32, {2}, {-5, 6}))),
            (std::vector<int32_t>{-5, 6}));
  EXPECT_EQ(Values<int16_t>(ReadBack(Int32Data(DataType::kInt16, {2}, {-5, 6}))),
            (std::vector<int16_t>{-5, 6}));
  EXPECT_EQ(Values<uint16_t>(ReadBack(Int32Data(DataType::kUInt16, {1}, {65535}))),
            (std::vector<uint16_t>{65535}));
  EXPECT_EQ(Values<int8_t>(ReadBack(Int32Data(DataType::kInt8, {1}, {-128}))),
            (std::vector<int8_t>{-128}));
  EXPECT_EQ(Values<uint8_t>(ReadBack(Int32Data(DataType::kUInt8, {1}, {255}))),
            (std::vector<uint8_t>{255}));
  EXPECT_EQ(Values<bool>(ReadBack(Int32Data(DataType::kBool, {3}, {0, 1, 2}))),
            (std::vector<bool>{false, true, true}));
  EXPECT_EQ(static_cast<float>(
                Values<Half>(ReadBack(Int32Data(DataType::kFloat16, {1}, {0x3c00}))).at(0)),
            1.0f);
  EXPECT_EQ(static_cast<float>(
                Values<BFloat16>(ReadBack(Int32Data(DataType::kBFloat16, {1}, {0x3f80}))).at(0)),
            1.0f);
  const auto bytes = [](const Result<Tensor>& tensor) {
    const auto* data = static_cast<const uint8_t*>(tensor->raw());
    return std::vector<int>(data, data + tensor->bytes());
  };
  EXPECT_EQ(bytes(ReadBack(Int32Data(DataType::kFloat8E4M3FN, {1}, {0x7e}))),
            (std::vector<int>{0x7e}));
  EXPECT_EQ(bytes(ReadBack(Int32Data(DataType::kInt4, {3}, {0x21, 0x3}))),
            (std::vector<int>{0x21, 0x3}));
  EXPECT_EQ(bytes(ReadBack(Int32Data(DataType::kUInt2, {5}, {0xe4, 0x1}))),
            (std::vector<int>{0xe4, 0x1}));
  EXPECT_EQ(bytes(ReadBack(Int32Data(DataType::kFloat6E2M3, {2}, {0x3f, 1}))),
            (std::vector<int>{0x3f, 1}));
}

TEST(Tensors, SixBitFloatsAreUnpacked) {
  // 1, 2, 3, 4, 63 in a little-endian stream of 6 bits each.
  const std::string raw("\x81\x30\x10\x3f", 4);
  const auto tensor = ReadBack(RawTensor("t", DataType::kFloat6E3M2, {5}, raw));
  ASSERT_TRUE(tensor.ok()) << tensor.status().ToString();
  const auto* data = static_cast<const uint8_t*>(tensor->raw());
  EXPECT_EQ((std::vector<int>(data, data + 5)), (std::vector<int>{1, 2, 3, 4, 63}));
  EXPECT_EQ(Refusal(RawTensor("t", DataType::kFloat6E3M2, {5}, "12345")), Code::kInvalidModel);
}

TEST(Tensors, OddBoolsBecomeOne) {
  EXPECT_EQ(
      Values<bool>(ReadBack(RawTensor("t", DataType::kBool, {3}, std::string("\0\1\xff", 3)))),
      (std::vector<bool>{false, true, true}));
}

TEST(Tensors, AlignedDataIsSharedMisalignedDataIsCopied) {
  const Message model =
      ModelMessage(GraphMessage({.nodes = {},
                                 .inputs = {},
                                 .outputs = {ValueInfo("t", "")},
                                 .initializers = {RawTensor<float>("t", {3}, {1, 2, 3})}}));
  int shared = 0;
  for (size_t shift = 0; shift < 4; ++shift) {
    const auto bytes = AsBuffer(model, shift);
    const auto graph = ImportOnnxBytes(bytes);
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    const Tensor* tensor = (*graph)->Constant((*graph)->outputs()[0].value);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->raw()) % alignof(float), 0u);
    EXPECT_EQ(Values<float>(*tensor), (std::vector<float>{1, 2, 3}));
    shared += tensor->buffer() == bytes;
  }
  EXPECT_EQ(shared, 1);
}

// Big misaligned weights are not copied before somebody needs them in one piece.
TEST(Tensors, BigMisalignedDataStaysWhereItIs) {
  std::vector<float> values(20000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Message model =
      ModelMessage(GraphMessage({.nodes = {},
                                 .inputs = {},
                                 .outputs = {ValueInfo("t", "")},
                                 .initializers = {RawTensor<float>("t", {20000}, values)}}));
  int lazy = 0;
  for (size_t shift = 0; shift < 4; ++shift) {
    const auto graph = ImportOnnxBytes(AsBuffer(model, shift));
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    const Tensor* tensor = (*graph)->Constant((*graph)->outputs()[0].value);
    lazy += tensor->is_lazy();
    float some[2] = {};
    tensor->CopyBytes(4000, 8, reinterpret_cast<std::byte*>(some));
    EXPECT_EQ(some[1], 1001.0f);
    EXPECT_EQ(Values<float>(*tensor), values);
    EXPECT_FALSE(tensor->is_lazy());
  }
  EXPECT_EQ(lazy, 3);
}

TEST(Tensors, SharedDataKeepsTheBytesAlive) {
  const Message model =
      ModelMessage(GraphMessage({.nodes = {},
                                 .inputs = {},
                                 .outputs = {ValueInfo("t", "")},
                                 .initializers = {RawTensor<uint8_t>("t", {3}, {1, 2, 3})}}));
  std::unique_ptr<Graph> graph = Import(model).value();
  const Tensor tensor = *graph->Constant(graph->outputs()[0].value);
  graph.reset();
  EXPECT_EQ(Values<uint8_t>(tensor), (std::vector<uint8_t>{1, 2, 3}));
}

TEST(Tensors, LengthsMustFit) {
  EXPECT_EQ(Refusal(RawTensor("t", DataType::kInt64, {1}, std::string(4096, 'a'))),
            Code::kInvalidModel);
  EXPECT_EQ(Refusal(RawTensor("t", DataType::kInt64, {1}, std::string(7, 'a'))),
            Code::kInvalidModel);
  EXPECT_EQ(Refusal(RawTensor("t", DataType::kInt4, {3}, "a")), Code::kInvalidModel);
  EXPECT_EQ(Refusal(Int32Data(DataType::kInt32, {3}, {1, 2})), Code::kInvalidModel);
  EXPECT_EQ(Refusal(Int32Data(DataType::kInt4, {3}, {1, 2, 3})), Code::kInvalidModel);
  EXPECT_EQ(Refusal(Int32Data(DataType::kFloat32, {2}, {1, 2})), Code::kInvalidModel);
  EXPECT_EQ(Refusal(TypedTensor("t", DataType::kInt32, {1}, [](auto&) {})), Code::kInvalidModel);
  EXPECT_EQ(Refusal(TypedTensor("t", DataType::kInt32, {0}, [](auto&) {})), Code::kOk);
}

TEST(Tensors, ExtentsMustBePossible) {
  EXPECT_EQ(Refusal(RawTensor("t", DataType::kInt8, {-1}, "a")), Code::kInvalidModel);
  EXPECT_EQ(Refusal(RawTensor("t", DataType::kInt8, {INT64_MAX, INT64_MAX}, "a")),
            Code::kInvalidModel);
  EXPECT_EQ(Refusal(RawTensor("t", DataType::kComplex128, {INT64_MAX / 8}, "a")),
            Code::kInvalidModel);
  EXPECT_EQ(Refusal(RawTensor("t", DataType::kInt8, {-1, -1}, "a")), Code::kInvalidModel);
}

TEST(Tensors, ElementTypesMustBeKnown) {
  for (const int type : {0, -1, kDataTypeCount, 1000}) {
    const Message tensor = Write([&](auto& w) {
      w.add_int32(TensorField::kDataType, type);
      w.add_string(TensorField::kName, "t");
    });
    EXPECT_EQ(Refusal(tensor), Code::kInvalidModel) << type;
  }
  EXPECT_EQ(Refusal(RawTensor("t", DataType::kString, {1}, "a")), Code::kInvalidModel);
}

Message Sparse(const Message& values, const Message& indices, const std::vector<int64_t>& dims) {
  return Write([&](auto& w) {
    w.add_message(SparseTensorField::kValues, values);
    if (!indices.empty()) w.add_message(SparseTensorField::kIndices, indices);
    w.add_packed_int64(SparseTensorField::kDims, dims.begin(), dims.end());
  });
}

TEST(Tensors, SparseOnesBecomeDense) {
  const Message values = RawTensor<float>("t", {2}, {5, 6});
  const std::vector<float> want = {0, 5, 0, 0, 0, 6};
  EXPECT_EQ(
      Values<float>(ReadBack(Sparse(values, RawTensor<int64_t>("", {2}, {1, 5}), {2, 3}), true)),
      want);
  EXPECT_EQ(Values<float>(ReadBack(
                Sparse(values, RawTensor<int64_t>("", {2, 2}, {0, 1, 1, 2}), {2, 3}), true)),
            want);
}

TEST(Tensors, BrokenSparseOnesAreRefused) {
  const Message values = RawTensor<float>("t", {2}, {5, 6});
  EXPECT_EQ(Refusal(Sparse(values, RawTensor<int64_t>("", {2}, {1, 1}), {2, 3}), true),
            Code::kInvalidModel);
  EXPECT_EQ(Refusal(Sparse(values, RawTensor<int64_t>("", {2}, {1, 6}), {2, 3}), true),
            Code::kInvalidModel);
  EXPECT_EQ(Refusal(Sparse(values, RawTensor<int64_t>("", {2}, {-1, 5}), {2, 3}), true),
            Code::kInvalidModel);
  EXPECT_EQ(Refusal(Sparse(values, RawTensor<int64_t>("", {2, 2}, {0, 1, 1, 3}), {2, 3}), true),
            Code::kInvalidModel);
  EXPECT_EQ(Refusal(Sparse(values, RawTensor<int64_t>("", {3}, {0, 1, 1}), {2, 3}), true),
            Code::kInvalidModel);
  EXPECT_EQ(Refusal(Sparse(values, "", {2, 3}), true), Code::kInvalidModel);
  EXPECT_EQ(
      Refusal(Sparse(values, RawTensor<int64_t>("", {2}, {1, 5}), {1'000'000, 1'000'000}), true),
      Code::kInvalidModel);
  EXPECT_EQ(Refusal(Sparse(values, RawTensor<int64_t>("", {2}, {1, 5}), {-2, 3}), true),
            Code::kInvalidModel);
}

}  // namespace
}  // namespace asc::onnx
