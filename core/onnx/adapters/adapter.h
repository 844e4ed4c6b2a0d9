// Version adapters: each turns one older form of an operator into a newer one.
#ifndef ASC_CORE_ONNX_ADAPTERS_ADAPTER_H_
#define ASC_CORE_ONNX_ADAPTERS_ADAPTER_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/onnx/imported_model.h"

namespace asc::onnx {

// The graph around the node that is being upgraded. Everything that the node reads is built and
// inferred already.
class AdapterScope {
 public:
  virtual ~AdapterScope() = default;
  // Null for an absent input.
  virtual const ValueType* TypeOf(const std::string& name) = 0;
  // The value, where it is a constant.
  virtual const Tensor* ConstantOf(const std::string& name) = 0;
  virtual std::string FreshName(std::string_view base) = 0;
  // Gives the constant's name.
  virtual std::string AddConstant(std::string_view base, Tensor value) = 0;
  // Builds a node of canonical form now.
  virtual Status Emit(ImportedNode node) = 0;
};

// One node on its way to the canonical form.
struct Adaptation {
  AdapterScope& scope;
  ImportedNode& node;
  std::vector<ImportedNode> after;  // to be built after the node, in this order
  bool replaced = false;            // what was emitted stands for the node: it is not built itself
};

using Adapter = Status (*)(Adaptation&);

struct AdapterRow {
  std::string_view op;
  int64_t up_to;    // the newest opset that has the older form
  Adapter adapter;  // makes it the form of `up_to` + 1
};

// Brings the node from its opset to the canonical form.
Status UpgradeNode(Adaptation& adaptation);

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_ADAPTERS_ADAPTER_H_
