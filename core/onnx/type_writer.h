// ValueType to TypeProto.
#ifndef ASC_CORE_ONNX_TYPE_WRITER_H_
#define ASC_CORE_ONNX_TYPE_WRITER_H_

#include <protozero/pbf_writer.hpp>
#include <string>

#include "core/tensor/any_value.h"

namespace asc::onnx {

// Whether a file can say it: no element type is open. (Extents may be.)
bool IsWritable(const ValueType& type);

// Writes the message into `out`. Named extents and expressions over them become parameters, unknown
// ones nothing. Only for writable types.
void WriteType(const ValueType& type, protozero::pbf_writer& out);

// A ValueInfoProto; without a type where it cannot be written.
void WriteValueInfo(const std::string& name, const ValueType& type, protozero::pbf_writer out);

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_TYPE_WRITER_H_
