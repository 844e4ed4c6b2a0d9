// Operators of ai.onnx.ml: shape rules, types, and what each refuses. Numbers are compared with other engines from Python.
#include <cmath>

#include "core/ops/ml/common.h"
#include "tests/core/ops/op_test.h"

namespace asc::testing {
namespace {
using S = std::string;
using Strings = std::vector<std::string>;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

constexpr std::string_view kMl = "ai.onnx.ml";

Code CodeOf(std::string_view op, const OpInputs& inputs, OpAttributes attributes,
            size_t outputs = 1) {
  return RunOp(op, inputs, attributes, outputs, kMl).status().code();
}

TEST(MlShapes, FollowTheRows) {
  const TypedInput rows(DataType::kFloat32, "[N, 3]"), any(DataType::kFloat32, "[*]"),
      one(DataType::kInt64, "[3]");
  const OpAttributes linear = {{"coefficients", Floats(6, 1)}, {"targets", int64_t{2}}};
  EXPECT_EQ(InferText("LinearRegressor", {rows}, linear, 0, kMl), "float32[N, 2]");
  EXPECT_EQ(InferText("LinearRegressor", {one}, linear, 0, kMl), "float32[1, 2]");
  EXPECT_EQ(InferText("Scaler", {any}, {}, 0, kMl), "float32[*]");
  EXPECT_EQ(InferText("ArrayFeatureExtractor", {rows, I64({2}, {0, 1})}, {}, 0, kMl),
            "float32[N, 2]");
  EXPECT_EQ(InferText("OneHotEncoder", {one}, {{"cats_int64s", Ints{1, 2}}}, 0, kMl),
            "float32[3, 2]");
  EXPECT_EQ(InferText("FeatureVectorizer", {rows, rows}, {{"inputdimensions", Ints{3, 5}}}, 0, kMl),
            "float32[N, 8]");
  EXPECT_EQ(InferText("LabelEncoder", {rows},
                      {{"keys_floats", Floats{1}}, {"values_strings", Strings{"a"}}}, 0, kMl),
            "string[N, 3]");
  EXPECT_EQ(InferText("ZipMap", {rows}, {{"classlabels_strings", Strings{"a", "b", "c"}}}, 0, kMl),
            "sequence(map(string, float32[]))");
}

TEST(MlShapes, RefuseOtherRanksAndFeatures) {
  const OpAttributes linear = {{"coefficients", Floats(6, 1)}, {"targets", int64_t{2}}};
  EXPECT_EQ(CodeOf("LinearRegressor", {Pseudo({2, 3, 1})}, linear), Code::kShapeMismatch);
  EXPECT_EQ(CodeOf("LinearRegressor", {Pseudo({2, 4})}, linear), Code::kShapeMismatch);
  EXPECT_EQ(CodeOf("LinearRegressor", {Pseudo({2, 3})}, {}), Code::kInvalidArgument);
}

TEST(MlMaps, ComeAndGo) {
  AnyValue::StringMap words;
  words.emplace("b", Tensor::Scalar(2.0f));
  ExpectTensor(RunOp1("DictVectorizer", {AnyValue::MakeMap(words)},
                      {{"string_vocabulary", Strings{"a", "b"}}}, kMl),
               {1, 2}, {0, 2});
  EXPECT_EQ(CodeOf("DictVectorizer", {AnyValue::MakeMap(words)}, {{"int64_vocabulary", Ints{1}}}),
            Code::kTypeMismatch);
  EXPECT_EQ(CodeOf("DictVectorizer", {Pseudo({2})}, {{"int64_vocabulary", Ints{1}}}),
            Code::kTypeMismatch);
  AnyValue::IntMap numbers;
  numbers.emplace(4, Tensor::Scalar(S("7")));
  const Tensor cast =
      RunOp1("CastMap", {AnyValue::MakeMap(numbers)},
             {{"cast_to", S("TO_INT64")}, {"map_form", S("SPARSE")}, {"max_map", int64_t{6}}}, kMl);
  EXPECT_EQ(ValuesOf<int64_t>(cast), (Ints{0, 0, 0, 0, 7, 0}));
  const auto zipped =
      RunOp("ZipMap", {F32({2, 2}, {1, 2, 3, 4})}, {{"classlabels_int64s", Ints{5, -1}}}, 1, kMl);
  ASSERT_TRUE(zipped.ok()) << zipped.status().ToString();
  const AnyValue::Sequence& rows = (*zipped)[0].sequence();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(*rows[1].int_map().at(-1).tensor().data<float>(), 4);
}

// x0 <= 1 ? (x1 > 2 ? 1 : 2) : 4.
const OpAttributes kSmallTree = {
    {"nodes_treeids", Ints{0, 0, 0, 0, 0}},
    {"nodes_nodeids", Ints{0, 1, 2, 3, 4}},
    {"nodes_modes", Strings{"BRANCH_LEQ", "BRANCH_GT", "LEAF", "LEAF", "LEAF"}},
    {"nodes_featureids", Ints{0, 1, 0, 0, 0}},
    {"nodes_values", Floats{1, 2, 0, 0, 0}},
    {"nodes_truenodeids", Ints{1, 2, 0, 0, 0}},
    {"nodes_falsenodeids", Ints{4, 3, 0, 0, 0}},
    {"target_treeids", Ints{0, 0, 0}},
    {"target_nodeids", Ints{2, 3, 4}},
    {"target_ids", Ints{0, 0, 0}},
    {"target_weights", Floats{1, 2, 4}},
    {"n_targets", int64_t{1}}};

TEST(MlTrees, TakeEveryType) {
  ExpectTensor(
      RunOp1("TreeEnsembleRegressor", {F32({4, 2}, {1, 3, 1, 2, 2, 3, NAN, NAN})}, kSmallTree, kMl),
      {4, 1}, {1, 2, 4, 4});
  ExpectTensor(RunOp1("TreeEnsembleRegressor", {I64({2, 2}, {1, 3, 2, 0})}, kSmallTree, kMl),
               {2, 1}, {1, 4});
  ExpectTensor(RunOp1("TreeEnsembleRegressor", {I32({2}, {1, 2})}, kSmallTree, kMl), {1, 1}, {2});
  EXPECT_EQ(CodeOf("TreeEnsembleRegressor", {Pseudo({3, 0})}, kSmallTree), Code::kShapeMismatch);
}

TEST(MlScores, AreTransformed) {
  Floats scores = {1, 0, -1};
  Transform(PostTransform::kSoftmaxZero, scores);
  EXPECT_FLOAT_EQ(scores[1], 0);
  EXPECT_NEAR(scores[0] + scores[2], 1, 1e-6);
  scores = {0, 0};
  Transform(PostTransform::kSoftmaxZero, scores);
  EXPECT_EQ(scores, (Floats{0.5f, 0.5f}));
  scores = {-200, 200};
  Transform(PostTransform::kLogistic, scores);
  EXPECT_EQ(scores, (Floats{0, 1}));
  scores = {0, 0.5f, 1};
  Transform(PostTransform::kProbit, scores);
  EXPECT_TRUE(std::isinf(scores[0]) && scores[0] < 0 && scores[1] == 0 && std::isinf(scores[2]));
  EXPECT_EQ(ArgMaxScore(Floats{NAN, 1, 3, 3}), 2);
  EXPECT_EQ(ArgMaxScore(Floats{NAN, NAN}), 0);
}

}  // namespace
}  // namespace asc::testing
