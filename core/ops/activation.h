// Activation functions, written once: for the unary operators, for fused operators and for
// recurrent cells.
//
// T is float or double. All of them give NaN for NaN.
#ifndef ASC_CORE_OPS_ACTIVATION_H_
#define ASC_CORE_OPS_ACTIVATION_H_

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/status.h"

namespace asc {
namespace math {

template <typename T>
T Relu(T x) {
  return x < T(0) ? T(0) : x;
}
// max(low, min(x, high)) in ONNX's order: `high` wins where low > high.
template <typename T>
T Clip(T x, T low, T high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}
template <typename T>
T LeakyRelu(T x, T alpha) {
  return x < T(0) ? alpha * x : x;
}
template <typename T>
T ThresholdedRelu(T x, T alpha) {
  return x <= alpha ? T(0) : x;
}
template <typename T>
T Elu(T x, T alpha) {
  return x < T(0) ? alpha * std::expm1(x) : x;
}
template <typename T>
T Selu(T x, T alpha, T gamma) {
  return x > T(0) ? gamma * x : gamma * alpha * std::expm1(x);
}
template <typename T>
T Celu(T x, T alpha) {
  return x < T(0) ? alpha * std::expm1(x / alpha) : x;
}
template <typename T>
T Sigmoid(T x) {
  return T(1) / (T(1) + std::exp(-x));
}
template <typename T>
T HardSigmoid(T x, T alpha, T beta) {
  return Clip(alpha * x + beta, T(0), T(1));
}
template <typename T>
T HardSwish(T x) {
  return x * HardSigmoid(x, T(1) / T(6), T(0.5));
}
template <typename T>
T Swish(T x, T alpha) {
  return x * Sigmoid(alpha * x);
}
// log(1 + exp(x)) without overflow.
template <typename T>
T Softplus(T x) {
  return std::log1p(std::exp(-std::fabs(x))) + Relu(x);
}
template <typename T>
T Softsign(T x) {
  return x / (T(1) + std::fabs(x));
}
template <typename T>
T Mish(T x) {
  return x * std::tanh(Softplus(x));
}
template <typename T>
T Gelu(T x) {
  return T(0.5) * x * (T(1) + std::erf(x * T(0.70710678118654752440)));
}
template <typename T>
T GeluTanh(T x) {
  return T(0.5) * x * (T(1) + std::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
}

}  // namespace math

// An activation chosen at run time, with up to two parameters.
enum class ActivationKind : uint8_t {
  kNone,
  kRelu,
  kClip,  // low, high
  kSigmoid,
  kHardSigmoid,  // alpha, beta
  kHardSwish,
  kSilu,
  kLeakyRelu,  // alpha
  kTanh,
  kGelu,
  kGeluTanh,
  kElu,              // alpha
  kThresholdedRelu,  // alpha
  kScaledTanh,       // alpha, beta: alpha * tanh(beta * x)
  kAffine,           // alpha, beta: alpha * x + beta
  kSoftsign,
  kSoftplus,
};

struct Activation {
  ActivationKind kind = ActivationKind::kNone;
  float a = 0, b = 0;
};

// An activation by name, in any case of letters ("" is none), as fused operators and recurrent
// cells have it in attributes. Missing parameters take the operator's defaults. E5003 for unknown
// names and too many parameters.
Result<Activation> ParseActivation(std::string_view name, std::span<const float> params);
// How many parameters it takes, 0 to 2: none, `a`, or both.
int ParameterCount(ActivationKind kind);

// x[i] = f(x[i]).
void ApplyActivation(const Activation& activation, float* x, int64_t count);
void ApplyActivation(const Activation& activation, double* x, int64_t count);

}  // namespace asc

#endif  // ASC_CORE_OPS_ACTIVATION_H_
