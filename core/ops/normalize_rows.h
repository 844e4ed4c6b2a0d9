// Normalisation of contiguous rows: what layer, RMS, group and instance normalisation share.
#ifndef ASC_CORE_OPS_NORMALIZE_ROWS_H_
#define ASC_CORE_OPS_NORMALIZE_ROWS_H_

#include <algorithm>
#include <cmath>

#include "core/base/parallel.h"
#include "core/ops/broadcast_iterator.h"

namespace asc {

enum class RowCenter : uint8_t { kMean, kZero };  // what deviations are taken from

// y = (x - center) / sqrt(mean((x - center)^2) + epsilon) for each of `rows` rows of `length`
// elements; statistics in float64. Calls seen(row, center, inverse of the square root) for each
// row, on several threads.
template <typename A, typename Seen>
void NormalizeRows(const A* x, A* y, int64_t rows, int64_t length, double epsilon, RowCenter center,
                   Seen&& seen) {
  ParallelFor(rows, std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, length)),
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row) {
                  const A* from = x + row * length;
                  A* to = y + row * length;
                  double mean = 0, squares = 0;
                  if (center == RowCenter::kMean) {
                    for (int64_t i = 0; i < length; ++i) mean += static_cast<double>(from[i]);
                    mean /= static_cast<double>(length);
                  }
                  for (int64_t i = 0; i < length; ++i) {
                    const double deviation = static_cast<double>(from[i]) - mean;
                    squares += deviation * deviation;
                  }
                  const double inverse =
                      1 / std::sqrt(squares / static_cast<double>(length) + epsilon);
                  for (int64_t i = 0; i < length; ++i) {
                    to[i] = static_cast<A>((static_cast<double>(from[i]) - mean) * inverse);
                  }
                  seen(row, mean, inverse);
                }
              });
}

}  // namespace asc

#endif  // ASC_CORE_OPS_NORMALIZE_ROWS_H_
