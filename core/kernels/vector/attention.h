// The parts of attention that are no matrix products, of float32, vectorised. On the calling thread.
#ifndef ASC_CORE_KERNELS_VECTOR_ATTENTION_H_
#define ASC_CORE_KERNELS_VECTOR_ATTENTION_H_

#include <algorithm>
#include <cstdint>

namespace asc::simd {

// The keys that rows of scores see: those in [begin + i, end + i) for row i that are in [low, high)
// as well.
struct SeenKeys {
  static constexpr int64_t kFar = int64_t{1} << 48;  // beyond any number of keys

  int64_t begin = -kFar, end = kFar;
  int64_t low = 0, high = 0;

  int64_t Begin(int64_t i) const { return std::clamp(begin + i, low, high); }
  // Not before Begin.
  int64_t End(int64_t i) const { return std::clamp(end + i, Begin(i), high); }
  bool operator==(const SeenKeys&) const = default;
  // As row `first` and those after it see them.
  SeenKeys From(int64_t first) const { return {begin + first, end + first, low, high}; }
};

// Rows of scores become weights in place: exp(s) / sum(exp(s)) of s = where(condition, capped score,
// fill) + mask, over the keys that the row sees; 0 for other keys. Strides are in elements; a step of
// 0 repeats one element along the row.
struct AttentionScores {
  float* scores = nullptr;
  int64_t row = 0;  // from one row of scores to the next
  int64_t rows = 0;
  SeenKeys seen;
  int64_t first_key = 0, last_key = 0;  // weights are wanted of [first_key, last_key)
  float softcap = 0;                    // above 0: scores s become softcap * tanh(s / softcap)
  const float* mask = nullptr;          // may be null
  int64_t mask_row = 0, mask_step = 0;
  const bool* condition = nullptr;  // may be null
  int64_t condition_row = 0, condition_step = 0;
  float fill = 0;
  bool fill_where = false;    // true: filled where the condition is true
  bool clear_nan = false;     // weights that are NaN become 0
  bool clear_hidden = false;  // weights of a row that sees nothing but minus infinity become 0
};
void WeightScores(const AttentionScores& scores);

// Products of `vectors` vectors x with the matrix of `count` rows of n elements, as it lies.
struct RowProduct {
  const float* x = nullptr;
  int64_t x_row = 0, vectors = 0;
  const float* rows = nullptr;
  int64_t row = 0, count = 0, n = 0;
  float scale = 1;
  float* y = nullptr;
  int64_t y_row = 0;
};
// y[v][i] = scale * sum over j < n of x[v][j] * rows[i * row + j], for i < count.
void MultiplyByRows(const RowProduct& product);
// y[v][j] = scale * sum over i < count of x[v][i] * rows[i * row + j], for j < n.
void AddUpRows(const RowProduct& product);

// Whether `count` rows of n elements have neither infinity nor NaN.
bool AreFinite(const float* rows, int64_t row, int64_t count, int64_t n);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_ATTENTION_H_
