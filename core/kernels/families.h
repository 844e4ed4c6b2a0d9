// The explicit list of kernel families of the host. Each appends its entries; within an operator, earlier entries win ties.
#ifndef ASC_CORE_KERNELS_FAMILIES_H_
#define ASC_CORE_KERNELS_FAMILIES_H_

#include <vector>

#include "core/device/kernel.h"

namespace asc {

using KernelTable = std::vector<KernelEntry>;

void AddGemmMatMuls(KernelTable& table);
void AddGroupedPointwiseConvolutions(KernelTable& table);
void AddIntegerConvolutions(KernelTable& table);
void AddIntegerMatMuls(KernelTable& table);
void AddOneDnnConvolutions(KernelTable& table);
void AddOneDnnDeconvolutions(KernelTable& table);
void AddOneDnnMatMuls(KernelTable& table);
void AddPointwiseConvolutions(KernelTable& table);
void AddPreparedKernels(KernelTable& table);
void AddSignalConvolutions(KernelTable& table);
void AddVectorAttention(KernelTable& table);
void AddVectorBatchNorm(KernelTable& table);
void AddVectorBinary(KernelTable& table);
void AddVectorCast(KernelTable& table);
void AddVectorConcat(KernelTable& table);
void AddVectorCumulative(KernelTable& table);
void AddVectorDepthwise(KernelTable& table);
void AddVectorDoubleMatMul(KernelTable& table);
void AddVectorFourier(KernelTable& table);
void AddVectorNormalisation(KernelTable& table);
void AddVectorOnnxAttention(KernelTable& table);
void AddVectorPool(KernelTable& table);
void AddVectorQuantizedLstm(KernelTable& table);
void AddVectorRecurrent(KernelTable& table);
void AddVectorPrograms(KernelTable& table);
void AddVectorQuantize(KernelTable& table);
void AddVectorReduce(KernelTable& table);
void AddVectorResize(KernelTable& table);
void AddVectorSoftmax(KernelTable& table);
void AddVectorUnary(KernelTable& table);
void AddVectorUpsampleConv(KernelTable& table);
void AddWinogradConvolutions(KernelTable& table);

}  // namespace asc

#endif  // ASC_CORE_KERNELS_FAMILIES_H_
