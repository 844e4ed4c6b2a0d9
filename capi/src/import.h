// ONNX models in, in builds that have the importer.
#ifndef ASC_CAPI_SRC_IMPORT_H_
#define ASC_CAPI_SRC_IMPORT_H_

#include "asc/value.h"
#include "core/graph/graph.h"

namespace asc::capi {

Result<std::unique_ptr<Graph>> ImportFile(asc_string path);
Result<std::unique_ptr<Graph>> ImportBytes(const asc_value* model);

}  // namespace asc::capi

#endif  // ASC_CAPI_SRC_IMPORT_H_
