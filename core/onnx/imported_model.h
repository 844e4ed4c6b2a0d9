// An ONNX model between file and Graph: values are names still, operators have the version of their
// opset, functions are calls. Version adapters and the inliner work on this form.
#ifndef ASC_CORE_ONNX_IMPORTED_MODEL_H_
#define ASC_CORE_ONNX_IMPORTED_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/attributes.h"
#include "core/graph/graph.h"

namespace asc::onnx {

struct ImportedGraph;

// Domain -> version; the domain "ai.onnx" is written "".
using OpsetImports = std::map<std::string, int64_t, std::less<>>;

struct ImportedNode {
  std::string domain, op_type, overload;
  std::string name;                  // the user's, may be empty
  std::vector<std::string> inputs;   // "": absent
  std::vector<std::string> outputs;  // "": not wanted
  AttributeMap attributes;
  std::vector<std::pair<std::string, std::shared_ptr<const ImportedGraph>>>
      regions;  // by attribute name
  // In function bodies: attribute -> the function's parameter that gives its value.
  std::vector<std::pair<std::string, std::string>> attribute_references;
  std::vector<Origin> origins;
  // Version of the operator's domain where the node was written; kCanonical: the newest form,
  // nothing to upgrade.
  int64_t opset = kCanonical;
  static constexpr int64_t kCanonical = INT64_MAX;

  // For messages: the user's name, or operator and number.
  std::string Label() const {
    return origins.empty() ? (name.empty() ? op_type : name) : origins.front().node;
  }
};

struct ImportedValue {
  std::string name;
  std::optional<ValueType> type;  // none: nothing was said
};

struct ImportedGraph {
  std::string name;
  std::vector<ImportedValue> inputs, outputs;
  std::map<std::string, ValueType, std::less<>> value_info;
  std::vector<std::pair<std::string, Tensor>> initializers;
  std::vector<ImportedNode> nodes;  // in any order
};

struct ImportedFunction {
  std::string domain, name, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> parameters;  // attributes without a default
  ImportedNode defaults;                // its attributes are the parameters that have a default
  std::vector<ImportedNode> nodes;
};

struct ImportedModel {
  int64_t ir_version = 0;
  ImportedGraph graph;
  OpsetImports opsets;
  std::vector<ImportedFunction> functions;
  std::map<std::string, std::string> metadata;
};

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_IMPORTED_MODEL_H_
