// ONNX models out, in builds that have the exporter.
#ifndef ASC_CAPI_SRC_ONNX_H_
#define ASC_CAPI_SRC_ONNX_H_

namespace asc::capi {

// Dumps of graphs have a model (.onnx) beside text and DOT from now on, for graphs whose weights are
// small enough to be written after every pass. Safe to call often and from any thread.
void DumpOnnxToo();

}  // namespace asc::capi

#endif  // ASC_CAPI_SRC_ONNX_H_
