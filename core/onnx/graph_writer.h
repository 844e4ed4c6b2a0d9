// Graph to GraphProto.
#ifndef ASC_CORE_ONNX_GRAPH_WRITER_H_
#define ASC_CORE_ONNX_GRAPH_WRITER_H_

#include <protozero/pbf_writer.hpp>
#include <set>

#include "core/onnx/export_graph.h"
#include "core/onnx/tensor_writer.h"

namespace asc::onnx {

struct GraphWriterOptions {
  bool value_info = true;              // types of values that are neither inputs nor outputs
  ExternalWriter* external = nullptr;  // for big weights; null: all in the model
  std::set<ValueId> defaults;          // constants of the graph that are inputs too
  std::set<ValueId> shared;            // constants of the graph that only regions may use
};

// Writes a graph that PrepareForExport made. E5003 for an output whose type is not known.
Status WriteGraph(const Graph& graph, const GraphWriterOptions& options, protozero::pbf_writer out);

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_GRAPH_WRITER_H_
