#include "core/ops/activation.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <vector>

namespace asc {
namespace {
struct Row {
  std::string_view name;
  ActivationKind kind;
  int params;
  float a, b;  // defaults
};
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr Row kRows[] = {
    {"", ActivationKind::kNone, 0, 0, 0},
    {"Relu", ActivationKind::kRelu, 0, 0, 0},
    {"Clip", ActivationKind::kClip, 2, -kInf, kInf},
    {"Sigmoid", ActivationKind::kSigmoid, 0, 0, 0},
    {"HardSigmoid", ActivationKind::kHardSigmoid, 2, 0.2f, 0.5f},
    {"HardSwish", ActivationKind::kHardSwish, 0, 0, 0},
    {"Silu", ActivationKind::kSilu, 0, 0, 0},
    {"LeakyRelu", ActivationKind::kLeakyRelu, 1, 0.01f, 0},
    {"Tanh", ActivationKind::kTanh, 0, 0, 0},
    {"Gelu", ActivationKind::kGelu, 0, 0, 0},
    {"GeluTanh", ActivationKind::kGeluTanh, 0, 0, 0},
    {"Elu", ActivationKind::kElu, 1, 1.0f, 0},
    {"ThresholdedRelu", ActivationKind::kThresholdedRelu, 1, 1.0f, 0},
    {"ScaledTanh", ActivationKind::kScaledTanh, 2, 1.0f, 1.0f},
    {"Affine", ActivationKind::kAffine, 2, 1.0f, 0},
    {"Softsign", ActivationKind::kSoftsign, 0, 0, 0},
    {"Softplus", ActivationKind::kSoftplus, 0, 0, 0},
};

template <typename T>
void Apply(const Activation& activation, T* x, int64_t count) {
  const T a = activation.a, b = activation.b;
  const auto each = [&](auto f) {
    for (int64_t i = 0; i < count; ++i) x[i] = f(x[i]);
  };
  switch (activation.kind) {
    case ActivationKind::kNone:
      break;
    case ActivationKind::kRelu:
      each(math::Relu<T>);
      break;
    case ActivationKind::kClip:
      each([=](T v) { return math::Clip(v, a, b); });
      break;
    case ActivationKind::kSigmoid:
      each(math::Sigmoid<T>);
      break;
    case ActivationKind::kHardSigmoid:
      each([=](T v) { return math::HardSigmoid(v, a, b); });
      break;
    case ActivationKind::kHardSwish:
      each(math::HardSwish<T>);
      break;
    case ActivationKind::kSilu:
      each([](T v) { return math::Swish(v, T(1)); });
      break;
    case ActivationKind::kLeakyRelu:
      each([=](T v) { return math::LeakyRelu(v, a); });
      break;
    case ActivationKind::kTanh:
      each([](T v) { return std::tanh(v); });
      break;
    case ActivationKind::kGelu:
      each(math::Gelu<T>);
      break;
    case ActivationKind::kGeluTanh:
      each(math::GeluTanh<T>);
      break;
    case ActivationKind::kElu:
      each([=](T v) { return math::Elu(v, a); });
      break;
    case ActivationKind::kThresholdedRelu:
      each([=](T v) { return math::ThresholdedRelu(v, a); });
      break;
    case ActivationKind::kScaledTanh:
      each([=](T v) { return a * std::tanh(b * v); });
      break;
    case ActivationKind::kAffine:
      each([=](T v) { return a * v + b; });
      break;
    case ActivationKind::kSoftsign:
      each(math::Softsign<T>);
      break;
    case ActivationKind::kSoftplus:
      each(math::Softplus<T>);
      break;
  }
}
bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}
}  // namespace

int ParameterCount(ActivationKind kind) {
  for (const Row& row : kRows) {
    if (row.kind == kind) return row.params;
  }
  return 0;
}

Result<Activation> ParseActivation(std::string_view name, std::span<const float> params) {
  for (const Row& row : kRows) {
    if (!SameName(row.name, name)) continue;
    if (params.size() > static_cast<size_t>(row.params)) {
      return InvalidArgument("activation '", name, "' takes ", row.params, " parameters, given ",
                             params.size());
    }
    return Activation{row.kind, params.size() > 0 ? params[0] : row.a,
                      params.size() > 1 ? params[1] : row.b};
  }
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return InvalidArgument("unknown activation '", name, "': expected one of ", names);
}

void ApplyActivation(const Activation& activation, float* x, int64_t count) {
  Apply(activation, x, count);
}
void ApplyActivation(const Activation& activation, double* x, int64_t count) {
  Apply(activation, x, count);
}

}  // namespace asc
