#include "core/base/heap.h"

#include <cstdlib>  // defines __GLIBC__ where that is the library

#include "core/base/recycled_blocks.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace asc {

void ReturnFreePages() noexcept {
  DropRecycledBlocks();
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace asc
