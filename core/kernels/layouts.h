// Which operators the host's kernels run in blocked layouts.
#ifndef ASC_CORE_KERNELS_LAYOUTS_H_
#define ASC_CORE_KERNELS_LAYOUTS_H_

#include "core/graph/graph.h"

namespace asc {

// True where the host's kernels take and give `layout` at this node for all its image-shaped operands (activations, not weights).
bool AcceptsLayoutOnHost(const Graph& graph, const Node& node, const Layout& layout);

}  // namespace asc

#endif  // ASC_CORE_KERNELS_LAYOUTS_H_
