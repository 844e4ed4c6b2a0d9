// Tree ensembles of ai.onnx.ml: TreeEnsemble, TreeEnsembleClassifier, TreeEnsembleRegressor.
#include <algorithm>
#include <cmath>

#include "core/base/parallel.h"
#include "core/ops/cost.h"
#include "core/ops/ml/common.h"
#include "core/ops/ml/families.h"
#include "core/ops/ml/prepared.h"
#include "core/ops/ml/trees.h"

namespace asc {
namespace {
constexpr int64_t kChunkRows = 64;
constexpr int64_t kChunkSums = 1 << 14;
// Steps that are worth a thread.
constexpr int64_t kGrainSteps = 1 << 13;

// What is done with the aggregates of rows [first, first + rows), [rows, targets], base values added.
class TreeFinish {
 public:
  virtual ~TreeFinish() = default;
  virtual void operator()(KernelContext& context, int64_t first, int64_t rows,
                          const double* sums) const = 0;
};

// Trees that compare as T.
template <typename T>
class PreparedTrees : public Prepared {
 public:
  PreparedTrees(FlatTrees<T> trees, std::vector<double> base, std::unique_ptr<TreeFinish> finish)
      : trees_(std::move(trees)), base_(std::move(base)), finish_(std::move(finish)) {}

  Status Run(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    bool known = VisitMlNumbers(x.dtype(), [&](auto zero) { RunRows<decltype(zero)>(context); });
    known = known || VisitType<Half>(x.dtype(), [&](auto) { RunRows<Half>(context); });
    return known ? Ok()
                 : InternalError(context.schema().FullName(), " has no kernel for ",
                                 DataTypeName(x.dtype()));
  }

 private:
  template <typename X>
  void RunRows(KernelContext& context) const {
    const Tensor& x = context.input(0);
    const Batch batch = BatchOf(x);
    const X* from = x.data<X>();
    const bool by_trees = batch.rows < CurrentThreads() && trees_.steps() >= 2 * kGrainSteps;
    if (by_trees) return RunChunk(context, from, batch.features, 0, batch.rows, true);
    const int64_t chunk = std::clamp<int64_t>(kChunkSums / trees_.targets(), 8, kChunkRows);
    const int64_t grain = std::max<int64_t>(8, kGrainSteps / std::max<int64_t>(1, trees_.steps()));
    ParallelFor(batch.rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; r += chunk)
        RunChunk(context, from, batch.features, r, std::min(end, r + chunk), false);
    });
  }

  template <typename X>
  void RunChunk(KernelContext& context, const X* x, int64_t features, int64_t begin, int64_t end,
                bool by_trees) const {
    const int64_t rows = end - begin, targets = trees_.targets();
    std::vector<double> sums(static_cast<size_t>(rows * targets));
    std::vector<T> converted;
    const T* from;
    if constexpr (std::is_same_v<X, T>) {
      from = x + begin * features;
    } else {
      converted.resize(static_cast<size_t>(rows * features));
      std::transform(x + begin * features, x + end * features, converted.begin(),
                     [](X v) { return static_cast<T>(static_cast<FromType<X>>(v)); });
      from = converted.data();
    }
    if (by_trees) {
      trees_.RunByTrees(from, features, rows, sums.data());
    } else {
      trees_.Run(from, features, rows, sums.data());
    }
    if (!base_.empty()) {
      for (int64_t i = 0; i < rows * targets; ++i)
        sums[static_cast<size_t>(i)] += base_[static_cast<size_t>(i % targets)];
    }
    (*finish_)(context, begin, rows, sums.data());
  }

  template <typename X>
  using FromType = std::conditional_t<std::is_same_v<X, Half>, float, X>;

  FlatTrees<T> trees_;
  std::vector<double> base_;
  std::unique_ptr<TreeFinish> finish_;
};

