#include "core/kernels/registry.h"

#include <mutex>

#include "core/base/instruction_set.h"
#include "core/device/device.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/targets.h"
//
#include "hwy/targets.h"
#ifdef ASC_WITH_ONEDNN
#include <dnnl.hpp>
#endif

namespace asc {
namespace {
// Libraries that look at the CPU themselves must not go beyond what the engine may use.
void LimitLibraries([[maybe_unused]] InstructionSet best) {
#if defined(__x86_64__)
  if (best == InstructionSet::kAvx512) return;
  int64_t beyond = HWY_AVX3 | HWY_AVX3_DL;
  if (best == InstructionSet::kPortable) beyond |= HWY_AVX2 | HWY_SSE4 | HWY_SSSE3;
  hwy::DisableTargets(beyond);
#ifdef ASC_WITH_ONEDNN
  dnnl::set_max_cpu_isa(best == InstructionSet::kAvx2 ? dnnl::cpu_isa::avx2 : dnnl::cpu_isa::sse41);
#endif
#endif
}
}  // namespace

void InstallHostKernels() {
  static std::once_flag once;
  std::call_once(once, [] {
    LimitLibraries(BestInstructionSet());
    KernelTable table;
    AddGemmMatMuls(table);
    AddPointwiseConvolutions(table);
    AddGroupedPointwiseConvolutions(table);
    AddPreparedKernels(table);
    AddSignalConvolutions(table);
    AddWinogradConvolutions(table);
    AddVectorDepthwise(table);
    AddIntegerConvolutions(table);
    AddIntegerMatMuls(table);
#ifdef ASC_WITH_ONEDNN
    AddOneDnnConvolutions(table);
    AddOneDnnMatMuls(table);
#endif
    AddVectorAttention(table);
    AddVectorOnnxAttention(table);
    AddVectorBatchNorm(table);
    AddVectorBinary(table);
    AddVectorCast(table);
    AddVectorConcat(table);
    AddVectorCumulative(table);
    AddVectorDoubleMatMul(table);
    AddVectorFourier(table);
    AddVectorNormalisation(table);
    AddVectorPool(table);
    AddVectorQuantizedLstm(table);
    AddVectorRecurrent(table);
    AddVectorPrograms(table);
    AddVectorQuantize(table);
    AddVectorReduce(table);
    AddVectorResize(table);
    AddVectorSoftmax(table);
    AddVectorUnary(table);
    AddVectorUpsampleConv(table);
#ifdef ASC_WITH_ONEDNN
    AddOneDnnDeconvolutions(table);
#endif
    SetHostKernels(std::move(table));
  });
}

}  // namespace asc
