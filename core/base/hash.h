// Content hashes (XXH3): constants shared by content, `.om` checksums, cache keys.
#ifndef ASC_CORE_BASE_HASH_H_
#define ASC_CORE_BASE_HASH_H_

#include <cstddef>
#include <cstdint>

namespace asc {

uint64_t HashBytes(const void* data, size_t bytes, uint64_t seed = 0);

inline uint64_t HashCombine(uint64_t hash, uint64_t value) { return HashBytes(&value, sizeof value, hash); }

}  // namespace asc

#endif  // ASC_CORE_BASE_HASH_H_
