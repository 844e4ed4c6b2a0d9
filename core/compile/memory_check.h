// The independent checker of memory plans: looks only at the steps and where they read and write, knows nothing of how the plan
// was made.
#ifndef ASC_CORE_COMPILE_MEMORY_CHECK_H_
#define ASC_CORE_COMPILE_MEMORY_CHECK_H_

#include "core/compile/plan.h"

namespace asc {

// Walks the steps and tracks which value owns each byte of the arena: E5099 naming the step when one reads bytes that another
// value has overwritten, writes over bytes that a later step still reads, or leaves the arena. Gives the lower bound: the most
// bytes of distinct live values (with scratch) in any one step.
Result<MemoryReport> CheckMemory(const Plan& plan);

}  // namespace asc

#endif  // ASC_CORE_COMPILE_MEMORY_CHECK_H_
