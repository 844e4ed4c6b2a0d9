// Vector programs beside loops that are fused by hand, with the same functions of the same
// instruction set. Not a test: run it by hand. The two take turns; the least time of each counts.
//
//     build/tests/bench/kernels/program_bench [part of a chain's name [rows columns]]
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/bench/kernels/program_bench.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/vector/loops-inl.h"
#include "core/kernels/vector/math-inl.h"
#include "core/kernels/vector/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
// relu(x 1.5 + y).
void Cheap(const float* const* in, float* out, size_t rows, size_t n) {
  const Floats d;
  const Vec scale = hn::Set(d, 1.5f), zero = hn::Zero(d);
  ForVectors(d, rows * n, [&](auto at) ASC_INLINE_LAMBDA {
    const Vec v = hn::MulAdd(at.Load(in[0]), scale, at.Load(in[1]));
    at.Store(MaxKeep(zero, v), out);
  });
}
// max(x y + z, x) - y z.
void CheapOfThree(const float* const* in, float* out, size_t rows, size_t n) {
  const Floats d;
  ForVectors(d, rows * n, [&](auto at) ASC_INLINE_LAMBDA {
    const Vec x = at.Load(in[0]), y = at.Load(in[1]), z = at.Load(in[2]);
    const Vec v = MaxNan(hn::MulAdd(x, y, z), x);
    at.Store(hn::NegMulAdd(y, z, v), out);
  });
}
// gelu(x + bias).
void BiasGelu(const float* const* in, float* out, size_t rows, size_t n) {
  const Floats d;
  for (size_t row = 0; row < rows; ++row) {
    ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA {
      at.Store(Gelu(d, hn::Add(at.Load(in[0] + row * n), at.Load(in[1]))), out + row * n);
    });
  }
}
// tanh(x) sigmoid(y).
void Gate(const float* const* in, float* out, size_t rows, size_t n) {
  const Floats d;
  ForVectors(d, rows * n, [&](auto at) ASC_INLINE_LAMBDA {
    at.Store(hn::Mul(Tanh(d, at.Load(in[0])), Sigmoid(d, at.Load(in[1]))), out);
  });
}
void Softmax(const float* const* in, float* out, size_t rows, size_t n) {
  const Floats d;
  const Vec scale = hn::Set(d, 0.125f);
  for (size_t row = 0; row < rows; ++row) {
    const float* x = in[0] + row * n;
    float* y = out + row * n;
    Vec most = hn::Neg(hn::Inf(d));
    ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA {
      const Vec v = hn::MulAdd(at.Load(x), scale, at.Load(in[1]));
      at.Store(v, y);
      most = MaxKeep(most, at.Keep(v, most));
    });
    const Vec largest = hn::MaxOfLanes(d, most);
    Vec sum = hn::Zero(d);
    ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA {
      const Vec power = Exp(d, hn::Sub(at.Load(y), largest));
      at.Store(power, y);
      sum = hn::Add(sum, at.Keep(power, hn::Zero(d)));
    });
    const Vec factor = hn::Set(d, 1.0f / hn::GetLane(hn::SumOfLanes(d, sum)));
    ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA { at.Store(hn::Mul(at.Load(y), factor), y); });
  }
}
// Of x + residual.
void LayerNorm(const float* const* in, float* out, size_t rows, size_t n) {
  const Floats d;
  for (size_t row = 0; row < rows; ++row) {
    float* y = out + row * n;
    Vec sum = hn::Zero(d);
    ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA {
      const Vec v = hn::Add(at.Load(in[0] + row * n), at.Load(in[1] + row * n));
      at.Store(v, y);
      sum = hn::Add(sum, at.Keep(v, hn::Zero(d)));
    });
    const Vec mean = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, sum)) / static_cast<float>(n));
    const auto square = [&](auto v) ASC_INLINE_LAMBDA {
      const auto off = hn::Sub(v, mean);
      return hn::Mul(off, off);
    };
    const double variance = SumOf(d, y, n, square) / static_cast<double>(n);
    const Vec factor = hn::Set(d, static_cast<float>(1 / std::sqrt(variance + 1e-5)));
    ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA {
      const Vec v = hn::Mul(hn::Sub(at.Load(y), mean), factor);
      at.Store(hn::MulAdd(v, at.Load(in[2]), at.Load(in[3])), y);
    });
  }
}
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "hwy/targets.h"
//
#include "core/device/device.h"
#include "core/kernels/registry.h"
#include "core/ops/registry.h"
#include "tests/bench/kernels/unshared_constants.h"

namespace asc::simd {
HWY_EXPORT(Cheap);
HWY_EXPORT(CheapOfThree);
HWY_EXPORT(BiasGelu);
HWY_EXPORT(Gate);
HWY_EXPORT(Softmax);
HWY_EXPORT(LayerNorm);

namespace {
using Loop = void (*)(const float* const*, float*, size_t, size_t);

Tensor Noise(const Dims& dims, uint32_t state) {
  Tensor out = Tensor::Allocate(DataType::kFloat32, dims).value();
  for (int64_t i = 0; i < out.size(); ++i)
    out.data<float>()[i] =
        static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-22f - 2.0f;
  return out;
}

double Nanoseconds(const std::function<void()>& f, int calls) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) f();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
             .count() /
         calls;
}

std::string_view wanted_name;

