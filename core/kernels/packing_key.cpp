#include "core/kernels/packing_key.h"

#include "core/base/instruction_set.h"
#include "core/base/strings.h"
#include "core/base/version.h"

#ifdef ASC_WITH_ONEDNN
#include <dnnl.hpp>
#endif

namespace asc {

std::string PackingKey() {
  // Our own forms may change from version to version.
  std::string key = Cat("pyasc ", Version(), " ", InstructionSetName(BestInstructionSet()));
#ifdef ASC_WITH_ONEDNN
  const dnnl_version_t* version = dnnl_version();
  key += Cat(" onednn ", version->major, ".", version->minor, ".", version->patch, " isa ",
             static_cast<int64_t>(dnnl_get_effective_cpu_isa()));
#endif
  return key;
}

}  // namespace asc
