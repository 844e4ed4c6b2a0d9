#include "core/ops/evaluate.h"

namespace asc {

Result<std::vector<AnyValue>> AllocateOutputs(InferContext& context, const std::shared_ptr<Allocator>& allocator) {
  std::vector<AnyValue> outputs(context.output_count());
  if (context.schema().output_shape_from_kernel) return outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueType& type = context.outputs()[i].type;
    if (!type.is_tensor() || type.dtype == DataType::kUndefined) continue;
    const auto dims = type.shape.ToDims();
    if (!dims) {
      return InternalError("the shape rule of ", context.schema().FullName(), " gives ", type, " for known inputs");
    }
    ASC_ASSIGN_OR_RETURN(outputs[i], Tensor::Allocate(type.dtype, *dims, allocator));
  }
  return outputs;
}

Result<std::vector<AnyValue>> Evaluate(const OpSchema& schema, const AttributeMap& attributes,
                                       const std::vector<const AnyValue*>& inputs, size_t output_count, RunState& run,
                                       uint64_t node_key) {
  if (schema.reference == nullptr) {
    return Error(Code::kUnsupportedOperator, "operator ", schema.FullName(), " cannot be run alone");
  }
  std::vector<ValueType> types(inputs.size());
  std::vector<InferInput> infer_inputs(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    types[i] = inputs[i]->Type();
    infer_inputs[i].type = &types[i];
    if (inputs[i]->is_tensor()) infer_inputs[i].constant = &inputs[i]->tensor();
  }
  AttributeMap checked = attributes;
  ASC_RETURN_IF_ERROR(CheckAgainstSchema(schema, infer_inputs, output_count, checked));
  InferContext context(schema, checked, std::move(infer_inputs), output_count);
  if (schema.infer != nullptr) ASC_RETURN_IF_ERROR(schema.infer(context));
  ASC_ASSIGN_OR_RETURN(std::vector<AnyValue> outputs, AllocateOutputs(context, run.allocator));
  std::vector<AnyValue*> pointers(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) pointers[i] = &outputs[i];
  KernelContext kernel(schema, checked, inputs.data(), inputs.size(), pointers.data(), pointers.size(), run, node_key);
  ASC_RETURN_IF_ERROR(schema.reference(kernel));
  return outputs;
}

}  // namespace asc
