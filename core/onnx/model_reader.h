// ModelProto to ImportedModel.
#ifndef ASC_CORE_ONNX_MODEL_READER_H_
#define ASC_CORE_ONNX_MODEL_READER_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/onnx/imported_model.h"
#include "core/onnx/tensor_reader.h"
#include "core/onnx/type_reader.h"

namespace asc::onnx {

// Bodies of control flow may be nested this deep: everything that walks graphs calls itself for
// them.
inline constexpr int kDeepestGraph = 64;

class ModelReader {
 public:
  // `model` holds the encoded ModelProto; `folder`: see ExternalData.
  ModelReader(DataFile model, std::string folder)
      : model_(model), tensors_(std::move(model), std::move(folder)) {}

  Result<ImportedModel> Read();

 private:
  Status ReadModel(std::string_view message, ImportedModel& model);
  Status ReadGraph(std::string_view message, ImportedGraph& graph, int depth);
  Status ReadNodes(const std::vector<std::string_view>& messages, std::vector<ImportedNode>& nodes,
                   int depth);
  Status ReadNode(std::string_view message, ImportedNode& node, int depth);
  Status ReadAttribute(std::string_view message, ImportedNode& node, int depth);
  Status ReadFunction(std::string_view message, ImportedFunction& function);
  Result<ImportedValue> ReadValueInfo(std::string_view message);
  Status ReadOpset(std::string_view message, OpsetImports& opsets);

  DataFile model_;
  const OpsetImports* opsets_ = nullptr;  // of the model or function that is being read
  TensorReader tensors_;
  TypeReader types_;
};

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_MODEL_READER_H_
