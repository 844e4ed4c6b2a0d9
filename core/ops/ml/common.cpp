#include "core/ops/ml/common.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/ops/cost.h"

namespace asc {
namespace {
constexpr int64_t kGrainOperations = 1 << 14;

template <typename T>
T Logistic(T x) {
  // exp of a negative number alone: no overflow.
  const T small = 1 / (1 + std::exp(std::abs(x)));
  return x < 0 ? small : 1 - small;
}

template <typename T>
void Softmax(std::span<T> scores, bool keep_zeros) {
  constexpr T kZero = static_cast<T>(1e-7);
  T top = -std::numeric_limits<T>::infinity();
  for (const T s : scores) top = std::max(top, s);
  T sum = 0;
  for (T& s : scores) {
    s = keep_zeros && std::abs(s) <= kZero ? s * std::exp(-top) : std::exp(s - top);
    sum += s;
  }
  for (T& s : scores) s = sum == 0 ? static_cast<T>(0.5) : s / sum;
}

// In double: near one half digits cancel.
double Probit(double p) {
  constexpr double kA = 0.147;
  const double x = 2 * p - 1;
  const double log = std::log((1 - x) * (1 + x));
  const double v = 2 / (std::numbers::pi * kA) + log / 2;
  const double root = std::sqrt(std::sqrt(v * v - log / kA) - v);
  return std::numbers::sqrt2 * std::copysign(root, x);
}

template <typename T>
void TransformRow(PostTransform transform, std::span<T> scores) {
  switch (transform) {
    case PostTransform::kNone:
      return;
    case PostTransform::kSoftmax:
      return Softmax(scores, false);
    case PostTransform::kSoftmaxZero:
      return Softmax(scores, true);
    case PostTransform::kLogistic:
      for (T& s : scores) s = Logistic(s);
      return;
    case PostTransform::kProbit:
      for (T& s : scores) s = static_cast<T>(Probit(s));
      return;
  }
}
}  // namespace

Result<Rows> RowsOf(const InferContext& context, size_t i) {
  const Shape& shape = context.shape(i);
  Rows rows;
  if (!shape.has_rank()) return rows;
  if (shape.rank() != 1 && shape.rank() != 2) {
    return ShapeError(context.schema().FullName(),
                      " needs rows of features [N, C], or one row [C], given shape ", shape);
  }
  rows.count = shape.rank() == 1 ? Dim(1) : shape[0];
  rows.features = shape[shape.rank() - 1];
  return rows;
}

CostEstimate CostOfRows(const std::vector<ValueType>& inputs, const std::vector<ValueType>& outputs,
                        std::span<const float> numbers) {
  const auto dims = inputs[0].shape.ToDims();
  const double rows = !dims || dims->empty() ? 0
                      : dims->size() == 1    ? 1
                                             : static_cast<double>((*dims)[0]);
  return {2 * rows * static_cast<double>(numbers.size()), DenseBytes(inputs, outputs)};
}

Status CheckFeatures(const InferContext& context, const Rows& rows, int64_t features,
                     std::string_view attribute) {
  if (!rows.features.is_constant() || rows.features.value() == features) return Ok();
  return ShapeError(context.schema().FullName(), " has '", attribute, "' for ", features,
                    " features, given rows of ", rows.features.value());
}

Batch BatchOf(const Tensor& x) {
  if (x.rank() == 2) return {x.dim(0), x.dim(1)};
  return {1, x.size()};
}

void ForRows(int64_t rows, int64_t cost, absl::FunctionRef<void(int64_t, int64_t)> body) {
  ParallelFor(rows, std::max<int64_t>(1, kGrainOperations / std::max<int64_t>(1, cost)), body);
}

Result<ClassLabels> ClassLabels::Read(const AttributeMap& attributes, std::string_view op,
                                      std::string_view ints, std::string_view strings) {
  ClassLabels labels{ListAttribute<int64_t>(attributes, ints),
                     ListAttribute<std::string>(attributes, strings)};
  if (!labels.ints.empty() && !labels.strings.empty()) {
    return InvalidArgument(op, " has both '", ints, "' and '", strings,
                           "': the labels are integers or strings");
  }
  return labels;
}

void ClassLabels::Write(Tensor& labels, int64_t i, int64_t index) const {
  const auto at = static_cast<size_t>(index);
  if (!strings.empty()) {
    labels.data<std::string>()[i] = strings[at];
  } else {
    labels.data<int64_t>()[i] = ints.empty() ? index : ints[at];
  }
}

void ClassLabels::WriteBinary(Tensor& labels, int64_t i, bool is_second) const {
  if (size() != 1) return Write(labels, i, is_second);
  if (is_second) return Write(labels, i, 0);
  if (strings.empty()) {
    labels.data<int64_t>()[i] = 0;
  } else {
    labels.data<std::string>()[i].clear();
  }
}

Result<PostTransform> ReadPostTransform(const AttributeMap& attributes, std::string_view op) {
  const std::string name = attributes.String("post_transform", "NONE");
  constexpr std::pair<std::string_view, PostTransform> kNames[] = {
      {"NONE", PostTransform::kNone},
      {"SOFTMAX", PostTransform::kSoftmax},
      {"LOGISTIC", PostTransform::kLogistic},
      {"SOFTMAX_ZERO", PostTransform::kSoftmaxZero},
      {"PROBIT", PostTransform::kProbit}};
  for (const auto& [known, transform] : kNames) {
    if (name == known) return transform;
  }
  return InvalidArgument(op, " attribute 'post_transform' is '", name,
                         "', expected NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT");
}

void Transform(PostTransform transform, std::span<float> scores) {
  TransformRow(transform, scores);
}
void Transform(PostTransform transform, std::span<double> scores) {
  TransformRow(transform, scores);
}

void TwoScores(PostTransform transform, float score, bool is_probability, float out[2]) {
  const bool symmetric = transform == PostTransform::kSoftmax ||
                         transform == PostTransform::kSoftmaxZero ||
                         transform == PostTransform::kLogistic || !is_probability;
  out[0] = symmetric ? -score : 1 - score;
  out[1] = score;
  Transform(transform, std::span(out, 2));
}

int64_t ArgMaxScore(std::span<const float> scores) {
  size_t best = 0;
  for (size_t i = 1; i < scores.size(); ++i) {
    const bool rather = std::isnan(scores[best]) && !std::isnan(scores[i]);
    if (rather || scores[i] > scores[best]) best = i;
  }
  return static_cast<int64_t>(best);
}

}  // namespace asc
