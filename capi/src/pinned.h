// Operators that are pinned to a layout: `expected_format` says in which one they take their first operand.
#ifndef ASC_CAPI_SRC_PINNED_H_
#define ASC_CAPI_SRC_PINNED_H_

#include "core/graph/builder.h"

namespace asc::capi {

// Adds a pinned operator. An operand in another layout is E5008, naming both and the transpose that would mend it, unless a TransData
// meets it (a blocked form of the operand's own layout), which the compiler inserts. Operators over spatial axes compute channels-last
// operands as such. On failure the caller rolls the graph back (Graph::RollBack).
Result<std::vector<ValueId>> BuildPinned(Graph& graph, NodeSpec spec,
                                         std::string_view expected_format);

}  // namespace asc::capi

#endif  // ASC_CAPI_SRC_PINNED_H_
