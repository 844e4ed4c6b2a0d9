#ifndef ASC_ASC_H_
#define ASC_ASC_H_

/* The whole C ABI. Each header may also be included alone. Read handle.h first. */
#include "asc/attributes.h"
#include "asc/device.h"
#include "asc/graph.h"
#include "asc/handle.h"
#include "asc/log.h"
#include "asc/onnx.h"
#include "asc/options.h"
#include "asc/profiler.h"
#include "asc/registry.h"
#include "asc/session.h"
#include "asc/status.h"
#include "asc/type.h"
#include "asc/value.h"
#include "asc/version.h"

#endif /* ASC_ASC_H_ */
