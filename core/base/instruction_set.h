// The instruction set that kernels are chosen for.
#ifndef ASC_CORE_BASE_INSTRUCTION_SET_H_
#define ASC_CORE_BASE_INSTRUCTION_SET_H_

#include <string_view>

namespace asc {

// In rising order on x86-64.
enum class InstructionSet : int { kPortable, kNeon, kAvx2, kAvx512 };

// The best set that this CPU has, not beyond what the environment variable PYASC_MAX_ISA says
// (portable, avx2 or avx512): with it a machine can stand in for a lesser one. Looked up once;
// a value of another kind is ignored with a warning in the log. Thread-safe.
InstructionSet BestInstructionSet();

// "portable", "neon", "avx2", "avx512".
std::string_view InstructionSetName(InstructionSet set);

}  // namespace asc

#endif  // ASC_CORE_BASE_INSTRUCTION_SET_H_
