#include "asc/version.h"

#include "core/base/version.h"

// A string literal underneath, hence zero-terminated.
const char* asc_version(void) { return asc::Version().data(); }
