#include "core/kernels/packing_key.h"

#include "core/base/strings.h"
#include "core/base/version.h"

#ifdef ASC_WITH_ONEDNN
#include <dnnl.hpp>
#endif

namespace asc {

std::string PackingKey() {
  // Our own forms may change from version to version.
  std::string key = Cat("pyasc ", Version(), " ");
#if defined(__x86_64__)
  key += __builtin_cpu_supports("avx512f") ? "avx512" : __builtin_cpu_supports("avx2") ? "avx2" : "sse";
#elif defined(__aarch64__)
  key += "neon";
#else
  key += "scalar";
#endif
#ifdef ASC_WITH_ONEDNN
  const dnnl_version_t* version = dnnl_version();
  key += Cat(" onednn ", version->major, ".", version->minor, ".", version->patch, " isa ",
             static_cast<int64_t>(dnnl_get_effective_cpu_isa()));
#endif
  return key;
}

}  // namespace asc
