// Support vector machines of ai.onnx.ml: SVMClassifier, SVMRegressor.
#include <algorithm>
#include <cmath>

#include "core/ops/cost.h"
#include "core/ops/ml/common.h"
#include "core/ops/ml/families.h"

namespace asc {
namespace {
enum class SvmKernel : uint8_t { kLinear, kPoly, kRbf, kSigmoid };

// Support vectors [vectors, features] under a kernel function; without any, the coefficients are the vectors of linear
// functions (as liblinear makes them).
struct SvmModel {
  SvmKernel kernel = SvmKernel::kLinear;
  float gamma = 0, coef0 = 0, degree = 0;
  std::span<const float> vectors, coefficients, rho;
  int64_t vector_count = 0, features = 0;
};

Result<SvmModel> ReadModel(const AttributeMap& attributes, std::string_view op,
                           int64_t vector_count) {
  SvmModel model;
  model.vectors = ListAttribute<float>(attributes, "support_vectors");
  model.coefficients = ListAttribute<float>(attributes, "coefficients");
  model.rho = ListAttribute<float>(attributes, "rho");
  model.vector_count = vector_count;
  if (model.coefficients.empty()) return InvalidArgument(op, " needs 'coefficients'");
  if (model.rho.empty()) return InvalidArgument(op, " needs 'rho'");
  const std::string kernel = attributes.String("kernel_type", "LINEAR");
  constexpr std::pair<std::string_view, SvmKernel> kNames[] = {{"LINEAR", SvmKernel::kLinear},
                                                               {"POLY", SvmKernel::kPoly},
                                                               {"RBF", SvmKernel::kRbf},
                                                               {"SIGMOID", SvmKernel::kSigmoid}};
  const auto* named = std::find_if(std::begin(kNames), std::end(kNames),
                                   [&](const auto& row) { return row.first == kernel; });
  if (named == std::end(kNames)) {
    return InvalidArgument(op, " attribute 'kernel_type' is '", kernel,
                           "', expected LINEAR, POLY, RBF or SIGMOID");
  }
  model.kernel = named->second;
  const auto parameters = ListAttribute<float>(attributes, "kernel_params");
  if (!parameters.empty() && parameters.size() != 3) {
    return InvalidArgument(op, " has ", parameters.size(),
                           " 'kernel_params', expected gamma, coef0 and degree");
  }
  if (!parameters.empty()) {
    model.gamma = parameters[0], model.coef0 = parameters[1], model.degree = parameters[2];
  }
  if (vector_count == 0) return model;
  const auto elements = static_cast<int64_t>(model.vectors.size());
  if (elements == 0 || elements % vector_count != 0) {
    return InvalidArgument(op, " has ", elements, " elements of 'support_vectors' for ",
                           vector_count, " vectors, expected as many for each");
  }
  model.features = elements / vector_count;
  return model;
}

template <typename T>
double Dot(const T* x, const float* y, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  return sum;
}

// K(x, vector) as in libsvm.
template <typename T>
double Kernel(const SvmModel& model, const T* x, int64_t vector) {
  const float* v = model.vectors.data() + vector * model.features;
  if (model.kernel == SvmKernel::kRbf) {
    double sum = 0;
    for (int64_t i = 0; i < model.features; ++i) {
      const double difference = static_cast<double>(x[i]) - static_cast<double>(v[i]);
      sum += difference * difference;
    }
    return std::exp(-static_cast<double>(model.gamma) * sum);
  }
  const double dot = Dot(x, v, model.features);
  if (model.kernel == SvmKernel::kLinear) return dot;
  const double scaled = static_cast<double>(model.gamma) * dot + static_cast<double>(model.coef0);
  return model.kernel == SvmKernel::kPoly ? std::pow(scaled, static_cast<double>(model.degree))
                                          : std::tanh(scaled);
}

// ---- SVMRegressor ----

Result<SvmModel> ReadRegressor(const AttributeMap& attributes) {
  constexpr std::string_view kOp = "SVMRegressor";
  ASC_RETURN_IF_ERROR(ReadPostTransform(attributes, kOp).status());
  const int64_t supports = attributes.Int("n_supports", 0);
  if (supports < 0) return InvalidArgument(kOp, " has ", supports, " support vectors");
  ASC_ASSIGN_OR_RETURN(SvmModel model, ReadModel(attributes, kOp, supports));
  const auto coefficients = static_cast<int64_t>(model.coefficients.size());
  if (supports == 0) {
    model.features = coefficients;
  } else if (coefficients != supports) {
    return InvalidArgument(kOp, " has ", coefficients, " coefficients for ", supports,
                           " support vectors");
  }
  return model;
}

Status InferSvmRegressor(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const SvmModel model, ReadRegressor(context.attributes()));
  ASC_ASSIGN_OR_RETURN(const Rows rows, RowsOf(context, 0));
  ASC_RETURN_IF_ERROR(CheckFeatures(context, rows, model.features, "support_vectors"));
  context.SetOutput(0, DataType::kFloat32, Shape(std::vector<Dim>{rows.count, 1}));
  return Ok();
}

Status SvmRegressor(KernelContext& context) {
  const AttributeMap& attributes = context.attributes();
  ASC_ASSIGN_OR_RETURN(const SvmModel model, ReadRegressor(attributes));
  ASC_ASSIGN_OR_RETURN(const PostTransform transform,
                       ReadPostTransform(attributes, "SVMRegressor"));
  const bool one_class = attributes.Int("one_class", 0) != 0;
  const Tensor& x = context.input(0);
  const Batch batch = BatchOf(x);
  float* out = context.output(0).data<float>();
  VisitMlNumbers(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    ForRows(batch.rows, std::max<int64_t>(1, model.vector_count) * model.features,
            [&](int64_t begin, int64_t end) {
              for (int64_t r = begin; r < end; ++r) {
                const T* row = x.data<T>() + r * batch.features;
                double sum = static_cast<double>(model.rho[0]);
                if (model.vector_count == 0)
                  sum += Dot(row, model.coefficients.data(), model.features);
                for (int64_t v = 0; v < model.vector_count; ++v) {
                  sum += static_cast<double>(model.coefficients[static_cast<size_t>(v)]) *
                         Kernel(model, row, v);
                }
                out[r] = one_class ? (sum > 0 ? 1.0f : -1.0f) : static_cast<float>(sum);
                Transform(transform, std::span(out + r, 1));
              }
            });
  });
  return Ok();
}

