// ONNX models in, in builds that have the importer.
#ifndef ASC_CAPI_SRC_IMPORT_H_
#define ASC_CAPI_SRC_IMPORT_H_

#include <functional>
#include <string>
#include <vector>

#include "asc/value.h"
#include "core/graph/graph.h"
#include "core/runtime/overrides.h"

namespace asc::capi {

// E5003 for texts that are no path.
Status CheckPath(asc_string path);

struct ImportedModel {
  std::unique_ptr<Graph> graph;
  OverridableInputs overridable;
  std::function<Result<std::unique_ptr<Graph>>()> again;  // the same graph once more
};
std::vector<std::string> NamesOf(const OverridableInputs& inputs);
Result<ImportedModel> ImportFile(asc_string path);
// The bytes of a model in a uint8 tensor, whose memory they share.
Result<std::shared_ptr<Buffer>> ModelBytes(const asc_value* model);
Result<ImportedModel> ImportBytes(std::shared_ptr<Buffer> model);

}  // namespace asc::capi

#endif  // ASC_CAPI_SRC_IMPORT_H_
