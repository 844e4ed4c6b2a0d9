// The standard list of passes.
#ifndef ASC_CORE_PASSES_PIPELINE_H_
#define ASC_CORE_PASSES_PIPELINE_H_

#include <memory>
#include <string>
#include <vector>

#include "core/passes/pass.h"

namespace asc {

// The passes of the level that the options ask for, in order.
std::vector<std::unique_ptr<Pass>> StandardPasses(const PassOptions& options);

// The names of all passes, each once, in order.
std::vector<std::string> PassNames();

}  // namespace asc

#endif  // ASC_CORE_PASSES_PIPELINE_H_
