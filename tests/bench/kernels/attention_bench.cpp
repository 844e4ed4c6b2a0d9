// How fast attention is, and its two products alone, in floating-point operations a second. Not a test: run it by hand.
// Extents are those of MiniLM, BERT-base, ViT-small and decoders with a cache.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <optional>
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

// One operator that runs again and again, with one thread.
class Runner {
 public:
  // `fast`: by the first kernel of the host that is not the reference.
  Runner(std::string_view domain, std::string_view op, AttributeMap attributes,
         const std::vector<std::optional<Dims>>& inputs, const std::vector<Dims>& outputs,
         bool fast = true)
      : schema_(Schema(domain, op)) {
    node_.schema = &schema_;
    node_.attributes = std::move(attributes);
    for (const AttributeSpec& spec : schema_.attributes) {
      if (spec.default_value && !node_.attributes.Has(spec.name))
        node_.attributes.Set(spec.name, *spec.default_value);
    }
    UnsharedConstants constants;
    KernelRequest request{node_, {}, {}, constants, HostAllocator(), 1, false, false};
    for (const auto& dims : inputs) {
      inputs_.push_back(dims ? AnyValue(Noise(*dims)) : AnyValue());
      request.inputs.push_back(dims ? Operand(*dims) : OperandDesc());
    }
    for (const Dims& dims : outputs) {
      outputs_.emplace_back(Noise(dims));
      request.outputs.push_back(Operand(dims));
    }
    for (size_t i = 0; i < inputs_.size(); ++i)
      input_pointers_.push_back(inputs[i] ? &inputs_[i] : nullptr);
    for (AnyValue& output : outputs_) output_pointers_.push_back(&output);
    if (!fast) return;
    kernel_ = (*FindDevice("cpu"))->Kernels(schema_).front().create(request).value();
    scratch_.resize(kernel_->scratch_bytes() + kAlignment);
  }

  void Run(benchmark::State& state, double flops) {
    const ScopedThreads team(1);
    void* aligned = scratch_.data();
    size_t space = scratch_.size();
    if (kernel_) std::align(kAlignment, 1, aligned, space);
    for (auto _ : state) {
      KernelContext context(schema_, node_.attributes, input_pointers_.data(),
                            input_pointers_.size(), output_pointers_.data(),
                            output_pointers_.size(), run_, 0);
      context.set_planned_scratch(aligned);
      if (!(kernel_ ? kernel_->Run(context) : schema_.reference(context)).ok())
        state.SkipWithError("the kernel failed");
      benchmark::ClobberMemory();
    }
    state.counters["FLOP/s"] =
        benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
  }

 private:
  static const OpSchema& Schema(std::string_view domain, std::string_view op) {
    InstallHostKernels();
    return *OpRegistry::Global().Find(domain, op);
  }
  static OperandDesc Operand(const Dims& dims) {
    return {DataType::kFloat32, dims, {}, nullptr, true};
  }

  const OpSchema& schema_;
  Node node_;
  std::vector<AnyValue> inputs_, outputs_;
  std::vector<const AnyValue*> input_pointers_;
  std::vector<AnyValue*> output_pointers_;
  std::unique_ptr<Kernel> kernel_;
  std::vector<std::byte> scratch_;
  RunState run_{HostAllocator()};
};

// [batch, steps, heads, size] read as [batch, heads, steps, size].
void Attention(benchmark::State& state) {
  const int64_t queries = state.range(0), keys = state.range(1), heads = state.range(2),
                size = state.range(3);
  AttributeMap attributes;
  for (const char* name : {"q_perm", "k_perm", "v_perm", "y_perm"})
    attributes.Set(name, std::vector<int64_t>{0, 2, 1, 3});
  const Dims q = {1, queries, heads, size}, k = {1, keys, heads, size}, mask = {1, 1, 1, keys};
  Runner("asc", "FusedAttention", std::move(attributes), {q, k, k, std::nullopt, mask}, {q})
      .Run(state, 4.0 * static_cast<double>(queries * keys * heads * size));
}
BENCHMARK(Attention)
    ->ArgNames({"queries", "keys", "heads", "size"})
    ->Args({128, 128, 12, 32})
    ->Args({128, 128, 12, 64})
    ->Args({197, 197, 6, 64})
    ->Args({1, 129, 8, 64})
    ->Args({512, 512, 8, 64});

// ONNX's operator as decoders have it: [batch, heads, steps, size], groups of heads that share keys,
// a cache that grows. Operations are those on keys that are seen.
void OnnxAttention(benchmark::State& state) {
  const int64_t queries = state.range(0), past = state.range(1), heads = state.range(2),
                kv_heads = state.range(3), size = state.range(4), left = state.range(6);
  const bool causal = state.range(5) != 0;
  AttributeMap attributes;
  attributes.Set("is_causal", int64_t{causal});
  attributes.Set("left_window_size", left);
  const Dims q = {1, heads, queries, size}, k = {1, kv_heads, queries, size},
             cache = {1, kv_heads, past, size}, present = {1, kv_heads, past + queries, size};
  std::vector<std::optional<Dims>> inputs = {q, k, k};
  std::vector<Dims> outputs = {q};
  if (past > 0) {
    inputs.insert(inputs.end(), {std::nullopt, cache, cache});
    outputs.insert(outputs.end(), {present, present});
  }
  double seen = 0;
  for (int64_t i = 0; i < queries; ++i) {
    const int64_t first = left < 0 ? 0 : std::max<int64_t>(0, past + i - left),
                  last = causal ? past + i + 1 : past + queries;
    seen += static_cast<double>(last - first);
  }
  Runner("", "Attention", std::move(attributes), inputs, outputs, state.range(7) != 0)
      .Run(state, 4.0 * seen * static_cast<double>(heads * size));
}
BENCHMARK(OnnxAttention)
    ->ArgNames({"queries", "past", "heads", "kv_heads", "size", "causal", "left", "fast"})
    ->ArgsProduct({{15}, {0}, {240}, {240}, {32}, {0}, {-1}, {0, 1}})
    ->ArgsProduct({{128}, {0}, {12}, {12}, {32}, {0}, {-1}, {0, 1}})
    ->ArgsProduct({{512}, {0}, {8}, {8}, {64}, {0, 1}, {-1}, {0, 1}})
    ->ArgsProduct({{512}, {0}, {8}, {8}, {64}, {1}, {63}, {0, 1}})
    ->ArgsProduct({{512}, {0}, {16}, {4}, {64}, {1}, {-1}, {0, 1}})
    ->ArgsProduct({{1}, {128}, {8}, {8}, {64}, {1}, {-1}, {0, 1}})
    ->ArgsProduct({{1}, {1023}, {32}, {8}, {64}, {1}, {-1}, {0, 1}});

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
