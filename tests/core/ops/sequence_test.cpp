// Sequences and optionals.
#include "tests/core/ops/op_test.h"

namespace asc::testing {
namespace {

AnyValue Sequence(std::initializer_list<float> values) {
  AnyValue::Sequence items;
  for (const float value : values) items.emplace_back(F32({1}, {value}));
  return AnyValue::MakeSequence(std::move(items), DataType::kFloat32);
}

// The first elements of a sequence's tensors, or the error.
std::string Contents(const Result<std::vector<AnyValue>>& outputs) {
  if (!outputs.ok()) return CodeName(outputs.status().code());
  std::vector<float> values;
  for (const AnyValue& item : (*outputs)[0].sequence())
    values.push_back(item.tensor().data<float>()[0]);
  return Cat(values);
}

TEST(Sequence, GrowsAndShrinks) {
  EXPECT_EQ(Contents(RunOp("SequenceEmpty", {})), "[]");
  EXPECT_EQ(Contents(RunOp("SequenceConstruct", {F32({1}, {1}), F32({2}, {2, 3})})), "[1, 2]");
  const Tensor x = F32({1}, {9});
  EXPECT_EQ(Contents(RunOp("SequenceInsert", {Sequence({1, 2}), x})), "[1, 2, 9]");
  EXPECT_EQ(Contents(RunOp("SequenceInsert", {Sequence({1, 2}), x, Tensor::Scalar<int64_t>(0)})),
            "[9, 1, 2]");
  EXPECT_EQ(Contents(RunOp("SequenceInsert", {Sequence({1, 2}), x, Tensor::Scalar<int32_t>(-1)})),
            "[1, 9, 2]");
  EXPECT_EQ(Contents(RunOp("SequenceInsert", {Sequence({1, 2}), x, Tensor::Scalar<int64_t>(2)})),
            "[1, 2, 9]");
  EXPECT_EQ(Contents(RunOp("SequenceInsert", {Sequence({1, 2}), x, Tensor::Scalar<int64_t>(3)})),
            "E5007");
  EXPECT_EQ(Contents(RunOp("SequenceErase", {Sequence({1, 2, 3})})), "[1, 2]");
  EXPECT_EQ(Contents(RunOp("SequenceErase", {Sequence({1, 2, 3}), Tensor::Scalar<int64_t>(-3)})),
            "[2, 3]");
  EXPECT_EQ(Contents(RunOp("SequenceErase", {Sequence({}), Tensor::Scalar<int64_t>(0)})), "E5007");
  EXPECT_EQ(Contents(RunOp("SequenceErase", {Sequence({})})), "E5007");
}

TEST(Sequence, RefusesOtherTypes) {
  EXPECT_EQ(Contents(RunOp("SplitToSequence", {Sequence({1, 2})})), "E5002");
  EXPECT_EQ(RunOp("SequenceInsert", {Sequence({1}), I64({1}, {1})}).status().code(),
            Code::kTypeMismatch);
  EXPECT_EQ(RunOp("SequenceConstruct", {F32({1}, {1}), I64({1}, {1})}).status().code(),
            Code::kTypeMismatch);
  EXPECT_EQ(RunOp("SequenceLength", {F32({1}, {1})}).status().code(), Code::kTypeMismatch);
}

TEST(Sequence, GivesItsElements) {
  ExpectTensor(RunOp1("SequenceAt", {Sequence({1, 2}), Tensor::Scalar<int64_t>(-1)}), {1}, {2});
  EXPECT_EQ(RunOp("SequenceAt", {Sequence({1, 2}), Tensor::Scalar<int64_t>(2)}).status().code(),
            Code::kOutOfRange);
  EXPECT_EQ(*RunOp1("SequenceLength", {Sequence({1, 2})}).data<int64_t>(), 2);
}

TEST(Sequence, OwnsItsTensors) {
  const Tensor x = F32({1}, {1});
  const auto out = RunOp("SequenceConstruct", {x});
  ASSERT_TRUE(out.ok());
  EXPECT_NE((*out)[0].sequence()[0].tensor().raw(), x.raw());
}

std::string Parts(const OpInputs& inputs, OpAttributes attributes = {}) {
  const auto outputs = RunOp("SplitToSequence", inputs, attributes);
  if (!outputs.ok()) return CodeName(outputs.status().code());
  std::string text;
  for (const AnyValue& item : (*outputs)[0].sequence()) {
    text += Cat(ToString(item.tensor().dims()), Cat(ValuesOf<float>(item.tensor())), " ");
  }
  return text;
}

TEST(SplitToSequence, CutsByNumberOrSizes) {
  const Tensor x = F32({5}, {0, 1, 2, 3, 4});
  EXPECT_EQ(Parts({x, Tensor::Scalar<int64_t>(2)}), "[2][0, 1] [2][2, 3] [1][4] ");
  EXPECT_EQ(Parts({x, I64({2}, {4, 1})}), "[4][0, 1, 2, 3] [1][4] ");
  EXPECT_EQ(Parts({F32({2, 2}, {0, 1, 2, 3})}, {{"axis", int64_t{1}}}),
            "[2, 1][0, 2] [2, 1][1, 3] ");
  EXPECT_EQ(Parts({F32({2, 2}, {0, 1, 2, 3})}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}}),
            "[2][0, 2] [2][1, 3] ");
  EXPECT_EQ(Parts({x, Tensor::Scalar<int64_t>(0)}), "E5003");
  EXPECT_EQ(Parts({x, I64({2}, {4, 2})}), "E5001");
  EXPECT_EQ(Parts({x, I64({2}, {6, -1})}), "E5001");
}

