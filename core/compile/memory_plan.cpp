#include "core/compile/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "core/base/allocator.h"

namespace asc {
namespace {
size_t Align(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool Meet(const Interval& a, const Interval& b) { return a.first_step <= b.last_step && b.first_step <= a.last_step; }

// Greedy by the given order: each interval takes the lowest gap that fits between the placed ones that it meets.
size_t Place(std::vector<Interval>& intervals, const std::vector<size_t>& order) {
  std::vector<size_t> placed;  // sorted by offset
  size_t top = 0;
  for (const size_t i : order) {
    Interval& interval = intervals[i];
    size_t at = 0;
    for (const size_t j : placed) {
      const Interval& other = intervals[j];
      if (!Meet(interval, other)) continue;
      if (at + interval.bytes <= other.offset) break;
      at = std::max(at, Align(other.offset + other.bytes));
    }
    interval.offset = at;
    const auto where = std::upper_bound(placed.begin(), placed.end(), at, [&](size_t value, size_t j) { return value < intervals[j].offset; });
    placed.insert(where, i);
    top = std::max(top, Align(at + interval.bytes));
  }
  return top;
}
}  // namespace

size_t AssignOffsets(std::vector<Interval>& intervals, bool reuse) {
  if (!reuse) {
    size_t top = 0;
    for (Interval& interval : intervals) {
      interval.offset = top;
      top += Align(interval.bytes);
    }
    return top;
  }
  const auto length = [&](size_t i) { return static_cast<size_t>(intervals[i].last_step - intervals[i].first_step + 1); };
  const auto by = [&](auto key) {
    std::vector<size_t> order(intervals.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) > key(b); });
    return order;
  };
  const std::vector<size_t> orders[] = {
      by([&](size_t i) { return intervals[i].bytes; }),
      by([&](size_t i) { return intervals[i].bytes * length(i); }),
      by([&](size_t i) { return length(i); }),
      by([&](size_t i) { return static_cast<size_t>(1 << 30) - static_cast<size_t>(intervals[i].first_step); }),
  };
  std::vector<Interval> best;
  size_t best_top = SIZE_MAX;
  for (const std::vector<size_t>& order : orders) {
    const size_t top = Place(intervals, order);
    if (top < best_top) {
      best_top = top;
      best = intervals;
    }
  }
  intervals = std::move(best);
  return best_top;
}

}  // namespace asc
