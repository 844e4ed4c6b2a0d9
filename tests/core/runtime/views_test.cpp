// Operators that become views of their input: no step of their own, and the results of a plan without views.
#include <cstring>
#include <random>

#include "tests/core/runtime/graph_text.h"

namespace asc {
namespace {
using testing::CompileText;

Tensor Noise(DataType type, const Dims& dims) {
  Tensor tensor = Tensor::Allocate(type, dims).value();
  std::mt19937 random(3);
  if (type == DataType::kFloat32) {
    for (int64_t i = 0; i < tensor.size(); ++i) tensor.data<float>()[i] = static_cast<float>(random() % 2001) / 1000 - 1;
  } else {
    for (size_t i = 0; i < tensor.bytes(); ++i) static_cast<uint8_t*>(tensor.raw())[i] = static_cast<uint8_t>(random() % 2);
  }
  return tensor;
}

// Compiles and runs the body with views and without, at one set of extents: equal results, and `steps` steps with views.
void ExpectSteps(const std::string& body, const std::vector<Tensor>& inputs, size_t steps) {
  SCOPED_TRACE(body);
  const std::string text = "graph \"main\" {\n" + body + "\n}";
  std::vector<std::vector<AnyValue>> results;
  for (const int level : {2, 0}) {
    CompileOptions options;
    options.graph_opt_level = 0;
    options.buffer_optimize_level = level;
    const auto executable = CompileText(text, options);
    ASSERT_TRUE(executable.ok()) << executable.status().ToString();
    const std::vector<AnyValue> values(inputs.begin(), inputs.end());
    std::vector<const AnyValue*> pointers;
    for (const AnyValue& value : values) pointers.push_back(&value);
    const auto plan = (*executable)->PlanFor(pointers);
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    if (level == 2) {
      EXPECT_EQ((*plan)->steps.size(), steps);
    }
    auto outputs = Session::Create(*executable).value()->Run(values);
    ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
    results.push_back(std::move(outputs).value());
  }
  for (size_t i = 0; i < results[0].size(); ++i) {
    EXPECT_TRUE(results[0][i].tensor().ContentEquals(results[1][i].tensor())) << "output " << i;
  }
}

const std::string kInts = R"(
  constant %zero: int64[1] = [0] constant %one: int64[1] = [1] constant %two: int64[1] = [2]
  constant %five: int64[1] = [5] constant %end: int64[1] = [9223372036854775807] constant %minus_two: int64[1] = [-2]
  constant %minus_one: int64[] = [-1])";

TEST(ViewsTest, SliceOfTheLeadingAxis) {
  for (const char* type : {"float32", "uint8", "bool"}) {
    const DataType dtype = *ParseDataType(type);
    const std::string input = Cat(kInts, "\n  input %x: ", type, "[A, B]\n");
    const auto chain = [&](const std::string& slice) {
      return input + "%s = " + slice + " %r = Reshape(%s, %minus_one_vector) %y = Tile(%r, %two) output \"y\" = %y";
    };
    const std::string vector = "constant %minus_one_vector: int64[1] = [-1]\n";
    ExpectSteps(vector + chain("Slice(%x, %one, %end, %zero)"), {Noise(dtype, {5, 3})}, 1);
    ExpectSteps(vector + chain("Slice(%x, %minus_two, %end, %zero)"), {Noise(dtype, {5, 3})}, 1);
    ExpectSteps(vector + chain("Slice(%x, %one, %five, %one)"), {Noise(dtype, {1, 7})}, 1);
    // Nothing is left, or all of it.
    ExpectSteps(vector + chain("Slice(%x, %five, %two, %zero)"), {Noise(dtype, {6, 3})}, 1);
    ExpectSteps(vector + chain("Slice(%x, %zero, %end, %one, %one)"), {Noise(dtype, {6, 3})}, 1);
    // No run: a later axis, or a step.
    ExpectSteps(vector + chain("Slice(%x, %one, %five, %one)"), {Noise(dtype, {2, 7})}, 2);
    ExpectSteps(vector + chain("Slice(%x, %zero, %end, %zero, %two)"), {Noise(dtype, {5, 3})}, 2);
  }
}

TEST(ViewsTest, SplitGivesViewsThatAreNotWrittenOver) {
  const std::string body = kInts + R"(
    constant %sizes: int64[3] = [2, 0, 3]
    input %x: float32[A, B]
    %h = Exp(%x)
    %a, %b, %c = Split(%h, %sizes) {axis = 1}
    %r = Neg(%a)
    %s = Neg(%c)
    %t = Concat(%r, %s, %h, %b) {axis = 1}
    output "t" = %t
    output "c" = %c)";
  ExpectSteps(body, {Noise(DataType::kFloat32, {1, 5})}, 4);
  ExpectSteps(body, {Noise(DataType::kFloat32, {3, 5})}, 5);
}

TEST(ViewsTest, GatherOfOnePlace) {
  const std::string body = kInts + R"(
    input %x: float32[A, B, C]
    %h = Exp(%x)
    %a = Gather(%h, %minus_one) {axis = 0}
    %b = Gather(%h, %one) {axis = 0}
    %s = Add(%a, %b)
    output "s" = %s)";
  ExpectSteps(body, {Noise(DataType::kFloat32, {3, 2, 4})}, 2);
  const std::string later = kInts + R"(
    input %x: float32[A, B, C]
    %a = Gather(%x, %minus_one) {axis = 1}
    %s = Exp(%a)
    output "s" = %s)";
  ExpectSteps(later, {Noise(DataType::kFloat32, {1, 3, 4})}, 1);
  ExpectSteps(later, {Noise(DataType::kFloat32, {2, 3, 4})}, 2);
}

