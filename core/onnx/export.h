// ONNX models out.
#ifndef ASC_CORE_ONNX_EXPORT_H_
#define ASC_CORE_ONNX_EXPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/graph/graph.h"

namespace asc {

struct ExportOptions {
  // Version of ai.onnx that the model is written for; 0: the oldest (not under 13) in which all of its
  // operators mean what they do here, which the most engines can read.
  int64_t opset = 0;
  // Files only: weights that take more bytes than this together are kept in `<path>.data` beside the
  // model (those under 1 KiB and strings stay inside). The default is near the 2 GiB where protobuf
  // ends; INT64_MAX: never.
  int64_t external_data_over = kMostInside;
  bool value_info = true;  // types of intermediate values too
  // Constants, by name, that callers may override: inputs with a default.
  std::vector<std::string> inputs_with_default = {};

  static constexpr int64_t kMostInside = (int64_t{1} << 31) - (int64_t{1} << 26);
};

// Writes the graph as a ModelProto that any engine for ONNX reads. The compiler's own operators become
// ONNX's (core/ops/expansion.h), names of inputs, outputs and nodes stay, and of other values as far as
// ONNX lets two of them not share one. Variables: see core/onnx/export_graph.h. Metadata that came with
// an imported model goes out with it. Operators of domains that are not ONNX's are written as they are.
// E5033 for operators of the compiler that ONNX has no words for, E5003 for opsets that lack what the
// graph needs (naming the node), names that clash and weights over 2 GiB that must stay inside.
// Safe to call from many threads.

Result<std::string> ExportOnnxBytes(const Graph& graph, const ExportOptions& options = {});

// E5010 when a file cannot be written, which leaves what was there.
Status ExportOnnxFile(const Graph& graph, const std::string& path,
                      const ExportOptions& options = {});

}  // namespace asc

#endif  // ASC_CORE_ONNX_EXPORT_H_
