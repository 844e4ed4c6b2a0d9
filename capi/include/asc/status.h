#ifndef ASC_STATUS_H_
#define ASC_STATUS_H_

/* Why a call failed: a code, what was given and expected, the user's node, and a hint. */

#include <stdint.h>

#include "asc/export.h"

ASC_EXTERN_C_BEGIN

/* Never renumbered. The text form is "E" and the number: E5001. */
typedef int32_t asc_code;
enum {
  ASC_OK = 0,
  ASC_SHAPE_MISMATCH = 5001,
  ASC_TYPE_MISMATCH = 5002,
  ASC_INVALID_ARGUMENT = 5003,
  ASC_NOT_FOUND = 5004,
  ASC_INVALID_GRAPH = 5005,
  ASC_INVALID_MODEL = 5006,
  ASC_OUT_OF_RANGE = 5007,
  ASC_LAYOUT = 5008,
  ASC_UNAVAILABLE = 5009, /* a documented option that this version or build does not have */
  ASC_IO = 5010,
  ASC_DESTROYED = 5011, /* a handle or object that was released */
  ASC_OUT_OF_MEMORY = 5012,
  ASC_CANCELLED = 5013,
  ASC_ARITHMETIC = 5014, /* integer division by zero and its kin */
  ASC_DEVICE = 5020,
  ASC_UNSUPPORTED_OPERATOR = 5033,
  ASC_INTERNAL = 5099
};

/* A failure. Immutable; belongs to whoever got it. NULL is success. The texts are zero-terminated,
 * lent by the status, and never NULL. */
typedef struct asc_status asc_status;

ASC_API asc_code asc_status_code(const asc_status* status); /* ASC_OK for NULL */
/* What was given and what was expected; empty for NULL. */
ASC_API const char* asc_status_get_message(const asc_status* status);
/* The node of the user's graph that it is about; empty where there is none. */
ASC_API const char* asc_status_get_node(const asc_status* status);
/* What would help; empty where nothing is known. */
ASC_API const char* asc_status_get_hint(const asc_status* status);
/* All of it in one line: "E5001 at node 'conv1': message (hint: ...)"; "OK" for NULL. */
ASC_API const char* asc_status_get_text(const asc_status* status);
ASC_API void asc_status_release(asc_status* status);

ASC_EXTERN_C_END

#endif /* ASC_STATUS_H_ */
