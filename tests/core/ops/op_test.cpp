#include "tests/core/ops/op_test.h"

#include <cmath>

#include "core/base/parallel.h"
#include "core/ops/evaluate.h"
#include "core/ops/registry.h"
#include "core/tensor/element.h"

namespace asc::testing {
namespace {
AttributeMap MakeAttributes(OpAttributes attributes) {
  AttributeMap map;
  for (const auto& [name, value] : attributes) map.Set(name, value);
  return map;
}

Result<const OpSchema*> FindSchema(std::string_view domain, std::string_view name) {
  const OpSchema* schema = OpRegistry::Global().Find(domain, name);
  if (schema == nullptr) return Error(Code::kUnsupportedOperator, "no operator ", name);
  return schema;
}

Result<std::vector<InferOutput>> Infer(const OpSchema& schema, std::vector<InferInput> inputs,
                                       AttributeMap& attributes, size_t output_count) {
  ASC_RETURN_IF_ERROR(CheckAgainstSchema(schema, inputs, output_count, attributes));
  InferContext context(schema, attributes, std::move(inputs), output_count);
  if (schema.infer != nullptr) ASC_RETURN_IF_ERROR(schema.infer(context));
  return std::move(context.outputs());
}

bool AnySymbol(const Dim& dim, const DimBindings& bindings) {
  return !dim.Evaluate(bindings).has_value();
}

// Whether `promise` (with symbols bound) allows `actual`.
std::string Contradiction(const ValueType& promise, const ValueType& actual,
                          const DimBindings& bindings) {
  if (!promise.is_tensor() || !actual.is_tensor()) {
    const bool unset =
        promise.is_tensor() && promise.dtype == DataType::kUndefined && !promise.shape.has_rank();
    return promise.kind == actual.kind || unset ? "" : "kinds differ";
  }
  if (promise.dtype != DataType::kUndefined && promise.dtype != actual.dtype) return "types differ";
  if (!promise.shape.has_rank()) return "";
  if (promise.shape.rank() != actual.shape.rank()) return "ranks differ";
  for (size_t i = 0; i < promise.shape.rank(); ++i) {
    if (AnySymbol(promise.shape[i], bindings)) continue;
    if (*promise.shape[i].Evaluate(bindings) != actual.shape[i].value())
      return Cat("extents differ on axis ", i);
  }
  return "";
}

// The shape rule again with less knowledge.
void CheckWeakerFacts(const OpSchema& schema, const OpInputs& inputs,
                      const AttributeMap& attributes, const std::vector<AnyValue>& outputs) {
  for (const std::string_view level : {"no values", "symbolic", "no ranks"}) {
    std::vector<ValueType> types(inputs.size());
    std::vector<InferInput> facts(inputs.size());
    DimBindings bindings;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i]) continue;
      types[i] = inputs[i]->Type();
      if (types[i].is_tensor() && level == "symbolic") {
        for (size_t axis = 0; axis < types[i].shape.rank(); ++axis) {
          const std::string name = Cat("s", i, "_", axis);
          bindings[name] = types[i].shape[axis].value();
          types[i].shape[axis] = Dim::Symbol(name);
        }
      } else if (types[i].is_tensor() && level == "no ranks") {
        types[i].shape = Shape();
      }
      facts[i].type = &types[i];
    }
    AttributeMap copy = attributes;
    const auto promised = Infer(schema, std::move(facts), copy, outputs.size());
    if (!promised.ok()) {
      ADD_FAILURE() << schema.FullName() << ": shape rule with " << level << ": "
                    << promised.status().ToString();
      continue;
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ValueType actual = outputs[i].Type();
      const std::string wrong = Contradiction((*promised)[i].type, actual, bindings);
      EXPECT_EQ(wrong, "") << schema.FullName() << ": shape rule with " << level << " says "
                           << (*promised)[i].type.ToString() << " of output " << i
                           << ", the kernel gave " << actual.ToString();
    }
  }
}

Result<std::vector<AnyValue>> RunWithThreads(const OpSchema& schema, const OpInputs& inputs,
                                             const AttributeMap& attributes, size_t output_count,
                                             int threads) {
  std::vector<const AnyValue*> pointers;
  for (const auto& input : inputs) pointers.push_back(input ? &*input : nullptr);
  RunState run;
  run.allocator = HostAllocator();
  run.seed = 42;
  const ScopedThreads scoped(threads);
  return Evaluate(schema, attributes, pointers, output_count, run, 7);
}
}  // namespace

