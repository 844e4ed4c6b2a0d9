#include "core/onnx/tensor_writer.h"

#include <algorithm>
#include <vector>

#include "core/onnx/onnx_fields.h"
#include "core/onnx/stored_bytes.h"

namespace asc::onnx {
namespace {
using protozero::pbf_writer;

// Smaller ones stay in the model, where they cost least.
constexpr size_t kLeastExternal = 1024;
// Vectors, and pages where it is worth while: so that a mapped file's elements serve as they lie.
constexpr uint64_t kAlignment = 64, kPage = 4096;
constexpr size_t kLeastPaged = size_t{1} << 20;
constexpr size_t kStep = size_t{1} << 22;

std::string PackSixBit(const Tensor& tensor) {
  const auto* in = static_cast<const uint8_t*>(tensor.raw());
  std::string out(StoredBytes(tensor.dtype(), tensor.bytes()), '\0');
  for (size_t i = 0; i < static_cast<size_t>(tensor.size()); ++i) {
    const size_t bit = i * 6;
    const unsigned bits = static_cast<unsigned>(in[i] & 0x3f) << (bit % 8);
    out[bit / 8] = static_cast<char>(static_cast<unsigned char>(out[bit / 8]) | (bits & 0xff));
    if (bits > 0xff) {
      const auto next = static_cast<unsigned char>(out[bit / 8 + 1]);
      out[bit / 8 + 1] = static_cast<char>(next | (bits >> 8));
    }
  }
  return out;
}

// Calls sink(data, bytes) with the stored bytes, step by step: lazy elements are never made whole.
template <typename Sink>
void VisitStored(const Tensor& tensor, Sink sink) {
  if (IsSixBit(tensor.dtype())) {
    const std::string packed = PackSixBit(tensor);
    return sink(packed.data(), packed.size());
  }
  const size_t bytes = tensor.bytes();
  if (!tensor.is_lazy()) return sink(static_cast<const char*>(tensor.raw()), bytes);
  std::vector<std::byte> part(std::min(kStep, bytes));
  for (size_t done = 0; done < bytes; done += kStep) {
    const size_t step = std::min(kStep, bytes - done);
    tensor.CopyBytes(done, step, part.data());
    sink(reinterpret_cast<const char*>(part.data()), step);
  }
}

void WriteEntry(std::string_view key, const std::string& value, pbf_writer out) {
  out.add_string(EntryField::kKey, key.data(), key.size());
  out.add_string(EntryField::kValue, value);
}
}  // namespace

bool ExternalWriter::Takes(const Tensor& tensor) {
  return tensor.dtype() != DataType::kString && tensor.bytes() >= kLeastExternal;
}

uint64_t ExternalWriter::Add(const Tensor& tensor) {
  const auto [place, is_new] = places_.try_emplace({tensor.identity(), tensor.bytes()}, 0);
  if (!is_new) return place->second;
  const uint64_t alignment = tensor.bytes() >= kLeastPaged ? kPage : kAlignment;
  place->second = (file_.size() + alignment - 1) / alignment * alignment;
  file_.PadTo(place->second);
  VisitStored(tensor, [&](const char* data, size_t bytes) { file_.Write(data, bytes); });
  return place->second;
}

void WriteTensor(const std::string& name, const Tensor& tensor, ExternalWriter* external,
                 pbf_writer out) {
  for (const int64_t extent : tensor.dims()) out.add_int64(TensorField::kDims, extent);
  out.add_int32(TensorField::kDataType, static_cast<int32_t>(tensor.dtype()));
  if (!name.empty()) out.add_string(TensorField::kName, name);
  if (tensor.dtype() == DataType::kString) {
    for (const std::string& text : tensor.values<std::string>())
      out.add_bytes(TensorField::kStringData, text);
    return;
  }
  if (external != nullptr && ExternalWriter::Takes(tensor)) {
    const uint64_t offset = external->Add(tensor);
    WriteEntry("location", external->location(), {out, TensorField::kExternalData});
    WriteEntry("offset", std::to_string(offset), {out, TensorField::kExternalData});
    WriteEntry("length", std::to_string(StoredBytes(tensor.dtype(), tensor.bytes())),
               {out, TensorField::kExternalData});
    out.add_int64(TensorField::kDataLocation, kDataLocationExternal);
    return;
  }
  // One field of bytes: whole elements are needed.
  if (!tensor.is_lazy()) {
    VisitStored(tensor, [&](const char* data, size_t bytes) {
      out.add_bytes(TensorField::kRawData, data, bytes);
    });
    return;
  }
  std::string whole;
  whole.reserve(StoredBytes(tensor.dtype(), tensor.bytes()));
  VisitStored(tensor, [&](const char* data, size_t bytes) { whole.append(data, bytes); });
  out.add_bytes(TensorField::kRawData, whole);
}

}  // namespace asc::onnx
