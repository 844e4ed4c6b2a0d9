#ifndef ASC_ASC_H_
#define ASC_ASC_H_

/* The whole C ABI. Each header may also be included alone. */
#include "asc/version.h"

#endif /* ASC_ASC_H_ */
