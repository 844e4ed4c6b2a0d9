// How fast 3x3 convolutions are by Winograd's algorithm and by oneDNN's direct kernel, in
// multiplications and additions of the direct one per second ("effective"). Weights come from
// memory each time, as they do in a model that is larger than the cache; the image was just
// written, and the memory of the result held something else. Not a test: run it by hand, as root
// under `chrt -f 1` on a machine that others use too.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "core/base/parallel.h"
#include "core/device/device.h"
#include "core/kernels/registry.h"
#include "core/ops/registry.h"
#include "tests/bench/kernels/unshared_constants.h"

namespace asc {
namespace {
constexpr size_t kCacheBytes = size_t{96} << 20;  // more than the last level

struct Layer {
  const char* name;
  int64_t channels, outputs, rows, columns;
};
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

Tensor Noise(const Dims& dims, float scale) {
  Tensor out = Tensor::Allocate(DataType::kFloat32, dims).value();
  std::minstd_rand random(1);
  std::uniform_real_distribution<float> uniform(-scale, scale);
  for (int64_t i = 0; i < out.size(); ++i) out.data<float>()[i] = uniform(random);
  return out;
}

void Convolve(benchmark::State& state, const Layer& layer, const char* name, int c0, int threads) {
  const ScopedThreads team(threads);
  const OpSchema* schema = OpRegistry::Global().Find("asc", "FusedConv");
  Node node;
  node.schema = schema;
  node.attributes.Set("pads", std::vector<int64_t>{1, 1, 1, 1});
  node.attributes.Set("activation", std::string("Relu"));
  const Dims x_dims = {1, layer.channels, layer.rows, layer.columns},
             w_dims = {layer.outputs, layer.channels, 3, 3};
  const Dims y_dims = {1, layer.outputs, layer.rows, layer.columns};
  const Tensor w = Noise(w_dims, 1.0f / std::sqrt(static_cast<float>(9 * layer.channels))),
               bias = Noise({layer.outputs}, 1);
  const Tensor source =
      Noise({1, (layer.channels + c0 - 1) / c0, layer.rows, layer.columns, c0}, 1);
  AnyValue x(Tensor::Allocate(DataType::kFloat32, source.dims()).value()), weight(w), biases(bias);
  AnyValue y(Tensor::Allocate(DataType::kFloat32,
                              {1, (layer.outputs + c0 - 1) / c0, layer.rows, layer.columns, c0})
                 .value());
  const Layout blocked{Format::kNC1HWC0, c0};
  UnsharedConstants constants;
  const KernelRequest request{node,
                              {{DataType::kFloat32, x_dims, blocked, nullptr, true},
                               {DataType::kFloat32, w_dims, {}, &w, true},
                               {DataType::kFloat32, {layer.outputs}, {}, &bias, true}},
                              {{DataType::kFloat32, y_dims, blocked, nullptr, true}},
                              constants,
                              HostAllocator(),
                              threads,
                              false,
                              false,
                              true};
  std::unique_ptr<Kernel> kernel;
  for (const KernelEntry& entry : (*FindDevice("cpu"))->Kernels(*schema)) {
    if (entry.name == name && entry.supports(request)) kernel = entry.create(request).value();
  }
  if (!kernel) {
    state.SkipWithError("no such kernel");
    return;
  }
  const AnyValue* inputs[] = {&x, &weight, &biases};
  AnyValue* outputs[] = {&y};
  RunState run{HostAllocator()};
  KernelContext context(*schema, node.attributes, inputs, 3, outputs, 1, run, 1);
  const auto scratch = Buffer::Allocate(HostAllocator(), MemoryUse::kScratch,
                                        std::max<size_t>(64, kernel->scratch_bytes()))
                           .value();
  context.set_planned_scratch(scratch->data());
  const std::unique_ptr<KernelState> kept = kernel->MakeState();
  context.set_state(kept.get());
  static const std::vector<char> cache(kCacheBytes, 1);
  double best = INFINITY;
  for (auto _ : state) {
    // Only read, so that nothing is left to be written back.
    int sum = 0;
    for (size_t i = 0; i < cache.size(); i += 64) sum += cache[i];
    benchmark::DoNotOptimize(sum);
    std::copy_n(source.data<float>(), source.size(), x.tensor().data<float>());
    std::fill_n(y.tensor().data<float>(), y.tensor().size(), 0.0f);
    const auto start = std::chrono::steady_clock::now();
    if (!kernel->Run(context).ok()) state.SkipWithError("the run failed");
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(time.count());
    best = std::min(best, time.count());
  }
  const double operations =
      2.0 * 9 * static_cast<double>(layer.channels * layer.outputs * layer.rows * layer.columns);
  state.counters["best_ms"] = best * 1e3;
  state.counters["effective_GFLOPs"] = operations / best * 1e-9;
}

void Register() {
  InstallHostKernels();
  for (const Layer& layer : kLayers) {
    for (const int threads : {1, 2}) {
      for (const auto& [kernel, c0] : kKernels) {
        const std::string name = Cat(layer.name, "/", threads, "/", kernel, "/", c0);
        benchmark::RegisterBenchmark(name.c_str(),
                                     [=, name = kernel, block = c0](benchmark::State& state) {
                                       Convolve(state, layer, name, block, threads);
                                     })
            ->UseManualTime()
            ->Iterations(20)
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
}
}  // namespace
}  // namespace asc

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  asc::Register();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
