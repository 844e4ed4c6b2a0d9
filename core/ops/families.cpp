#include "core/ops/families.h"

#include "core/ops/families_extra.h"
#include "core/ops/ml/families.h"

namespace asc {

void AddAllOps(OpTable& table) {
  AddActivationOps(table);
  AddAffineGridOps(table);
  AddArgReduceOps(table);
  AddArrangeOps(table);
  AddAssignOps(table);
  AddAttentionOps(table);
  AddBatchNormOps(table);
  AddCastOps(table);
  AddCol2ImOps(table);
  AddConcatSplitOps(table);
  AddControlFlowOps(table);
  AddConvOps(table);
  AddConvTransposeOps(table);
  AddCumulativeOps(table);
  AddDeformConvOps(table);
  AddDetOps(table);
  AddDropoutOps(table);
  AddEinsumOps(table);
  AddElementwiseBinaryOps(table);
  AddElementwiseUnaryOps(table);
  AddElementwiseVariadicOps(table);
  AddExpandTileOps(table);
  AddFourierOps(table);
  AddFusedAttentionOps(table);
  AddFusedOps(table);
  AddGatherOps(table);
  AddGenerateOps(table);
  AddGlobalPoolOps(table);
  AddGridSampleOps(table);
  AddGroupNormOps(table);
  AddGruRnnOps(table);
  AddImageDecoderOps(table);
  AddLayerNormOps(table);
  AddLinearAttentionOps(table);
  AddLogicOps(table);
  AddLossOps(table);
  AddLpNormOps(table);
  AddLstmOps(table);
  AddMatMulOps(table);
  AddMaxUnpoolOps(table);
  AddMlEncoderOps(table);
  AddMlFeatureOps(table);
  AddMlLinearOps(table);
  AddMlMapOps(table);
  AddMlSvmOps(table);
  AddMlTreeOps(table);
  AddNonMaxSuppressionOps(table);
  AddOptimizerStepOps(table);
  AddOptionalOps(table);
  AddPadOps(table);
  AddPoolOps(table);
  AddPowOps(table);
  AddQuantizeOps(table);
  AddQuantizedLinearOps(table);
  AddRandomOps(table);
  AddReduceOps(table);
  AddRegexOps(table);
  AddResizeOps(table);
  AddRoiOps(table);
  AddRotaryEmbeddingOps(table);
  AddScatterOps(table);
  AddSelectOps(table);
  AddSequenceOps(table);
  AddShapeQueryOps(table);
  AddSliceOps(table);
  AddSoftmaxOps(table);
  AddSpectralWindowOps(table);
  AddStringOps(table);
  AddTfIdfOps(table);
  AddTopKOps(table);
  AddTransDataOps(table);
  AddTransposeOps(table);
  AddVectorProgramOps(table);
  AddViewOps(table);
  AddWhereOps(table);
}

}  // namespace asc
