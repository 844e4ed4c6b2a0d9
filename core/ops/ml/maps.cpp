// Operators of ai.onnx.ml on maps: CastMap, DictVectorizer, ZipMap.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/ops/ml/common.h"
#include "core/ops/ml/families.h"
#include "core/ops/shape_facts.h"

namespace asc {
namespace {

// The type of the input's values; E5002 when the input is no map with keys of `keys` and values that are one of `values`.
Result<DataType> CheckMap(const InferContext& context, TypeSet keys, TypeSet values) {
  const ValueType& type = context.type(0);
  const bool fits = type.kind == ValueKind::kMap && keys.Contains(type.dtype) && type.element &&
                    type.element->is_tensor() && values.Contains(type.element->dtype);
  if (fits) return type.element->dtype;
  return TypeError(context.schema().FullName(), " needs a map from ", keys.ToString(), " to ",
                   values.ToString(), ", given ", type);
}

// The one element of a map's value; E5001 when it has not just one.
template <typename T>
Result<const T*> MapElement(const KernelContext& context, const AnyValue& value) {
  if (!value.is_tensor() || value.tensor().size() != 1 ||
      value.tensor().dtype() != DataTypeOf<T>::value) {
    return ShapeError(context.schema().FullName(), " needs a map to scalars of ",
                      DataTypeName(DataTypeOf<T>::value));
  }
  return value.tensor().data<T>();
}

// ---- CastMap ----

struct CastTarget {
  DataType type;
  int64_t extent;  // of a sparse form; -1 for the dense one
};

Result<CastTarget> ReadCast(const AttributeMap& attributes) {
  const std::string to = attributes.String("cast_to", "TO_FLOAT"),
                    form = attributes.String("map_form", "DENSE");
  CastTarget target{DataType::kFloat32, -1};
  if (to == "TO_INT64") {
    target.type = DataType::kInt64;
  } else if (to == "TO_STRING") {
    target.type = DataType::kString;
  } else if (to != "TO_FLOAT") {
    return InvalidArgument("CastMap attribute 'cast_to' is '", to,
                           "', expected TO_FLOAT, TO_INT64 or TO_STRING");
  }
  if (form != "DENSE" && form != "SPARSE")
    return InvalidArgument("CastMap attribute 'map_form' is '", form,
                           "', expected DENSE or SPARSE");
  if (form == "SPARSE") target.extent = attributes.Int("max_map", 1);
  if (form == "SPARSE" && target.extent < 1)
    return InvalidArgument("CastMap attribute 'max_map' is ", target.extent,
                           ", expected at least 1");
  return target;
}

Status InferCastMap(InferContext& context) {
  ASC_RETURN_IF_ERROR(
      CheckMap(context, types::kInt64, {DataType::kString, DataType::kFloat32}).status());
  ASC_ASSIGN_OR_RETURN(const CastTarget target, ReadCast(context.attributes()));
  const Dim extent = target.extent < 0 ? Dim::Unknown() : Dim(target.extent);
  context.SetOutput(0, target.type, Shape(std::vector<Dim>{1, extent}));
  return CheckSize(context, 0);
}

template <typename To, typename From>
Result<To> CastElement(const From& from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (std::is_same_v<To, std::string>) {
    return std::to_string(from);
  } else if constexpr (std::is_same_v<From, std::string>) {
    To number{};
    const auto [end, error] = std::from_chars(from.data(), from.data() + from.size(), number);
    if (error == std::errc() && end == from.data() + from.size()) return number;
    return InvalidArgument("CastMap cannot read '", from, "' as ",
                           DataTypeName(DataTypeOf<To>::value));
  } else {
    constexpr From kEnd = static_cast<From>(9223372036854775808.0);
    if (!(from >= -kEnd && from < kEnd))
      return Error(Code::kOutOfRange, "CastMap cannot give ", from, " as int64");
    return static_cast<To>(from);
  }
}

// What stands at positions of a sparse form that no key names: ONNX Runtime's choice, for want of one in ONNX.
template <typename To>
To Absent() {
  if constexpr (std::is_same_v<To, std::string>)
    return "0.f";
  else
    return To{};
}

template <typename To, typename From>
Status CastEntries(KernelContext& context, const CastTarget& target) {
  const AnyValue::IntMap& map = context.input_value(0).int_map();
  const int64_t extent = target.extent < 0 ? static_cast<int64_t>(map.size()) : target.extent;
  ASC_ASSIGN_OR_RETURN(Tensor * out, context.AllocateOutput(0, target.type, {1, extent}));
  To* to = out->data<To>();
  std::fill(to, to + extent, Absent<To>());
  int64_t position = 0;
  for (const auto& [key, value] : map) {
    const int64_t at = target.extent < 0 ? position++ : key;
    if (at < 0) {
      return Error(Code::kOutOfRange, "CastMap key ", key,
                   " is negative: keys are positions of the sparse form");
    }
    ASC_ASSIGN_OR_RETURN(const From* from, MapElement<From>(context, value));
    if (at >= extent) continue;
    ASC_ASSIGN_OR_RETURN(to[at], CastElement<To>(*from));
  }
  return Ok();
}

Status CastMap(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const CastTarget target, ReadCast(context.attributes()));
  const AnyValue& map = context.input_value(0);
  bool from_strings = false;
  map.VisitTensors([&](const Tensor& t) { from_strings = t.dtype() == DataType::kString; });
  Status status;
  VisitType<float, int64_t, std::string>(target.type, [&](auto zero) {
    using To = decltype(zero);
    status = from_strings ? CastEntries<To, std::string>(context, target)
                          : CastEntries<To, float>(context, target);
  });
  return status;
}

// ---- DictVectorizer ----

Result<ClassLabels> ReadVocabulary(const AttributeMap& attributes) {
  ASC_ASSIGN_OR_RETURN(
      const ClassLabels vocabulary,
      ClassLabels::Read(attributes, "DictVectorizer", "int64_vocabulary", "string_vocabulary"));
  if (vocabulary.size() == 0)
    return InvalidArgument("DictVectorizer needs 'int64_vocabulary' or 'string_vocabulary'");
  return vocabulary;
}

Status InferDictVectorizer(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const ClassLabels vocabulary, ReadVocabulary(context.attributes()));
  ASC_ASSIGN_OR_RETURN(const DataType dtype, CheckMap(context, TypeSet{vocabulary.dtype()},
                                                      {DataType::kInt64, DataType::kString,
                                                       DataType::kFloat32, DataType::kFloat64}));
  context.SetOutput(0, dtype, Shape(std::vector<Dim>{1, static_cast<int64_t>(vocabulary.size())}));
  return Ok();
}

