#include "capi/src/type.h"

using asc::Cat;
using asc::Code;
using asc::DataType;
using asc::InvalidArgument;
using asc::Ok;
using asc::Status;
using asc::ValueKind;
using asc::ValueType;
using asc::capi::Guard;
using asc::capi::Lend;
using asc::capi::ToDataType;
using asc::capi::View;

static_assert(ASC_FLOAT6E3M2 == static_cast<int>(DataType::kFloat6E3M2) &&
              ASC_FLOAT6E3M2 + 1 == asc::kDataTypeCount);
static_assert(ASC_SEQUENCE == static_cast<int>(ValueKind::kSequence) &&
              ASC_MAP == static_cast<int>(ValueKind::kMap));

namespace asc::capi {

TypeWithTexts::TypeWithTexts(ValueType value_type)
    : type(std::move(value_type)), text(type.ToString()) {
  for (const Dim& dim : type.shape.dims()) extents.push_back(dim.ToString());
}

Result<DataType> ToDataType(asc_data_type type) {
  const auto known = DataTypeFromOnnx(type);
  if (!known || *known == DataType::kUndefined)
    return TypeError("there is no element type with number ", type);
  return *known;
}

}  // namespace asc::capi

asc_string asc_data_type_name(asc_data_type type) {
  const auto known = asc::DataTypeFromOnnx(type);
  return Lend(known ? asc::DataTypeName(*known) : asc::DataTypeName(DataType::kUndefined));
}

asc_status* asc_data_type_parse(asc_string name, asc_data_type* out) {
  return Guard([&]() -> Status {
    ASC_NEED_TEXT(name);
    ASC_NEED(out);
    const auto type = asc::ParseDataType(View(name));
    if (!type || *type == DataType::kUndefined) {
      std::vector<std::string> names;
      for (int number = 1; number < asc::kDataTypeCount; ++number) {
        names.emplace_back(asc::DataTypeName(static_cast<DataType>(number)));
      }
      const std::string nearest = asc::NearestMatch(View(name), names);
      Status status = asc::TypeError("there is no element type called '", View(name),
                                     "'; expected one of ", names);
      return nearest.empty() ? status
                             : std::move(status).WithHint(Cat("did you mean '", nearest, "'?"));
    }
    *out = static_cast<asc_data_type>(*type);
    return Ok();
  });
}

int32_t asc_data_type_bits(asc_data_type type) {
  const auto known = asc::DataTypeFromOnnx(type);
  return known && *known != DataType::kString && *known != DataType::kUndefined
             ? asc::BitWidth(*known)
             : 0;
}

asc_status* asc_type_create_tensor(asc_data_type dtype, const asc_string* extents, size_t rank,
                                   asc_type** out) {
  return Guard([&]() -> Status {
    ASC_NEED_ARRAY(extents, rank);
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(const DataType type, ToDataType(dtype));
    std::vector<asc::Dim> dims;
    for (size_t axis = 0; axis < rank; ++axis) {
      ASC_RETURN_IF_ERROR(asc::capi::CheckText(extents[axis], "extents"));
      const auto dim = asc::Dim::Parse(View(extents[axis]));
      if (!dim || (dim->is_constant() && dim->value() < 0)) {
        return InvalidArgument("extent '", View(extents[axis]), "' of axis ", axis,
                               " is no dimension")
            .WithHint(
                "an extent is a number that is not negative, a name, or an expression such as 2*H");
      }
      dims.push_back(*dim);
    }
    *out = asc_type::New(ValueType::Tensor(type, asc::Shape(std::move(dims))));
    return Ok();
  });
}

asc_status* asc_type_create_unranked(asc_data_type dtype, asc_type** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(const DataType type, ToDataType(dtype));
    *out = asc_type::New(ValueType::Tensor(type));
    return Ok();
  });
}

asc_status* asc_type_create_sequence(const asc_type* element, asc_type** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(element);
    ASC_NEED(out);
    *out = asc_type::New(ValueType::Sequence((*element)->type));
    return Ok();
  });
}

asc_status* asc_type_create_optional(const asc_type* element, asc_type** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(element);
    ASC_NEED(out);
    *out = asc_type::New(ValueType::Optional((*element)->type));
    return Ok();
  });
}

asc_status* asc_type_create_map(asc_data_type key, const asc_type* element, asc_type** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(element);
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(const DataType type, ToDataType(key));
    if (!asc::IsInteger(type) && type != DataType::kString) {
      return asc::TypeError("keys of a map are integers or strings, not ", asc::DataTypeName(type));
    }
    *out = asc_type::New(ValueType::Map(type, (*element)->type));
    return Ok();
  });
}

asc_status* asc_type_get_kind(const asc_type* type, asc_value_kind* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(type);
    ASC_NEED(out);
    *out = static_cast<asc_value_kind>((*type)->type.kind);
    return Ok();
  });
}

asc_status* asc_type_get_dtype(const asc_type* type, asc_data_type* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(type);
    ASC_NEED(out);
    *out = static_cast<asc_data_type>((*type)->type.dtype);
    return Ok();
  });
}

asc_status* asc_type_get_rank(const asc_type* type, int64_t* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(type);
    ASC_NEED(out);
    const ValueType& of = (*type)->type;
    if (!of.is_tensor()) return InvalidArgument("a ", asc::ValueKindName(of.kind), " has no rank");
    *out = of.shape.has_rank() ? static_cast<int64_t>(of.shape.rank()) : -1;
    return Ok();
  });
}

namespace {
Status CheckAxis(const asc_type* type, size_t axis) {
  ASC_NEED_HANDLE(type);
  const size_t rank = (*type)->extents.size();
  if (axis >= rank)
    return asc::Error(Code::kOutOfRange, "axis ", axis, " of ", (*type)->text, ", which has rank ",
                      rank);
  return Ok();
}
}  // namespace

asc_status* asc_type_get_extent(const asc_type* type, size_t axis, int64_t* out) {
  return Guard([&]() -> Status {
    ASC_RETURN_IF_ERROR(CheckAxis(type, axis));
    ASC_NEED(out);
    const asc::Dim& dim = (*type)->type.shape[axis];
    *out = dim.is_constant() ? dim.value() : -1;
    return Ok();
  });
}

asc_status* asc_type_get_extent_text(const asc_type* type, size_t axis, asc_string* out) {
  return Guard([&]() -> Status {
    ASC_RETURN_IF_ERROR(CheckAxis(type, axis));
    ASC_NEED(out);
    *out = Lend((*type)->extents[axis]);
    return Ok();
  });
}

asc_status* asc_type_create_element(const asc_type* type, asc_type** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(type);
    ASC_NEED(out);
    if (!(*type)->type.element)
      return InvalidArgument((*type)->text, " has no elements with a type of their own");
    *out = asc_type::New(*(*type)->type.element);
    return Ok();
  });
}

asc_status* asc_type_get_text(const asc_type* type, asc_string* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(type);
    ASC_NEED(out);
    *out = Lend((*type)->text);
    return Ok();
  });
}

void asc_type_retain(asc_type* type) { asc_type::Retain(type); }
void asc_type_release(asc_type* type) { asc_type::Release(type); }