TEST(ViewsTest, ARowThatIsReadWithTheWholeIsNotWrittenOver) {
  for (const char* operands : {"%h, %v", "%v, %h"}) {
    for (const char* view : {"Gather(%h, %minus_one) {axis = 0}", "Gather(%h, %first) {axis = 0}", "Slice(%h, %zero, %one)"}) {
      const std::string body = Cat(kInts, R"(
    constant %first: int64[] = [0]
    input %x: float32[A, B]
    %h = Exp(%x)
    %v = )", view, "\n    %s = Sub(", operands, ")\n    %t = Neg(%s)\n    output \"t\" = %t");
      ExpectSteps(body, {Noise(DataType::kFloat32, {3, 16})}, 3);
    }
  }
  // The whole in another shape stands at the same places.
  ExpectSteps(kInts + R"(
    input %x: float32[A]
    %h = Exp(%x)
    %v = Unsqueeze(%h, %zero)
    %s = Mul(%v, %h)
    %t = Neg(%s)
    output "t" = %t)", {Noise(DataType::kFloat32, {16})}, 3);
}

TEST(ViewsTest, TransposeOfAxesOfOneElement) {
  const std::string body = R"(
    input %x: float32[A, B, C, D]
    %h = Exp(%x)
    %t = Transpose(%h) {perm = [0, 2, 1, 3]}
    %y = Neg(%t)
    output "y" = %y)";
  ExpectSteps(body, {Noise(DataType::kFloat32, {1, 1, 8, 4})}, 2);
  ExpectSteps(body, {Noise(DataType::kFloat32, {3, 8, 1, 4})}, 2);
  ExpectSteps(body, {Noise(DataType::kFloat32, {1, 2, 8, 4})}, 3);
}

// Concat's operands are made in their places, where these are runs that begin on cache lines.
TEST(ViewsTest, ConcatIsDoneByItsOperands) {
  const std::string body = R"(
    input %x: float32[A, B]
    %a = Exp(%x)
    %b = Neg(%x)
    %c = Concat(%a, %b) {axis = 0}
    %y = Abs(%c)
    output "y" = %y)";
  ExpectSteps(body, {Noise(DataType::kFloat32, {2, 16})}, 3);
  ExpectSteps(body, {Noise(DataType::kFloat32, {2, 3})}, 4);  // the second would begin within a line
  const std::string columns = R"(
    input %x: float32[A, B, C]
    %a = Exp(%x)
    %b = Neg(%x)
    %c = Concat(%a, %b, %x) {axis = -2}
    %d = Concat(%a, %b) {axis = -2}
    output "d" = %d
    output "c" = %c)";
  // One Concat has an operand that is the caller's, the other is an output itself.
  ExpectSteps(columns, {Noise(DataType::kFloat32, {1, 4, 16})}, 3);
  ExpectSteps(columns, {Noise(DataType::kFloat32, {2, 4, 16})}, 4);
}

TEST(ViewsTest, ChainsOfConcatGrowInPlace) {
  // Each result is part of the next, with views and in-place results on the way.
  const std::string nested = R"(
    constant %flat: int64[2] = [-1, 16]
    input %x: float32[A, 16]
    %a = Exp(%x)
    %b = Neg(%a)
    %c = Concat(%a, %b) {axis = 0}
    %d = Abs(%c)
    %e = Sqrt(%d)
    %r = Reshape(%c, %flat)
    %f = Concat(%r, %e) {axis = 0}
    %g = Neg(%f)
    %h = Concat(%f, %g) {axis = 0}
    output "h" = %h)";
  ExpectSteps(nested, {Noise(DataType::kFloat32, {3, 16})}, 5);
  // All earlier values, again and again.
  const std::string flat = R"(
    input %x: float32[A, 16]
    %a = Exp(%x)
    %b = Neg(%a)
    %c = Concat(%a, %b) {axis = 0}
    %d = Abs(%c)
    %e = Concat(%a, %b, %d) {axis = 0}
    %f = Sqrt(%e)
    %g = Concat(%a, %b, %d, %f) {axis = 0}
    %y = Neg(%g)
    output "y" = %y)";
  ExpectSteps(flat, {Noise(DataType::kFloat32, {3, 16})}, 5);
  // In another order, or only some of them: copied.
  const std::string mixed = R"(
    input %x: float32[A, 16]
    %a = Exp(%x)
    %b = Neg(%a)
    %c = Concat(%a, %b) {axis = 0}
    %d = Concat(%b, %a) {axis = 0}
    %e = Concat(%a, %x, %a) {axis = 0}
    %f = Add(%c, %d)
    output "f" = %f
    output "e" = %e)";
  ExpectSteps(mixed, {Noise(DataType::kFloat32, {2, 16})}, 5);
}

TEST(ViewsTest, OutputsAreNotPartsOfOthers) {
  const std::string body = R"(
    input %x: float32[A, 16]
    %a = Exp(%x)
    %b = Neg(%x)
    %c = Concat(%a, %b) {axis = 0}
    %y = Abs(%c)
    output "a" = %a
    output "y" = %y)";
  ExpectSteps(body, {Noise(DataType::kFloat32, {2, 16})}, 4);
}

// A view would keep the whole value in memory for the sake of a small part.
TEST(ViewsTest, SmallPartsOfLargeValuesAreCopied) {
  const std::string body = kInts + R"(
    input %x: float32[A, B]
    %h = Exp(%x)
    %a = Gather(%h, %one) {axis = 0}
    %s = Neg(%a)
    output "s" = %s)";
  ExpectSteps(body, {Noise(DataType::kFloat32, {100, 1000})}, 3);
}
}  // namespace
}  // namespace asc
