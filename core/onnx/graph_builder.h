// ImportedModel to Graph.
#ifndef ASC_CORE_ONNX_GRAPH_BUILDER_H_
#define ASC_CORE_ONNX_GRAPH_BUILDER_H_

#include <memory>

#include "core/graph/graph.h"
#include "core/onnx/imported_model.h"

namespace asc::onnx {

// Upgrades, inlines, builds and infers node by node in topological order, so that each step knows
// the facts of everything before it.
Result<std::unique_ptr<Graph>> BuildGraph(const ImportedModel& model);

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_GRAPH_BUILDER_H_
