#include "core/onnx/wire_reader.h"

#include <cstring>

namespace asc::onnx {
namespace {
using protozero::pbf_wire_type;

uint64_t PeekVarint(const protozero::pbf_reader& reader, const char** after) {
  const protozero::data_view rest = reader.data();
  *after = rest.data();
  return protozero::decode_varint(after, rest.data() + rest.size());
}
}  // namespace

void WireReader::Fail(std::string_view what) {
  pending_ = false;
  if (status_.ok()) {
    status_ = Error(Code::kInvalidModel, "malformed ", message_name_, ": ", what)
                  .WithHint("the file is damaged, cut short, or not an ONNX model");
  }
}

template <typename F>
void WireReader::Guarded(F&& f) {
  try {
    f();
  } catch (const protozero::exception& error) {
    Fail(error.what());
  }
}

bool WireReader::Next() {
  if (!status_.ok()) return false;
  bool found = false;
  Guarded([&] {
    if (pending_) SkipField();
    if (!status_.ok() || reader_.length() == 0) return;
    const char* after = nullptr;
    if (PeekVarint(reader_, &after) > UINT32_MAX) return Fail("a field number is out of range");
    found = reader_.next();
    pending_ = found;
  });
  return found && status_.ok();
}

bool WireReader::Expect(pbf_wire_type type) {
  if (!pending_) return false;
  if (reader_.wire_type() == type) return true;
  Fail(Cat("field ", field(), " has the wrong wire type ", static_cast<int>(reader_.wire_type())));
  return false;
}

std::string_view WireReader::TakeDelimited() {
  const char* begin = nullptr;
  const uint64_t length = PeekVarint(reader_, &begin);
  const protozero::data_view rest = reader_.data();
  const auto left = static_cast<uint64_t>(rest.data() + rest.size() - begin);
  if (length > left) {
    Fail(Cat("field ", field(), " says that it has ", length, " bytes, ", left, " are left"));
    return {};
  }
  pending_ = false;
  reader_ = protozero::pbf_reader(begin + length, static_cast<size_t>(left - length));
  return {begin, static_cast<size_t>(length)};
}

void WireReader::SkipField() {
  if (reader_.wire_type() == pbf_wire_type::length_delimited) {
    TakeDelimited();
  } else {
    reader_.skip();
  }
  pending_ = false;
}

std::string_view WireReader::Bytes() {
  std::string_view out;
  if (Expect(pbf_wire_type::length_delimited)) Guarded([&] { out = TakeDelimited(); });
  return out;
}

int64_t WireReader::Int() {
  int64_t out = 0;
  if (Expect(pbf_wire_type::varint)) Guarded([&] { out = reader_.get_int64(); });
  pending_ = false;
  return out;
}

float WireReader::Float() {
  float out = 0;
  if (Expect(pbf_wire_type::fixed32)) Guarded([&] { out = reader_.get_float(); });
  pending_ = false;
  return out;
}

void WireReader::AppendInts(std::vector<int64_t>& out) {
  if (!pending_ || reader_.wire_type() != pbf_wire_type::length_delimited) {
    const int64_t value = Int();
    if (status_.ok()) out.push_back(value);
    return;
  }
  const std::string_view packed = Bytes();
  Guarded([&] {
    const char* at = packed.data();
    const char* const end = at + packed.size();
    while (at != end) out.push_back(static_cast<int64_t>(protozero::decode_varint(&at, end)));
  });
}

template <typename T>
void WireReader::AppendFixed(std::vector<T>& out, pbf_wire_type single) {
  if (!pending_ || reader_.wire_type() != pbf_wire_type::length_delimited) {
    T value{};
    if (Expect(single)) {
      Guarded([&] {
        if constexpr (sizeof(T) == 4) {
          value = reader_.get_float();
        } else {
          value = reader_.get_double();
        }
      });
    }
    pending_ = false;
    if (status_.ok()) out.push_back(value);
    return;
  }
  const uint32_t number = field();
  const std::string_view packed = Bytes();
  if (packed.size() % sizeof(T) != 0)
    return Fail(Cat("field ", number, " holds a broken array of ", packed.size(), " bytes"));
  const size_t count = out.size();
  out.resize(count + packed.size() / sizeof(T));
  if (!packed.empty()) std::memcpy(out.data() + count, packed.data(), packed.size());
}

void WireReader::AppendFloats(std::vector<float>& out) { AppendFixed(out, pbf_wire_type::fixed32); }
void WireReader::AppendDoubles(std::vector<double>& out) {
  AppendFixed(out, pbf_wire_type::fixed64);
}

}  // namespace asc::onnx