// ---- SVMClassifier ----

struct SvmClassifier {
  SvmModel model;
  ClassLabels labels;
  PostTransform transform;
  std::vector<int64_t> first;  // support vector of each class, and their end
  int64_t classes = 0;
  std::span<const float> prob_a, prob_b;

  int64_t pairs() const { return classes * (classes - 1) / 2; }
  bool has_vectors() const { return model.vector_count > 0; }
  bool has_probabilities() const { return has_vectors() && !prob_a.empty(); }
  // Scores before one of two classes gets the other's.
  int64_t computed() const { return has_vectors() && !has_probabilities() ? pairs() : classes; }
  bool adds_first() const { return computed() == 1 && labels.size() == 2; }
  int64_t scores() const { return adds_first() ? 2 : computed(); }
};

Result<SvmClassifier> ReadClassifier(const AttributeMap& attributes) {
  constexpr std::string_view kOp = "SVMClassifier";
  SvmClassifier svm;
  ASC_ASSIGN_OR_RETURN(
      svm.labels, ClassLabels::Read(attributes, kOp, "classlabels_ints", "classlabels_strings"));
  ASC_ASSIGN_OR_RETURN(svm.transform, ReadPostTransform(attributes, kOp));
  int64_t vectors = 0;
  for (const int64_t count : ListAttribute<int64_t>(attributes, "vectors_per_class")) {
    if (count < 0 || count > INT32_MAX)
      return InvalidArgument(kOp, " attribute 'vectors_per_class' has ", count);
    svm.first.push_back(vectors);
    vectors += count;
  }
  svm.first.push_back(vectors);
  ASC_ASSIGN_OR_RETURN(svm.model, ReadModel(attributes, kOp, vectors));
  SvmModel& model = svm.model;
  svm.prob_a = ListAttribute<float>(attributes, "prob_a");
  svm.prob_b = ListAttribute<float>(attributes, "prob_b");
  svm.classes = std::max<int64_t>(1, static_cast<int64_t>(svm.labels.size()));
  const auto coefficients = static_cast<int64_t>(model.coefficients.size());
  if (!svm.has_vectors()) {
    if (coefficients % svm.classes != 0) {
      return InvalidArgument(kOp, " has ", coefficients, " coefficients for ", svm.classes,
                             " classes, expected as many for each");
    }
    model.features = coefficients / svm.classes;
    return svm;
  }
  if (static_cast<int64_t>(svm.first.size()) - 1 != svm.classes || svm.classes < 2) {
    return InvalidArgument(kOp, " has ", svm.labels.size(), " class labels and ",
                           svm.first.size() - 1,
                           " 'vectors_per_class', expected as many, and at least two");
  }
  if (coefficients != (svm.classes - 1) * vectors) {
    return InvalidArgument(kOp, " has ", coefficients, " coefficients, expected ", svm.classes - 1,
                           " for each of ", vectors, " support vectors");
  }
  const auto pairs = static_cast<size_t>(svm.pairs());
  if (model.rho.size() != pairs) {
    return InvalidArgument(kOp, " has ", model.rho.size(), " 'rho', expected one for each of ",
                           pairs, " pairs of classes");
  }
  if (svm.prob_a.size() != svm.prob_b.size() ||
      (!svm.prob_a.empty() && svm.prob_a.size() != pairs)) {
    return InvalidArgument(kOp, " has ", svm.prob_a.size(), " 'prob_a' and ", svm.prob_b.size(),
                           " 'prob_b', expected one for each of ", pairs, " pairs of classes");
  }
  return svm;
}