// float32 thresholds and float32 or float16 features compare as float32, all else as float64.
Result<std::unique_ptr<Prepared>> Prepare(const Forest& forest, Aggregate aggregate, DataType input,
                                          std::unique_ptr<TreeFinish> finish) {
  std::unique_ptr<Prepared> prepared;
  if (forest.is_double || (input != DataType::kFloat32 && input != DataType::kFloat16)) {
    ASC_ASSIGN_OR_RETURN(auto trees, FlatTrees<double>::Make(forest, aggregate));
    prepared =
        std::make_unique<PreparedTrees<double>>(std::move(trees), forest.base, std::move(finish));
  } else {
    ASC_ASSIGN_OR_RETURN(auto trees, FlatTrees<float>::Make(forest, aggregate));
    prepared =
        std::make_unique<PreparedTrees<float>>(std::move(trees), forest.base, std::move(finish));
  }
  return prepared;
}

// E5001 when the rows are known to be too short for the trees.
Status CheckForestFeatures(const InferContext& context, const Rows& rows, int64_t features) {
  if (!rows.features.is_constant() || rows.features.value() >= features) return Ok();
  return ShapeError(context.schema().FullName(), " compares feature ", features - 1,
                    ", given rows of ", rows.features.value());
}

// ---- regression ----

class Regress : public TreeFinish {
 public:
  Regress(PostTransform transform, int64_t targets) : transform_(transform), targets_(targets) {}
  void operator()(KernelContext& context, int64_t first, int64_t rows,
                  const double* sums) const override {
    Tensor& out = context.output(0);
    const int64_t count = rows * targets_;
    VisitType<float, double, Half>(out.dtype(), [&](auto zero) {
      using Y = decltype(zero);
      Y* to = out.data<Y>() + first * targets_;
      if (transform_ == PostTransform::kNone) {
        std::transform(sums, sums + count, to,
                       [](double s) { return Y(static_cast<Rounded<Y>>(s)); });
        return;
      }
      std::vector<Rounded<Y>> row(static_cast<size_t>(targets_));
      for (int64_t r = 0; r < rows; ++r) {
        std::transform(sums + r * targets_, sums + (r + 1) * targets_, row.begin(),
                       [](double s) { return static_cast<Rounded<Y>>(s); });
        Transform(transform_, row);
        std::transform(row.begin(), row.end(), to + r * targets_,
                       [](Rounded<Y> s) { return Y(s); });
      }
    });
  }

 private:
  template <typename Y>
  using Rounded = std::conditional_t<std::is_same_v<Y, Half>, float, Y>;

  PostTransform transform_;
  int64_t targets_;
};

struct Regression {
  Forest forest;
  Aggregate aggregate;
  PostTransform transform;
};

Result<Regression> ReadTreeEnsemble(const AttributeMap& attributes) {
  const int64_t aggregate = attributes.Int("aggregate_function", 1);
  const int64_t transform = attributes.Int("post_transform", 0);
  if (aggregate < 0 || aggregate > static_cast<int64_t>(Aggregate::kMax)) {
    return InvalidArgument("TreeEnsemble attribute 'aggregate_function' is ", aggregate,
                           ", expected 0 to 3");
  }
  if (transform < 0 || transform > static_cast<int64_t>(PostTransform::kProbit)) {
    return InvalidArgument("TreeEnsemble attribute 'post_transform' is ", transform,
                           ", expected 0 to 4");
  }
  ASC_ASSIGN_OR_RETURN(Forest forest, ReadIndexedForest(attributes));
  return Regression{std::move(forest), static_cast<Aggregate>(aggregate),
                    static_cast<PostTransform>(transform)};
}

Result<Regression> ReadTreeRegressor(const AttributeMap& attributes) {
  constexpr std::string_view kOp = "TreeEnsembleRegressor";
  const std::string name = attributes.String("aggregate_function", "SUM");
  constexpr std::string_view kNames[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) {
    return InvalidArgument(kOp, " attribute 'aggregate_function' is '", name,
                           "', expected AVERAGE, SUM, MIN or MAX");
  }
  ASC_ASSIGN_OR_RETURN(const PostTransform transform, ReadPostTransform(attributes, kOp));
  ASC_ASSIGN_OR_RETURN(
      Forest forest, ReadNumberedForest(attributes, kOp, "target", attributes.Int("n_targets", 1)));
  return Regression{std::move(forest), static_cast<Aggregate>(found - std::begin(kNames)),
                    transform};
}

Status InferRegression(InferContext& context, const Regression& regression, DataType dtype) {
  ASC_ASSIGN_OR_RETURN(const Rows rows, RowsOf(context, 0));
  ASC_RETURN_IF_ERROR(CheckForestFeatures(context, rows, regression.forest.features));
  context.SetOutput(0, dtype, Shape(std::vector<Dim>{rows.count, regression.forest.targets}));
  return Ok();
}

