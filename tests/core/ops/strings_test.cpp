// StringConcat, StringSplit, StringNormalizer.
#include "tests/core/ops/op_test.h"

namespace asc::testing {
namespace {

using S = std::string;
using L = std::vector<std::string>;

Tensor Text(const Dims& dims, std::initializer_list<S> values) {
  return Tensor::FromValues<S>(dims, values);
}

TEST(StringConcat, Broadcasts) {
  EXPECT_EQ(ValuesOf<S>(RunOp1("StringConcat", {Text({2, 1}, {"a", "b"}), Text({2}, {"x", ""})})),
            (L{"ax", "a", "bx", "b"}));
}

void ExpectSplit(const Tensor& x, OpAttributes attributes, const L& pieces,
                 const std::vector<int64_t>& counts) {
  const auto out = RunOp("StringSplit", {x}, attributes, 2);
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  EXPECT_EQ(ValuesOf<S>((*out)[0].tensor()), pieces);
  EXPECT_EQ(ValuesOf<int64_t>((*out)[1].tensor()), counts);
}

TEST(StringSplit, FollowsPython) {
  ExpectSplit(Text({2}, {"a.b.c", "x"}), {{"delimiter", S(".")}}, {"a", "b", "c", "x", "", ""},
              {3, 1});
  ExpectSplit(Text({1}, {"a--b"}), {{"delimiter", S("-")}}, {"a", "", "b"}, {3});
  ExpectSplit(Text({1}, {""}), {{"delimiter", S("-")}}, {""}, {1});
  ExpectSplit(Text({1}, {"a,b,c"}), {{"delimiter", S(",")}, {"maxsplit", int64_t{1}}}, {"a", "b,c"},
              {2});
  ExpectSplit(Text({2}, {"  a \t b ", ""}), {}, {"a", "b", "", ""}, {2, 0});
  ExpectSplit(Text({1}, {" a  b c "}), {{"maxsplit", int64_t{1}}}, {"a", "b c "}, {2});
  EXPECT_EQ(RunOp("StringSplit", {Text({0}, {})}, {}, 2).value()[0].tensor().TypeString(),
            "string[0, 0]");
}

TEST(StringNormalizer, DropsStopWordsAndChangesCase) {
  const Tensor x = Text({4}, {"Monday", "tuesday", "MONDAY", "Äpfel"});
  EXPECT_EQ(ValuesOf<S>(RunOp1("StringNormalizer", {x},
                               {{"case_change_action", S("UPPER")},
                                {"is_case_sensitive", int64_t{1}},
                                {"stopwords", L{"Monday"}}})),
            (L{"TUESDAY", "MONDAY", "ÄPFEL"}));
  EXPECT_EQ(ValuesOf<S>(RunOp1("StringNormalizer", {x},
                               {{"case_change_action", S("LOWER")}, {"stopwords", L{"monday"}}})),
            (L{"tuesday", "äpfel"}));
  EXPECT_EQ(RunOp1("StringNormalizer", {Text({1, 1}, {"a"})}, {{"stopwords", L{"a"}}}).TypeString(),
            "string[1, 1]");
  EXPECT_EQ(ValuesOf<S>(RunOp1("StringNormalizer", {Text({1}, {"\xff\xc3"})},
                               {{"case_change_action", S("UPPER")}})),
            L{"\xff\xc3"});
  EXPECT_EQ(RunOp("StringNormalizer", {Text({2, 1}, {"a", "b"})}).status().code(),
            Code::kShapeMismatch);
}

TEST(RegexFullMatch, MatchesWholeStrings) {
  const S mail = R"(\w+@\w+\.com)";
  EXPECT_EQ(ValuesOf<bool>(RunOp1("RegexFullMatch", {Text({3}, {"a@b.com", "a@b.com.", ""})},
                                  {{"pattern", mail}})),
            (std::vector<bool>{true, false, false}));
  EXPECT_EQ(RunOp("RegexFullMatch", {Text({1}, {"a"})}, {{"pattern", S("(")}}).status().code(),
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace asc::testing