void Compare(const char* name, std::string_view text, const std::vector<bool>& wide, Loop loop,
             int64_t rows, int64_t n) {
  if (std::string_view(name).find(wanted_name) == std::string_view::npos) return;
  Node node;
  node.schema = OpRegistry::Global().Find("asc", "VectorProgram");
  node.name = name;
  node.attributes.Set("program", std::string(text));
  UnsharedConstants constants;
  KernelRequest request{node, {}, {}, constants, HostAllocator()};
  std::vector<AnyValue> values;
  std::vector<const float*> data;
  for (const bool whole : wide) {
    Tensor x = Noise(whole ? Dims{rows, n} : Dims{n}, static_cast<uint32_t>(values.size()));
    request.inputs.push_back({DataType::kFloat32, x.dims(), {}, nullptr, true});
    data.push_back(x.data<float>());
    values.emplace_back(std::move(x));
  }
  request.outputs.push_back({DataType::kFloat32, {rows, n}, {}, nullptr, true});
  const auto kernel = (*FindDevice("cpu"))->Kernels(*node.schema).front().create(request);
  AnyValue out = Noise({rows, n}, 9), plain = Noise({rows, n}, 9);
  std::vector<const AnyValue*> inputs;
  for (const AnyValue& value : values) inputs.push_back(&value);
  AnyValue* outputs[] = {&out};
  RunState run{HostAllocator()};
  KernelContext context(*node.schema, node.attributes, inputs.data(), inputs.size(), outputs, 1,
                        run, 0);
  const auto scratch = context.Scratch((*kernel)->scratch_bytes() + 64).value();
  context.set_planned_scratch(scratch->data());
  const auto program = [&] { (void)(*kernel)->Run(context).ok(); };
  const auto by_hand = [&] {
    loop(data.data(), plain.tensor().data<float>(), static_cast<size_t>(rows),
         static_cast<size_t>(n));
  };
  const int calls = static_cast<int>(2e5 / static_cast<double>(rows * n)) + 1;
  double ours = 1e18, theirs = 1e18, difference = 0;
  for (int round = 0; round < 200; ++round) {
    ours = std::min(ours, Nanoseconds(program, calls));
    theirs = std::min(theirs, Nanoseconds(by_hand, calls));
  }
  for (int64_t i = 0; i < rows * n; ++i)
    difference = std::max<double>(
        difference, std::fabs(out.tensor().data<float>()[i] - plain.tensor().data<float>()[i]));
  std::printf("| %s | %lld x %lld | %.0f | %.0f | %.2f |\n", name, static_cast<long long>(rows),
              static_cast<long long>(n), ours, theirs, ours / theirs);
  if (!(difference < 1e-4)) std::printf("the results differ by %g\n", difference);
}
}  // namespace
}  // namespace asc::simd

int main(int count, char** arguments) {
  using namespace asc::simd;  // NOLINT: the whole of it is about them
  asc::InstallHostKernels();
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  std::printf("| chain | extents | program ns | by hand ns | ratio |\n|---|---|---|---|---|\n");
  if (count > 1) wanted_name = arguments[1];
  std::vector<std::pair<int, int>> extents = {{16, 64},  {128, 768}, {512, 49},
                                              {512, 80}, {197, 197}, {2000, 128}};
  if (count > 3) extents = {{std::atoi(arguments[2]), std::atoi(arguments[3])}};
  for (const auto& [rows, n] : extents) {
    Compare("relu(a x + y)", "%0 = mul in0, 1.5; %1 = add %0, in1; %2 = relu %1; float32 %2",
            {true, true}, HWY_DYNAMIC_DISPATCH(Cheap), rows, n);
    Compare("max(x y + z, x) - y z",
            "%0 = mul in0, in1; %1 = add %0, in2; %2 = max %1, in0; %3 = mul in1, in2; "
            "%4 = sub %2, %3; float32 %4",
            {true, true, true}, HWY_DYNAMIC_DISPATCH(CheapOfThree), rows, n);
    Compare("gelu(x + bias)", "%0 = add in0, in1; %1 = gelu %0; float32 %1", {true, false},
            HWY_DYNAMIC_DISPATCH(BiasGelu), rows, n);
    Compare("tanh(x) sigmoid(y)", "%0 = tanh in0; %1 = sigmoid in1; %2 = mul %0, %1; float32 %2",
            {true, true}, HWY_DYNAMIC_DISPATCH(Gate), rows, n);
    Compare("softmax(a x + mask)",
            "%0 = mul in0, 0.125; %1 = add %0, in1; %2 = reduce_max %1; %3 = sub %1, %2; "
            "%4 = exp %3; %5 = reduce_sum %4; %6 = reciprocal %5; %7 = mul %4, %6; float32 %7",
            {true, false}, HWY_DYNAMIC_DISPATCH(Softmax), rows, n);
    Compare("layer_norm(x + y)",
            "%0 = add in0, in1; %1 = reduce_mean %0; %2 = sub %0, %1; %3 = square %2; "
            "%4 = reduce_mean %3; %5 = add %4, 1e-5; %6 = reciprocal_sqrt %5; %7 = mul %2, %6; "
            "%8 = fma %7, in2, in3; float32 %8",
            {true, true, false, false}, HWY_DYNAMIC_DISPATCH(LayerNorm), rows, n);
  }
}
#endif  // HWY_ONCE