Status InferTreeEnsemble(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const Regression regression, ReadTreeEnsemble(context.attributes()));
  return InferRegression(context, regression, context.dtype(0));
}

Status InferTreeRegressor(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const Regression regression, ReadTreeRegressor(context.attributes()));
  return InferRegression(context, regression, DataType::kFloat32);
}

Result<std::unique_ptr<Prepared>> PrepareRegression(const Regression& regression, DataType type) {
  return Prepare(regression.forest, regression.aggregate, type,
                 std::make_unique<Regress>(regression.transform, regression.forest.targets));
}

// ---- classification ----

// What the leaves add to of two classes: to the scores of both, or to one score alone.
enum class Scoring : uint8_t { kEach, kLone, kLoneProbability };

struct Classification {
  Forest forest;
  ClassLabels labels;
  PostTransform transform;
  Scoring scoring = Scoring::kEach;
};

Result<Classification> ReadTreeClassifier(const AttributeMap& attributes) {
  constexpr std::string_view kOp = "TreeEnsembleClassifier";
  Classification result;
  ASC_ASSIGN_OR_RETURN(result.labels, ClassLabels::Read(attributes, kOp, "classlabels_int64s",
                                                        "classlabels_strings"));
  ASC_ASSIGN_OR_RETURN(result.transform, ReadPostTransform(attributes, kOp));
  if (result.labels.size() == 0)
    return InvalidArgument(kOp, " needs 'classlabels_int64s' or 'classlabels_strings'");
  ASC_ASSIGN_OR_RETURN(
      result.forest,
      ReadNumberedForest(attributes, kOp, "class", static_cast<int64_t>(result.labels.size())));
  const auto& contributions = result.forest.contributions;
  const bool lone =
      result.labels.size() == 2 && std::all_of(contributions.begin(), contributions.end(),
                                               [](const auto& c) { return c.target == 0; });
  if (lone) {
    const bool positive = std::all_of(contributions.begin(), contributions.end(),
                                      [](const auto& c) { return c.weight >= 0; });
    result.scoring = positive ? Scoring::kLoneProbability : Scoring::kLone;
    result.forest.targets = 1;
    if (!result.forest.base.empty()) result.forest.base.resize(1);
  }
  return result;
}

Status InferTreeClassifier(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const Classification classification,
                       ReadTreeClassifier(context.attributes()));
  ASC_ASSIGN_OR_RETURN(const Rows rows, RowsOf(context, 0));
  ASC_RETURN_IF_ERROR(CheckForestFeatures(context, rows, classification.forest.features));
  context.SetOutput(0, classification.labels.dtype(), Shape(std::vector<Dim>{rows.count}));
  context.SetOutput(
      1, DataType::kFloat32,
      Shape(std::vector<Dim>{rows.count, static_cast<int64_t>(classification.labels.size())}));
  return Ok();
}

class Classify : public TreeFinish {
 public:
  explicit Classify(const Classification& from)
      : ints_(from.labels.ints.begin(), from.labels.ints.end()),
        strings_(from.labels.strings.begin(), from.labels.strings.end()),
        transform_(from.transform),
        scoring_(from.scoring) {}
  void operator()(KernelContext& context, int64_t first, int64_t rows,
                  const double* sums) const override {
    const ClassLabels labels{ints_, strings_};
    const size_t classes = labels.size(), targets = scoring_ == Scoring::kEach ? classes : 1;
    std::vector<float> scores(classes);
    for (int64_t r = 0; r < rows; ++r) {
      const double* sum = sums + r * static_cast<int64_t>(targets);
      const int64_t row = first + r;
      if (scoring_ == Scoring::kEach) {
        std::transform(sum, sum + classes, scores.begin(),
                       [](double s) { return static_cast<float>(s); });
        if (context.HasOutput(0)) WriteLabel(labels, scores, context.output(0), row);
        Transform(transform_, scores);
      } else {
        const auto score = static_cast<float>(sum[0]);
        const bool is_probability = scoring_ == Scoring::kLoneProbability;
        // A probability decides at one half; a margin, which LOGISTIC and the like stand for, at 0.
        const bool halves = is_probability && (transform_ == PostTransform::kNone ||
                                               transform_ == PostTransform::kProbit);
        if (context.HasOutput(0))
          labels.WriteBinary(context.output(0), row, score > (halves ? 0.5f : 0.0f));
        TwoScores(transform_, score, is_probability, scores.data());
      }
      if (!context.HasOutput(1)) continue;
      std::copy(scores.begin(), scores.end(),
                context.output(1).data<float>() + row * static_cast<int64_t>(classes));
    }
  }

