#include "core/kernels/vector/unary.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/unary_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/vector/loops-inl.h"
#include "core/kernels/vector/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
void UnaryLoop(const UnaryCall& f, const float* x, float* y, size_t n) {
  const Floats d;
  VisitUnary(f, [&](auto op) HWY_ATTR {
    ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA { at.Store(op(d, at.Load(x)), y); });
  });
}

// `biases`: those of a block, repeated to kMostBlock.
void BiasAndUnaryLoop(const UnaryCall& f, const float* biases, float* y, size_t n) {
  const Floats d;
  VisitUnary(f, [&](auto op) HWY_ATTR {
    ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA {
      const auto bias = hn::LoadU(d, biases + at.i % kMostBlock);
      at.Store(op(d, hn::Add(at.Load(y), bias)), y);
    });
  });
}
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
HWY_EXPORT(UnaryLoop);
HWY_EXPORT(BiasAndUnaryLoop);

void ApplyUnary(const UnaryCall& f, const float* x, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(UnaryLoop)(f, x, y, static_cast<size_t>(count));
}

void ApplyBiasAndUnary(const UnaryCall& f, const float* bias, int64_t c0, float* y, int64_t count) {
  float biases[kMostBlock];
  for (int64_t i = 0; i < kMostBlock; ++i) biases[i] = bias[i % c0];
  HWY_DYNAMIC_DISPATCH(BiasAndUnaryLoop)(f, biases, y, static_cast<size_t>(count));
}

bool KeepsZero(const UnaryCall& f) {
  switch (f.op) {
    case UnaryOp::kAffine:
      return f.b == 0;
    case UnaryOp::kClip:
      return f.a <= 0 && f.b >= 0;
    case UnaryOp::kAcos:
    case UnaryOp::kCos:
    case UnaryOp::kExp:
    case UnaryOp::kHardSigmoid:
    case UnaryOp::kLog:
    case UnaryOp::kReciprocal:
    case UnaryOp::kReciprocalSqrt:
    case UnaryOp::kSigmoid:
    case UnaryOp::kSoftplus:
      return false;
    default:
      return true;
  }
}

int64_t UnaryGrain(UnaryOp op) {
  switch (op) {
    case UnaryOp::kAcos:
    case UnaryOp::kAsin:
    case UnaryOp::kAtan:
    case UnaryOp::kCelu:
    case UnaryOp::kCos:
    case UnaryOp::kElu:
    case UnaryOp::kErf:
    case UnaryOp::kExp:
    case UnaryOp::kGelu:
    case UnaryOp::kGeluTanh:
    case UnaryOp::kLog:
    case UnaryOp::kMish:
    case UnaryOp::kScaledTanh:
    case UnaryOp::kSelu:
    case UnaryOp::kSigmoid:
    case UnaryOp::kSin:
    case UnaryOp::kSoftplus:
    case UnaryOp::kSwish:
    case UnaryOp::kTanh:
      return 1 << 13;
    default:
      return 1 << 15;
  }
}

UnaryCall FromActivation(const Activation& activation) {
  const float a = activation.a, b = activation.b;
  switch (activation.kind) {
    case ActivationKind::kNone:
      return {};
    case ActivationKind::kRelu:
      return {UnaryOp::kRelu};
    case ActivationKind::kClip:
      return {UnaryOp::kClip, a, b};
    case ActivationKind::kSigmoid:
      return {UnaryOp::kSigmoid};
    case ActivationKind::kHardSigmoid:
      return {UnaryOp::kHardSigmoid, a, b};
    case ActivationKind::kHardSwish:
      return {UnaryOp::kHardSwish};
    case ActivationKind::kSilu:
      return {UnaryOp::kSwish, 1.0f};
    case ActivationKind::kLeakyRelu:
      return {UnaryOp::kLeakyRelu, a};
    case ActivationKind::kTanh:
      return {UnaryOp::kTanh};
    case ActivationKind::kGelu:
      return {UnaryOp::kGelu};
    case ActivationKind::kGeluTanh:
      return {UnaryOp::kGeluTanh};
    case ActivationKind::kElu:
      return {UnaryOp::kElu, a};
    case ActivationKind::kThresholdedRelu:
      return {UnaryOp::kThresholdedRelu, a};
    case ActivationKind::kScaledTanh:
      return {UnaryOp::kScaledTanh, a, b};
    case ActivationKind::kAffine:
      return {UnaryOp::kAffine, a, b};
    case ActivationKind::kSoftsign:
      return {UnaryOp::kSoftsign};
    case ActivationKind::kSoftplus:
      return {UnaryOp::kSoftplus};
  }
  return {};
}
}  // namespace asc::simd
#endif  // HWY_ONCE