// Decision values of all pairs of classes, one against one, and how many of them each class wins.
template <typename T>
void PairScores(const SvmClassifier& svm, const T* x, std::vector<double>& kernels,
                std::vector<double>& scores, std::vector<int64_t>& votes) {
  const SvmModel& model = svm.model;
  for (int64_t v = 0; v < model.vector_count; ++v)
    kernels[static_cast<size_t>(v)] = Kernel(model, x, v);
  std::fill(votes.begin(), votes.end(), 0);
  // Coefficients of the vectors of `of` in the decision that is row `row`.
  const auto part = [&](int64_t row, int64_t of) {
    const float* weights = model.coefficients.data() + row * model.vector_count;
    double sum = 0;
    for (int64_t v = svm.first[static_cast<size_t>(of)]; v < svm.first[static_cast<size_t>(of + 1)];
         ++v)
      sum += static_cast<double>(weights[v]) * kernels[static_cast<size_t>(v)];
    return sum;
  };
  size_t pair = 0;
  for (int64_t i = 0; i < svm.classes; ++i) {
    for (int64_t j = i + 1; j < svm.classes; ++j, ++pair) {
      scores[pair] = static_cast<double>(model.rho[pair]) + part(j - 1, i) + part(i, j);
      ++votes[static_cast<size_t>(scores[pair] > 0 ? i : j)];
    }
  }
}

