#include "core/compile/options.h"

#include <algorithm>

#include "core/base/parallel.h"

namespace asc {

Status CompileOptions::Validate() const {
  const auto in_range = [](std::string_view name, int64_t value, int64_t low, int64_t high) {
    if (value >= low && value <= high) return Ok();
    return InvalidArgument(name, " must be from ", low, " to ", high, ", given ", value)
        .WithHint("give a number in that range");
  };
  ASC_RETURN_IF_ERROR(in_range("graph_opt_level", graph_opt_level, 0, 3));
  ASC_RETURN_IF_ERROR(in_range("buffer_optimize_level", buffer_optimize_level, 0, 2));
  ASC_RETURN_IF_ERROR(in_range("plan_cache_size", plan_cache_size, 1, 1 << 20));
  return in_range("threads", threads, 0, INT32_MAX);
}

int CompileOptions::ResolvedThreads() const {
  const int cores = AvailableCores();
  return threads <= 0 ? cores : std::min(threads, cores);
}

}  // namespace asc
