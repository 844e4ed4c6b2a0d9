// FlexAttention of the domain ai.onnx.preview: attention whose scores and probabilities graphs may
// change. Its calls become nodes of other operators.
#ifndef ASC_CORE_ONNX_FLEX_ATTENTION_H_
#define ASC_CORE_ONNX_FLEX_ATTENTION_H_

#include <vector>

#include "core/onnx/imported_model.h"
#include "core/onnx/names.h"

namespace asc::onnx {

bool IsFlexAttention(const ImportedNode& node);

// The nodes for one call, in an order in which they can be built. `query`, `key`: what is known of
// the first two inputs. E5001, E5003 or E5006 when the call does not fit the definition.
Result<std::vector<ImportedNode>> ExpandFlexAttention(const ImportedNode& call,
                                                      const ValueType& query, const ValueType& key,
                                                      NameSupply& names);

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_FLEX_ATTENTION_H_
