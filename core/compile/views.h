// Which operators can share their input's memory instead of running.
#ifndef ASC_CORE_COMPILE_VIEWS_H_
#define ASC_CORE_COMPILE_VIEWS_H_

#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace asc {

// What a plan knows of a node that may be a view. Extents are those of the storage.
struct ViewRequest {
  const Node& node;
  const Dims& input_dims;                   // of input 0
  DataType dtype = DataType::kUndefined;    // of input 0
  std::vector<Dims> output_dims;
  std::vector<const Tensor*> known_inputs;  // elements that do not depend on the data, else null
  bool transient = true;                    // the input's memory is free for others after its last reader
};

// Byte offsets into input 0 at which the outputs of the node begin, where each is a run of the input's own bytes in order: a
// Reshape, Squeeze, Unsqueeze, Flatten or Identity of plain row-major values, a Transpose that only moves axes of one element, a
// Slice, Split or Gather of one place along the leading axis that is longer than one, or a TransData of single pixels. nullopt
// for everything else, and for a small part of a large transient value, which would keep the whole of it alive.
std::optional<std::vector<size_t>> ViewOffsets(const ViewRequest& request);

// What a plan knows of a Concat.
struct JoinRequest {
  const Node& node;
  Layout storage;                         // of all inputs and the output
  const std::vector<Dims>& input_dims;    // of the storage
  const std::vector<Dims>& input_extents; // of the origin
  DataType dtype = DataType::kUndefined;
};

// Byte offsets into the output at which the inputs stand, where each is a run of the output's bytes: all axes before the one
// that grows have one element. nullopt for other nodes, and where an input would begin off a cache line.
std::optional<std::vector<size_t>> JoinOffsets(const JoinRequest& request);

// Whether the node may write output 0 over input `i`: element-wise, equal extents and element size.
bool CanWriteInPlace(const Node& node, const Dims& input_dims, DataType input_type, const Dims& output_dims,
                     DataType output_type);

}  // namespace asc

#endif  // ASC_CORE_COMPILE_VIEWS_H_
