// ShapeInference: runs every shape rule again with what is known by now, until nothing new comes of
// it.
#include "core/passes/passes.h"

namespace asc {
namespace {
class ShapeInference : public Pass {
 public:
  std::string_view name() const override { return "ShapeInference"; }
  bool ChangesFacts() const override { return false; }
  void Run(PassContext& context) override {
    // Facts run forward, and back into the regions of loops: a few sweeps settle them.
    constexpr int kMostSweeps = 5;
    for (int sweep = 0; sweep < kMostSweeps && context.Infer() > 0; ++sweep) {
    }
  }
};
}  // namespace

std::unique_ptr<Pass> MakeShapeInference() { return std::make_unique<ShapeInference>(); }

}  // namespace asc
