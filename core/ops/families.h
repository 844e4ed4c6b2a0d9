// The explicit static table: every operator family adds its rows here. (Self-registering statics would vanish from static
// libraries.)
#ifndef ASC_CORE_OPS_FAMILIES_H_
#define ASC_CORE_OPS_FAMILIES_H_

#include "core/ops/op_builder.h"

namespace asc {

void AddActivationOps(OpTable& table);
void AddAffineGridOps(OpTable& table);
void AddArgReduceOps(OpTable& table);
void AddArrangeOps(OpTable& table);
void AddAssignOps(OpTable& table);
void AddAttentionOps(OpTable& table);
void AddBatchNormOps(OpTable& table);
void AddCastOps(OpTable& table);
void AddCol2ImOps(OpTable& table);
void AddConcatSplitOps(OpTable& table);
void AddControlFlowOps(OpTable& table);
void AddConvOps(OpTable& table);
void AddConvTransposeOps(OpTable& table);
void AddCumulativeOps(OpTable& table);
void AddDeformConvOps(OpTable& table);
void AddDetOps(OpTable& table);
void AddDropoutOps(OpTable& table);
void AddEinsumOps(OpTable& table);
void AddElementwiseBinaryOps(OpTable& table);
void AddElementwiseUnaryOps(OpTable& table);
void AddElementwiseVariadicOps(OpTable& table);
void AddExpandTileOps(OpTable& table);
void AddFourierOps(OpTable& table);
void AddFusedAttentionOps(OpTable& table);
void AddFusedOps(OpTable& table);
void AddGatherOps(OpTable& table);
void AddGenerateOps(OpTable& table);
void AddGlobalPoolOps(OpTable& table);
void AddGridSampleOps(OpTable& table);
void AddGroupNormOps(OpTable& table);
void AddGruRnnOps(OpTable& table);
void AddLayerNormOps(OpTable& table);
void AddLinearAttentionOps(OpTable& table);
void AddLogicOps(OpTable& table);
void AddLossOps(OpTable& table);
void AddLpNormOps(OpTable& table);
void AddLstmOps(OpTable& table);
void AddMatMulOps(OpTable& table);
void AddMaxUnpoolOps(OpTable& table);
void AddNonMaxSuppressionOps(OpTable& table);
void AddOptionalOps(OpTable& table);
void AddPadOps(OpTable& table);
void AddPoolOps(OpTable& table);
void AddPowOps(OpTable& table);
void AddQuantizeOps(OpTable& table);
void AddQuantizedLinearOps(OpTable& table);
void AddRandomOps(OpTable& table);
void AddReduceOps(OpTable& table);
void AddRegexOps(OpTable& table);
void AddResizeOps(OpTable& table);
void AddRoiOps(OpTable& table);
void AddRotaryEmbeddingOps(OpTable& table);
void AddScatterOps(OpTable& table);
void AddSelectOps(OpTable& table);
void AddSequenceOps(OpTable& table);
void AddShapeQueryOps(OpTable& table);
void AddSliceOps(OpTable& table);
void AddSoftmaxOps(OpTable& table);
void AddSpectralWindowOps(OpTable& table);
void AddStringOps(OpTable& table);
void AddTopKOps(OpTable& table);
void AddTransDataOps(OpTable& table);
void AddTransposeOps(OpTable& table);
void AddVectorProgramOps(OpTable& table);
void AddViewOps(OpTable& table);
void AddWhereOps(OpTable& table);

// Calls all of the above.
void AddAllOps(OpTable& table);

}  // namespace asc

#endif  // ASC_CORE_OPS_FAMILIES_H_