TEST(ConcatFromSequence, JoinsAndStacks) {
  const AnyValue pair = AnyValue::MakeSequence({F32({2}, {1, 2}), F32({2}, {3, 4})});
  ExpectTensor(RunOp1("ConcatFromSequence", {pair}, {{"axis", int64_t{0}}}), {4}, {1, 2, 3, 4});
  ExpectTensor(
      RunOp1("ConcatFromSequence", {pair}, {{"axis", int64_t{-1}}, {"new_axis", int64_t{1}}}),
      {2, 2}, {1, 3, 2, 4});
  EXPECT_EQ(RunOp("ConcatFromSequence", {Sequence({})}, {{"axis", int64_t{0}}}).status().code(),
            Code::kInvalidArgument);
  const AnyValue uneven = AnyValue::MakeSequence({F32({1}, {1}), F32({2}, {3, 4})});
  EXPECT_EQ(RunOp("ConcatFromSequence", {uneven}, {{"axis", int64_t{0}}, {"new_axis", int64_t{1}}})
                .status()
                .code(),
            Code::kShapeMismatch);
}

TEST(Optional, HoldsOrIsEmpty) {
  const auto held = RunOp("Optional", {F32({1}, {4})});
  ASSERT_TRUE(held.ok()) << held.status().ToString();
  EXPECT_TRUE(*RunOp1("OptionalHasElement", {(*held)[0]}).data<bool>());
  ExpectTensor(RunOp1("OptionalGetElement", {(*held)[0]}), {1}, {4});
  const auto empty = RunOp("Optional", {}, {{"type", ValueType::Tensor(DataType::kFloat32)}});
  ASSERT_TRUE(empty.ok()) << empty.status().ToString();
  EXPECT_FALSE(*RunOp1("OptionalHasElement", {(*empty)[0]}).data<bool>());
  EXPECT_EQ(RunOp("OptionalGetElement", {(*empty)[0]}).status().code(), Code::kInvalidArgument);
  EXPECT_FALSE(*RunOp1("OptionalHasElement", {}).data<bool>());
  EXPECT_TRUE(*RunOp1("OptionalHasElement", {F32({1}, {1})}).data<bool>());
  ExpectTensor(RunOp1("OptionalGetElement", {F32({1}, {1})}), {1}, {1});
  EXPECT_EQ(RunOp("Optional", {}).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace asc::testing
