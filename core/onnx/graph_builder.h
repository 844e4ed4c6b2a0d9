// ImportedModel to Graph.
#ifndef ASC_CORE_ONNX_GRAPH_BUILDER_H_
#define ASC_CORE_ONNX_GRAPH_BUILDER_H_

#include <memory>
#include <set>
#include <string>

#include "core/graph/graph.h"
#include "core/onnx/imported_model.h"

namespace asc::onnx {

// Initializers of the model's graph that are listed as inputs too, by name: callers may feed them.
// Up to IR version 3 every initializer had to be listed, which said nothing: there are none then.
std::set<std::string> OverridableNames(const ImportedModel& model);

enum class Overridable { kConstants, kInputs };

// Upgrades, inlines, builds and infers node by node in topological order, so that each step knows
// the facts of everything before it. What is overridable becomes constants, or inputs after all
// others.
Result<std::unique_ptr<Graph>> BuildGraph(const ImportedModel& model,
                                          Overridable overridable = Overridable::kConstants);

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_GRAPH_BUILDER_H_
