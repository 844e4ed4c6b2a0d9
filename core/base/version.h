#ifndef ASC_CORE_BASE_VERSION_H_
#define ASC_CORE_BASE_VERSION_H_

#include <string_view>

namespace asc {

// The engine's semantic version, "major.minor.patch". Lives as long as the process.
std::string_view Version();

}  // namespace asc

#endif  // ASC_CORE_BASE_VERSION_H_
