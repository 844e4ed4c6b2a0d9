// Philox 4x32-10, a counter-based random number generator: Salmon, Moraes, Dror, Shaw, "Parallel
// random numbers: as easy as 1, 2, 3", SC 2011. Any block can be computed without the ones before
// it, so the numbers do not depend on how work is split.
#ifndef ASC_CORE_OPS_PHILOX_H_
#define ASC_CORE_OPS_PHILOX_H_

#include <array>
#include <cstdint>

#include "core/graph/op_schema.h"

namespace asc {

class Philox {
 public:
  using Block = std::array<uint32_t, 4>;

  explicit Philox(uint64_t key)
      : key_{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)} {}

  // The generator of this node in this run: keyed with the attribute `seed` (a float) where the
  // node has it, so that every run gives the same numbers, else with the run's seed and the node's
  // key.
  static Philox Of(KernelContext& context);

  // Four independent uniform words; `low` and `high` are the two halves of the 128-bit counter.
  Block operator()(uint64_t low, uint64_t high = 0) const {
    Block x = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
               static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)};
    uint32_t key0 = key_[0], key1 = key_[1];
    for (int round = 0; round < 10; ++round) {
      const uint64_t product0 = uint64_t{0xD2511F53} * x[0], product1 = uint64_t{0xCD9E8D57} * x[2];
      x = {static_cast<uint32_t>(product1 >> 32) ^ x[1] ^ key0, static_cast<uint32_t>(product1),
           static_cast<uint32_t>(product0 >> 32) ^ x[3] ^ key1, static_cast<uint32_t>(product0)};
      key0 += 0x9E3779B9;
      key1 += 0xBB67AE85;
    }
    return x;
  }

 private:
  std::array<uint32_t, 2> key_;
};

// Uniform in [0, 1): the upper 24 bits of a word, or 53 bits of two.
inline float UniformFloat(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }
inline double UniformDouble(uint32_t high, uint32_t low) {
  return static_cast<double>(((uint64_t{high} << 32) | low) >> 11) * 0x1p-53;
}

}  // namespace asc

#endif  // ASC_CORE_OPS_PHILOX_H_
