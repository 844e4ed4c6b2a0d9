// Softmax and normalisation of float32 rows, vectorised. All run on the calling thread; y may be x.
#ifndef ASC_CORE_KERNELS_VECTOR_ROWS_H_
#define ASC_CORE_KERNELS_VECTOR_ROWS_H_

#include <cstdint>

namespace asc::simd {

// Each of `rows` rows of n elements: exp(x) / sum(exp(x)), or the logarithm of that.
void SoftmaxRows(bool log, const float* x, float* y, int64_t rows, int64_t n);
// The same for `columns` neighbouring rows whose n elements are `stride` apart.
void SoftmaxColumns(bool log, const float* x, float* y, int64_t n, int64_t stride, int64_t columns);

// Each row: (x - mean) / sqrt(variance + epsilon) * scale + bias, with elements of scale and bias
// for those of the row.
struct NormRows {
  const float* x;
  float* y;
  int64_t rows, n;
  const float* scale;
  const float* bias;  // may be null
  float epsilon;
  bool centred =
      true;  // false: by the root of the mean square alone (RMS), without subtracting the mean
  float* means =
      nullptr;  // where to put each row's mean and 1 / sqrt(variance + epsilon); may be null
  float* inverses = nullptr;
};
void NormaliseRows(const NormRows& norm);

struct Moments {
  float mean, variance;  // the biased variance
};
Moments MomentsOf(const float* x, int64_t n);

// y = (x - mean[r]) * scale[r] + bias[r] in row r.
void CenterScaleRows(const float* x, float* y, int64_t rows, int64_t n, const float* mean,
                     const float* scale, const float* bias);
// The same with parameters for each of the n columns.
void CenterScaleColumns(const float* x, float* y, int64_t rows, int64_t n, const float* mean,
                        const float* scale, const float* bias);
// The same for pixels of c0 channels each (a power of 2, at most 64), with parameters for each
// channel.
void CenterScalePixels(const float* x, float* y, int64_t pixels, int64_t c0, const float* mean,
                       const float* scale, const float* bias);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_ROWS_H_
