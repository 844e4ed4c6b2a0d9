#include "core/graph/op_schema.h"

#include <cctype>

namespace asc {

std::optional<std::vector<Dim>> InferContext::Dims(size_t i) const {
  if (!HasInput(i)) return std::nullopt;
  const ValueType& type = *inputs_[i].type;
  if (types::kIndex.Contains(type.dtype) && type.shape.has_rank() && type.shape.rank() == 1 &&
      type.shape[0].IsConstant(0)) {
    return std::vector<Dim>();  // nothing more to know
  }
  if (inputs_[i].constant != nullptr) {
    const auto ints = ToInt64Vector(*inputs_[i].constant);
    if (!ints.ok()) return std::nullopt;
    return std::vector<Dim>(ints->begin(), ints->end());
  }
  if (inputs_[i].dims != nullptr) return *inputs_[i].dims;
  return std::nullopt;
}

std::optional<std::vector<int64_t>> InferContext::Ints(size_t i) const {
  const auto dims = Dims(i);
  if (!dims) return std::nullopt;
  std::vector<int64_t> out;
  for (const Dim& dim : *dims) {
    if (!dim.is_constant()) return std::nullopt;
    out.push_back(dim.value());
  }
  return out;
}

Result<std::vector<ValueType>> InferContext::InferRegion(std::string_view name, const std::vector<ValueType>& inputs,
                                                               bool trial) const {
  if (!region_infer_) return InternalError("operator ", schema_.FullName(), " has no region '", name, "' here");
  return region_infer_(name, inputs, trial);
}

Result<Tensor*> KernelContext::AllocateOutput(size_t i, DataType dtype, const Dims& dims) {
  ASC_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, dims, run_.allocator));
  *outputs_[i] = AnyValue(std::move(tensor));
  return &outputs_[i]->tensor();
}

size_t OpSchema::MinInputs() const {
  size_t count = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    // As in ONNX, operators of nothing but a list (Concat, Sum) need one item; lists after others (Loop) may be empty.
    const bool lone_list = i == 0 && inputs[i].kind == ParameterKind::kVariadic;
    if (inputs[i].kind == ParameterKind::kSingle || lone_list) count = i + 1;
  }
  return count;
}

size_t OpSchema::MaxInputs() const {
  return !inputs.empty() && inputs.back().kind == ParameterKind::kVariadic ? SIZE_MAX : inputs.size();
}

size_t OpSchema::MaxOutputs() const {
  return !outputs.empty() && outputs.back().kind == ParameterKind::kVariadic ? SIZE_MAX : outputs.size();
}

namespace {
const Parameter* ParameterAt(const std::vector<Parameter>& parameters, size_t i) {
  if (i < parameters.size()) return &parameters[i];
  if (!parameters.empty() && parameters.back().kind == ParameterKind::kVariadic) return &parameters.back();
  return nullptr;
}

Status CheckInputTypes(const OpSchema& schema, const std::vector<InferInput>& inputs) {
  std::map<std::string, DataType> bound;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Parameter* parameter = schema.InputParameter(i);
    if (inputs[i].type == nullptr) {
      if (parameter->kind != ParameterKind::kOptional) {
        return InvalidArgument(schema.FullName(), " needs input '", parameter->name, "' (number ", i, "), which is absent");
      }
      continue;
    }
    if (parameter->type_variable.empty()) continue;
    if (!inputs[i].type->is_tensor()) {
      return TypeError(schema.FullName(), " needs a tensor for input '", parameter->name, "', given ", *inputs[i].type);
    }
    const DataType dtype = inputs[i].type->dtype;
    const auto allowed = schema.type_variables.find(parameter->type_variable);
    if (allowed != schema.type_variables.end() && !allowed->second.Contains(dtype)) {
      return TypeError(schema.FullName(), " does not take ", DataTypeName(dtype), " for input '", parameter->name,
                       "': expected one of ", allowed->second);
    }
    if (parameter->kind == ParameterKind::kVariadic && !parameter->homogeneous) continue;
    const auto [it, fresh] = bound.emplace(parameter->type_variable, dtype);
    if (!fresh && it->second != dtype) {
      return TypeError(schema.FullName(), " needs equal types for its inputs of type ", parameter->type_variable, ": got ",
                       DataTypeName(it->second), " and, for '", parameter->name, "', ", DataTypeName(dtype))
          .WithHint("insert a Cast");
    }
  }
  return Ok();
}

