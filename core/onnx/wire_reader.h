// Reads one protobuf message field by field, from bytes that nobody vouches for.
#ifndef ASC_CORE_ONNX_WIRE_READER_H_
#define ASC_CORE_ONNX_WIRE_READER_H_

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace asc::onnx {

// A thin shell over protozero that reports malformed bytes as a Status and checks every length
// against the bytes left in 64 bits (protozero itself keeps the low 32 only). The first error
// stays: Next() is false from then on, getters give nothing.
//
//   WireReader reader(bytes, "NodeProto");
//   while (reader.Next()) {
//     switch (reader.field()) { case NodeField::kName: name = reader.Bytes(); break; }
//   }
//   return reader.status();
//
// Fields that are not read are skipped. Views point into `bytes`.
class WireReader {
 public:
  WireReader(std::string_view bytes, std::string_view message_name)
      : reader_(bytes.data(), bytes.size()), message_name_(message_name) {}

  // Moves to the next field; false at the end and after an error.
  bool Next();
  uint32_t field() const { return reader_.tag(); }
  const Status& status() const { return status_; }

  std::string_view Bytes();
  std::string String() { return std::string(Bytes()); }
  int64_t Int();
  float Float();
  // Repeated scalars, packed or one by one.
  void AppendInts(std::vector<int64_t>& out);
  void AppendFloats(std::vector<float>& out);
  void AppendDoubles(std::vector<double>& out);

 private:
  template <typename F>
  void Guarded(F&& f);
  bool Expect(protozero::pbf_wire_type type);
  void Fail(std::string_view what);
  std::string_view TakeDelimited();
  void SkipField();
  template <typename T>
  void AppendFixed(std::vector<T>& out, protozero::pbf_wire_type single);

  protozero::pbf_reader reader_;
  std::string_view message_name_;
  bool pending_ = false;  // the current field has not been read
  Status status_;
};

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_WIRE_READER_H_
