// How fast the vector kernels are, in bytes moved a second, next to plain loops that the compiler
// may vectorise as it likes. Not a test: run it by hand. Extents are those of BERT-base, ViT,
// MobileNetV2 and OCR models.
#include <benchmark/benchmark.h>

#include <cmath>
#include <new>
#include <vector>

#include "core/kernels/vector/binary.h"
#include "core/kernels/vector/pool.h"
#include "core/kernels/vector/reduce.h"
#include "core/kernels/vector/rows.h"
#include "core/kernels/vector/unary.h"

namespace asc::simd {
namespace {
// Aligned as tensors are.
template <typename T>
struct Aligned {
  using value_type = T;
  Aligned() = default;
  template <typename U>
  Aligned(const Aligned<U>&) {}  // NOLINT: allocators convert
  T* allocate(size_t n) {
    return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64}));
  }
  void deallocate(T* p, size_t) { ::operator delete (p, std::align_val_t{64}); }
  bool operator==(const Aligned&) const { return true; }
};
using Floats = std::vector<float, Aligned<float>>;

Floats Data(int64_t count) {
  Floats x(static_cast<size_t>(count));
  uint32_t state = 1;
  for (float& v : x)
    v = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-22f - 2.0f;
  return x;
}
void SetBytes(benchmark::State& state, int64_t elements) {
  state.SetBytesProcessed(state.iterations() * elements * static_cast<int64_t>(sizeof(float)));
}

