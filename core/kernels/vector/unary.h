// Element-wise functions of one float32 operand, vectorised.
#ifndef ASC_CORE_KERNELS_VECTOR_UNARY_H_
#define ASC_CORE_KERNELS_VECTOR_UNARY_H_

#include <cstdint>
#include <optional>

#include "core/ops/activation.h"

namespace asc {
struct Node;
}

namespace asc::simd {

// `a` and `b` are the parameters of UnaryCall.
enum class UnaryOp : uint8_t {
  kIdentity,
  kAbs,
  kAcos,
  kAffine,  // a x + b
  kAsin,
  kAtan,
  kCeil,
  kCelu,  // a
  kClip,  // low a, high b
  kCos,
  kCube,  // x^3
  kElu,   // a
  kErf,
  kExp,
  kFloor,
  kGelu,
  kGeluTanh,
  kHardSigmoid,  // a x + b clipped to [0, 1]
  kHardSwish,
  kLeakyRelu,  // a
  kLog,
  kMish,
  kNeg,
  kReciprocal,
  kReciprocalSqrt,  // x^(-1/2)
  kRelu,
  kRound,       // halves to even
  kScaledTanh,  // a tanh(b x)
  kSelu,        // alpha a, gamma b
  kSigmoid,
  kSign,
  kSin,
  kSoftplus,
  kSoftsign,
  kSqrt,
  kSquare,
  kSquareRoot,  // x^(1/2): as kSqrt, but infinity for -infinity and 0 for -0, as powers have it
  kSwish,       // x sigmoid(a x)
  kTanh,
  kThresholdedRelu,  // a
};

struct UnaryCall {
  UnaryOp op = UnaryOp::kIdentity;
  float a = 0, b = 0;
};

// y[i] = f(x[i]). Any alignment; y may be x. Runs on the calling thread.
void ApplyUnary(const UnaryCall& f, const float* x, float* y, int64_t count);

// y[i] = f(y[i] + bias[i % c0]): the channels of one block. c0 divides kMostBlock.
constexpr int64_t kMostBlock = 64;
void ApplyBiasAndUnary(const UnaryCall& f, const float* bias, int64_t c0, float* y, int64_t count);

// Whether f(0) is 0: the padding of blocked layouts, which is kept zero, then stays so.
bool KeepsZero(const UnaryCall& f);
// The same of the node's operator; false where it is none of these functions.
bool KeepsZero(const Node& node);

// How many elements a thread should get at least.
int64_t UnaryGrain(UnaryOp op);

UnaryCall FromActivation(const Activation& activation);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_UNARY_H_
