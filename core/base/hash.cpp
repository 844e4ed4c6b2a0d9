#include "core/base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace asc {

uint64_t HashBytes(const void* data, size_t bytes, uint64_t seed) { return XXH3_64bits_withSeed(data, bytes, seed); }

struct StreamHash::State {
  XXH3_state_t xxh;
};

StreamHash::StreamHash() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->xxh); }
StreamHash::~StreamHash() = default;
void StreamHash::Update(const void* data, size_t bytes) { XXH3_64bits_update(&state_->xxh, data, bytes); }
uint64_t StreamHash::Digest() const { return XXH3_64bits_digest(&state_->xxh); }

}  // namespace asc
