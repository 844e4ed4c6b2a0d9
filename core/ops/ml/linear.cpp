// Linear models of ai.onnx.ml: LinearClassifier, LinearRegressor.
#include <algorithm>

#include "core/ops/cost.h"
#include "core/ops/ml/common.h"
#include "core/ops/ml/families.h"

namespace asc {
namespace {

// Weights [outputs, features] and what is added to each output (zero where there is none).
struct LinearModel {
  std::span<const float> coefficients, intercepts;
  int64_t outputs = 0, features = 0;
};

Result<LinearModel> ReadModel(const AttributeMap& attributes, std::string_view op,
                              std::optional<int64_t> outputs) {
  LinearModel model{ListAttribute<float>(attributes, "coefficients"),
                    ListAttribute<float>(attributes, "intercepts")};
  const auto weights = static_cast<int64_t>(model.coefficients.size());
  model.outputs = outputs.value_or(static_cast<int64_t>(model.intercepts.size()));
  if (weights == 0 || model.outputs < 1 || weights % model.outputs != 0) {
    return InvalidArgument(op, " has ", weights, " coefficients for ", model.outputs,
                           " scores, expected as many for each");
  }
  if (!model.intercepts.empty() && static_cast<int64_t>(model.intercepts.size()) != model.outputs) {
    return InvalidArgument(op, " has ", model.intercepts.size(), " intercepts for ", model.outputs,
                           " scores");
  }
  model.features = weights / model.outputs;
  return model;
}

// float64 is summed as float64; the rest as float32, integers rounded to it first.
template <typename T>
void Scores(const LinearModel& model, const T* x, float* scores) {
  using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
  constexpr int64_t kLanes = 8;
  const int64_t whole = model.features / kLanes * kLanes;
  const float* w = model.coefficients.data();
  for (int64_t k = 0; k < model.outputs; ++k, w += model.features) {
    A lanes[kLanes] = {}, sum = 0;
    for (int64_t i = 0; i < whole; i += kLanes) {
      for (int64_t l = 0; l < kLanes; ++l)
        lanes[l] += static_cast<A>(x[i + l]) * static_cast<A>(w[i + l]);
    }
    for (int64_t i = whole; i < model.features; ++i)
      sum += static_cast<A>(x[i]) * static_cast<A>(w[i]);
    for (const A lane : lanes) sum += lane;
    if (!model.intercepts.empty()) sum += static_cast<A>(model.intercepts[static_cast<size_t>(k)]);
    scores[k] = static_cast<float>(sum);
  }
}

// ---- LinearClassifier ----

struct Classifier {
  LinearModel model;
  ClassLabels labels;
  PostTransform transform;
  bool adds_first = false;  // one score stands for the second of two classes
};

Result<Classifier> ReadClassifier(const AttributeMap& attributes) {
  constexpr std::string_view kOp = "LinearClassifier";
  Classifier classifier;
  ASC_ASSIGN_OR_RETURN(classifier.labels, ClassLabels::Read(attributes, kOp, "classlabels_ints",
                                                            "classlabels_strings"));
  ASC_ASSIGN_OR_RETURN(classifier.transform, ReadPostTransform(attributes, kOp));
  const auto labels = static_cast<int64_t>(classifier.labels.size());
  std::optional<int64_t> outputs;
  if (ListAttribute<float>(attributes, "intercepts").empty())
    outputs = std::max<int64_t>(1, labels);
  ASC_ASSIGN_OR_RETURN(classifier.model, ReadModel(attributes, kOp, outputs));
  const int64_t scores = classifier.model.outputs;
  classifier.adds_first = scores == 1 && labels == 2;
  if (labels != scores && labels != 0 && !classifier.adds_first) {
    return InvalidArgument(kOp, " has ", labels, " class labels for ", scores, " scores");
  }
  return classifier;
}

Status InferLinearClassifier(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const Classifier classifier, ReadClassifier(context.attributes()));
  ASC_ASSIGN_OR_RETURN(const Rows rows, RowsOf(context, 0));
  ASC_RETURN_IF_ERROR(CheckFeatures(context, rows, classifier.model.features, "coefficients"));
  context.SetOutput(0, classifier.labels.dtype(), Shape(std::vector<Dim>{rows.count}));
  const int64_t scores = classifier.adds_first ? 2 : classifier.model.outputs;
  context.SetOutput(1, DataType::kFloat32, Shape(std::vector<Dim>{rows.count, scores}));
  return Ok();
}

Status LinearClassifier(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const Classifier classifier, ReadClassifier(context.attributes()));
  const Tensor& x = context.input(0);
  const Batch batch = BatchOf(x);
  const LinearModel& model = classifier.model;
  const int64_t stride = classifier.adds_first ? 2 : model.outputs;
  VisitMlNumbers(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    ForRows(batch.rows, model.outputs * model.features, [&](int64_t begin, int64_t end) {
      std::vector<float> scores(static_cast<size_t>(model.outputs));
      for (int64_t r = begin; r < end; ++r) {
        Scores(model, x.data<T>() + r * batch.features, scores.data());
        if (context.HasOutput(0)) {
          if (model.outputs == 1) {
            classifier.labels.WriteBinary(context.output(0), r, scores[0] > 0);
          } else {
            classifier.labels.Write(context.output(0), r, ArgMaxScore(scores));
          }
        }
        if (!context.HasOutput(1)) continue;
        float* out = context.output(1).data<float>() + r * stride;
        if (classifier.adds_first) {
          TwoScores(classifier.transform, scores[0], true, out);
        } else {
          Transform(classifier.transform, scores);
          std::copy(scores.begin(), scores.end(), out);
        }
      }
    });
  });
  return Ok();
}

