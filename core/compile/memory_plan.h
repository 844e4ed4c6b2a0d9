// Offset assignment: places intervals of bytes and steps into one arena.
#ifndef ASC_CORE_COMPILE_MEMORY_PLAN_H_
#define ASC_CORE_COMPILE_MEMORY_PLAN_H_

#include <cstddef>
#include <vector>

namespace asc {

struct Interval {
  size_t bytes = 0;
  int first_step = 0, last_step = 0;  // both included
  size_t offset = 0;                  // assigned; a multiple of kAlignment
};

// Assigns offsets so that intervals that share a step do not overlap; gives the arena's size. Several
// orders are tried, and repaired as long as the size is not near the most that one step needs; the
// smallest result is kept. With `reuse` off, every interval has bytes of its own.
size_t AssignOffsets(std::vector<Interval>& intervals, bool reuse);

}  // namespace asc

#endif  // ASC_CORE_COMPILE_MEMORY_PLAN_H_
