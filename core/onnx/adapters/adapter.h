// Version adapters: each turns one older form of an operator into the next newer one.
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
  std::vector<ImportedNode> after = {};  // to be built after the node, in this order
  bool replaced = false;  // what was emitted stands for the node: it is not built itself

  AttributeMap& attributes() { return node.attributes; }
  // "" where the node has no such input or output.
  std::string input(size_t i) const { return i < node.inputs.size() ? node.inputs[i] : ""; }
  bool WantsOutput(size_t i) const { return i < node.outputs.size() && !node.outputs[i].empty(); }
  void SetInput(size_t i, std::string name);
  // Nullopt when the input is absent or its rank is not known.
  std::optional<size_t> Rank(size_t i);
  // Refuses what cannot be upgraded: "Op of opset N <what>".
  Status Refuse(std::string_view what) const;

  // Constants named after the node.
  std::string Ints(std::string_view base, const std::vector<int64_t>& values);
  // The list attribute, if there is one, becomes the int64 input number `i`.
  void IntsToInput(std::string_view attribute, size_t i);
  // Emits an operator with one output; gives its name.
  Result<std::string> Compute(std::string_view op, std::vector<std::string> inputs,
                              AttributeMap attributes = {});
  // The node gets another name for output `i`; what follows (`after`) makes the value of the old
  // one, which is given.
  std::string DivertOutput(size_t i);
  // Appends an operator that makes `output` after the node.
  void Then(std::string_view op, std::vector<std::string> inputs, std::string output,
            AttributeMap attributes = {});
};

using Adapter = Status (*)(Adaptation&);

struct AdapterRow {
  std::string_view op;
  int64_t up_to;    // the newest opset that has the older form
  Adapter adapter;  // makes it the form of `up_to` + 1
  std::string_view domain = "";
};

// The rows, by family. Order does not matter.
std::span<const AdapterRow> ElementwiseAdapters();
std::span<const AdapterRow> MlAdapters();
std::span<const AdapterRow> NormalizationAdapters();
std::span<const AdapterRow> RecurrentAdapters();
std::span<const AdapterRow> ReductionAdapters();
std::span<const AdapterRow> ResizeAdapters();
std::span<const AdapterRow> ShapeAdapters();

// Brings the node from its opset to the canonical form.
Status UpgradeNode(Adaptation& adaptation);

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_ADAPTERS_ADAPTER_H_
