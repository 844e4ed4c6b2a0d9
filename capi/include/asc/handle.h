#ifndef ASC_HANDLE_H_
#define ASC_HANDLE_H_

/* The rules that hold for every function of the ABI, and the two small types for text.
 *
 * Handles. Each opaque struct (asc_value, asc_graph, ...) is counted. `asc_x_create_...`, `load`
 * and `copy` functions give one reference to the caller, who ends it with `asc_x_release`;
 * `asc_x_retain` adds one. Releasing NULL does nothing. `get` functions lend: what they give lives
 * as long as the handle that it was got from, and is not released. A handle that was released is
 * answered with E5011 as long as its memory has not been taken for another handle of that type;
 * handles of another type with E5003. Neither is an excuse for using them.
 *
 * Failure. Functions that can fail return an `asc_status*`: NULL is success, else an object that
 * says what is wrong (status.h) and that the caller releases. Results are out-parameters and come
 * last; on failure they are left as they were, and so is everything else. An argument that must be
 * there and is NULL is E5003. Memory that is refused is E5012. Nothing throws, and nothing aborts.
 *
 * Threads. Nothing depends on the calling thread. Retain and release may be called from any thread
 * at any time. What else holds for a type is said where it is declared. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "asc/export.h"
#include "asc/status.h"

ASC_EXTERN_C_BEGIN

/* Text: UTF-8 with its length in bytes, not ended by a zero byte. Lent in both directions:
 * arguments need to live only for the call. NULL with size 0 is empty text. */
typedef struct asc_string {
  const char* data;
  size_t size;
} asc_string;

#if !defined(SWIG)
/* Lends a C string: asc_text("relu"). NULL gives empty text. */
static inline asc_string asc_text(const char* text) {
  asc_string string;
  string.data = text;
  string.size = text == NULL ? 0 : strlen(text);
  return string;
}
#endif

/* Text or bytes that the caller owns. Immutable, hence free to use from many threads. */
typedef struct asc_bytes asc_bytes;

/* The contents, lent; empty for NULL or a released handle. They are followed by a zero byte that is
 * not counted. */
ASC_API asc_string asc_bytes_get(const asc_bytes* bytes);
ASC_API void asc_bytes_retain(asc_bytes* bytes);
ASC_API void asc_bytes_release(asc_bytes* bytes);

/* Handles of all types that are alive in this process: the same number before and after a piece of
 * work means that it released everything. */
ASC_API int64_t asc_handle_count(void);

ASC_EXTERN_C_END

#endif /* ASC_HANDLE_H_ */
