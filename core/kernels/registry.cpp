#include "core/kernels/registry.h"

#include <mutex>

#include "core/device/device.h"
#include "core/kernels/families.h"

namespace asc {

void InstallHostKernels() {
  static std::once_flag once;
  std::call_once(once, [] {
    KernelTable table;
    AddGemmMatMuls(table);
    AddPointwiseConvolutions(table);
    AddSignalConvolutions(table);
    AddWinogradConvolutions(table);
#ifdef ASC_WITH_ONEDNN
    AddOneDnnConvolutions(table);
    AddOneDnnMatMuls(table);
#endif
    AddVectorAttention(table);
    AddVectorBatchNorm(table);
    AddVectorBinary(table);
    AddVectorConcat(table);
    AddVectorNormalisation(table);
    AddVectorPool(table);
    AddVectorRecurrent(table);
    AddVectorPrograms(table);
    AddVectorReduce(table);
    AddVectorResize(table);
    AddVectorSoftmax(table);
    AddVectorUnary(table);
    AddVectorUpsampleConv(table);
    SetHostKernels(std::move(table));
  });
}

}  // namespace asc