 private:
  static void WriteLabel(const ClassLabels& labels, std::span<const float> scores, Tensor& out,
                         int64_t row) {
    if (scores.size() == 1) return labels.WriteBinary(out, row, scores[0] > 0);
    labels.Write(out, row, ArgMaxScore(scores));
  }

  std::vector<int64_t> ints_;
  std::vector<std::string> strings_;
  PostTransform transform_;
  Scoring scoring_;
};

// A step waits for two loads.
constexpr double kStepFlops = 8;

// Balanced trees: as many steps as a tree of that many nodes is deep.
CostEstimate ForestCost(const std::vector<ValueType>& inputs, const std::vector<ValueType>& outputs,
                        double nodes, double trees) {
  CostEstimate cost;
  cost.bytes = DenseBytes(inputs, outputs);
  const auto dims = inputs[0].shape.ToDims();
  if (!dims || dims->empty()) return cost;
  const double rows = dims->size() == 1 ? 1 : static_cast<double>((*dims)[0]);
  cost.flops = rows * trees * std::log2(1 + nodes / std::max(1.0, trees)) * kStepFlops;
  return cost;
}

CostEstimate NumberedForestCost(const std::vector<ValueType>& inputs,
                                const std::vector<ValueType>& outputs,
                                const AttributeMap& attributes) {
  const auto ids = ListAttribute<int64_t>(attributes, "nodes_treeids");
  double trees = ids.empty() ? 0 : 1;
  for (size_t i = 1; i < ids.size(); ++i) trees += ids[i] != ids[i - 1];
  return ForestCost(inputs, outputs, static_cast<double>(ids.size()), trees);
}

CostEstimate IndexedForestCost(const std::vector<ValueType>& inputs,
                               const std::vector<ValueType>& outputs,
                               const AttributeMap& attributes) {
  const size_t nodes = ListAttribute<int64_t>(attributes, "nodes_featureids").size(),
               trees = ListAttribute<int64_t>(attributes, "tree_roots").size();
  return ForestCost(inputs, outputs, static_cast<double>(nodes), static_cast<double>(trees));
}

OpBuilder& AddNumberedNodes(OpBuilder& op) {
  return op.OptionalAttr("base_values", AttributeType::kFloats)
      .OptionalAttr("base_values_as_tensor", AttributeType::kTensor)
      .OptionalAttr("nodes_falsenodeids", AttributeType::kInts)
      .OptionalAttr("nodes_featureids", AttributeType::kInts)
      .OptionalAttr("nodes_hitrates", AttributeType::kFloats, "", "has no effect")
      .OptionalAttr("nodes_hitrates_as_tensor", AttributeType::kTensor, "", "has no effect")
      .OptionalAttr("nodes_missing_value_tracks_true", AttributeType::kInts)
      .OptionalAttr("nodes_modes", AttributeType::kStrings)
      .OptionalAttr("nodes_nodeids", AttributeType::kInts)
      .OptionalAttr("nodes_treeids", AttributeType::kInts)
      .OptionalAttr("nodes_truenodeids", AttributeType::kInts)
      .OptionalAttr("nodes_values", AttributeType::kFloats)
      .OptionalAttr("nodes_values_as_tensor", AttributeType::kTensor)
      .Attr("post_transform", std::string("NONE"));
}
}  // namespace

Result<std::unique_ptr<Prepared>> PrepareTreeEnsemble(const AttributeMap& attributes,
                                                      DataType type) {
  ASC_ASSIGN_OR_RETURN(const Regression regression, ReadTreeEnsemble(attributes));
  return PrepareRegression(regression, type);
}

