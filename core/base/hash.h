// Content hashes (XXH3): constants shared by content, `.om` checksums, cache keys.
#ifndef ASC_CORE_BASE_HASH_H_
#define ASC_CORE_BASE_HASH_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace asc {

uint64_t HashBytes(const void* data, size_t bytes, uint64_t seed = 0);

inline uint64_t HashCombine(uint64_t hash, uint64_t value) { return HashBytes(&value, sizeof value, hash); }

// The hash of bytes that come in parts; equal to HashBytes of the whole.
class StreamHash {
 public:
  StreamHash();
  ~StreamHash();
  void Update(const void* data, size_t bytes);
  uint64_t Digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace asc

#endif  // ASC_CORE_BASE_HASH_H_
