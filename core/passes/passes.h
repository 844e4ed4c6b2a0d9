// One maker a pass; each pass is in the file of its name. pipeline.cpp has them in order.
#ifndef ASC_CORE_PASSES_PASSES_H_
#define ASC_CORE_PASSES_PASSES_H_

#include <memory>

#include "core/passes/fusion.h"
#include "core/passes/pass.h"

namespace asc {

std::unique_ptr<Pass> MakeShapeInference();
std::unique_ptr<Pass> MakeConstantFolding();
std::unique_ptr<Pass> MakeNoOpElimination();
std::unique_ptr<Pass> MakeCastSimplification();
std::unique_ptr<Pass> MakeReshapeSimplification();
std::unique_ptr<Pass> MakeSliceSimplification();
std::unique_ptr<Pass> MakeTransposeSimplification();
std::unique_ptr<Pass> MakeCommonSubexpressions();
std::unique_ptr<Pass> MakeCrossEntropy();
std::unique_ptr<Pass> MakeDeadCodeElimination();
std::unique_ptr<Pass> MakeEinsumLowering();
std::unique_ptr<Pass> MakeActivationRecomposition();
std::unique_ptr<Pass> MakeLayerNormRecomposition();
std::unique_ptr<Pass> MakeAffineConv();
std::unique_ptr<Pass> MakeConvAffine();
std::unique_ptr<Pass> MakeFusedAttention();
std::unique_ptr<Pass> MakeFusedConv();
std::unique_ptr<Pass> MakeFusedMatMul();
std::unique_ptr<Pass> MakeLayoutAssignment();
std::unique_ptr<Pass> MakeVectorFusion();

// The fusions of each pass that has some.
std::vector<FusionInfo> ActivationRecompositionFusions();
std::vector<FusionInfo> AffineConvFusions();
std::vector<FusionInfo> ConvAffineFusions();
std::vector<FusionInfo> FusedAttentionFusions();
std::vector<FusionInfo> FusedConvFusions();
std::vector<FusionInfo> FusedMatMulFusions();
std::vector<FusionInfo> LayerNormRecompositionFusions();
std::vector<FusionInfo> VectorFusionFusions();

}  // namespace asc

#endif  // ASC_CORE_PASSES_PASSES_H_
