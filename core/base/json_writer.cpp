#include "core/base/json_writer.h"

#include <charconv>
#include <cmath>

namespace asc {
namespace {

// Bytes of the well-formed UTF-8 character at the start of `text`; 0 when there is none (Unicode 15, table 3-7).
size_t CharacterLength(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto continues = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned lead = byte(0), second = byte(1);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return continues(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const bool fits = !(lead == 0xe0 && second < 0xa0) && !(lead == 0xed && second > 0x9f);
    return fits && continues(1) && continues(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const bool fits = !(lead == 0xf0 && second < 0x90) && !(lead == 0xf4 && second > 0x8f);
    return fits && continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

template <typename T>
std::string_view Format(char (&buffer)[40], T value) {
  if (!std::isfinite(value)) return "null";
  const char* end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  return {buffer, static_cast<size_t>(end - buffer)};
}

}  // namespace

void JsonWriter::NewLine() {
  if (indent_ == 0) return;
  out_ += '\n';
  out_.append(static_cast<size_t>(indent_) * static_cast<size_t>(depth_), ' ');
}

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!first_) out_ += ',';
  if (depth_ > 0) NewLine();
  first_ = false;
}

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  out_ += bracket;
  ++depth_;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  --depth_;
  if (!first_) NewLine();
  out_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  Separate();
  AppendQuoted(key);
  out_ += indent_ == 0 ? ":" : ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::Raw(std::string_view text) {
  Separate();
  out_ += text;
  return *this;
}

JsonWriter& JsonWriter::Text(std::string_view text) {
  Separate();
  AppendQuoted(text);
  return *this;
}

JsonWriter& JsonWriter::Number(float value) {
  char buffer[40];
  return Raw(Format(buffer, value));
}

JsonWriter& JsonWriter::Number(double value) {
  char buffer[40];
  return Raw(Format(buffer, value));
}

// Names come from model files and may hold anything: what is no UTF-8 becomes the replacement character.
void JsonWriter::AppendQuoted(std::string_view text) {
  out_ += '"';
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    const unsigned char lead = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      out_ += "\xef\xbf\xbd";
    } else if (lead == '"' || lead == '\\') {
      out_ += '\\';
      out_ += static_cast<char>(lead);
    } else if (lead == '\n') {
      out_ += "\\n";
    } else if (lead < 0x20 || lead == 0x7f) {
      constexpr char kHex[] = "0123456789abcdef";
      out_ += "\\u00";
      out_ += kHex[lead >> 4];
      out_ += kHex[lead & 15];
    } else {
      out_ += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out_ += '"';
}

}  // namespace asc
