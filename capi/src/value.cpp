#include "capi/src/value.h"

#include <cstring>
#include <iterator>

#include "capi/src/type.h"

using asc::AnyValue;
using asc::Code;
using asc::DataType;
using asc::Dims;
using asc::InvalidArgument;
using asc::Ok;
using asc::Status;
using asc::Tensor;
using asc::ValueKind;
using asc::capi::Guard;
using asc::capi::Lend;
using asc::capi::ToDataType;
using asc::capi::View;

namespace asc::capi {

namespace {
Status CheckTensor(const asc_value* value, std::string_view argument) {
  ASC_RETURN_IF_ERROR(CheckHandle(value, argument));
  if ((*value)->is_tensor()) return Ok();
  return InvalidArgument("argument '", argument, "' must be a tensor, given a value of kind ",
                         ValueKindName((*value)->kind()));
}
}  // namespace

Result<Tensor> TensorOf(const asc_value* value, std::string_view argument) {
  ASC_RETURN_IF_ERROR(CheckTensor(value, argument));
  return (*value)->tensor();
}

}  // namespace asc::capi

namespace {
// What a tensor of this type and shape takes; E5003 where it cannot be.
asc::Result<size_t> CheckedBytes(DataType type, const Dims& dims, size_t given) {
  const auto count = asc::CheckedElementCount(dims);
  const auto bytes = count ? asc::ByteSize(type, *count) : std::nullopt;
  if (!bytes)
    return InvalidArgument("a tensor of shape ", dims,
                           " is not possible: its size is negative or too large");
  if (*bytes != given) {
    return InvalidArgument("a ", asc::DataTypeName(type), " tensor of shape ", dims, " takes ",
                           *bytes, " bytes, given ", given);
  }
  return *bytes;
}

Status RefuseStrings(DataType type) {
  if (type != DataType::kString) return Ok();
  return asc::TypeError("elements of a string tensor have no bytes")
      .WithHint("use asc_value_create_strings and get_string");
}

asc::Result<std::vector<AnyValue>> Items(const asc_value* const* items, size_t count,
                                         std::string_view argument) {
  ASC_RETURN_IF_ERROR(asc::capi::CheckArray(items, count, argument));
  std::vector<AnyValue> out;
  out.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    ASC_RETURN_IF_ERROR(asc::capi::CheckHandle(items[i], argument));
    out.push_back(**items[i]);
  }
  return out;
}

size_t CountOf(const AnyValue& value) {
  switch (value.kind()) {
    case ValueKind::kTensor:
      return static_cast<size_t>(value.tensor().size());
    case ValueKind::kSequence:
      return value.sequence().size();
    case ValueKind::kOptional:
      return value.is_none() ? 0 : 1;
    case ValueKind::kMap:
      return value.has_string_keys() ? value.string_map().size() : value.int_map().size();
  }
  return 0;
}

Status CheckIndex(const asc_value* value, size_t index) {
  ASC_NEED_HANDLE(value);
  const size_t count = CountOf(**value);
  if (index < count) return Ok();
  return asc::Error(Code::kOutOfRange, "index ", index, " of a ",
                    asc::ValueKindName((*value)->kind()), " of ", count);
}

Status CheckMap(const asc_value* value, bool string_keys) {
  ASC_NEED_HANDLE(value);
  if ((*value)->kind() == ValueKind::kMap && (*value)->has_string_keys() == string_keys)
    return Ok();
  return InvalidArgument("argument 'value' must be a map with ", string_keys ? "string" : "integer",
                         " keys, given ", (*value)->Type());
}
}  // namespace

asc_status* asc_value_create_tensor(asc_data_type dtype, const int64_t* dims, size_t rank,
                                    asc_value** out) {
  return Guard([&]() -> Status {
    ASC_NEED_ARRAY(dims, rank);
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(const DataType type, ToDataType(dtype));
    ASC_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(type, Dims(dims, dims + rank)));
    *out = asc_value::New(std::move(tensor));
    return Ok();
  });
}

asc_status* asc_value_create_tensor_copy(asc_data_type dtype, const int64_t* dims, size_t rank,
                                         const void* data, size_t bytes, asc_value** out) {
  return Guard([&]() -> Status {
    ASC_NEED_ARRAY(dims, rank);
    ASC_NEED_ARRAY(data, bytes);
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(const DataType type, ToDataType(dtype));
    ASC_RETURN_IF_ERROR(RefuseStrings(type));
    const Dims extents(dims, dims + rank);
    ASC_RETURN_IF_ERROR(CheckedBytes(type, extents, bytes).status());
    ASC_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(type, extents));
    if (bytes > 0) std::memcpy(tensor.raw(), data, bytes);
    *out = asc_value::New(std::move(tensor));
    return Ok();
  });
}