Result<std::vector<AnyValue>> RunOp(std::string_view name, const OpInputs& inputs,
                                    OpAttributes attributes, size_t output_count,
                                    std::string_view domain) {
  ASC_ASSIGN_OR_RETURN(const OpSchema* schema, FindSchema(domain, name));
  AttributeMap map = MakeAttributes(attributes);
  std::vector<ValueType> types(inputs.size());
  std::vector<InferInput> facts(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    types[i] = inputs[i]->Type();
    facts[i].type = &types[i];
    if (inputs[i]->is_tensor()) facts[i].constant = &inputs[i]->tensor();
  }
  ASC_ASSIGN_OR_RETURN(const std::vector<InferOutput> promised,
                       Infer(*schema, std::move(facts), map, output_count));
  ASC_ASSIGN_OR_RETURN(std::vector<AnyValue> outputs,
                       RunWithThreads(*schema, inputs, map, output_count, 1));
  ASC_ASSIGN_OR_RETURN(const std::vector<AnyValue> threaded,
                       RunWithThreads(*schema, inputs, map, output_count, 3));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string wrong = Contradiction(promised[i].type, outputs[i].Type(), {});
    EXPECT_EQ(wrong, "") << schema->FullName() << ": output " << i << " is "
                         << outputs[i].Type().ToString() << ", the shape rule promised "
                         << promised[i].type.ToString();
    if (!outputs[i].is_tensor()) continue;
    EXPECT_TRUE(outputs[i].tensor().ContentEquals(threaded[i].tensor()))
        << schema->FullName() << ": output " << i << " depends on the number of threads";
  }
  CheckWeakerFacts(*schema, inputs, map, outputs);
  return outputs;
}

Tensor RunOp1(std::string_view name, const OpInputs& inputs, OpAttributes attributes,
              std::string_view domain) {
  const auto outputs = RunOp(name, inputs, attributes, 1, domain);
  if (!outputs.ok()) {
    ADD_FAILURE() << name << ": " << outputs.status().ToString();
    return Tensor();
  }
  return (*outputs)[0].tensor();
}

TypedInput::TypedInput(DataType dtype, std::string_view shape)
    : type(ValueType::Tensor(dtype, ParseShape(shape))) {}

TypedInput::TypedInput(Tensor value)
    : type(ValueType::Tensor(value.dtype(), Shape(value.dims()))), constant(std::move(value)) {}

Result<std::vector<InferOutput>> InferOp(std::string_view name,
                                         const std::vector<TypedInput>& inputs,
                                         OpAttributes attributes, size_t output_count,
                                         std::string_view domain) {
  ASC_ASSIGN_OR_RETURN(const OpSchema* schema, FindSchema(domain, name));
  AttributeMap map = MakeAttributes(attributes);
  std::vector<InferInput> facts(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].type) facts[i].type = &*inputs[i].type;
    if (inputs[i].constant) facts[i].constant = &*inputs[i].constant;
    if (inputs[i].dims) facts[i].dims = &*inputs[i].dims;
  }
  return Infer(*schema, std::move(facts), map, output_count);
}

std::string InferText(std::string_view name, const std::vector<TypedInput>& inputs,
                      OpAttributes attributes, size_t i, std::string_view domain) {
  const auto outputs = InferOp(name, inputs, attributes, i + 1, domain);
  return outputs.ok() ? (*outputs)[i].type.ToString() : outputs.status().ToString();
}

Shape ParseShape(std::string_view text) {
  if (text == "[*]") return Shape();
  std::vector<Dim> dims;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    // Commas inside parentheses belong to an expression.
    int depth = 0;
    size_t end = 0;
    for (; end < text.size() && (depth > 0 || text[end] != ','); ++end)
      depth += (text[end] == '(') - (text[end] == ')');
    const std::optional<Dim> dim = Dim::Parse(text.substr(0, end));
    if (!dim) ADD_FAILURE() << "bad shape: " << text;
    dims.push_back(dim.value_or(Dim(0)));
    text = end < text.size() ? text.substr(end + 1) : std::string_view();
    while (!text.empty() && text[0] == ' ') text.remove_prefix(1);
  }
  return Shape(std::move(dims));
}

Tensor Floats(DataType dtype, const Dims& dims, std::initializer_list<double> values) {
  Tensor tensor = Tensor::Allocate(dtype, dims).value();
  EXPECT_EQ(tensor.size(), static_cast<int64_t>(values.size()));
  VisitFloats(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* out = tensor.data<T>();
    for (const double value : values) {
      if constexpr (std::is_same_v<T, double>) {
        *out++ = value;
      } else {
        *out++ = T(static_cast<float>(value));
      }
    }
  });
  return tensor;
}

Tensor Pseudo(const Dims& dims, uint32_t seed) {
  Tensor tensor = Tensor::Allocate(DataType::kFloat32, dims).value();
  uint32_t state = seed * 2654435761u + 12345u;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    tensor.data<float>()[i] = static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
  }
  return tensor;
}

void ExpectTensor(const Tensor& got, const Dims& dims, const std::vector<double>& want,
                  double tolerance) {
  ASSERT_TRUE(got.defined());
  EXPECT_EQ(ToString(got.dims()), ToString(dims));
  ASSERT_EQ(got.size(), static_cast<int64_t>(want.size()));
  for (int64_t i = 0; i < got.size(); ++i) {
    const double value = ReadAsDouble(got.dtype(), got.raw(), i);
    const double expected = want[static_cast<size_t>(i)];
    if (std::isnan(value) && std::isnan(expected)) continue;
    if (value == expected) continue;
    EXPECT_LE(std::fabs(value - expected), tolerance * std::max(1.0, std::fabs(expected)))
        << "element " << i << ": got " << value << ", want " << expected;
  }
}

}  // namespace asc::testing
