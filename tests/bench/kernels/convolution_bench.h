// What the benchmarks of convolutions share: weights come from memory each time, as they do in a
// model that is larger than the cache; the image was just written, and the memory of the result held
// something else.
#ifndef ASC_TESTS_BENCH_KERNELS_CONVOLUTION_BENCH_H_
#define ASC_TESTS_BENCH_KERNELS_CONVOLUTION_BENCH_H_

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <span>

#include "core/base/parallel.h"
#include "core/device/device.h"
#include "core/kernels/registry.h"
#include "core/ops/registry.h"
#include "tests/bench/kernels/unshared_constants.h"

namespace asc::bench {
inline constexpr size_t kCacheBytes = size_t{96} << 20;  // more than the last level

// Square windows that keep the extents, but for the stride.
struct Layer {
  const char* name;
  int64_t channels, outputs, rows, columns;
  int64_t window = 3, stride = 1, groups = 1;
};

inline Tensor Noise(const Dims& dims, float scale) {
  Tensor out = Tensor::Allocate(DataType::kFloat32, dims).value();
  std::minstd_rand random(1);
  std::uniform_real_distribution<float> uniform(-scale, scale);
  for (int64_t i = 0; i < out.size(); ++i) out.data<float>()[i] = uniform(random);
  return out;
}

inline void Convolve(benchmark::State& state, const Layer& layer, const char* name, int c0,
                     int threads) {
  const ScopedThreads team(threads);
  const OpSchema* schema = OpRegistry::Global().Find("asc", "FusedConv");
  Node node;
  node.schema = schema;
  const int64_t pad = layer.window / 2;
  node.attributes.Set("pads", std::vector<int64_t>(4, pad));
  node.attributes.Set("strides", std::vector<int64_t>(2, layer.stride));
  node.attributes.Set("group", layer.groups);
  node.attributes.Set("activation", std::string("Relu"));
  const Dims x_dims = {1, layer.channels, layer.rows, layer.columns},
             w_dims = {layer.outputs, layer.channels / layer.groups, layer.window, layer.window};
  const auto extent = [&](int64_t in) { return (in + 2 * pad - layer.window) / layer.stride + 1; };
  const Dims y_dims = {1, layer.outputs, extent(layer.rows), extent(layer.columns)};
  const int64_t filter = ElementCount(w_dims, 1, 4);
  const Tensor w = Noise(w_dims, 1.0f / std::sqrt(static_cast<float>(filter))),
               bias = Noise({layer.outputs}, 1);
  const Tensor source =
      Noise({1, (layer.channels + c0 - 1) / c0, layer.rows, layer.columns, c0}, 1);
  AnyValue x(Tensor::Allocate(DataType::kFloat32, source.dims()).value()), weight(w), biases(bias);
  AnyValue y(Tensor::Allocate(DataType::kFloat32,
                              {1, (layer.outputs + c0 - 1) / c0, y_dims[2], y_dims[3], c0})
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
  const double operations = 2.0 * static_cast<double>(filter * ElementCount(y_dims));
  state.counters["best_ms"] = best * 1e3;
  state.counters["effective_GFLOPs"] = operations / best * 1e-9;
}

// Registers each layer with one and two threads for each pair of a kernel and a C0.
inline void Register(std::span<const Layer> layers,
                     std::span<const std::pair<const char*, int>> kernels) {
  InstallHostKernels();
  for (const Layer& layer : layers) {
    for (const int threads : {1, 2}) {
      for (const auto& [kernel, c0] : kernels) {
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

}  // namespace asc::bench

#endif  // ASC_TESTS_BENCH_KERNELS_CONVOLUTION_BENCH_H_
