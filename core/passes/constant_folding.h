// Constant folding after all fusions. (Before them, passes.h's MakeConstantFolding leaves big transposed matrices to products.)
#ifndef ASC_CORE_PASSES_CONSTANT_FOLDING_H_
#define ASC_CORE_PASSES_CONSTANT_FOLDING_H_

#include <memory>

#include "core/passes/pass.h"

namespace asc {

std::unique_ptr<Pass> MakeLastConstantFolding();

}  // namespace asc

#endif  // ASC_CORE_PASSES_CONSTANT_FOLDING_H_
