// How fast convolutions with a window for each channel are by the vector engine and by oneDNN, with
// NaN kept. Not a test: run it by hand, as root under `chrt -f 1` on a machine that others use too.
#include "tests/bench/kernels/convolution_bench.h"

namespace asc {
namespace {
using bench::Layer;

constexpr Layer kLayers[] = {
    {"mobilenet_v2_112", 32, 32, 112, 112, 3, 1, 32},
    {"mobilenet_v2_112_s2", 96, 96, 112, 112, 3, 2, 96},
    {"mobilenet_v2_56", 144, 144, 56, 56, 3, 1, 144},
    {"mobilenet_v2_56_s2", 144, 144, 56, 56, 3, 2, 144},
    {"mobilenet_v2_28", 192, 192, 28, 28, 3, 1, 192},
    {"mobilenet_v2_14", 384, 384, 14, 14, 3, 1, 384},
    {"mobilenet_v2_14_s2", 576, 576, 14, 14, 3, 2, 576},
    {"mobilenet_v2_7", 960, 960, 7, 7, 3, 1, 960},
    {"ocr_160", 48, 48, 160, 160, 3, 1, 48},
    {"window5_80", 96, 96, 80, 80, 5, 1, 96},
    {"window5_40", 192, 192, 40, 40, 5, 1, 192},
    {"window5_40_s2", 192, 192, 40, 40, 5, 2, 192},
    {"window5_20", 384, 384, 20, 20, 5, 1, 384},
    {"window7_56", 96, 96, 56, 56, 7, 1, 96},
    {"window7_14", 384, 384, 14, 14, 7, 1, 384},
    {"window7_7", 768, 768, 7, 7, 7, 1, 768},
};

constexpr std::pair<const char*, int> kKernels[] = {{"onednn.convolution", 8},
                                                    {"onednn.convolution", 16},
                                                    {"vector.depthwise", 8},
                                                    {"vector.depthwise", 16}};
}  // namespace
}  // namespace asc

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  asc::bench::Register(asc::kLayers, asc::kKernels);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
