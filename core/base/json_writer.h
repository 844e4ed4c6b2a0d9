// Writes JSON text piece by piece, in the caller's order:
//
//   JsonWriter json;
//   json.BeginObject().Field("name", name).Key("sizes").Value(sizes).EndObject();
//
// For text that is made where memory may run out: nlohmann's values cannot be used there, because their destructors allocate and
// end the process when that fails. Reading stays with nlohmann.
#ifndef ASC_CORE_BASE_JSON_WRITER_H_
#define ASC_CORE_BASE_JSON_WRITER_H_

#include <concepts>
#include <string>
#include <string_view>

namespace asc {

class JsonWriter {
 public:
  // `indent` spaces a level; 0 writes one line.
  explicit JsonWriter(int indent = 0) : indent_(indent) {}

  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view key);

  // Text, numbers (null for NaN and infinity), flags, ranges of them, maps from text to them.
  template <typename T>
  JsonWriter& Value(const T& value) {
    if constexpr (std::same_as<T, bool>) {
      return Raw(value ? "true" : "false");
    } else if constexpr (std::integral<T>) {
      return Raw(std::to_string(value));
    } else if constexpr (std::same_as<T, float>) {
      return Number(value);
    } else if constexpr (std::floating_point<T>) {
      return Number(static_cast<double>(value));
    } else if constexpr (std::convertible_to<T, std::string_view>) {
      return Text(value);
    } else if constexpr (requires { typename T::mapped_type; }) {
      BeginObject();
      for (const auto& [key, item] : value) Key(key).Value(item);
      return EndObject();
    } else {
      BeginArray();
      for (const auto& item : value) Value(item);
      return EndArray();
    }
  }
  template <typename T>
  JsonWriter& Field(std::string_view key, const T& value) {
    return Key(key).Value(value);
  }

  std::string Take() && { return std::move(out_); }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  JsonWriter& Raw(std::string_view text);
  JsonWriter& Text(std::string_view text);
  JsonWriter& Number(float value);
  JsonWriter& Number(double value);
  void Separate();
  void NewLine();
  void AppendQuoted(std::string_view text);

  std::string out_;
  int indent_;
  int depth_ = 0;
  bool first_ = true;  // nothing written yet in the innermost object or array
  bool after_key_ = false;
};

}  // namespace asc

#endif  // ASC_CORE_BASE_JSON_WRITER_H_
