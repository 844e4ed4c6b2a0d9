// How fast attention is, and its two products alone, in floating-point operations a second. Not a test: run it by hand.
// Extents are those of MiniLM, BERT-base, ViT-small and a decoder with a cache, in the layout of their projections.
#include <benchmark/benchmark.h>

#include <vector>

#include "core/base/parallel.h"
#include "core/device/device.h"
#include "core/kernels/gemm/micro_kernel.h"
#include "core/kernels/registry.h"
#include "core/ops/registry.h"
#include "tests/bench/kernels/unshared_constants.h"

namespace asc {
namespace {
Tensor Noise(const Dims& dims) {
  Tensor x = Tensor::Allocate(DataType::kFloat32, dims).value();
  uint32_t state = 1;
  for (int64_t i = 0; i < x.size(); ++i)
    x.data<float>()[i] =
        static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-23f - 1.0f;
  return x;
}

// [batch, steps, heads, size] read as [batch, heads, steps, size].
void Attention(benchmark::State& state) {
  const int64_t queries = state.range(0), keys = state.range(1), heads = state.range(2),
                size = state.range(3);
  InstallHostKernels();
  const OpSchema* schema = OpRegistry::Global().Find("asc", "FusedAttention");
  Node node;
  node.schema = schema;
  for (const AttributeSpec& spec : schema->attributes) {
    if (spec.default_value) node.attributes.Set(spec.name, *spec.default_value);
  }
  for (const char* name : {"q_perm", "k_perm", "v_perm", "y_perm"})
    node.attributes.Set(name, std::vector<int64_t>{0, 2, 1, 3});
  const Dims q_dims = {1, queries, heads, size}, k_dims = {1, keys, heads, size},
             mask_dims = {1, 1, 1, keys};
  const AnyValue q(Noise(q_dims)), k(Noise(k_dims)), v(Noise(k_dims)), mask(Noise(mask_dims));
  AnyValue y(Noise(q_dims));
  const AnyValue* inputs[] = {&q, &k, &v, nullptr, &mask};
  AnyValue* outputs[] = {&y};
  UnsharedConstants constants;
  KernelRequest request{node, {}, {}, constants, HostAllocator(), 1, false, false};
  for (const AnyValue* input : inputs) {
    request.inputs.push_back(
        input == nullptr
            ? OperandDesc()
            : OperandDesc{DataType::kFloat32, input->tensor().dims(), {}, nullptr, true});
  }
  request.outputs.push_back({DataType::kFloat32, q_dims, {}, nullptr, true});
  const auto& entries = (*FindDevice("cpu"))->Kernels(*schema);
  const auto kernel = entries.front().create(request);
  RunState run{HostAllocator()};
  std::vector<std::byte> scratch((*kernel)->scratch_bytes() + kAlignment);
  void* aligned = scratch.data();
  size_t space = scratch.size();
  std::align(kAlignment, 1, aligned, space);
  for (auto _ : state) {
    KernelContext context(*schema, node.attributes, inputs, 5, outputs, 1, run, 0);
    context.set_planned_scratch(aligned);
    if (!(*kernel)->Run(context).ok()) state.SkipWithError("the kernel failed");
    benchmark::ClobberMemory();
  }
  state.counters["FLOP/s"] =
      benchmark::Counter(4.0 * static_cast<double>(queries * keys * heads * size),
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(Attention)
    ->ArgNames({"queries", "keys", "heads", "size"})
    ->Args({128, 128, 12, 32})
    ->Args({128, 128, 12, 64})
    ->Args({197, 197, 6, 64})
    ->Args({1, 129, 8, 64})
    ->Args({512, 512, 8, 64});

void Product(benchmark::State& state) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2), row = state.range(3);
  const Tensor a = Noise({m, row}), b = Noise({k, n});
  Tensor packed = Noise({gemm::PackedCount(k, n)}), c = Noise({m, std::max(row, n)});
  gemm::Pack(b.data<float>(), n, 1, k, n, 0, k, packed.data<float>());
  gemm::Product p;
  p.m = m, p.n = n, p.k = k;
  p.a = a.data<float>(), p.a_row = row;
  p.b = packed.data<float>(), p.b_panel = p.b_block = gemm::Tiles().width * k;
  p.c = c.data<float>(), p.c_row = std::max(row, n);
  for (auto _ : state) {
    gemm::Multiply(p);
    benchmark::ClobberMemory();
  }
  state.counters["FLOP/s"] = benchmark::Counter(2.0 * static_cast<double>(m * n * k),
                                                benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(Product)
    ->ArgNames({"m", "n", "k", "a_row"})
    ->Args({64, 128, 64, 768})
    ->Args({64, 64, 128, 128})
    ->Args({64, 128, 32, 384})
    ->Args({64, 32, 128, 128})
    ->Args({50, 197, 64, 1152})
    ->Args({50, 64, 197, 208})
    ->Args({25, 64, 197, 208})
    ->Args({196, 1024, 1024, 1024});

void Pack(benchmark::State& state) {
  const int64_t n = state.range(0), k = state.range(1), row = state.range(2);
  const bool transposed = state.range(3) != 0;
  const Tensor b = Noise({std::max(n, k), row});
  Tensor packed = Noise({gemm::PackedCount(k, n)});
  for (auto _ : state) {
    gemm::Pack(b.data<float>(), transposed ? 1 : row, transposed ? row : 1, k, n, 0, k,
               packed.data<float>());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * n * k * 4);
}
BENCHMARK(Pack)
    ->ArgNames({"n", "k", "row", "transposed"})
    ->Args({128, 64, 768, 1})
    ->Args({64, 128, 768, 0})
    ->Args({197, 64, 1152, 1});
}  // namespace
}  // namespace asc

BENCHMARK_MAIN();
