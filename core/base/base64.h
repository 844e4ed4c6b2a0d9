// Base64 (RFC 4648, with padding): bytes in text files.
#ifndef ASC_CORE_BASE_BASE64_H_
#define ASC_CORE_BASE_BASE64_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace asc {

std::string EncodeBase64(const void* data, size_t bytes);
// nullopt for anything that EncodeBase64 does not write.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace asc

#endif  // ASC_CORE_BASE_BASE64_H_
