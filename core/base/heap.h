// The C library's heap, where it needs a hand.
#ifndef ASC_CORE_BASE_HEAP_H_
#define ASC_CORE_BASE_HEAP_H_

namespace asc {

// Hands pages that the C library keeps free inside its heap back to the system. For calling when a cached plan has been dropped for
// a newer one: a primitive of oneDNN is a block of up to 270 KB; under shapes that keep changing such blocks come
// and go between small ones that stay, and the holes in between, all resident, drift by megabytes although no more memory is in use
// (500 row counts of two small matrix products: by up to 4 MB, with this by less than 1). Thread-safe. Takes about half of the time
// that making a small plan takes; models whose shapes fit into the cache of plans never come here.
void ReturnFreePages() noexcept;

}  // namespace asc

#endif  // ASC_CORE_BASE_HEAP_H_
