// Optionals: Optional, OptionalHasElement, OptionalGetElement.
#include "core/ops/families.h"
#include "core/ops/shape_facts.h"

namespace asc {
namespace {

Status InferOptional(InferContext& context) {
  const auto* type = context.attributes().Get<ValueType>("type");
  if (context.HasInput(0)) {
    context.SetOutput(0, ValueType::Optional(context.type(0)));
  } else if (type != nullptr) {
    context.SetOutput(0, ValueType::Optional(*type));
  } else {
    return InvalidArgument("Optional needs an input or the attribute 'type'");
  }
  return Ok();
}

// The held tensor is a copy, because the plan reuses the memory of tensors.
Status Optional(KernelContext& context) {
  if (!context.HasInput(0)) {
    context.SetOutput(0, AnyValue::None());
  } else if (context.input_value(0).is_tensor()) {
    ASC_ASSIGN_OR_RETURN(Tensor copy, context.input(0).Clone(context.run().allocator));
    context.SetOutput(0, AnyValue::MakeOptional(std::move(copy)));
  } else {
    context.SetOutput(0, AnyValue::MakeOptional(context.input_value(0)));
  }
  return Ok();
}

Status InferOptionalHasElement(InferContext& context) {
  context.SetOutput(0, DataType::kBool, Shape(Dims()));
  return Ok();
}

Status OptionalHasElement(KernelContext& context) {
  *context.output(0).data<bool>() = context.HasInput(0) && !context.input_value(0).is_none();
  return Ok();
}

Status InferOptionalGetElement(InferContext& context) {
  const ValueType& type = context.type(0);
  if (type.kind != ValueKind::kOptional) {
    context.SetOutput(0, type);
  } else if (type.element) {
    context.SetOutput(0, *type.element);
  }
  return Ok();
}

Status OptionalGetElement(KernelContext& context) {
  const AnyValue* value = &context.input_value(0);
  if (value->is_none()) {
    return InvalidArgument("OptionalGetElement of an optional that holds nothing")
        .WithHint("ask OptionalHasElement first");
  }
  if (value->kind() == ValueKind::kOptional) value = &value->optional_value();
  if (value->is_tensor()) {
    ASC_ASSIGN_OR_RETURN(Tensor copy, value->tensor().Clone(context.run().allocator));
    context.SetOutput(0, std::move(copy));
  } else {
    context.SetOutput(0, *value);
  }
  return Ok();
}
}  // namespace

void AddOptionalOps(OpTable& table) {
  table.Add("Optional", 28)
      .Doc("an optional that holds the input, or nothing")
      .OptionalInput("input", "")
      .Output("output", "")
      .OptionalAttr("type", AttributeType::kType)
      .Infer(InferOptional)
      .Kernel(Optional);
  table.Add("OptionalHasElement", 28)
      .Doc("whether the input holds a value: false for an absent input or an empty optional")
      .OptionalInput("input", "")
      .Output("output", "B")
      .Types("B", types::kBool)
      .Infer(InferOptionalHasElement)
      .Kernel(OptionalHasElement);
  table.Add("OptionalGetElement", 28)
      .Doc("the value that an optional holds; other values pass")
      .Input("input", "")
      .Output("output", "")
      .ShapeFromKernel()
      .Infer(InferOptionalGetElement)
      .Kernel(OptionalGetElement);
}

}  // namespace asc
