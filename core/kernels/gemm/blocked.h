// Whole products: cut into parts for the team and into blocks for the caches.
#ifndef ASC_CORE_KERNELS_GEMM_BLOCKED_H_
#define ASC_CORE_KERNELS_GEMM_BLOCKED_H_

#include <cstddef>
#include <optional>

#include "core/kernels/gemm/micro_kernel.h"
#include "core/kernels/vector/unary.h"

namespace asc::gemm {

// Puts an activation that is clamping into `product`; gives any other, to be applied afterwards.
std::optional<simd::UnaryCall> Clamped(const Activation& activation, Product& product);

// How a product is cut: decided once, from its extents and the thread option alone.
struct Cutting {
  int64_t row_parts = 1, column_parts = 1;  // each pair of them is work for one thread
  int64_t row_block = 0;                    // the most rows at a time
  int64_t depth_blocks = 1;  // parts of the sum that are finished one after the other
  bool copies_a = false;     // blocks of the left operand are copied before use
  bool halved = false;       // by Strassen's algorithm; column parts are of pairs of panels
  size_t scratch_bytes = 0;
};
// `product` with the extents and strides of the left operand that it will have; `a_column` is the
// distance of its elements in a row. `may_halve`: weights are finite and small enough (CanBeHalved), and
// Strassen's algorithm may be used where it is faster.
Cutting Cut(const Product& product, int64_t a_column, int threads, bool may_halve = false);

// Runs `product`, whose c_width divides a panel's width where it has one and which has no row_bias, then `activation` on its
// result, on the team. `scratch` has the bytes that `cutting` asks for.
void MultiplyOnTeam(const Product& product, int64_t a_column, const Cutting& cutting,
                    const std::optional<simd::UnaryCall>& activation, void* scratch);

}  // namespace asc::gemm

#endif  // ASC_CORE_KERNELS_GEMM_BLOCKED_H_
