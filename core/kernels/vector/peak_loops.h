// Loops that do nothing but multiply and add, or read: for measuring what the machine can do.
#ifndef ASC_CORE_KERNELS_VECTOR_PEAK_LOOPS_H_
#define ASC_CORE_KERNELS_VECTOR_PEAK_LOOPS_H_

#include <cstdint>

namespace asc::simd {

// float32 multiply-adds in registers, MultiplyAddsOfRound() in each of `rounds` rounds. The result means nothing.
float MultiplyAdds(int64_t rounds);
int64_t MultiplyAddsOfRound();

// Reads n elements in order.
float SumOf(const float* x, int64_t n);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_PEAK_LOOPS_H_
