#include "core/base/instruction_set.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/base/log.h"

namespace asc {
namespace {
constexpr std::array<std::string_view, 4> kNames = {"portable", "neon", "avx2", "avx512"};

InstructionSet OfCpu() {
#if defined(__x86_64__)
  // What the AVX-512 kernels are compiled with, beyond the foundation.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return InstructionSet::kAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return InstructionSet::kAvx2;
#elif defined(__aarch64__)
  return InstructionSet::kNeon;
#endif
  return InstructionSet::kPortable;
}

InstructionSet Limited(InstructionSet set) {
  const char* const limit = std::getenv("PYASC_MAX_ISA");
  if (limit == nullptr || *limit == '\0') return set;
  const auto name = std::find(kNames.begin(), kNames.end(), limit);
  if (name == kNames.end()) {
    Log(LogLevel::kWarning, "the environment variable PYASC_MAX_ISA is '", limit,
        "' and ignored; it may be portable, avx2 or avx512");
    return set;
  }
  return std::min(set, static_cast<InstructionSet>(name - kNames.begin()));
}
}  // namespace

InstructionSet BestInstructionSet() {
  static const InstructionSet set = Limited(OfCpu());
  return set;
}

std::string_view InstructionSetName(InstructionSet set) { return kNames[static_cast<size_t>(set)]; }

}  // namespace asc
