#include "core/ops/families.h"

namespace asc {

void AddAllOps(OpTable& table) {
  AddActivationOps(table);
  AddConcatSplitOps(table);
  AddConvOps(table);
  AddConvTransposeOps(table);
  AddElementwiseBinaryOps(table);
  AddElementwiseUnaryOps(table);
  AddElementwiseVariadicOps(table);
  AddExpandTileOps(table);
  AddGatherOps(table);
  AddGenerateOps(table);
  AddPadOps(table);
  AddPoolOps(table);
  AddShapeQueryOps(table);
  AddSliceOps(table);
  AddTransposeOps(table);
  AddViewOps(table);
}

}  // namespace asc
