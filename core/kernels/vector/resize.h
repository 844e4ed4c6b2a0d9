// Resize of float32 images over rows and columns, vectorised. On the calling thread.
#ifndef ASC_CORE_KERNELS_VECTOR_RESIZE_H_
#define ASC_CORE_KERNELS_VECTOR_RESIZE_H_

#include <cstdint>
#include <vector>

namespace asc::simd {

// Where the outputs along one axis read: from two places with weights, or from one (no second
// place, no weights).
struct ResizeTable {
  int64_t input = 0;
  std::vector<int32_t> first, second;
  std::vector<float> first_weight, second_weight;
  int64_t factor = 0;  // output i reads i / factor; 0 where it does not

  int64_t output() const { return static_cast<int64_t>(first.size()); }
};

// Rows [begin, end) of the output of one plane whose pixels are c0 elements (1 for plain data). `x`
// and `y` are the whole planes. `line`: for ResizeLinear of plain data, room for columns.input
// elements.
void ResizeNearest(const ResizeTable& rows, const ResizeTable& columns, int64_t c0, const float* x,
                   float* y, int64_t begin, int64_t end);
void ResizeLinear(const ResizeTable& rows, const ResizeTable& columns, int64_t c0, const float* x,
                  float* y, int64_t begin, int64_t end, float* line);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_RESIZE_H_
