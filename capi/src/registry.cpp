#include "capi/src/registry.h"

#include <cctype>
#include <nlohmann/json.hpp>

#include "asc/registry.h"
#include "capi/src/handle.h"
#include "core/ops/registry.h"

using asc::Ok;
using asc::OpSchema;
using asc::Status;
using asc::capi::Guard;
using Json = nlohmann::ordered_json;

namespace asc::capi {

Result<const OpSchema*> FindOperator(std::string_view name) {
  const OpRegistry& registry = OpRegistry::Global();
  const OpSchema* schema = registry.FindMethod(name);
  if (schema == nullptr) schema = registry.Find("", name);
  if (schema == nullptr) {
    const size_t dot = name.rfind('.');
    if (dot != std::string_view::npos)
      schema = registry.Find(name.substr(0, dot), name.substr(dot + 1));
  }
  if (schema != nullptr) return schema;
  Status status = Error(Code::kUnsupportedOperator, "there is no operator '", name, "'");
  // In the caller's manner: a method for a method.
  std::string nearest = registry.Nearest(name);
  const bool wants_method = !name.empty() && std::islower(static_cast<unsigned char>(name[0]));
  if (const OpSchema* found = registry.Find("", nearest); found != nullptr && wants_method)
    nearest = found->method;
  return nearest.empty() ? status
                         : std::move(status).WithHint(Cat("did you mean '", nearest, "'?"));
}

namespace {

std::string_view ClassName(OpClass op_class) {
  switch (op_class) {
    case OpClass::kOther:
      return "other";
    case OpClass::kElementwise:
      return "elementwise";
    case OpClass::kReduction:
      return "reduction";
    case OpClass::kNormalization:
      return "normalization";
    case OpClass::kDataMovement:
      return "data_movement";
    case OpClass::kView:
      return "view";
    case OpClass::kMatMul:
      return "matmul";
    case OpClass::kConvolution:
      return "convolution";
    case OpClass::kPooling:
      return "pooling";
  }
  return "other";
}

Json DefaultToJson(const AttributeValue& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return tensor->TypeString();
  if (const auto* type = std::get_if<ValueType>(&value)) return type->ToString();
  return std::visit(
      [](const auto& plain) -> Json {
        if constexpr (std::is_constructible_v<Json, decltype(plain)>) return Json(plain);
        return Json();
      },
      value);
}

Json ToJson(const Parameter& parameter) {
  static constexpr std::string_view kKinds[] = {"single", "optional", "variadic"};
  return {{"name", parameter.name},
          {"python_name", parameter.python_name},
          {"type", parameter.type_variable},
          {"kind", kKinds[static_cast<int>(parameter.kind)]},
          {"homogeneous", parameter.homogeneous},
          {"doc", parameter.doc}};
}

Json ToJson(const AttributeSpec& spec) {
  Json out = {{"name", spec.name},
              {"python_name", spec.python_name},
              {"type", AttributeTypeName(spec.type)},
              {"required", spec.required}};
  if (spec.default_value) out["default"] = DefaultToJson(*spec.default_value);
  out["doc"] = spec.doc;
  return out;
}

Json ToJson(const OpSchema& schema) {
  Json out = {{"domain", schema.domain},
              {"name", schema.name},
              {"method", schema.method},
              {"fusion", schema.fusion},
              {"since_version", schema.since_version},
              {"doc", schema.doc}};
  out["inputs"] = out["outputs"] = out["attributes"] = Json::array();
  for (const Parameter& input : schema.inputs) out["inputs"].push_back(ToJson(input));
  for (const Parameter& output : schema.outputs) out["outputs"].push_back(ToJson(output));
  out["types"] = Json::object();
  for (const auto& [variable, types] : schema.type_variables) {
    Json& names = out["types"][variable] = Json::array();
    for (const DataType type : types.Types()) names.push_back(DataTypeName(type));
  }
  for (const AttributeSpec& spec : schema.attributes) out["attributes"].push_back(ToJson(spec));
  out["regions"] = schema.regions;
  out["class"] = ClassName(schema.op_class);
  return out;
}

}  // namespace
}  // namespace asc::capi

asc_status* asc_registry_create_operators(asc_bytes** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    Json rows = Json::array();
    for (const OpSchema* schema : asc::OpRegistry::Global().All())
      rows.push_back(asc::capi::ToJson(*schema));
    *out = asc_bytes::New(rows.dump());
    return Ok();
  });
}

asc_status* asc_registry_get_method(asc_string name, asc_string* out) {
  return Guard([&]() -> Status {
    ASC_NEED_TEXT(name);
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(const OpSchema* schema, asc::capi::FindOperator(asc::capi::View(name)));
    *out = asc::capi::Lend(schema->method);
    return Ok();
  });
}
