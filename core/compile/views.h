// Which operators can share their input's memory instead of running.
#ifndef ASC_CORE_COMPILE_VIEWS_H_
#define ASC_CORE_COMPILE_VIEWS_H_

#include <optional>

#include "core/graph/graph.h"

namespace asc {

// Byte offset into input 0 at which output 0 of the node begins, where the output is a run of the input's own bytes in order: a
// Reshape, Squeeze, Unsqueeze, Flatten or Identity of plain row-major values, or a TransData of single pixels. The extents are
// those of the storage. nullopt for everything else.
std::optional<size_t> ViewOffset(const Node& node, const Dims& input_dims, const Dims& output_dims, DataType dtype);

// Whether the node may write output 0 over input `i`: element-wise, equal extents and element size.
bool CanWriteInPlace(const Node& node, const Dims& input_dims, DataType input_type, const Dims& output_dims,
                     DataType output_type);

}  // namespace asc

#endif  // ASC_CORE_COMPILE_VIEWS_H_
