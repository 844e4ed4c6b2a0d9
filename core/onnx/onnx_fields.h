// Field numbers of the ONNX protobuf messages (onnx.proto, IR version 14), for reading and for
// writing.
#ifndef ASC_CORE_ONNX_ONNX_FIELDS_H_
#define ASC_CORE_ONNX_ONNX_FIELDS_H_

#include <cstdint>

namespace asc::onnx {

// The newest that is known here: models beyond are refused, for nobody can say what their operators
// mean.
inline constexpr int64_t kNewestIrVersion = 14;
inline constexpr int64_t kNewestOpset = 28;

struct ModelField {
  enum : uint32_t {
    kIrVersion = 1,
    kProducerName = 2,
    kProducerVersion = 3,
    kDomain = 4,
    kModelVersion = 5,
    kDocString = 6,
    kGraph = 7,
    kOpsetImport = 8,
    kMetadataProps = 14,
    kTrainingInfo = 20,
    kFunctions = 25,
  };
};

struct OpsetField {
  enum : uint32_t { kDomain = 1, kVersion = 2 };
};

struct EntryField {  // StringStringEntryProto
  enum : uint32_t { kKey = 1, kValue = 2 };
};

struct GraphField {
  enum : uint32_t {
    kNode = 1,
    kName = 2,
    kInitializer = 5,
    kDocString = 10,
    kInput = 11,
    kOutput = 12,
    kValueInfo = 13,
    kQuantizationAnnotation = 14,
    kSparseInitializer = 15,
    kMetadataProps = 16,
  };
};

struct NodeField {
  enum : uint32_t {
    kInput = 1,
    kOutput = 2,
    kName = 3,
    kOpType = 4,
    kAttribute = 5,
    kDocString = 6,
    kDomain = 7,
    kOverload = 8,
    kMetadataProps = 9,
  };
};

struct AttributeField {
  enum : uint32_t {
    kName = 1,
    kFloat = 2,
    kInt = 3,
    kString = 4,
    kTensor = 5,
    kGraph = 6,
    kFloats = 7,
    kInts = 8,
    kStrings = 9,
    kTensors = 10,
    kGraphs = 11,
    kDocString = 13,
    kTypeProto = 14,  // `tp`, a TypeProto
    kTypeProtos = 15,
    kKind = 20,  // `type`: one of AttributeKind
    kRefAttrName = 21,
    kSparseTensor = 22,
    kSparseTensors = 23,
  };
};

// AttributeProto.AttributeType
enum class AttributeKind : int64_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kTypeProto = 13,
  kTypeProtos = 14,
};

struct TensorField {
  enum : uint32_t {
    kDims = 1,
    kDataType = 2,
    kSegment = 3,
    kFloatData = 4,
    kInt32Data = 5,
    kStringData = 6,
    kInt64Data = 7,
    kName = 8,
    kRawData = 9,
    kDoubleData = 10,
    kUint64Data = 11,
    kDocString = 12,
    kExternalData = 13,
    kDataLocation = 14,
  };
};
inline constexpr int64_t kDataLocationExternal = 1;

struct SparseTensorField {
  enum : uint32_t { kValues = 1, kIndices = 2, kDims = 3 };
};

struct ValueInfoField {
  enum : uint32_t { kName = 1, kType = 2, kDocString = 3 };
};

struct TypeField {
  enum : uint32_t {
    kTensor = 1,
    kSequence = 4,
    kMap = 5,
    kDenotation = 6,
    kOpaque = 7,
    kSparseTensor = 8,
    kOptional = 9
  };
};
struct TensorTypeField {
  enum : uint32_t { kElemType = 1, kShape = 2 };
};
struct SequenceTypeField {  // OptionalType too
  enum : uint32_t { kElemType = 1 };
};
struct MapTypeField {
  enum : uint32_t { kKeyType = 1, kValueType = 2 };
};
struct ShapeField {
  enum : uint32_t { kDim = 1 };
};
struct DimensionField {
  enum : uint32_t { kValue = 1, kParam = 2, kDenotation = 3 };
};

struct FunctionField {
  enum : uint32_t {
    kName = 1,
    kInput = 4,
    kOutput = 5,
    kAttribute = 6,
    kNode = 7,
    kDocString = 8,
    kOpsetImport = 9,
    kDomain = 10,
    kAttributeProto = 11,
    kValueInfo = 12,
    kOverload = 13,
    kMetadataProps = 14,
  };
};

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_ONNX_FIELDS_H_
