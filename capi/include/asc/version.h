#ifndef ASC_VERSION_H_
#define ASC_VERSION_H_

#include "asc/export.h"

ASC_EXTERN_C_BEGIN

/* The library's semantic version, "major.minor.patch", ended by a zero byte. The string is static:
 * never release it. May be called from any thread. */
ASC_API const char* asc_version(void);

ASC_EXTERN_C_END

#endif /* ASC_VERSION_H_ */