template <typename T, typename Map, typename Key>
Status Vectorize(const KernelContext& context, const Map& map, std::span<const Key> vocabulary,
                 T* out) {
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    const auto it = map.find(vocabulary[i]);
    if (it == map.end()) {
      out[i] = T{};
      continue;
    }
    ASC_ASSIGN_OR_RETURN(const T* value, MapElement<T>(context, it->second));
    out[i] = *value;
  }
  return Ok();
}

Status DictVectorizer(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const ClassLabels vocabulary, ReadVocabulary(context.attributes()));
  const AnyValue& map = context.input_value(0);
  Tensor& out = context.output(0);
  Status status;
  VisitType<int64_t, std::string, float, double>(out.dtype(), [&](auto zero) {
    auto* to = out.data<decltype(zero)>();
    status = map.has_string_keys() ? Vectorize(context, map.string_map(), vocabulary.strings, to)
                                   : Vectorize(context, map.int_map(), vocabulary.ints, to);
  });
  return status;
}

// ---- ZipMap ----

Result<ClassLabels> ReadKeys(const AttributeMap& attributes) {
  ASC_ASSIGN_OR_RETURN(
      const ClassLabels keys,
      ClassLabels::Read(attributes, "ZipMap", "classlabels_int64s", "classlabels_strings"));
  if (keys.size() == 0)
    return InvalidArgument("ZipMap needs 'classlabels_int64s' or 'classlabels_strings'");
  return keys;
}