asc_status* asc_value_create_tensor_borrowed(asc_data_type dtype, const int64_t* dims, size_t rank,
                                             void* data, size_t bytes, int32_t read_only,
                                             asc_release_function release, void* user_data,
                                             asc_value** out) {
  return Guard([&]() -> Status {
    // Armed last: a failure must not release memory that the caller still owns.
    auto armed = std::make_shared<bool>(false);
    ASC_NEED_ARRAY(dims, rank);
    ASC_NEED_ARRAY(data, bytes);
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(const DataType type, ToDataType(dtype));
    ASC_RETURN_IF_ERROR(RefuseStrings(type));
    const Dims extents(dims, dims + rank);
    ASC_RETURN_IF_ERROR(CheckedBytes(type, extents, bytes).status());
    auto buffer = asc::Buffer::Wrap(
        data, bytes,
        [armed, release, user_data] {
          if (*armed && release != nullptr) release(user_data);
        },
        read_only != 0);
    ASC_ASSIGN_OR_RETURN(Tensor tensor, Tensor::FromBuffer(type, extents, std::move(buffer)));
    *out = asc_value::New(std::move(tensor));
    *armed = true;
    return Ok();
  });
}

asc_status* asc_value_create_strings(const int64_t* dims, size_t rank, const asc_string* strings,
                                     size_t count, asc_value** out) {
  return Guard([&]() -> Status {
    ASC_NEED_ARRAY(dims, rank);
    ASC_NEED_ARRAY(strings, count);
    ASC_NEED(out);
    const Dims extents(dims, dims + rank);
    const auto expected = asc::CheckedElementCount(extents);
    if (!expected || static_cast<size_t>(*expected) != count) {
      return InvalidArgument("a string tensor of shape ", extents, " cannot be made of ", count,
                             " strings");
    }
    ASC_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(DataType::kString, extents));
    for (size_t i = 0; i < count; ++i) {
      ASC_RETURN_IF_ERROR(asc::capi::CheckText(strings[i], "strings"));
      tensor.data<std::string>()[i] = View(strings[i]);
    }
    *out = asc_value::New(std::move(tensor));
    return Ok();
  });
}

asc_status* asc_value_create_sequence(const asc_value* const* items, size_t count,
                                      asc_data_type element, asc_value** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(std::vector<AnyValue> parts, Items(items, count, "items"));
    DataType type = DataType::kUndefined;
    if (element != ASC_UNDEFINED) {
      ASC_ASSIGN_OR_RETURN(type, ToDataType(element));
    }
    for (size_t i = 0; i < count; ++i) {
      if (parts[i].kind() != parts[0].kind()) {
        return asc::TypeError("items of a sequence are of one kind: item 0 is ", parts[0].Type(),
                              ", item ", i, " is ", parts[i].Type());
      }
      if (!parts[i].is_tensor()) continue;
      if (type == DataType::kUndefined) type = parts[i].tensor().dtype();
      if (parts[i].tensor().dtype() != type) {
        return asc::TypeError("items of a sequence are of one type: expected ",
                              asc::DataTypeName(type), ", item ", i, " is ",
                              parts[i].tensor().TypeString());
      }
    }
    *out = asc_value::New(AnyValue::MakeSequence(std::move(parts), type));
    return Ok();
  });
}

asc_status* asc_value_create_optional(const asc_value* value, asc_value** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    if (value == nullptr) {
      *out = asc_value::New(AnyValue::None());
      return Ok();
    }
    ASC_NEED_HANDLE(value);
    *out = asc_value::New(AnyValue::MakeOptional(**value));
    return Ok();
  });
}

asc_status* asc_value_create_int_map(const int64_t* keys, const asc_value* const* values,
                                     size_t count, asc_value** out) {
  return Guard([&]() -> Status {
    ASC_NEED_ARRAY(keys, count);
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(std::vector<AnyValue> parts, Items(values, count, "values"));
    AnyValue::IntMap map;
    for (size_t i = 0; i < count; ++i) {
      if (!map.emplace(keys[i], std::move(parts[i])).second)
        return InvalidArgument("key ", keys[i], " is there twice");
    }
    *out = asc_value::New(AnyValue::MakeMap(std::move(map)));
    return Ok();
  });
}

asc_status* asc_value_create_string_map(const asc_string* keys, const asc_value* const* values,
                                        size_t count, asc_value** out) {
  return Guard([&]() -> Status {
    ASC_NEED_ARRAY(keys, count);
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(std::vector<AnyValue> parts, Items(values, count, "values"));
    AnyValue::StringMap map;
    for (size_t i = 0; i < count; ++i) {
      ASC_RETURN_IF_ERROR(asc::capi::CheckText(keys[i], "keys"));
      if (!map.emplace(View(keys[i]), std::move(parts[i])).second) {
        return InvalidArgument("key '", View(keys[i]), "' is there twice");
      }
    }
    *out = asc_value::New(AnyValue::MakeMap(std::move(map)));
    return Ok();
  });
}

asc_status* asc_value_get_kind(const asc_value* value, asc_value_kind* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(value);
    ASC_NEED(out);
    *out = static_cast<asc_value_kind>((*value)->kind());
    return Ok();
  });
}