Result<std::unique_ptr<Prepared>> PrepareTreeEnsembleRegressor(const AttributeMap& attributes,
                                                               DataType type) {
  ASC_ASSIGN_OR_RETURN(const Regression regression, ReadTreeRegressor(attributes));
  return PrepareRegression(regression, type);
}

Result<std::unique_ptr<Prepared>> PrepareTreeEnsembleClassifier(const AttributeMap& attributes,
                                                                DataType type) {
  ASC_ASSIGN_OR_RETURN(const Classification from, ReadTreeClassifier(attributes));
  return Prepare(from.forest, Aggregate::kSum, type, std::make_unique<Classify>(from));
}

void AddMlTreeOps(OpTable& table) {
  table.Add("TreeEnsemble", 5, kMlDomain)
      .Doc("the targets of a tree ensemble")
      .Input("X", "T")
      .Output("Y", "T")
      .Types("T", {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16})
      .Attr("aggregate_function", int64_t{1}, "", "0 average, 1 sum, 2 min, 3 max")
      .RequiredAttr("leaf_targetids", AttributeType::kInts)
      .RequiredAttr("leaf_weights", AttributeType::kTensor)
      .OptionalAttr("membership_values", AttributeType::kTensor)
      .OptionalAttr("n_targets", AttributeType::kInt)
      .RequiredAttr("nodes_falseleafs", AttributeType::kInts)
      .RequiredAttr("nodes_falsenodeids", AttributeType::kInts)
      .RequiredAttr("nodes_featureids", AttributeType::kInts)
      .OptionalAttr("nodes_hitrates", AttributeType::kTensor, "", "has no effect")
      .OptionalAttr("nodes_missing_value_tracks_true", AttributeType::kInts)
      .RequiredAttr("nodes_modes", AttributeType::kTensor)
      .RequiredAttr("nodes_splits", AttributeType::kTensor)
      .RequiredAttr("nodes_trueleafs", AttributeType::kInts)
      .RequiredAttr("nodes_truenodeids", AttributeType::kInts)
      .Attr("post_transform", int64_t{0}, "",
            "0 none, 1 softmax, 2 logistic, 3 softmax of zero, 4 probit")
      .RequiredAttr("tree_roots", AttributeType::kInts)
      .Infer(InferTreeEnsemble)
      .Cost(IndexedForestCost)
      .Kernel(RunPrepared);
  AddNumberedNodes(table.Add("TreeEnsembleClassifier", 3, kMlDomain)
                       .Doc("labels and scores of a tree ensemble")
                       .Input("X", "T1")
                       .Output("Y", "T2")
                       .OptionalOutput("Z", "O")
                       .Types("T1", kMlNumbers)
                       .Types("T2", kMlLabels)
                       .Types("O", {DataType::kFloat32}))
      .OptionalAttr("class_ids", AttributeType::kInts)
      .OptionalAttr("class_nodeids", AttributeType::kInts)
      .OptionalAttr("class_treeids", AttributeType::kInts)
      .OptionalAttr("class_weights", AttributeType::kFloats)
      .OptionalAttr("class_weights_as_tensor", AttributeType::kTensor)
      .OptionalAttr("classlabels_int64s", AttributeType::kInts)
      .OptionalAttr("classlabels_strings", AttributeType::kStrings)
      .Infer(InferTreeClassifier)
      .Cost(NumberedForestCost)
      .Kernel(RunPrepared);
  AddNumberedNodes(table.Add("TreeEnsembleRegressor", 3, kMlDomain)
                       .Doc("the targets of a tree ensemble")
                       .Input("X", "T")
                       .Output("Y", "O")
                       .Types("T", kMlNumbers)
                       .Types("O", {DataType::kFloat32}))
      .Attr("aggregate_function", std::string("SUM"), "", "AVERAGE, SUM, MIN or MAX")
      .OptionalAttr("n_targets", AttributeType::kInt)
      .OptionalAttr("target_ids", AttributeType::kInts)
      .OptionalAttr("target_nodeids", AttributeType::kInts)
      .OptionalAttr("target_treeids", AttributeType::kInts)
      .OptionalAttr("target_weights", AttributeType::kFloats)
      .OptionalAttr("target_weights_as_tensor", AttributeType::kTensor)
      .Infer(InferTreeRegressor)
      .Cost(NumberedForestCost)
      .Kernel(RunPrepared);
}

}  // namespace asc