void Unary(benchmark::State& state, UnaryOp op) {
  const int64_t n = state.range(0);
  const Floats x = Data(n);
  Floats y(x.size());
  for (auto _ : state) {
    ApplyUnary({op, 1, 1}, x.data(), y.data(), n);
    benchmark::ClobberMemory();
  }
  SetBytes(state, 2 * n);
}
template <typename F>
void PlainUnary(benchmark::State& state, F f) {
  const int64_t n = state.range(0);
  const Floats x = Data(n);
  Floats y(x.size());
  for (auto _ : state) {
    for (size_t i = 0; i < x.size(); ++i) y[i] = f(x[i]);
    benchmark::ClobberMemory();
  }
  SetBytes(state, 2 * n);
}
#define ASC_BENCH_UNARY(name, expression)                                    \
  BENCHMARK_CAPTURE(Unary, name, UnaryOp::k##name)->Arg(4096)->Arg(1 << 18); \
  BENCHMARK_CAPTURE(PlainUnary, name, [](float x) { return expression; })->Arg(1 << 18)
ASC_BENCH_UNARY(Relu, x < 0 ? 0.0f : x);
ASC_BENCH_UNARY(Exp, std::exp(x));
ASC_BENCH_UNARY(Tanh, std::tanh(x));
ASC_BENCH_UNARY(Erf, std::erf(x));
ASC_BENCH_UNARY(Sigmoid, 1 / (1 + std::exp(-x)));
ASC_BENCH_UNARY(Gelu, 0.5f * x * (1 + std::erf(x * 0.70710678f)));
ASC_BENCH_UNARY(HardSwish, x* std::fmin(std::fmax(x / 6 + 0.5f, 0.0f), 1.0f));

// x [rows, n] + y, of the same extents (step 1, row n), a row (row 0) or a column (step 0).
void Add(benchmark::State& state) {
  const int64_t rows = state.range(0), n = state.range(1), row = state.range(2),
                step = state.range(3);
  const Floats x = Data(rows * n), y = Data(rows * n);
  Floats z(x.size());
  for (auto _ : state) {
    ApplyBinary(BinaryOp::kAdd, {{x.data(), n, 1}, {y.data(), row, step}, z.data(), rows, n});
    benchmark::ClobberMemory();
  }
  SetBytes(state, 2 * rows * n);
}
BENCHMARK(Add)
    ->ArgNames({"rows", "n", "row", "step"})
    ->Args({128, 768, 768, 1})
    ->Args({128, 768, 0, 1})
    ->Args({512, 49, 1, 0})
    ->Args({512, 16, 0, 1})
    ->Args({4000, 3, 0, 1});

void Softmax(benchmark::State& state) {
  const int64_t rows = state.range(0), n = state.range(1);
  const Floats x = Data(rows * n);
  Floats y(x.size());
  for (auto _ : state) {
    SoftmaxRows(false, x.data(), y.data(), rows, n);
    benchmark::ClobberMemory();
  }
  SetBytes(state, 2 * rows * n);
}
void PlainSoftmax(benchmark::State& state) {
  const int64_t rows = state.range(0), n = state.range(1);
  const Floats x = Data(rows * n);
  Floats y(x.size());
  for (auto _ : state) {
    for (int64_t r = 0; r < rows; ++r) {
      const float* from = x.data() + r * n;
      float* to = y.data() + r * n;
      float largest = -INFINITY, sum = 0;
      for (int64_t i = 0; i < n; ++i) largest = from[i] > largest ? from[i] : largest;
      for (int64_t i = 0; i < n; ++i) sum += to[i] = std::exp(from[i] - largest);
      for (int64_t i = 0; i < n; ++i) to[i] /= sum;
    }
    benchmark::ClobberMemory();
  }
  SetBytes(state, 2 * rows * n);
}
BENCHMARK(Softmax)->Args({1536, 128})->Args({2364, 197})->Args({40, 6625})->Args({512, 49});
BENCHMARK(PlainSoftmax)->Args({1536, 128})->Args({2364, 197})->Args({40, 6625});

void LayerNorm(benchmark::State& state) {
  const int64_t rows = state.range(0), n = state.range(1);
  const Floats x = Data(rows * n), scale = Data(n), bias = Data(n);
  Floats y(x.size());
  for (auto _ : state) {
    NormaliseRows({x.data(), y.data(), rows, n, scale.data(), bias.data(), 1e-5f});
    benchmark::ClobberMemory();
  }
  SetBytes(state, 2 * rows * n);
}
void PlainLayerNorm(benchmark::State& state) {
  const int64_t rows = state.range(0), n = state.range(1);
  const Floats x = Data(rows * n), scale = Data(n), bias = Data(n);
  Floats y(x.size());
  for (auto _ : state) {
    for (int64_t r = 0; r < rows; ++r) {
      const float* from = x.data() + r * n;
      float* to = y.data() + r * n;
      float sum = 0, squares = 0;
      for (int64_t i = 0; i < n; ++i) sum += from[i];
      const float mean = sum / static_cast<float>(n);
      for (int64_t i = 0; i < n; ++i) squares += (from[i] - mean) * (from[i] - mean);
      const float inverse = 1 / std::sqrt(squares / static_cast<float>(n) + 1e-5f);
      for (int64_t i = 0; i < n; ++i)
        to[i] = (from[i] - mean) * inverse * scale[static_cast<size_t>(i)] +
                bias[static_cast<size_t>(i)];
    }
    benchmark::ClobberMemory();
  }
  SetBytes(state, 2 * rows * n);
}
BENCHMARK(LayerNorm)->Args({128, 768})->Args({197, 768})->Args({40, 120});
BENCHMARK(PlainLayerNorm)->Args({128, 768});

void ReduceMean(benchmark::State& state) {
  const int64_t rows = state.range(0), n = state.range(1);
  const Floats x = Data(rows * n);
  Floats y(static_cast<size_t>(std::max(rows, n)));
  for (auto _ : state) {
    if (state.range(2) != 0) {
      ReduceColumns(ReduceOp::kMean, x.data(), y.data(), rows, n, n);
    } else {
      ReduceRows(ReduceOp::kMean, x.data(), y.data(), rows, n);
    }
    benchmark::ClobberMemory();
  }
  SetBytes(state, rows * n);
}
BENCHMARK(ReduceMean)
    ->ArgNames({"rows", "n", "columns"})
    ->Args({1280, 49, 0})
    ->Args({96, 6400, 0})
    ->Args({49, 16, 1})
    ->Args({128, 768, 1});

// 3x3, stride 2, padding 1 over 112x112 (c0: blocked).
void MaxPool(benchmark::State& state) {
  const int64_t c0 = state.range(0), width = std::max<int64_t>(1, c0);
  const WindowAxis axis{112, 56, 3, 2, 1, 1, 1};
  const Pool pool{true, {axis, false}, {axis, false}};
  const Floats x = Data(112 * 112 * width);
  Floats y(static_cast<size_t>(56 * 56 * width));
  for (auto _ : state) {
    if (c0 == 0) {
      PoolPlane(pool, x.data(), y.data());
    } else {
      PoolPixels(pool, c0, x.data(), y.data());
    }
    benchmark::ClobberMemory();
  }
  SetBytes(state, static_cast<int64_t>(x.size() + y.size()));
}
BENCHMARK(MaxPool)->Arg(0)->Arg(8)->Arg(16);
}  // namespace
}  // namespace asc::simd

BENCHMARK_MAIN();