// ---- LinearRegressor ----

Result<LinearModel> ReadRegressor(const AttributeMap& attributes) {
  ASC_RETURN_IF_ERROR(ReadPostTransform(attributes, "LinearRegressor").status());
  return ReadModel(attributes, "LinearRegressor", attributes.Int("targets", 1));
}

Status InferLinearRegressor(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const LinearModel model, ReadRegressor(context.attributes()));
  ASC_ASSIGN_OR_RETURN(const Rows rows, RowsOf(context, 0));
  ASC_RETURN_IF_ERROR(CheckFeatures(context, rows, model.features, "coefficients"));
  context.SetOutput(0, DataType::kFloat32, Shape(std::vector<Dim>{rows.count, model.outputs}));
  return Ok();
}

Status LinearRegressor(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const LinearModel model, ReadRegressor(context.attributes()));
  ASC_ASSIGN_OR_RETURN(const PostTransform transform,
                       ReadPostTransform(context.attributes(), "LinearRegressor"));
  const Tensor& x = context.input(0);
  const Batch batch = BatchOf(x);
  float* out = context.output(0).data<float>();
  VisitMlNumbers(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    ForRows(batch.rows, model.outputs * model.features, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        float* scores = out + r * model.outputs;
        Scores(model, x.data<T>() + r * batch.features, scores);
        Transform(transform, std::span(scores, static_cast<size_t>(model.outputs)));
      }
    });
  });
  return Ok();
}

CostEstimate LinearCost(const std::vector<ValueType>& inputs, const std::vector<ValueType>& outputs,
                        const AttributeMap& attributes) {
  return CostOfRows(inputs, outputs, ListAttribute<float>(attributes, "coefficients"));
}
}  // namespace

void AddMlLinearOps(OpTable& table) {
  table.Add("LinearClassifier", 1, kMlDomain)
      .Doc("labels and scores of a linear classifier")
      .Input("X", "T1")
      .Output("Y", "T2")
      .OptionalOutput("Z", "O")
      .Types("T1", kMlNumbers)
      .Types("T2", kMlLabels)
      .Types("O", {DataType::kFloat32})
      .OptionalAttr("classlabels_ints", AttributeType::kInts)
      .OptionalAttr("classlabels_strings", AttributeType::kStrings)
      .RequiredAttr("coefficients", AttributeType::kFloats, "", "[classes, features]")
      .OptionalAttr("intercepts", AttributeType::kFloats)
      .Attr("multi_class", int64_t{0}, "", "has no effect")
      .Attr("post_transform", std::string("NONE"))
      .Infer(InferLinearClassifier)
      .Cost(LinearCost)
      .Kernel(LinearClassifier);
  table.Add("LinearRegressor", 1, kMlDomain)
      .Doc("the targets of a linear regression")
      .Input("X", "T")
      .Output("Y", "O")
      .Types("T", kMlNumbers)
      .Types("O", {DataType::kFloat32})
      .OptionalAttr("coefficients", AttributeType::kFloats, "", "[targets, features]")
      .OptionalAttr("intercepts", AttributeType::kFloats)
      .Attr("post_transform", std::string("NONE"))
      .Attr("targets", int64_t{1})
      .Infer(InferLinearRegressor)
      .Cost(LinearCost)
      .Kernel(LinearRegressor);
}

}  // namespace asc
