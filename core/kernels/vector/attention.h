// The parts of attention that are no matrix products, of float32, vectorised. On the calling thread.
#ifndef ASC_CORE_KERNELS_VECTOR_ATTENTION_H_
#define ASC_CORE_KERNELS_VECTOR_ATTENTION_H_

#include <cstdint>

namespace asc::simd {

// Rows of scores become weights in place: exp(s) / sum(exp(s)) of s = where(condition, score, fill) +
// mask. Strides are in elements; a step of 0 repeats one element along the row.
struct AttentionScores {
  float* scores = nullptr;
  int64_t row = 0;  // from one row of scores to the next
  int64_t rows = 0, keys = 0;
  const float* mask = nullptr;  // may be null
  int64_t mask_row = 0, mask_step = 0;
  const bool* condition = nullptr;  // may be null
  int64_t condition_row = 0, condition_step = 0;
  float fill = 0;
  bool fill_where = false;  // true: filled where the condition is true
  bool clear_nan = false;   // weights that are NaN become 0
};
void WeightScores(const AttentionScores& scores);

// y[i] = scale * sum over j < n of x[j] * rows[i * row + j], for i < count.
void MultiplyByRows(const float* x, const float* rows, int64_t row, int64_t count, int64_t n,
                    float scale, float* y);
// y[j] = scale * sum over i < count of x[i] * rows[i * row + j], for j < n.
void AddUpRows(const float* x, const float* rows, int64_t row, int64_t count, int64_t n,
               float scale, float* y);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_ATTENTION_H_
