#include "core/kernels/matmul_form.h"

#include "core/kernels/vector/common.h"

namespace asc {

Result<MatMulForm> MatMulFormOf(const Node& node) {
  MatMulForm form;
  const AttributeMap& attributes = node.attributes;
  if (node.Is("MatMul")) return form;
  form.transpose_a = attributes.Int("transA", 0) != 0;
  form.transpose_b = attributes.Int("transB", 0) != 0;
  form.alpha = attributes.Float("alpha", 1);
  if (!node.Is("Gemm")) {
    ASC_ASSIGN_OR_RETURN(form.activation, simd::ActivationOf(attributes));
  }
  return form;
}

bool IsPlainMatMul(const KernelRequest& request) {
  for (const std::vector<OperandDesc>* operands : {&request.inputs, &request.outputs}) {
    for (const OperandDesc& operand : *operands) {
      if (!operand.present) continue;
      if (operand.dtype != DataType::kFloat32 || operand.layout.is_blocked()) return false;
      if (ElementCount(operand.dims) == 0) return false;
    }
  }
  if (request.inputs[0].dims.empty() || request.inputs[1].dims.empty()) return false;
  if (request.node.Is("Gemm") && request.inputs.size() > 2 && request.inputs[2].present) {
    return request.node.attributes.Float("beta", 1) == 1;
  }
  return true;
}

}  // namespace asc
