#include "capi/src/registry.h"

#include <cctype>

#include "asc/registry.h"
#include "capi/src/handle.h"
#include "core/base/json_writer.h"
#include "core/gradient/rules.h"
#include "core/ops/registry.h"
#include "core/passes/fusion.h"

using asc::Ok;
using asc::OpSchema;
using asc::Status;
using asc::capi::Guard;

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

void WriteDefault(JsonWriter& json, const AttributeValue& value) {
  std::visit(
      [&](const auto& plain) {
        if constexpr (requires { plain.TypeString(); }) {
          json.Value(plain.TypeString());
        } else if constexpr (requires { plain.ToString(); }) {
          json.Value(plain.ToString());
        } else {
          json.Value(plain);
        }
      },
      value);
}

void Write(JsonWriter& json, const std::vector<Parameter>& parameters) {
  static constexpr std::string_view kKinds[] = {"single", "optional", "variadic"};
  json.BeginArray();
  for (const Parameter& parameter : parameters) {
    json.BeginObject()
        .Field("name", parameter.name)
        .Field("python_name", parameter.python_name)
        .Field("type", parameter.type_variable)
        .Field("kind", kKinds[static_cast<int>(parameter.kind)])
        .Field("homogeneous", parameter.homogeneous)
        .Field("doc", parameter.doc)
        .EndObject();
  }
  json.EndArray();
}

void Write(JsonWriter& json, const AttributeSpec& spec) {
  json.BeginObject()
      .Field("name", spec.name)
      .Field("python_name", spec.python_name)
      .Field("type", AttributeTypeName(spec.type))
      .Field("required", spec.required);
  if (spec.default_value) WriteDefault(json.Key("default"), *spec.default_value);
  json.Field("doc", spec.doc).EndObject();
}

void Write(JsonWriter& json, const OpSchema& schema) {
  json.BeginObject()
      .Field("domain", schema.domain)
      .Field("name", schema.name)
      .Field("method", schema.method)
      .Field("fusion", schema.fusion)
      .Field("since_version", schema.since_version)
      .Field("doc", schema.doc);
  Write(json.Key("inputs"), schema.inputs);
  Write(json.Key("outputs"), schema.outputs);
  json.Key("types").BeginObject();
  for (const auto& [variable, types] : schema.type_variables) {
    json.Key(variable).BeginArray();
    for (const DataType type : types.Types()) json.Value(DataTypeName(type));
    json.EndArray();
  }
  json.EndObject();
  json.Key("attributes").BeginArray();
  for (const AttributeSpec& spec : schema.attributes) Write(json, spec);
  json.EndArray();
  json.Field("regions", schema.regions)
      .Field("class", ClassName(schema.op_class))
      .Field("differentiable", asc::FindGradient(schema) != nullptr)
      .EndObject();
}

}  // namespace
}  // namespace asc::capi

asc_status* asc_registry_create_operators(asc_bytes** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    asc::JsonWriter json;
    json.BeginArray();
    for (const OpSchema* schema : asc::OpRegistry::Global().All()) asc::capi::Write(json, *schema);
    json.EndArray();
    *out = asc_bytes::New(std::move(json).Take());
    return Ok();
  });
}

asc_status* asc_registry_create_fusions(asc_bytes** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    static constexpr std::string_view kModes[] = {"off", "conservative", "default", "aggressive"};
    asc::JsonWriter json;
    json.BeginArray();
    for (const asc::FusionInfo& fusion : asc::ListFusions()) {
      json.BeginObject()
          .Field("name", fusion.name)
          .Field("pass", fusion.pass)
          .Field("mode", kModes[static_cast<int>(fusion.mode)])
          .Field("doc", fusion.doc)
          .EndObject();
    }
    json.EndArray();
    *out = asc_bytes::New(std::move(json).Take());
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
