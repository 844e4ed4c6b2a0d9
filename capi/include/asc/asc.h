#ifndef ASC_ASC_H_
#define ASC_ASC_H_

/* The whole C ABI. Each header may also be included alone. Read handle.h first. */
#include "asc/attributes.h"
#include "asc/graph.h"
#include "asc/handle.h"
#include "asc/registry.h"
#include "asc/status.h"
#include "asc/type.h"
#include "asc/value.h"
#include "asc/version.h"

#endif /* ASC_ASC_H_ */
