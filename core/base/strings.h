// Text for messages: Cat joins anything printable; ranges print as [1, 2, 3].
#ifndef ASC_CORE_BASE_STRINGS_H_
#define ASC_CORE_BASE_STRINGS_H_

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace asc {

void AppendNumber(std::string& out, double value);  // shortest text that reads back equal

template <typename T>
void AppendPiece(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, char>) {
    out += value;
  } else if constexpr (std::integral<T>) {
    out += std::to_string(value);
  } else if constexpr (std::floating_point<T>) {
    AppendNumber(out, value);
  } else if constexpr (std::convertible_to<T, std::string_view>) {
    out += std::string_view(value);
  } else if constexpr (requires { value.ToString(); }) {
    out += value.ToString();
  } else {
    out += '[';
    bool first = true;
    for (const auto& item : value) {
      if (!first) out += ", ";
      first = false;
      AppendPiece(out, item);
    }
    out += ']';
  }
}

template <typename... Args>
std::string Cat(const Args&... args) {
  std::string out;
  (AppendPiece(out, args), ...);
  return out;
}

template <typename Range>
std::string Join(const Range& items, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += separator;
    first = false;
    AppendPiece(out, item);
  }
  return out;
}

// The candidate nearest to `name` by edit distance, or "" when none is near; for "did you mean" hints.
std::string NearestMatch(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace asc

#endif  // ASC_CORE_BASE_STRINGS_H_