Status InferZipMap(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const ClassLabels keys, ReadKeys(context.attributes()));
  ASC_ASSIGN_OR_RETURN(const Rows rows, RowsOf(context, 0));
  const auto count = static_cast<int64_t>(keys.size());
  if (rows.features.is_constant() && rows.features.value() != count) {
    return ShapeError("ZipMap has ", count, " keys, given rows of ", rows.features.value(),
                      " values");
  }
  ValueType value = ValueType::Tensor(DataType::kFloat32, Shape(Dims{}));
  context.SetOutput(0, ValueType::Sequence(ValueType::Map(keys.dtype(), std::move(value))));
  return Ok();
}

template <typename Map, typename Key>
AnyValue ZipRow(std::span<const Key> keys, const float* values) {
  Map map;
  for (size_t i = 0; i < keys.size(); ++i)
    map.insert_or_assign(keys[i], AnyValue(Tensor::Scalar(values[i])));
  return AnyValue::MakeMap(std::move(map));
}

Status ZipMap(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const ClassLabels keys, ReadKeys(context.attributes()));
  const Tensor& x = context.input(0);
  const Batch batch = BatchOf(x);
  AnyValue::Sequence rows;
  rows.reserve(static_cast<size_t>(batch.rows));
  for (int64_t r = 0; r < batch.rows; ++r) {
    const float* values = x.data<float>() + r * batch.features;
    rows.push_back(keys.strings.empty() ? ZipRow<AnyValue::IntMap>(keys.ints, values)
                                        : ZipRow<AnyValue::StringMap>(keys.strings, values));
  }
  context.SetOutput(0, AnyValue::MakeSequence(std::move(rows)));
  return Ok();
}
}  // namespace

void AddMlMapOps(OpTable& table) {
  table.Add("CastMap", 1, kMlDomain)
      .Doc(
          "the values of a map as a row: in order of the keys, or at the positions that the keys "
          "name")
      .Input("X", "")
      .Output("Y", "T")
      .Types("T", {DataType::kFloat32, DataType::kInt64, DataType::kString})
      .Attr("cast_to", std::string("TO_FLOAT"), "", "TO_FLOAT, TO_INT64 or TO_STRING")
      .Attr("map_form", std::string("DENSE"), "", "DENSE or SPARSE")
      .Attr("max_map", int64_t{1}, "", "length of the sparse form")
      .ShapeFromKernel()
      .Infer(InferCastMap)
      .Kernel(CastMap);
  table.Add("DictVectorizer", 1, kMlDomain)
      .Doc(
          "a row of the map's values in the order of a vocabulary of keys; zero where a key is "
          "missing")
      .Input("X", "")
      .Output("Y", "T")
      .Types("T", {DataType::kFloat32, DataType::kFloat64, DataType::kInt64, DataType::kString})
      .OptionalAttr("int64_vocabulary", AttributeType::kInts)
      .OptionalAttr("string_vocabulary", AttributeType::kStrings)
      .Infer(InferDictVectorizer)
      .Kernel(DictVectorizer);
  table.Add("ZipMap", 1, kMlDomain)
      .Doc("a sequence of one map for each row, from labels to the row's values")
      .Input("X", "T")
      .Output("Z", "")
      .Types("T", {DataType::kFloat32})
      .OptionalAttr("classlabels_int64s", AttributeType::kInts)
      .OptionalAttr("classlabels_strings", AttributeType::kStrings)
      .Infer(InferZipMap)
      .Kernel(ZipMap);
}

}  // namespace asc
