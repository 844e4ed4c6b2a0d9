// What a recurrent layer of float32 does in each step, vectorised. On the calling thread.
#ifndef ASC_CORE_KERNELS_VECTOR_RECURRENT_H_
#define ASC_CORE_KERNELS_VECTOR_RECURRENT_H_

#include <cstdint>

namespace asc::simd {

// y = start + x w for small products: x [m, k], w [k, n], start and y [m, n]; *_row: elements from
// a row to the next (0 for a start that is the same in all rows). y may be start.
struct SmallProduct {
  const float* x;
  int64_t x_row;
  const float* w;
  const float* start;
  int64_t start_row;
  float* y;
  int64_t y_row;
  int64_t m, n, k;
};
void MultiplySmall(const SmallProduct& product);

// y[i] = start[i] + sums[i] * (scale * column_scales[i * column_step]): sums of products of integers.
// start or sums may be y.
struct ScaledSums {
  const int32_t* sums;
  float scale;
  const float* column_scales;
  int64_t column_step;  // 0 or 1
  const float* start;
};
void AddScaledSums(const ScaledSums& from, float* y, int64_t count);

// One LSTM cell: from the sums that go into its gates (input, output, forget, cell; `hidden`
// elements each) and its state c, the new c and h.
void UpdateLstmCell(const float* gates, float* c, float* h, int64_t hidden);

// GRU cells, whose gates are update, reset and hidden. The new h where the reset gate is applied to
// `products`, the state's share of the gates.
void UpdateGruCell(const float* gates, const float* products, float* h, int64_t hidden);
// Where it is applied to the state: its product with the state, and from gates with all shares the
// new h.
void ResetGruState(const float* gates, const float* h, float* reset_h, int64_t hidden);
void FinishGruCell(const float* gates, float* h, int64_t hidden);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_RECURRENT_H_