Status CheckAttributes(const OpSchema& schema, AttributeMap& attributes) {
  for (const auto& [name, value] : attributes) {
    const AttributeSpec* spec = schema.FindAttribute(name);
    if (spec == nullptr) {
      std::vector<std::string> names;
      for (const AttributeSpec& known : schema.attributes) names.push_back(known.name);
      const std::string nearest = NearestMatch(name, names);
      Status status = InvalidArgument(schema.FullName(), " has no attribute '", name, "'; it has ", names);
      return nearest.empty() ? status : std::move(status).WithHint(Cat("did you mean '", nearest, "'?"));
    }
    if (TypeOf(value) != spec->type) {
      return InvalidArgument(schema.FullName(), " attribute '", name, "' must be of type ", AttributeTypeName(spec->type),
                             ", given ", AttributeTypeName(TypeOf(value)));
    }
  }
  for (const AttributeSpec& spec : schema.attributes) {
    if (attributes.Has(spec.name)) continue;
    if (spec.required) return InvalidArgument(schema.FullName(), " needs attribute '", spec.name, "'");
    if (spec.default_value) attributes.Set(spec.name, *spec.default_value);
  }
  return Ok();
}
}  // namespace

const Parameter* OpSchema::InputParameter(size_t i) const { return ParameterAt(inputs, i); }
const Parameter* OpSchema::OutputParameter(size_t i) const { return ParameterAt(outputs, i); }

const AttributeSpec* OpSchema::FindAttribute(std::string_view attribute) const {
  for (const AttributeSpec& spec : attributes) {
    if (spec.name == attribute) return &spec;
  }
  return nullptr;
}

Status CheckAgainstSchema(const OpSchema& schema, const std::vector<InferInput>& inputs, size_t output_count,
                          AttributeMap& attributes) {
  if (inputs.size() < schema.MinInputs() || inputs.size() > schema.MaxInputs()) {
    return InvalidArgument(schema.FullName(), " takes ", schema.MinInputs(),
                           schema.MaxInputs() == SIZE_MAX            ? std::string(" or more")
                           : schema.MaxInputs() == schema.MinInputs() ? std::string()
                                                                      : Cat(" to ", schema.MaxInputs()),
                           " inputs, given ", inputs.size());
  }
  // Shape rules speak of the first output without looking.
  if (output_count == 0 && schema.MaxOutputs() > 0) {
    return InvalidArgument(schema.FullName(), " has no output").WithHint("give its first output a name");
  }
  if (output_count > schema.MaxOutputs()) {
    return InvalidArgument(schema.FullName(), " gives at most ", schema.MaxOutputs(), " outputs, asked for ", output_count);
  }
  ASC_RETURN_IF_ERROR(CheckInputTypes(schema, inputs));
  return CheckAttributes(schema, attributes);
}

std::string SnakeCase(std::string_view name) {
  std::string out;
  const auto upper = [&](size_t i) { return i < name.size() && std::isupper(static_cast<unsigned char>(name[i])); };
  const auto lower = [&](size_t i) { return i < name.size() && std::islower(static_cast<unsigned char>(name[i])); };
  for (size_t i = 0; i < name.size(); ++i) {
    // A word starts at an upper letter after a lower one or a digit, and at the last upper letter of a run before a lower one.
    if (i > 0 && upper(i) && (!upper(i - 1) || lower(i + 1)) && out.back() != '_') out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return out;
}

}  // namespace asc
