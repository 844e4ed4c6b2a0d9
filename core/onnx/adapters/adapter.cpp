#include "core/onnx/adapters/adapter.h"

namespace asc::onnx {

Status UpgradeNode(Adaptation&) { return Ok(); }

}  // namespace asc::onnx