// Probabilities of the classes from those of pairs, by the second method of Wu, Lin and Weng
// ("Probability estimates for multi-class classification by pairwise coupling", 2004), as in libsvm.
void CouplePairs(const std::vector<double>& r, size_t classes, std::vector<double>& p) {
  std::vector<double> q(classes * classes, 0), qp(classes);
  for (size_t t = 0; t < classes; ++t) {
    p[t] = 1.0 / static_cast<double>(classes);
    for (size_t j = 0; j < classes; ++j) {
      if (j == t) continue;
      q[t * classes + t] += r[j * classes + t] * r[j * classes + t];
      q[t * classes + j] = -r[j * classes + t] * r[t * classes + j];
    }
  }
  const double tolerance = 0.005 / static_cast<double>(classes);
  for (size_t iteration = 0; iteration < std::max<size_t>(100, classes); ++iteration) {
    double pqp = 0, worst = 0;
    for (size_t t = 0; t < classes; ++t) {
      qp[t] = 0;
      for (size_t j = 0; j < classes; ++j) qp[t] += q[t * classes + j] * p[j];
      pqp += p[t] * qp[t];
    }
    if (std::isnan(pqp)) return p.assign(classes, pqp);
    for (size_t t = 0; t < classes; ++t) worst = std::max(worst, std::abs(qp[t] - pqp));
    if (worst < tolerance) return;
    for (size_t t = 0; t < classes; ++t) {
      const double step = (pqp - qp[t]) / q[t * classes + t];
      p[t] += step;
      pqp = (pqp + step * (step * q[t * classes + t] + 2 * qp[t])) / ((1 + step) * (1 + step));
      for (size_t j = 0; j < classes; ++j) {
        qp[j] = (qp[j] + step * q[t * classes + j]) / (1 + step);
        p[j] /= 1 + step;
      }
    }
  }
}

void Probabilities(const SvmClassifier& svm, const std::vector<double>& scores,
                   std::vector<double>& probabilities) {
  constexpr double kLeast = 1e-7;
  const auto classes = static_cast<size_t>(svm.classes);
  std::vector<double> r(classes * classes, 0);
  size_t pair = 0;
  for (size_t i = 0; i < classes; ++i) {
    for (size_t j = i + 1; j < classes; ++j, ++pair) {
      const double fitted = scores[pair] * static_cast<double>(svm.prob_a[pair]) +
                            static_cast<double>(svm.prob_b[pair]);
      const double wins = std::clamp(1 / (1 + std::exp(fitted)), kLeast, 1 - kLeast);
      r[i * classes + j] = wins;
      r[j * classes + i] = 1 - wins;
    }
  }
  CouplePairs(r, classes, probabilities);
}

Status InferSvmClassifier(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const SvmClassifier svm, ReadClassifier(context.attributes()));
  ASC_ASSIGN_OR_RETURN(const Rows rows, RowsOf(context, 0));
  ASC_RETURN_IF_ERROR(CheckFeatures(context, rows, svm.model.features, "coefficients"));
  context.SetOutput(0, svm.labels.dtype(), Shape(std::vector<Dim>{rows.count}));
  context.SetOutput(1, DataType::kFloat32, Shape(std::vector<Dim>{rows.count, svm.scores()}));
  return Ok();
}

template <typename T>
void ClassifyRows(const SvmClassifier& svm, const T* x, KernelContext& context, int64_t begin,
                  int64_t end) {
  const SvmModel& model = svm.model;
  const auto classes = static_cast<size_t>(svm.classes);
  std::vector<double> kernels(static_cast<size_t>(model.vector_count)),
      scores(std::max(classes, static_cast<size_t>(svm.pairs()))), probabilities(classes);
  std::vector<int64_t> votes(classes);
  std::vector<float> out(static_cast<size_t>(svm.computed()));
  for (int64_t r = begin; r < end; ++r) {
    const T* row = x + r * model.features;
    int64_t label = 0;
    if (svm.has_vectors()) {
      PairScores(svm, row, kernels, scores, votes);
      label = std::max_element(votes.begin(), votes.end()) - votes.begin();
      if (svm.has_probabilities()) Probabilities(svm, scores, probabilities);
      const std::vector<double>& given = svm.has_probabilities() ? probabilities : scores;
      std::transform(given.begin(), given.begin() + svm.computed(), out.begin(),
                     [](double s) { return static_cast<float>(s); });
    } else {
      for (size_t k = 0; k < classes; ++k) {
        const float* weights = model.coefficients.data() + static_cast<int64_t>(k) * model.features;
        out[k] = static_cast<float>(Dot(row, weights, model.features) +
                                    static_cast<double>(model.rho[0]));
      }
      label = ArgMaxScore(out);
    }
    if (context.HasOutput(0)) {
      Tensor& labels = context.output(0);
      if (svm.has_vectors() || svm.computed() > 1) {
        svm.labels.Write(labels, r, label);
      } else {
        svm.labels.WriteBinary(labels, r, out[0] > 0);
      }
    }
    if (!context.HasOutput(1)) continue;
    float* to = context.output(1).data<float>() + r * svm.scores();
    if (svm.adds_first()) {
      TwoScores(svm.transform, out[0], false, to);
    } else {
      Transform(svm.transform, out);
      std::copy(out.begin(), out.end(), to);
    }
  }
}

