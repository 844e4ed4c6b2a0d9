// ONNX models in: files and bytes of any opset become a Graph in the one canonical operator set.
#ifndef ASC_CORE_ONNX_IMPORT_H_
#define ASC_CORE_ONNX_IMPORT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/graph/graph.h"

namespace asc {

struct ImportOptions {
  std::string base_directory;  // of external data; empty: a model that has any is refused
};

// Both give a graph whose types are inferred. Models are hostile input: whatever is wrong is a
// Status that names the node or value (E5005 a broken graph, E5006 a broken file, E5010 a file that
// cannot be read, E5033 an operator that is not there, and what shape inference refuses).
// Graph::metadata() has the model's own properties under their names and what else the file says of
// itself under "onnx." (producer_name, ir_version, opset.ai.onnx, ...). Safe to call from many
// threads.

// Maps the file: constants refer to it where their elements are aligned, and keep it mapped.
// External data is looked for in the file's folder and below.
Result<std::unique_ptr<Graph>> ImportOnnxFile(const std::string& path);

// Constants refer to `bytes`, which must not change while the graph or something made from it
// lives.
Result<std::unique_ptr<Graph>> ImportOnnxBytes(std::shared_ptr<Buffer> bytes,
                                               const ImportOptions& options = {});

// An initializer that is listed as an input too (IR version 4 and later): an input with a default.
struct OverridableInput {
  std::string name;
  ValueType type;  // as declared
  Tensor value;
};

struct OnnxModel {
  // With the defaults as constants, which it can fold and pack.
  std::unique_ptr<Graph> graph;
  std::vector<OverridableInput> overridable;
  // Builds the graph with those as inputs, in this order after all others. Set where there are any;
  // thread-safe.
  std::function<Result<std::unique_ptr<Graph>>()> build_with_inputs;
  // Reads the model again: `graph` as it was, whatever became of it. Keeps the file mapped, or the
  // bytes; external data is looked for anew. Thread-safe.
  std::function<Result<std::unique_ptr<Graph>>()> build_again;
};

// The same as the two above, which leave out what may be overridden.
Result<OnnxModel> LoadOnnxFile(const std::string& path);
Result<OnnxModel> LoadOnnxBytes(std::shared_ptr<Buffer> bytes, const ImportOptions& options = {});

}  // namespace asc

#endif  // ASC_CORE_ONNX_IMPORT_H_
