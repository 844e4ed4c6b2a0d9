#include "core/ops/philox.h"

#include <bit>

namespace asc {
namespace {
// The finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
// generators", 2014): spreads keys that differ in few bits.
uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}
}  // namespace

Philox Philox::Of(KernelContext& context) {
  if (const float* seed = context.attributes().Get<float>("seed"))
    return Philox(Mix(std::bit_cast<uint32_t>(*seed)));
  return Philox(Mix(Mix(context.run().seed) ^ context.node_key()));
}

}  // namespace asc
