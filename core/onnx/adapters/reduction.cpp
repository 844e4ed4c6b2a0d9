// Reductions: the axes became an input.
#include "core/onnx/adapters/adapter.h"

namespace asc::onnx {
namespace {
Status AxesToInput(Adaptation& adaptation) {
  // No axes, and an empty list of them, both meant all.
  if (adaptation.attributes().Ints("axes").empty()) adaptation.attributes().Erase("axes");
  adaptation.IntsToInput("axes", 1);
  return Ok();
}

Status TopK9(Adaptation& adaptation) {
  const auto* k = adaptation.attributes().Get<int64_t>("k");
  if (k == nullptr) return adaptation.Refuse("needs the attribute 'k'");
  adaptation.SetInput(1, adaptation.Ints("k", {*k}));
  adaptation.attributes().Erase("k");
  return Ok();
}
}  // namespace

std::span<const AdapterRow> ReductionAdapters() {
  static constexpr AdapterRow kRows[] = {
      {"ReduceL1", 17, AxesToInput},
      {"ReduceL2", 17, AxesToInput},
      {"ReduceLogSum", 17, AxesToInput},
      {"ReduceLogSumExp", 17, AxesToInput},
      {"ReduceMax", 17, AxesToInput},
      {"ReduceMean", 17, AxesToInput},
      {"ReduceMin", 17, AxesToInput},
      {"ReduceProd", 17, AxesToInput},
      {"ReduceSum", 12, AxesToInput},
      {"ReduceSumSquare", 17, AxesToInput},
      {"TopK", 9, TopK9},
  };
  return kRows;
}

}  // namespace asc::onnx
