// What the operators of com.microsoft share: ONNX Runtime's graph optimisers and quantisers write them
// into model files. Each becomes operators of ai.onnx.
#ifndef ASC_CORE_ONNX_ADAPTERS_CONTRIB_H_
#define ASC_CORE_ONNX_ADAPTERS_CONTRIB_H_

#include "core/onnx/adapters/adapter.h"

namespace asc::onnx {

constexpr std::string_view kContribDomain = "com.microsoft";
constexpr int64_t kContribVersion = 1;  // the only one

template <typename T>
AttributeMap OneAttribute(std::string_view name, T value) {
  AttributeMap attributes;
  attributes.Set(name, std::move(value));
  return attributes;
}

// Emits an operator that makes the node's output `i`; the node itself is not built.
inline Status Replace(Adaptation& adaptation, std::string_view op, std::vector<std::string> inputs,
                      AttributeMap attributes = {}, size_t i = 0) {
  adaptation.replaced = true;
  if (!adaptation.WantsOutput(i)) return Ok();
  ImportedNode last;
  last.op_type = op;
  last.name = adaptation.node.name;
  last.inputs = std::move(inputs);
  last.outputs = {adaptation.node.outputs[i]};
  last.attributes = std::move(attributes);
  return adaptation.scope.Emit(std::move(last));
}

// The same for a value that is there already.
inline Status ReplaceBy(Adaptation& adaptation, std::string value, size_t i = 0) {
  return Replace(adaptation, "Identity", {std::move(value)}, {}, i);
}

// x + addend; x where there is no addend.
inline Result<std::string> PlusOptional(Adaptation& adaptation, std::string x,
                                        const std::string& addend) {
  if (addend.empty()) return x;
  return adaptation.Compute("Add", {std::move(x), addend});
}

// A constant of rank 0 of the type of the value `like`.
Result<std::string> NumberLike(Adaptation& adaptation, const std::string& like, double value);

std::span<const AdapterRow> ContribAttentionAdapters();
std::span<const AdapterRow> ContribFusionAdapters();
std::span<const AdapterRow> ContribQuantizedAdapters();

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_ADAPTERS_CONTRIB_H_
