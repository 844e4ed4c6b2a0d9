#include "capi/src/attributes.h"

#include "capi/src/type.h"
#include "capi/src/value.h"

using asc::Ok;
using asc::Status;
using asc::capi::Guard;
using asc::capi::View;

namespace {
// Checks the handle and the name, then sets what `make` gives: a value, or a Result of one.
template <typename Make>
asc_status* Set(asc_attributes* attributes, asc_string name, Make make) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(attributes);
    ASC_NEED_TEXT(name);
    if (name.size == 0) return asc::InvalidArgument("an attribute needs a name");
    ASC_ASSIGN_OR_RETURN(asc::AttributeValue value, make());
    (*attributes)->Set(View(name), std::move(value));
    return Ok();
  });
}
using Made = asc::Result<asc::AttributeValue>;
}  // namespace

asc_status* asc_attributes_create(asc_attributes** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    *out = asc_attributes::New();
    return Ok();
  });
}

asc_status* asc_attributes_set_int(asc_attributes* attributes, asc_string name, int64_t value) {
  return Set(attributes, name, [&]() -> Made { return asc::AttributeValue(value); });
}

asc_status* asc_attributes_set_float(asc_attributes* attributes, asc_string name, double value) {
  return Set(attributes, name,
             [&]() -> Made { return asc::AttributeValue(static_cast<float>(value)); });
}

asc_status* asc_attributes_set_string(asc_attributes* attributes, asc_string name,
                                      asc_string value) {
  return Set(attributes, name, [&]() -> Made {
    ASC_NEED_TEXT(value);
    return asc::AttributeValue(std::string(View(value)));
  });
}

asc_status* asc_attributes_set_ints(asc_attributes* attributes, asc_string name,
                                    const int64_t* values, size_t count) {
  return Set(attributes, name, [&]() -> Made {
    ASC_NEED_ARRAY(values, count);
    return asc::AttributeValue(std::vector<int64_t>(values, values + count));
  });
}

asc_status* asc_attributes_set_floats(asc_attributes* attributes, asc_string name,
                                      const double* values, size_t count) {
  return Set(attributes, name, [&]() -> Made {
    ASC_NEED_ARRAY(values, count);
    return asc::AttributeValue(std::vector<float>(values, values + count));
  });
}

asc_status* asc_attributes_set_strings(asc_attributes* attributes, asc_string name,
                                       const asc_string* values, size_t count) {
  return Set(attributes, name, [&]() -> Made {
    ASC_NEED_ARRAY(values, count);
    std::vector<std::string> strings;
    for (size_t i = 0; i < count; ++i) {
      ASC_RETURN_IF_ERROR(asc::capi::CheckText(values[i], "values"));
      strings.emplace_back(View(values[i]));
    }
    return asc::AttributeValue(std::move(strings));
  });
}

asc_status* asc_attributes_set_tensor(asc_attributes* attributes, asc_string name,
                                      const asc_value* tensor) {
  return Set(attributes, name, [&]() -> Made {
    ASC_ASSIGN_OR_RETURN(asc::Tensor shared, asc::capi::TensorOf(tensor, "tensor"));
    return asc::AttributeValue(std::move(shared));
  });
}

asc_status* asc_attributes_set_type(asc_attributes* attributes, asc_string name,
                                    const asc_type* type) {
  return Set(attributes, name, [&]() -> Made {
    ASC_NEED_HANDLE(type);
    return asc::AttributeValue((*type)->type);
  });
}

void asc_attributes_retain(asc_attributes* attributes) { asc_attributes::Retain(attributes); }
void asc_attributes_release(asc_attributes* attributes) { asc_attributes::Release(attributes); }
