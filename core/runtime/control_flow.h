// The operators that own regions: If, Loop, Scan, SequenceMap.
#ifndef ASC_CORE_RUNTIME_CONTROL_FLOW_H_
#define ASC_CORE_RUNTIME_CONTROL_FLOW_H_

#include "core/runtime/executor.h"

namespace asc {

// Runs a node with regions. `inputs`: its inputs, then the captures of its regions in order (null: absent).
Result<std::vector<AnyValue>> RunRegions(const Executable& executable, const Node& node,
                                         const std::vector<const AnyValue*>& inputs, Execution& execution);

}  // namespace asc

#endif  // ASC_CORE_RUNTIME_CONTROL_FLOW_H_