asc_status* asc_value_get_dtype(const asc_value* value, asc_data_type* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(value);
    ASC_NEED(out);
    DataType type = DataType::kUndefined;
    switch ((*value)->kind()) {
      case ValueKind::kTensor:
        type = (*value)->tensor().dtype();
        break;
      case ValueKind::kSequence:
        type = (*value)->sequence_element_type();
        break;
      case ValueKind::kMap:
        type = (*value)->has_string_keys() ? DataType::kString : DataType::kInt64;
        break;
      case ValueKind::kOptional:
        break;
    }
    *out = static_cast<asc_data_type>(type);
    return Ok();
  });
}

asc_status* asc_value_get_dims(const asc_value* value, const int64_t** dims, size_t* rank) {
  return Guard([&]() -> Status {
    ASC_RETURN_IF_ERROR(asc::capi::TensorOf(value, "value").status());
    ASC_NEED(dims);
    ASC_NEED(rank);
    *dims = (*value)->tensor().dims().data();
    *rank = (*value)->tensor().rank();
    return Ok();
  });
}

asc_status* asc_value_get_count(const asc_value* value, size_t* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(value);
    ASC_NEED(out);
    *out = CountOf(**value);
    return Ok();
  });
}

asc_status* asc_value_get_data(const asc_value* value, const void** data, size_t* bytes) {
  return Guard([&]() -> Status {
    ASC_ASSIGN_OR_RETURN(const Tensor tensor, asc::capi::TensorOf(value, "value"));
    ASC_NEED(data);
    ASC_NEED(bytes);
    ASC_RETURN_IF_ERROR(RefuseStrings(tensor.dtype()));
    *data = tensor.raw();
    *bytes = tensor.bytes();
    return Ok();
  });
}

asc_status* asc_value_get_mutable_data(asc_value* value, void** data, size_t* bytes) {
  return Guard([&]() -> Status {
    ASC_ASSIGN_OR_RETURN(Tensor tensor, asc::capi::TensorOf(value, "value"));
    ASC_NEED(data);
    ASC_NEED(bytes);
    ASC_RETURN_IF_ERROR(RefuseStrings(tensor.dtype()));
    if (tensor.buffer()->read_only()) {
      return InvalidArgument("the memory of this tensor is read-only")
          .WithHint("copy the tensor and write to the copy");
    }
    *data = tensor.raw();
    *bytes = tensor.bytes();
    return Ok();
  });
}

asc_status* asc_value_get_string(const asc_value* value, size_t index, asc_string* out) {
  return Guard([&]() -> Status {
    ASC_RETURN_IF_ERROR(asc::capi::CheckTensor(value, "value"));
    const Tensor& tensor = (*value)->tensor();  // no copy: this is called for each element
    ASC_NEED(out);
    if (tensor.dtype() != DataType::kString)
      return asc::TypeError("not a string tensor: ", tensor.TypeString());
    ASC_RETURN_IF_ERROR(CheckIndex(value, index));
    *out = Lend(tensor.data<std::string>()[index]);
    return Ok();
  });
}

asc_status* asc_value_create_item(const asc_value* value, size_t index, asc_value** out) {
  return Guard([&]() -> Status {
    ASC_RETURN_IF_ERROR(CheckIndex(value, index));
    ASC_NEED(out);
    const auto step = static_cast<std::ptrdiff_t>(index);
    switch ((*value)->kind()) {
      case ValueKind::kTensor:
        return InvalidArgument("a tensor has elements, not items");
      case ValueKind::kSequence:
        *out = asc_value::New((*value)->sequence()[index]);
        break;
      case ValueKind::kOptional:
        *out = asc_value::New((*value)->optional_value());
        break;
      case ValueKind::kMap:
        *out = asc_value::New((*value)->has_string_keys()
                                  ? std::next((*value)->string_map().begin(), step)->second
                                  : std::next((*value)->int_map().begin(), step)->second);
        break;
    }
    return Ok();
  });
}

asc_status* asc_value_get_int_key(const asc_value* value, size_t index, int64_t* out) {
  return Guard([&]() -> Status {
    ASC_RETURN_IF_ERROR(CheckMap(value, false));
    ASC_RETURN_IF_ERROR(CheckIndex(value, index));
    ASC_NEED(out);
    *out = std::next((*value)->int_map().begin(), static_cast<std::ptrdiff_t>(index))->first;
    return Ok();
  });
}

asc_status* asc_value_get_string_key(const asc_value* value, size_t index, asc_string* out) {
  return Guard([&]() -> Status {
    ASC_RETURN_IF_ERROR(CheckMap(value, true));
    ASC_RETURN_IF_ERROR(CheckIndex(value, index));
    ASC_NEED(out);
    *out =
        Lend(std::next((*value)->string_map().begin(), static_cast<std::ptrdiff_t>(index))->first);
    return Ok();
  });
}

asc_status* asc_value_create_type(const asc_value* value, asc_type** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(value);
    ASC_NEED(out);
    *out = asc_type::New((*value)->Type());
    return Ok();
  });
}

void asc_value_retain(asc_value* value) { asc_value::Retain(value); }
void asc_value_release(asc_value* value) { asc_value::Release(value); }
