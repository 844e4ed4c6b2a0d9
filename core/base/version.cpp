#include "core/base/version.h"

#ifndef ASC_VERSION
#error "ASC_VERSION comes from the build (meson.build's project version)"
#endif

namespace asc {

std::string_view Version() { return ASC_VERSION; }

}  // namespace asc
