// What the tests of the vector kernels share.
#ifndef ASC_TESTS_CORE_KERNELS_VECTOR_TEST_H_
#define ASC_TESTS_CORE_KERNELS_VECTOR_TEST_H_

#include <string>
#include <vector>

#include "core/kernels/vector/targets.h"
//
#include "hwy/targets.h"
#include "tests/core/kernels/kernel_test.h"

namespace asc::testing {

// Runs `f` once on each instruction set that the kernels are compiled for and this machine has.
template <typename F>
void ForEachTarget(F&& f) {
  constexpr int64_t kCompiled = HWY_TARGETS;
  for (int64_t bit = 1; bit > 0 && bit <= kCompiled; bit <<= 1) {
    if ((kCompiled & bit & hwy::SupportedTargets()) == 0) continue;
    SCOPED_TRACE(hwy::TargetName(bit));
    hwy::SetSupportedTargetsForTest(bit);
    hwy::GetChosenTarget().Update(bit);
    f();
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
}

// The case runs on `kernel` and agrees with the reference on each target, with one thread and with
// two.
inline void ExpectVectorKernel(KernelCase test, std::string_view kernel, double tolerance = 1e-6) {
  ForEachTarget([&] {
    for (const int threads : {1, 2}) {
      test.threads = threads;
      const std::vector<std::string> ran = ExpectKernelsAgree(test, tolerance);
      EXPECT_NE(std::find(ran.begin(), ran.end(), kernel), ran.end())
          << test.op << " did not run on " << kernel;
    }
  });
}

// Noise with every kind of number strewn in: NaN, infinities, zeros of both signs, denormal and
// huge numbers.
inline Tensor WildNoise(const Dims& dims, uint32_t seed = 1) {
  constexpr float kWild[] = {NAN,    INFINITY, -INFINITY, 0.0f,   -0.0f,
                             1e-40f, -1e-40f,  50.0f,     -100.0f};
  Tensor out = Noise(dims, seed);
  for (int64_t i = 0; i < out.size(); i += 3)
    out.data<float>()[i] = kWild[static_cast<size_t>(i / 3) % std::size(kWild)];
  return out;
}

}  // namespace asc::testing

#endif  // ASC_TESTS_CORE_KERNELS_VECTOR_TEST_H_
