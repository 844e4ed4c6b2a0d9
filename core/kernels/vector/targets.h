// The instruction sets that the vector kernels are compiled for: the portable baseline, AVX2 and
// AVX-512 on x86-64, NEON on Arm. Include it before any header of Highway; fewer targets keep the
// compile time in check.
#ifndef ASC_CORE_KERNELS_VECTOR_TARGETS_H_
#define ASC_CORE_KERNELS_VECTOR_TARGETS_H_

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif

#endif  // ASC_CORE_KERNELS_VECTOR_TARGETS_H_
