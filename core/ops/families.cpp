#include "core/ops/families.h"

namespace asc {

void AddAllOps(OpTable& table) {
  AddActivationOps(table);
  AddBatchNormOps(table);
  AddCastOps(table);
  AddConcatSplitOps(table);
  AddControlFlowOps(table);
  AddConvOps(table);
  AddConvTransposeOps(table);
  AddElementwiseBinaryOps(table);
  AddElementwiseUnaryOps(table);
  AddElementwiseVariadicOps(table);
  AddExpandTileOps(table);
  AddGatherOps(table);
  AddGenerateOps(table);
  AddGlobalPoolOps(table);
  AddLogicOps(table);
  AddMatMulOps(table);
  AddPadOps(table);
  AddPoolOps(table);
  AddPowOps(table);
  AddShapeQueryOps(table);
  AddSliceOps(table);
  AddSoftmaxOps(table);
  AddTransposeOps(table);
  AddViewOps(table);
  AddWhereOps(table);
}

}  // namespace asc
