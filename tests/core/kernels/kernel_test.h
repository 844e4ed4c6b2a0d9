// Runs fast kernels the way a plan does and compares them with the operator's reference kernel.
#ifndef ASC_TESTS_CORE_KERNELS_KERNEL_TEST_H_
#define ASC_TESTS_CORE_KERNELS_KERNEL_TEST_H_

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/device/kernel.h"

namespace asc::testing {

struct KernelCase {
  std::string op = {}, domain = {};
  std::vector<std::optional<Tensor>> inputs = {};  // nullopt: an absent optional input
  std::vector<size_t> constants = {};         // inputs that never change: kernels may pack them
  AttributeMap attributes = {};
  size_t outputs = 1;
  int threads = 1;
  bool assume_finite = false;
  bool winograd = false;
  // Storage of image-shaped (rank 4) inputs and outputs: C0 of NC1HWC0, or 0 for plain.
  int c0 = 0;
  std::vector<size_t> plain_inputs = {};      // inputs that stay plain under c0 (weights)
  bool plain_outputs = false;
};

// Every entry of the host's table that supports the case, created and run without a state and twice with one, agrees with the reference kernel within
// |got - want| <= tolerance * (|want| + largest |want|), NaN with NaN. Gives the names of the entries that ran: a test says
// which it expects.
std::vector<std::string> ExpectKernelsAgree(const KernelCase& test, double tolerance = 1e-5);

// float32 elements that look random but are the same each time, in [-1, 1).
Tensor Noise(const Dims& dims, uint32_t seed = 1);

}  // namespace asc::testing

#endif  // ASC_TESTS_CORE_KERNELS_KERNEL_TEST_H_
