// What the operators of the domain ai.onnx.ml share: batches of feature rows, labels of classes, and
// the transforms of scores.
#ifndef ASC_CORE_OPS_ML_COMMON_H_
#define ASC_CORE_OPS_ML_COMMON_H_

#include <span>

#include "core/base/parallel.h"
#include "core/graph/op_schema.h"
#include "core/tensor/element.h"

namespace asc {

inline constexpr std::string_view kMlDomain = "ai.onnx.ml";
inline constexpr TypeSet kMlNumbers = {DataType::kFloat32, DataType::kFloat64, DataType::kInt64,
                                       DataType::kInt32};
inline constexpr TypeSet kMlLabels = {DataType::kString, DataType::kInt64};

template <typename F>
bool VisitMlNumbers(DataType type, F&& f) {
  return VisitType<float, double, int64_t, int32_t>(type, f);
}

// A list attribute, empty where it is absent. The span lives as long as the attributes.
template <typename T>
std::span<const T> ListAttribute(const AttributeMap& attributes, std::string_view name) {
  const auto* list = attributes.Get<std::vector<T>>(name);
  return list == nullptr ? std::span<const T>() : std::span<const T>(*list);
}

// ---- batches of rows: [N, C], or [C] as one row ----

struct Rows {
  Dim count = Dim::Unknown(), features = Dim::Unknown();
};
// Of input `i`; unknowns where the rank is not known. E5001 for other ranks.
Result<Rows> RowsOf(const InferContext& context, size_t i);
// Two operations for each row of input 0 and each number in a list of them.
CostEstimate CostOfRows(const std::vector<ValueType>& inputs, const std::vector<ValueType>& outputs,
                        std::span<const float> numbers);
// E5001 when the rows are known to have other than `features` features.
Status CheckFeatures(const InferContext& context, const Rows& rows, int64_t features,
                     std::string_view attribute);

struct Batch {
  int64_t rows, features;
};
Batch BatchOf(const Tensor& x);

// Calls body(begin, end) over ranges of rows, each large enough to be worth a thread when a row
// takes about `cost` operations.
void ForRows(int64_t rows, int64_t cost, absl::FunctionRef<void(int64_t, int64_t)> body);

// ---- classes ----

// The labels of a classifier, integers or strings. At most one of the two lists is there; without
// both, classes are numbered.
struct ClassLabels {
  std::span<const int64_t> ints;
  std::span<const std::string> strings;

  // E5003 when both lists are there.
  static Result<ClassLabels> Read(const AttributeMap& attributes, std::string_view op,
                                  std::string_view ints, std::string_view strings);
  size_t size() const { return strings.empty() ? ints.size() : strings.size(); }
  DataType dtype() const { return strings.empty() ? DataType::kInt64 : DataType::kString; }
  // Writes the label of class `index` as element `i` of an output of dtype().
  void Write(Tensor& labels, int64_t i, int64_t index) const;
  // The same where one score decides between two classes. With one label alone it stands against 0 or the empty string, and
  // without any the labels are 1 and 0.
  void WriteBinary(Tensor& labels, int64_t i, bool is_second) const;
};

// ---- scores ----

enum class PostTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };
// The attribute `post_transform`: one of ONNX's names; E5003 for others.
Result<PostTransform> ReadPostTransform(const AttributeMap& attributes, std::string_view op);

// In place, over the scores of one row. Softmax of zero and the probit follow the definitions that
// ONNX Runtime and the ONNX reference share: a score within 1e-7 of zero stays (next to) zero under
// SOFTMAX_ZERO, and the probit uses Winitzki's approximation of the inverse error function.
void Transform(PostTransform transform, std::span<float> scores);
void Transform(PostTransform transform, std::span<double> scores);

// The two scores of a binary classifier that computes only `score`, that of the second class,
// transformed. SOFTMAX, SOFTMAX_ZERO and LOGISTIC see (-score, score). Else the first class gets
// 1 - score where `is_probability`, and -score where not.
void TwoScores(PostTransform transform, float score, bool is_probability, float out[2]);

// The first of the largest; 0 for all NaN.
int64_t ArgMaxScore(std::span<const float> scores);

}  // namespace asc

#endif  // ASC_CORE_OPS_ML_COMMON_H_
