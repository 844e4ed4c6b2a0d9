// Gradients of normalisations and of softmax. Statistics are computed again, in float32 at least, with means and squares of their own:
// the operators keep theirs to themselves.
#include <numeric>

#include "core/gradient/rules.h"

namespace asc {
namespace {
std::vector<int64_t> AxesFrom(int64_t first, size_t rank) {
  std::vector<int64_t> axes(rank - std::min(static_cast<size_t>(first), rank));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

Expr Widened(const Expr& x) {
  const bool narrow = x.valid() && x.dtype() != DataType::kFloat64;
  return narrow ? Cast(x, DataType::kFloat32) : x;
}

// (x - mean) / sqrt(var + epsilon), or x / sqrt(mean(x^2) + epsilon).
class Normalized {
 public:
  Normalized(const Expr& x, std::vector<int64_t> axes, double epsilon, bool centre)
      : axes_(std::move(axes)), centre_(centre) {
    const Expr moved = centre ? x - ReduceMean(x, axes_) : x;
    inverse_ = 1 / Apply("Sqrt", {ReduceMean(moved * moved, axes_) + epsilon});
    value_ = moved * inverse_;
  }

  const Expr& value() const { return value_; }
  // The gradient of x from that of the value.
  Expr Back(const Expr& gradient) const {
    Expr inner = gradient - value_ * ReduceMean(gradient * value_, axes_);
    if (centre_) inner = inner - ReduceMean(gradient, axes_);
    return inverse_ * inner;
  }

 private:
  std::vector<int64_t> axes_;
  bool centre_;
  Expr value_, inverse_;
};

double Epsilon(const GradientStep& s) {
  return static_cast<double>(s.attributes().Float("epsilon", 1e-5f));
}

void GiveCast(GradientStep& s, size_t i, const Expr& gradient) {
  if (s.Wants(i)) s.Give(i, CastLike(gradient, s.x(i)));
}

void GiveSummedCast(GradientStep& s, size_t i, const Expr& gradient) {
  if (s.Wants(i)) GiveCast(s, i, SumTo(gradient, s.x(i)));
}

// LayerNormalization and RMSNormalization.
void Rows(GradientStep& s, bool centre) {
  s.RefuseOutput(1);
  s.RefuseOutput(2);
  std::vector<int64_t> axes;
  if (const int64_t first = s.attributes().Int("axis", -1); first < 0) {
    axes.resize(static_cast<size_t>(-first));
    std::iota(axes.begin(), axes.end(), first);
  } else {
    axes = AxesFrom(first, s.RankOf(0));
  }
  const Expr g = Widened(s.g());
  const Normalized x(Widened(s.x()), axes, Epsilon(s), centre);
  GiveCast(s, 0, x.Back(g * Widened(s.x(1))));
  GiveSummedCast(s, 1, g * x.value());
  GiveSummedCast(s, 2, g);
}

// Parameters of one value a channel, as they lie beside data [N, C, extents...].
Expr BesideData(const Expr& parameter, size_t rank) {
  std::vector<int64_t> axes = AxesFrom(1, rank - 1);
  return Unsqueeze(parameter, axes);
}

// All axes but that of channels.
std::vector<int64_t> AxesOfChannel(size_t rank) {
  std::vector<int64_t> axes = AxesFrom(2, rank);
  axes.insert(axes.begin(), 0);
  return axes;
}

void InstanceNorm(GradientStep& s) {
  const size_t rank = s.RankOf(0);
  if (!s.ok()) return;
  const Expr g = Widened(s.g());
  const Normalized x(Widened(s.x()), AxesFrom(2, rank), Epsilon(s), true);
  GiveCast(s, 0, x.Back(g * BesideData(Widened(s.x(1)), rank)));
  GiveCast(s, 1, ReduceSum(g * x.value(), AxesOfChannel(rank), false));
  GiveCast(s, 2, ReduceSum(g, AxesOfChannel(rank), false));
}

void GroupNorm(GradientStep& s) {
  const size_t rank = s.RankOf(0);
  if (!s.ok()) return;
  const Expr shape = Ints(s.x(), {0, s.attributes().Int("num_groups", 1), -1});
  const Expr whole = Widened(s.x()), g = Widened(s.g());
  const Normalized x(Reshape(whole, shape), {2}, Epsilon(s), true);
  const Expr scaled = g * BesideData(Widened(s.x(1)), rank);
  GiveCast(s, 0, ReshapeLike(x.Back(Reshape(scaled, shape)), whole));
  if (s.Wants(1)) {
    const Expr value = ReshapeLike(x.value(), whole);
    GiveCast(s, 1, ReduceSum(g * value, AxesOfChannel(rank), false));
  }
  GiveCast(s, 2, ReduceSum(g, AxesOfChannel(rank), false));
}

void BatchNorm(GradientStep& s) {
  const size_t rank = s.RankOf(0);
  s.RefuseOutput(1);
  s.RefuseOutput(2);
  if (!s.ok()) return;
  const std::vector<int64_t> axes = AxesOfChannel(rank);
  const Expr g = Widened(s.g()), scale = BesideData(CastLike(s.x(1), g), rank);
  if (s.attributes().Int("training_mode", 0) != 0) {
    const Normalized x(Widened(s.x()), axes, Epsilon(s), true);
    GiveCast(s, 0, x.Back(g * scale));
    GiveCast(s, 1, ReduceSum(g * x.value(), axes, false));
    GiveCast(s, 2, ReduceSum(g, axes, false));
    return;  // the running statistics play no part in y
  }
  const Expr mean = BesideData(CastLike(s.x(3), g), rank);
  const Expr variance = BesideData(CastLike(s.x(4), g), rank);
  const Expr inverse = 1 / Apply("Sqrt", {variance + Epsilon(s)});
  const Expr through = g * (scale * inverse);
  GiveCast(s, 0, through);
  GiveCast(s, 2, ReduceSum(g, axes, false));
  if (s.Wants(3)) GiveCast(s, 3, -ReduceSum(through, axes, false));
  if (!s.Wants(1) && !s.Wants(4)) return;
  const Expr value = (Widened(s.x()) - mean) * inverse;
  GiveCast(s, 1, ReduceSum(g * value, axes, false));
  if (s.Wants(4)) GiveCast(s, 4, -0.5 * ReduceSum(through * (value * inverse), axes, false));
}

// (x - mean) / (deviation + 1e-9), the small number being there for elements that are all the same.
void MeanVariance(GradientStep& s) {
  const std::vector<int64_t> axes = s.attributes().Ints("axes", {0, 2, 3});
  const Normalized x(Widened(s.x()), axes, 1e-18, true);
  GiveCast(s, 0, x.Back(Widened(s.g())));
}

// 0 where the norm is.
void LpNorm(GradientStep& s) {
  const std::vector<int64_t> axes = {s.attributes().Int("axis", -1)};
  const bool squares = s.attributes().Int("p", 2) == 2;
  const Expr norm = Apply(squares ? "ReduceL2" : "ReduceL1", {s.x(), Ints(s.x(), axes)});
  const Expr direction = squares ? s.y() : Apply("Sign", {s.x()});
  const Expr is_zero = Apply("Equal", {norm, Number(norm, 0)});
  const Expr safe = Where(is_zero, Fill(norm, 1), norm);
  const Expr inner = s.g() - direction * ReduceSum(s.g() * s.y(), axes, true);
  s.Give(0, Where(is_zero, Number(norm, 0), inner / safe));
}

// x / d^beta, d = bias + alpha / size * (sum of squares of the neighbours): a matrix says which channels are.
void Lrn(GradientStep& s) {
  const Expr x = s.x();
  const bool known = x.has_rank() && x.shape()[1].is_constant();
  if (!known) return s.Refuse("needs a known number of channels");
  const int64_t channels = x.shape()[1].value(), size = s.attributes().Int("size", 1);
  const int64_t before = (size - 1) / 2, after = size - 1 - before;
  std::vector<float> counts(static_cast<size_t>(channels * channels));
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t other = std::max<int64_t>(0, c - before);
         other <= std::min(channels - 1, c + after); ++other)
      counts[static_cast<size_t>(c * channels + other)] = 1;
  }
  const Tensor matrix =
      Tensor::FromValues<float>({channels, channels}, std::span<const float>(counts));
  const Expr neighbours = CastLike(Expr(s, s.Constant(matrix)), x);
  const auto number = [&](std::string_view name) {
    return static_cast<double>(s.attributes().Float(name, 0));
  };
  const double share = number("alpha") / static_cast<double>(size), beta = number("beta");
  const Expr planes = Ints(x, {0, 0, -1});
  const Expr rows = Reshape(x, planes), g = Reshape(s.g(), planes);
  const Expr d = share * Apply("MatMul", {neighbours, rows * rows}) + number("bias");
  const Expr power = Apply("Pow", {d, Number(d, -beta)});
  const Expr sums = Apply("MatMul", {Transpose(neighbours, {1, 0}), g * (rows * power) / d});
  s.Give(0, ReshapeLike(g * power - 2 * share * beta * (rows * sums), x));
}

void Softmax(GradientStep& s) {
  const std::vector<int64_t> axes = {s.attributes().Int("axis", -1)};
  s.Give(0, s.y() * (s.g() - ReduceSum(s.g() * s.y(), axes, true)));
}

void LogSoftmax(GradientStep& s) {
  const std::vector<int64_t> axes = {s.attributes().Int("axis", -1)};
  s.Give(0, s.g() - Apply("Exp", {s.y()}) * ReduceSum(s.g(), axes, true));
}

constexpr GradientRow kRows[] = {
    {"BatchNormalization", BatchNorm},
    {"GroupNormalization", GroupNorm},
    {"InstanceNormalization", InstanceNorm},
    {"LRN", Lrn},
    {"LayerNormalization", [](GradientStep& s) { Rows(s, true); }},
    {"LogSoftmax", LogSoftmax},
    {"LpNormalization", LpNorm},
    {"MeanVarianceNormalization", MeanVariance},
    {"RMSNormalization", [](GradientStep& s) { Rows(s, false); }},
    {"Softmax", Softmax},
};
}  // namespace

std::span<const GradientRow> NormalizationGradients() { return kRows; }

}  // namespace asc
