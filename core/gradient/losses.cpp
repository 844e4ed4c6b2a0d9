// Gradients of losses of class labels, and of Dropout.
#include "core/gradient/rules.h"

namespace asc {
namespace {
// Of the log-probabilities [N, C, extents...], from that of the loss: minus the weight of each label's class, at the label.
Expr OfLogProbabilities(GradientStep& s) {
  if (s.Wants(2)) s.Refuse("with respect to the weights of classes is not there");
  Expr labels = Cast(s.x(1), DataType::kInt64), counts;
  if (const auto* const ignored = s.attributes().Get<int64_t>("ignore_index")) {
    counts =
        Apply("Not", {Apply("Equal", {labels, Number(labels, static_cast<double>(*ignored))})});
    labels = Where(counts, labels, 0);
  }
  Expr weights =
      s.x(2).valid() ? Apply("Gather", {s.x(2), labels}) : Cast(Fill(labels, 1), s.x().dtype());
  if (counts.valid()) weights = Where(counts, weights, 0);
  Expr shares = -weights * s.g();
  if (s.attributes().String("reduction", "mean") == "mean")
    shares = shares / ReduceSum(weights, Expr(), false);
  return Apply("ScatterElements", {Fill(s.x(), 0), Unsqueeze(labels, {1}), Unsqueeze(shares, {1})},
               Attributes({{"axis", int64_t{1}}}));
}

void NllLoss(GradientStep& s) { s.Give(0, OfLogProbabilities(s)); }

void SoftmaxCrossEntropy(GradientStep& s) {
  Expr gradient;
  if (s.HasGradient(0)) gradient = OfLogProbabilities(s);
  if (s.output_count() > 1 && s.HasGradient(1))
    gradient = gradient.valid() ? gradient + s.g(1) : s.g(1);
  const Expr kept = s.y(1);
  const Expr log_probabilities =
      kept.valid() ? kept : Apply("LogSoftmax", {s.x()}, Attributes({{"axis", int64_t{1}}}));
  s.Give(0, gradient - Apply("Exp", {log_probabilities}) * ReduceSum(gradient, {1}, true));
}

void Dropout(GradientStep& s) {
  const Expr training = s.x(2);
  const Tensor* const known = training.constant();
  if (!training.valid() || (known != nullptr && !*known->data<bool>())) return s.Give(0, s.g());
  const Expr mask = s.y(1);
  if (!mask.valid()) return s.Refuse("in training needs its second output, the mask");
  const Expr ratio = s.x(1).valid() ? CastLike(s.x(1), s.g()) : Number(s.g(), 0.5);
  const Expr none = Number(s.g(), 0);
  // Outside of training the mask lets everything pass, and nothing is scaled.
  const Expr scale = 1 / (1 - Where(training, ratio, none));
  s.Give(0, Where(mask, s.g() * scale, none));
}

constexpr GradientRow kRows[] = {
    {"Dropout", Dropout},
    {"NegativeLogLikelihoodLoss", NllLoss},
    {"SoftmaxCrossEntropyLoss", SoftmaxCrossEntropy},
};
}  // namespace

std::span<const GradientRow> LossGradients() { return kRows; }

}  // namespace asc
