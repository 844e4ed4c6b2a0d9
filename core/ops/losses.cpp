// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include <cmath>

#include "core/ops/compute_buffer.h"
#include "core/ops/families.h"

namespace asc {
namespace {
enum class Reduction : uint8_t { kNone, kSum, kMean };

Result<Reduction> ReadReduction(const OpSchema& schema, const AttributeMap& attributes) {
  const std::string name = attributes.String("reduction", "mean");
  if (name == "none") return Reduction::kNone;
  if (name == "sum") return Reduction::kSum;
  if (name == "mean") return Reduction::kMean;
  return InvalidArgument(schema.FullName(),
                         " attribute 'reduction' must be none, sum or mean, given '", name, "'");
}

bool Differ(const Dim& a, const Dim& b) { return a.is_constant() && b.is_constant() && a != b; }

// Scores [N, C, extents...], labels [N, extents...], weights [C].
Status InferLoss(InferContext& context) {
  const std::string op = context.schema().FullName();
  ASC_ASSIGN_OR_RETURN(const Reduction reduction,
                       ReadReduction(context.schema(), context.attributes()));
  const Shape& scores = context.shape(0);
  const Shape& labels = context.shape(1);
  if (scores.has_rank() && scores.rank() < 2)
    return ShapeError(op, " needs scores [N, C, extents...], given ", scores);
  if (scores.has_rank() && labels.has_rank()) {
    bool fits = labels.rank() + 1 == scores.rank() && !Differ(labels[0], scores[0]);
    for (size_t i = 1; fits && i < labels.rank(); ++i) fits = !Differ(labels[i], scores[i + 1]);
    if (!fits)
      return ShapeError(op, " needs labels [N, extents...] for scores ", scores, ", given ",
                        labels);
  }
  if (context.HasInput(2) && context.shape(2).has_rank()) {
    const Shape& weights = context.shape(2);
    if (weights.rank() != 1 || (scores.has_rank() && Differ(weights[0], scores[1]))) {
      return ShapeError(op, " needs one weight a class for scores ", scores, ", given ", weights);
    }
  }
  context.SetOutput(0, context.dtype(0), reduction == Reduction::kNone ? labels : Shape(Dims()));
  if (context.output_count() > 1) context.SetOutput(1, context.type(0));
  return Ok();
}

// The loss from labels [batch, inner] and log-probabilities [batch, classes, inner], element i of which is
// log_probability(i).
template <typename Read>
Status NegativeLikelihood(KernelContext& context, Read log_probability) {
  ASC_ASSIGN_OR_RETURN(const Reduction reduction,
                       ReadReduction(context.schema(), context.attributes()));
  const Tensor& labels = context.input(1);
  const Dims& dims = context.input(0).dims();
  const int64_t classes = dims[1], inner = ElementCount(dims, 2, dims.size());
  const auto* ignored = context.attributes().Get<int64_t>("ignore_index");
  const Tensor* weights = context.HasInput(2) ? &context.input(2) : nullptr;
  Tensor& out = context.output(0);
  ASC_ASSIGN_OR_RETURN(auto losses,
                       context.Scratch(static_cast<size_t>(labels.size()) * sizeof(double)));
  double* loss = reinterpret_cast<double*>(losses->data());
  double sum = 0, total_weight = 0;
  int64_t row = 0, column = 0;  // of label i
  for (int64_t i = 0; i < labels.size(); ++i) {
    const int64_t label = ReadAsInt64(labels.dtype(), labels.raw(), i);
    loss[i] = 0;
    if (ignored == nullptr || label != *ignored) {
      if (label < 0 || label >= classes) {
        return Error(Code::kOutOfRange, context.schema().FullName(), " has label ", label, " for ",
                     classes, " classes")
            .WithHint("set ignore_index for labels that do not count");
      }
      const double weight =
          weights == nullptr ? 1 : ReadAsDouble(weights->dtype(), weights->raw(), label);
      loss[i] = -log_probability((row * classes + label) * inner + column) * weight;
      sum += loss[i];
      total_weight += weight;
    }
    if (++column == inner) {
      column = 0;
      ++row;
    }
  }
  if (reduction != Reduction::kNone)
    loss = reduction == Reduction::kMean ? &(sum /= total_weight) : &sum;
  VisitFloats(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    MapElements(loss, out.data<T>(), out.size(),
                [](double x) { return static_cast<ComputeType<T>>(x); });
  });
  return Ok();
}

Status NllLoss(KernelContext& context) {
  const Tensor& scores = context.input(0);
  return NegativeLikelihood(
      context, [&](int64_t i) { return ReadAsDouble(scores.dtype(), scores.raw(), i); });
}

Status SoftmaxCrossEntropy(KernelContext& context) {
  const Tensor& scores = context.input(0);
  const int64_t classes = scores.dim(1), inner = ElementCount(scores.dims(), 2, scores.rank());
  ASC_ASSIGN_OR_RETURN(const auto input, ComputeInput<double>::Make(context, scores));
  ASC_ASSIGN_OR_RETURN(const auto buffer,
                       context.Scratch(static_cast<size_t>(scores.size()) * sizeof(double)));
  double* log_probabilities = reinterpret_cast<double*>(buffer->data());
  for (int64_t row = 0; row < scores.dim(0) * inner; ++row) {
    const int64_t start = row / inner * classes * inner + row % inner;
    double largest = -INFINITY, sum = 0;
    for (int64_t c = 0; c < classes; ++c)
      largest = std::fmax(largest, input.data()[start + c * inner]);
    for (int64_t c = 0; c < classes; ++c)
      sum += std::exp(input.data()[start + c * inner] - largest);
    for (int64_t c = 0; c < classes; ++c) {
      log_probabilities[start + c * inner] =
          input.data()[start + c * inner] - largest - std::log(sum);
    }
  }
  if (context.HasOutput(1)) {
    Tensor& out = context.output(1);
    VisitFloats(out.dtype(), [&](auto zero) {
      using T = decltype(zero);
      MapElements(log_probabilities, out.data<T>(), out.size(),
                  [](double x) { return static_cast<ComputeType<T>>(x); });
    });
  }
  return NegativeLikelihood(context, [&](int64_t i) { return log_probabilities[i]; });
}
}  // namespace

void AddLossOps(OpTable& table) {
  const auto add = [&](std::string_view name, std::string_view method, int since,
                       std::string_view input, ReferenceKernel kernel, std::string_view doc) {
    return table.Add(name, since)
        .Doc(doc)
        .Method(method)
        .Input(input, "T")
        .Input("target", "Tind")
        .OptionalInput("weight", "T")
        .Output("loss", "T")
        .Types("T", types::kFloats)
        .Types("Tind", types::kIndex)
        .Attr("reduction", "mean", "", "none, sum, or mean (over the weights)")
        .OptionalAttr("ignore_index", AttributeType::kInt, "", "a label whose loss is 0")
        .Infer(InferLoss)
        .Kernel(kernel);
  };
  add("NegativeLogLikelihoodLoss", "nll_loss", 22, "input", NllLoss,
      "minus the log-probability of each sample's class");
  add("SoftmaxCrossEntropyLoss", "cross_entropy", 13, "scores", SoftmaxCrossEntropy,
      "minus the logarithm of the softmax of each sample's class")
      .OptionalOutput("log_prob", "T");
}

}  // namespace asc
