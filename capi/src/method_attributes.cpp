#include "capi/src/method_attributes.h"

#include <algorithm>

namespace asc::capi {
namespace {

const AttributeSpec* FindSpec(const OpSchema& schema, std::string_view name) {
  for (const AttributeSpec& spec : schema.attributes) {
    if (spec.name == name || spec.python_name == name) return &spec;
  }
  return nullptr;
}

Status UnknownName(const OpSchema& schema, std::string_view name) {
  std::vector<std::string> names;
  for (const AttributeSpec& spec : schema.attributes) names.push_back(spec.python_name);
  Status status = InvalidArgument(schema.method, " has no parameter '", name, "'; it has ", names);
  const std::string nearest = NearestMatch(name, names);
  return nearest.empty() ? status
                         : std::move(status).WithHint(Cat("did you mean '", nearest, "'?"));
}

// One number for each spatial axis (`pads`: for each end of it).
bool IsSpatial(const OpSchema& schema, std::string_view name) {
  if (schema.op_class != OpClass::kConvolution && schema.op_class != OpClass::kPooling)
    return false;
  return name == "kernel_shape" || name == "strides" || name == "dilations" || name == "pads" ||
         name == "output_padding";
}

Result<std::vector<int64_t>> ForEachAxis(const OpSchema& schema, const AttributeSpec& spec,
                                         std::vector<int64_t> given, int64_t rank) {
  const bool is_pads = spec.name == "pads";
  if (given.size() != 1 && !is_pads) return given;
  if (rank < 3) {
    return InvalidArgument(schema.method, ": '", spec.python_name,
                           "' needs one number for each spatial axis, because the rank of",
                           " the input is ", rank < 0 ? std::string("not known") : Cat(rank));
  }
  const size_t axes = static_cast<size_t>(rank) - 2;
  if (given.size() == 1) given.assign(axes, given[0]);
  if (is_pads && given.size() == axes)
    given.insert(given.end(), given.begin(), given.begin() + static_cast<ptrdiff_t>(axes));
  return given;
}

// A text for `pads`: PyTorch's names of automatic padding.
Result<std::string> AutoPad(const OpSchema& schema, const AttributeSpec& spec,
                            const std::string& text) {
  if (schema.FindAttribute("auto_pad") != nullptr) {
    if (text == "same") return std::string("SAME_UPPER");
    if (text == "valid") return std::string("VALID");
  }
  return InvalidArgument(schema.method, ": '", spec.python_name,
                         "' must be numbers, \"same\" or \"valid\", given \"", text, "\"");
}

template <typename To, typename From>
std::optional<AttributeValue> ListOf(const AttributeValue& value) {
  if (const auto* one = std::get_if<From>(&value)) return std::vector<To>{static_cast<To>(*one)};
  if (const auto* many = std::get_if<std::vector<From>>(&value))
    return std::vector<To>(many->begin(), many->end());
  return std::nullopt;
}

// The value as the type of `spec`; nullopt when it cannot be one.
std::optional<AttributeValue> Converted(const AttributeSpec& spec, const AttributeValue& value) {
  if (TypeOf(value) == spec.type) return value;
  std::optional<AttributeValue> out;
  switch (spec.type) {
    case AttributeType::kInt:
      if (const auto* name = std::get_if<std::string>(&value);
          name && (spec.name == "to" || spec.name.ends_with("dtype"))) {
        if (const auto type = ParseDataType(*name)) return static_cast<int64_t>(*type);
      }
      return std::nullopt;
    case AttributeType::kFloat:
      if (const auto* number = std::get_if<int64_t>(&value)) return static_cast<float>(*number);
      return std::nullopt;
    case AttributeType::kInts:
      return ListOf<int64_t, int64_t>(value);
    case AttributeType::kFloats:
      return (out = ListOf<float, float>(value)) ? out : ListOf<float, int64_t>(value);
    case AttributeType::kStrings:
      return ListOf<std::string, std::string>(value);
    default:
      return std::nullopt;
  }
}

}  // namespace

Result<AttributeMap> AttributesOfMethod(const OpSchema& schema, const AttributeMap& given,
                                        int64_t rank) {
  AttributeMap out;
  for (const auto& [name, value] : given) {
    const AttributeSpec* spec = FindSpec(schema, name);
    if (spec == nullptr) return UnknownName(schema, name);
    if (out.Has(spec->name)) {
      return InvalidArgument(schema.method, ": '", spec->name, "' and '", spec->python_name,
                             "' are the same parameter");
    }
    if (const auto* text = std::get_if<std::string>(&value);
        text && spec->name == "pads" && IsSpatial(schema, spec->name)) {
      ASC_ASSIGN_OR_RETURN(std::string mode, AutoPad(schema, *spec, *text));
      out.Set("auto_pad", std::move(mode));
      continue;
    }
    std::optional<AttributeValue> converted = Converted(*spec, value);
    if (!converted) {
      return InvalidArgument(schema.method, ": parameter '", spec->python_name,
                             "' must be of type ", AttributeTypeName(spec->type), ", given ",
                             AttributeTypeName(TypeOf(value)));
    }
    if (IsSpatial(schema, spec->name)) {
      ASC_ASSIGN_OR_RETURN(
          *converted,
          ForEachAxis(schema, *spec, std::get<std::vector<int64_t>>(std::move(*converted)), rank));
    }
    out.Set(spec->name, std::move(*converted));
  }
  return out;
}

}  // namespace asc::capi
