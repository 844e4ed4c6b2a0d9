// What packed weights depend on beyond their form's name.
#ifndef ASC_CORE_KERNELS_PACKING_KEY_H_
#define ASC_CORE_KERNELS_PACKING_KEY_H_

#include <string>

namespace asc {

// The instruction set that kernels are made for here, and the versions of the libraries that pack: weights packed under another key
// must be packed again.
std::string PackingKey();

}  // namespace asc

#endif  // ASC_CORE_KERNELS_PACKING_KEY_H_
