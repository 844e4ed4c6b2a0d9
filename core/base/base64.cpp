#include "core/base/base64.h"

#include <array>
#include <cstdint>

namespace asc {
namespace {
constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> MakeValues() {
  std::array<int8_t, 256> values{};
  values.fill(-1);
  for (size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<uint8_t>(kDigits[i])] = static_cast<int8_t>(i);
  }
  return values;
}
constexpr std::array<int8_t, 256> kValues = MakeValues();
}  // namespace

std::string EncodeBase64(const void* data, size_t bytes) {
  const auto* in = static_cast<const uint8_t*>(data);
  std::string out;
  out.reserve((bytes + 2) / 3 * 4);
  for (size_t i = 0; i < bytes; i += 3) {
    const size_t left = bytes - i;
    const uint32_t group = static_cast<uint32_t>(in[i]) << 16 |
                           (left > 1 ? static_cast<uint32_t>(in[i + 1]) << 8 : 0) |
                           (left > 2 ? static_cast<uint32_t>(in[i + 2]) : 0);
    out += kDigits[group >> 18];
    out += kDigits[(group >> 12) & 63];
    out += left > 1 ? kDigits[(group >> 6) & 63] : '=';
    out += left > 2 ? kDigits[group & 63] : '=';
  }
  return out;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    uint32_t group = 0;
    for (size_t j = 0; j < 4; ++j) {
      const bool pad = last && j >= 4 - padding;
      const int8_t value = pad ? 0 : kValues[static_cast<uint8_t>(text[i + j])];
      if (value < 0) return std::nullopt;
      group = group << 6 | static_cast<uint32_t>(value);
    }
    const size_t count = last ? 3 - padding : 3;
    // Bits behind the end must be zero, so that equal bytes have one spelling.
    if (count < 3 && (group & (count == 2 ? 0xffu : 0xffffu)) != 0) return std::nullopt;
    for (size_t j = 0; j < count; ++j) out += static_cast<char>(group >> (16 - 8 * j));
  }
  return out;
}

}  // namespace asc
