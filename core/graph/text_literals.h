// Spelling that the writer and the parser of the text form share.
#ifndef ASC_CORE_GRAPH_TEXT_LITERALS_H_
#define ASC_CORE_GRAPH_TEXT_LITERALS_H_

#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>

namespace asc::text {

// Symbols whose names do not fit the syntax of dimensions are declared as sym.0, sym.1...
inline constexpr std::string_view kSymbolPrefix = "sym.";

inline bool IsWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/' ||
         c == '-';
}

// May be written without quotes.
bool IsPlainWord(std::string_view word);
std::string Quote(std::string_view value);

// "?12"
inline bool IsUnknownSymbol(std::string_view symbol) {
  if (symbol.size() < 2 || symbol.size() > 20 || symbol[0] != '?') return false;
  for (const char c : symbol.substr(1)) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

// Dim::Parse gives this symbol back for its name.
inline bool IsPlainSymbol(std::string_view symbol) {
  if (symbol.empty() || (!std::isalpha(static_cast<unsigned char>(symbol[0])) && symbol[0] != '_'))
    return false;
  if (symbol == "floordiv" || symbol == "max" || symbol == "min" ||
      symbol.starts_with(kSymbolPrefix))
    return false;
  for (const char c : symbol) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.' && c != ':')
      return false;
  }
  return true;
}

inline std::string HashText(uint64_t hash) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out(16, '0');
  for (size_t i = 0; i < 16; ++i) out[15 - i] = kHex[(hash >> (4 * i)) & 15];
  return out;
}

}  // namespace asc::text

#endif  // ASC_CORE_GRAPH_TEXT_LITERALS_H_
