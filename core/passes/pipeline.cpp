#include "core/passes/pipeline.h"

#include <algorithm>

#include "core/passes/constant_folding.h"
#include "core/passes/fusion.h"
#include "core/passes/passes.h"

namespace asc {
namespace {
struct Entry {
  int level;  // runs at this graph_opt_level and above
  std::unique_ptr<Pass> (*make)();
};

// Clean-ups come first, so that patterns show in one form; what they leave behind is swept before
// and after fusion.
// clang-format off
constexpr Entry kPipeline[] = {
    {1, MakeShapeInference},
    {1, MakeConstantFolding},
    {1, MakeNoOpElimination},
    {1, MakeCastSimplification},
    {1, MakeTransposeSimplification},
    {1, MakeReshapeSimplification},
    {1, MakeSliceSimplification},
    {1, MakeCommonSubexpressions},
    {1, MakeDeadCodeElimination},
    {2, MakeCrossEntropy},
    {2, MakeEinsumLowering},
    {2, MakeActivationRecomposition},
    {2, MakeLayerNormRecomposition},
    {2, MakeConvAffine},
    {2, MakeAffineConv},
    {2, MakeFusedConv},
    {2, MakeFusedMatMul},
    {2, MakeFusedAttention},
    {2, MakeVectorFusion},
    {2, MakeLastConstantFolding},
    {2, MakeDeadCodeElimination},
    {3, MakeLayoutAssignment},
};

constexpr std::vector<FusionInfo> (*kFusions[])() = {
    ActivationRecompositionFusions,
    AffineConvFusions,
    ConvAffineFusions,
    FusedAttentionFusions,
    FusedConvFusions,
    FusedMatMulFusions,
    LayerNormRecompositionFusions,
    VectorFusionFusions,
};
// clang-format on
}  // namespace

std::vector<std::unique_ptr<Pass>> StandardPasses(const PassOptions& options) {
  std::vector<std::unique_ptr<Pass>> passes;
  for (const Entry& entry : kPipeline) {
    if (entry.level > options.graph_opt_level) continue;
    const bool folds = entry.make == MakeConstantFolding || entry.make == MakeLastConstantFolding;
    if (folds && !options.enable_const_fold) continue;
    passes.push_back(entry.make());
  }
  return passes;
}

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const Entry& entry : kPipeline) {
    std::string name(entry.make()->name());
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

const std::vector<FusionInfo>& ListFusions() {
  static const std::vector<FusionInfo>* fusions = [] {
    auto* all = new std::vector<FusionInfo>;
    for (const auto list : kFusions) {
      for (FusionInfo& fusion : list()) all->push_back(std::move(fusion));
    }
    std::sort(all->begin(), all->end(),
              [](const FusionInfo& a, const FusionInfo& b) { return a.name < b.name; });
    return all;
  }();
  return *fusions;
}

}  // namespace asc
