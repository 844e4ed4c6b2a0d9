#ifndef ASC_LOG_H_
#define ASC_LOG_H_

/* Log messages wait in a queue of the process until they are taken; when 10,000 wait, the oldest
 * are dropped and counted. From any thread. */

#include "asc/handle.h"

ASC_EXTERN_C_BEGIN

/* Python's numbers. */
typedef int32_t asc_log_level;
enum {
  ASC_LOG_DEBUG = 10,
  ASC_LOG_INFO = 20,
  ASC_LOG_WARNING = 30,
  ASC_LOG_ERROR = 40,
  ASC_LOG_OFF = 100
};

/* Messages below this level are not made. Default: ASC_LOG_WARNING. E5003 for other numbers. */
ASC_API asc_status* asc_log_set_level(asc_log_level level);

/* The messages that were waiting, oldest first. Immutable. */
typedef struct asc_log_records asc_log_records;
/* Takes them all out of the queue. */
ASC_API asc_status* asc_log_take_records(asc_log_records** out);
ASC_API asc_status* asc_log_records_get_count(const asc_log_records* records, size_t* out);
ASC_API asc_status* asc_log_records_get(const asc_log_records* records, size_t index,
                                        asc_log_level* level, asc_string* message);
ASC_API void asc_log_records_retain(asc_log_records* records);
ASC_API void asc_log_records_release(asc_log_records* records);

ASC_EXTERN_C_END

#endif /* ASC_LOG_H_ */
