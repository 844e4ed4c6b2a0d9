// How fast 3x3 convolutions are by Winograd's algorithm and by oneDNN's direct kernel, in
// multiplications and additions of the direct one per second ("effective"). Not a test: run it by
// hand, as root under `chrt -f 1` on a machine that others use too.
#include "tests/bench/kernels/convolution_bench.h"

namespace asc {
namespace {
using bench::Layer;

constexpr Layer kLayers[] = {
    {"resnet50_56", 64, 64, 56, 56},     {"resnet50_28", 128, 128, 28, 28},
    {"resnet50_14", 256, 256, 14, 14},   {"resnet50_7", 512, 512, 7, 7},
    {"vgg19_224", 64, 64, 224, 224},     {"vgg19_112", 128, 128, 112, 112},
    {"vgg19_56", 256, 256, 56, 56},      {"vgg19_28", 512, 512, 28, 28},
    {"vgg19_14", 512, 512, 14, 14},      {"ocr_160", 96, 24, 160, 160},
    {"ocr_80", 96, 24, 80, 80},          {"ocr_40", 96, 24, 40, 40},
    {"densenet121_56", 128, 32, 56, 56}, {"densenet121_28", 128, 32, 28, 28},
    {"densenet121_14", 128, 32, 14, 14}, {"densenet121_7", 128, 32, 7, 7},
};

constexpr std::pair<const char*, int> kKernels[] = {{"onednn.convolution", 8},
                                                    {"onednn.convolution", 16},
                                                    {"winograd.f4x4", 8},
                                                    {"winograd.f4x4", 16},
                                                    {"winograd.f2x2", 8}};
}  // namespace
}  // namespace asc

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  asc::bench::Register(asc::kLayers, asc::kKernels);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