Status ClassifySvm(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const SvmClassifier svm, ReadClassifier(context.attributes()));
  const Tensor& x = context.input(0);
  const int64_t cost = svm.model.features * std::max(svm.classes, svm.model.vector_count);
  VisitMlNumbers(x.dtype(), [&](auto zero) {
    ForRows(BatchOf(x).rows, cost, [&](int64_t begin, int64_t end) {
      ClassifyRows(svm, x.data<decltype(zero)>(), context, begin, end);
    });
  });
  return Ok();
}

CostEstimate SvmCost(const std::vector<ValueType>& inputs, const std::vector<ValueType>& outputs,
                     const AttributeMap& attributes) {
  return CostOfRows(inputs, outputs, ListAttribute<float>(attributes, "support_vectors"));
}
}  // namespace

void AddMlSvmOps(OpTable& table) {
  table.Add("SVMClassifier", 1, kMlDomain)
      .Doc("labels and scores of a support vector classifier, one against one")
      .Input("X", "T1")
      .Output("Y", "T2")
      .OptionalOutput("Z", "O")
      .Types("T1", kMlNumbers)
      .Types("T2", kMlLabels)
      .Types("O", {DataType::kFloat32})
      .OptionalAttr("classlabels_ints", AttributeType::kInts)
      .OptionalAttr("classlabels_strings", AttributeType::kStrings)
      .OptionalAttr("coefficients", AttributeType::kFloats)
      .OptionalAttr("kernel_params", AttributeType::kFloats, "", "gamma, coef0, degree")
      .Attr("kernel_type", std::string("LINEAR"), "", "LINEAR, POLY, RBF or SIGMOID")
      .Attr("post_transform", std::string("NONE"))
      .OptionalAttr("prob_a", AttributeType::kFloats)
      .OptionalAttr("prob_b", AttributeType::kFloats)
      .OptionalAttr("rho", AttributeType::kFloats)
      .OptionalAttr("support_vectors", AttributeType::kFloats)
      .OptionalAttr("vectors_per_class", AttributeType::kInts)
      .Infer(InferSvmClassifier)
      .Cost(SvmCost)
      .Kernel(ClassifySvm);
  table.Add("SVMRegressor", 1, kMlDomain)
      .Doc(
          "the value of a support vector regression, or 1 and -1 for inliers and outliers of one "
          "class")
      .Input("X", "T")
      .Output("Y", "O")
      .Types("T", kMlNumbers)
      .Types("O", {DataType::kFloat32})
      .OptionalAttr("coefficients", AttributeType::kFloats)
      .OptionalAttr("kernel_params", AttributeType::kFloats, "", "gamma, coef0, degree")
      .Attr("kernel_type", std::string("LINEAR"), "", "LINEAR, POLY, RBF or SIGMOID")
      .Attr("n_supports", int64_t{0})
      .Attr("one_class", int64_t{0})
      .Attr("post_transform", std::string("NONE"))
      .OptionalAttr("rho", AttributeType::kFloats)
      .OptionalAttr("support_vectors", AttributeType::kFloats)
      .Infer(InferSvmRegressor)
      .Cost(SvmCost)
      .Kernel(SvmRegressor);
}

}  // namespace asc
