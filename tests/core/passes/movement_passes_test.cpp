#include "tests/core/passes/pass_test.h"

namespace asc {
namespace {
using testing::Canonical;
using testing::ExpectRewrite;
using testing::ExpectUnchanged;
using testing::ReadGraph;
using testing::RunPasses;

// ---- CastSimplification: Cast(Cast(x)) is Cast(x) where the first loses nothing ----

std::string TwoCasts(DataType from, DataType middle, DataType to) {
  return Cat("input %x: ", DataTypeName(from), "[N] %a = Cast(%x) {to = ", static_cast<int>(middle),
             "} %y = Cast(%a) {to = ", static_cast<int>(to), "} output \"y\" = %y");
}
std::string OneCast(DataType from, DataType to) {
  return Cat("input %x: ", DataTypeName(from), "[N] %y = Cast(%x) {to = ", static_cast<int>(to),
             "} output \"y\" = %y");
}

TEST(CastTest, AWideningFirstCastGoes) {
  using enum DataType;
  const DataType cases[][3] = {{kInt8, kInt32, kFloat32},      {kInt32, kInt64, kInt8},
                               {kBool, kFloat32, kInt64},      {kUInt8, kInt16, kUInt16},
                               {kFloat16, kFloat32, kFloat64}, {kBFloat16, kFloat32, kFloat16},
                               {kInt16, kFloat32, kFloat64},   {kInt32, kInt64, kBool},
                               {kFloat32, kFloat64, kFloat16}, {kInt32, kFloat64, kFloat32}};
  for (const auto& [from, middle, to] : cases) {
    SCOPED_TRACE(TwoCasts(from, middle, to));
    ExpectRewrite(TwoCasts(from, middle, to), OneCast(from, to), {MakeCastSimplification});
  }
}

TEST(CastTest, ThereAndBackIsNothing) {
  using enum DataType;
  const DataType cases[][2] = {
      {kBool, kFloat32}, {kFloat16, kFloat32}, {kInt32, kFloat64}, {kUInt8, kInt16}};
  for (const auto& [from, middle] : cases) {
    SCOPED_TRACE(TwoCasts(from, middle, from));
    ExpectRewrite(TwoCasts(from, middle, from),
                  Cat("input %x: ", DataTypeName(from), "[N] output \"y\" = %x"),
                  {MakeCastSimplification});
  }
}

TEST(CastTest, CastsThatMayChangeValuesStay) {
  using enum DataType;
  const DataType cases[][3] = {{kFloat32, kInt32, kFloat32},    {kFloat32, kFloat16, kFloat32},
                               {kFloat64, kFloat32, kFloat64},  {kInt32, kUInt8, kInt32},
                               {kInt32, kFloat32, kInt32},      {kInt64, kFloat64, kInt64},
                               {kFloat16, kBFloat16, kFloat16}, {kBFloat16, kFloat16, kFloat32},
                               {kFloat16, kFloat32, kInt8},     {kInt8, kUInt8, kInt32},
                               {kInt32, kBool, kInt32},         {kInt32, kFloat64, kInt8},
                               {kUInt16, kFloat16, kFloat32},   {kUInt8, kFloat32, kString}};
  for (const auto& [from, middle, to] : cases) {
    SCOPED_TRACE(TwoCasts(from, middle, to));
    const auto graph = ReadGraph(TwoCasts(from, middle, to));
    RunPasses(*graph, {MakeCastSimplification, MakeNoOpElimination});
    EXPECT_EQ(graph->node_count(), 2u);
  }
}

TEST(CastTest, AFirstCastThatIsUsedElsewhereStays) {
  ExpectRewrite(
      R"(input %x: bool[N] %a = Cast(%x) {to = 1} %y = Cast(%a) {to = 9} output "y" = %y output "a" = %a)",
      R"(input %x: bool[N] %a = Cast(%x) {to = 1} output "y" = %x output "a" = %a)",
      {MakeCastSimplification});
}

// ---- SliceSimplification: Slice(Slice(x, some axes), other axes) => Slice(x, all of them) ----

const std::string kCuts = R"(
    constant %a: int64[1] = [1] constant %b: int64[1] = [-1] constant %c: int64[1] = [2] constant %zero: int64[1] = [0]
    constant %end: int64[1] = [9223372036854775807])";

TEST(SliceTest, AlongOtherAxesBecomesOne) {
  ExpectRewrite(kCuts + R"(
    input %x: float32[N, C, 4]
    %s = Slice(%x, %a, %b, %c)
    %t = Slice(%s, %zero, %end, %a, %c)
    %y = Slice(%t, %a, %end)
    output "y" = %y)",
                R"(
    input %x: float32[N, C, 4]
    constant %starts: int64[3] = [1, 0, 1]
    constant %ends: int64[3] = [-1, 9223372036854775807, 9223372036854775807]
    constant %axes: int64[3] = [2, 1, 0]
    constant %steps: int64[3] = [1, 2, 1]
    %y = Slice(%x, %starts, %ends, %axes, %steps)
    output "y" = %y)",
                {MakeSliceSimplification, MakeDeadCodeElimination});
}

TEST(SliceTest, OthersStay) {
  const std::string input = kCuts + " input %x: float32[N, C, 4] input %n: int64[1] ";
  for (
      const char* body : {
          "%s = Slice(%x, %a, %b, %c) %y = Slice(%s, %a, %end, %b)",                    // one axis
          "%s = Slice(%x, %a, %b, %c) %y = Slice(%s, %a, %end, %a) output \"s\" = %s",  // other users
          "%s = Slice(%x, %n, %b, %c) %y = Slice(%s, %a, %end, %a)",  // not constant
      }) {
    SCOPED_TRACE(body);
    ExpectUnchanged(Cat(input, body, " output \"y\" = %y"), {MakeSliceSimplification});
  }
}

// ---- ReshapeSimplification: views become one Reshape ----

TEST(ReshapeTest, ViewsBecomeReshape) {
  const std::string_view input = "input %x: float32[N, 1, C, 4] ";
  for (const auto& [before, after] : {
           std::pair{"constant %a: int64[1] = [1] %y = Squeeze(%x, %a)",
                     "constant %s: int64[3] = [0, -1, 4] %y = Reshape(%x, %s)"},
           {"constant %a: int64[1] = [-1] %y = Unsqueeze(%x, %a)",
            "constant %s: int64[5] = [0, 1, 0, 4, 1] %y = Reshape(%x, %s)"},
           {"%y = Flatten(%x) {axis = 1}", "constant %s: int64[2] = [0, -1] %y = Reshape(%x, %s)"},
       }) {
    SCOPED_TRACE(before);
    ExpectRewrite(Cat(input, before, " output \"y\" = %y"), Cat(input, after, " output \"y\" = %y"),
                  {MakeReshapeSimplification});
    // The same with no elements.
    const testing::Expectation empty{.tolerance = 0, .options = {}, .bindings = {{"N", 0}}};
    ExpectRewrite(Cat(input, before, " output \"y\" = %y"), Cat(input, after, " output \"y\" = %y"),
                  {MakeReshapeSimplification}, empty);
  }
}

TEST(ReshapeTest, AChainBecomesOne) {
  ExpectRewrite(R"(
    input %x: float32[N, 3, 4]
    constant %s: int64[2] = [-1, 6]
    constant %a: int64[1] = [0]
    constant %t: int64[3] = [0, -1, 2]
    %b = Reshape(%x, %s)
    %c = Unsqueeze(%b, %a)
    %d = Flatten(%c) {axis = 2}
    %y = Reshape(%d, %t)
    output "y" = %y)",
                R"(
    input %x: float32[N, 3, 4]
    constant %s: int64[3] = [-1, 3, 2]
    %y = Reshape(%x, %s)
    output "y" = %y)",
                {MakeReshapeSimplification, MakeDeadCodeElimination});
}

TEST(ReshapeTest, AComputedTargetBecomesAConstantWhereTheShapeIsKnown) {
  ExpectRewrite(R"(
    input %x: float32[N, S, 12]
    constant %zero: int64[1] = [0]
    constant %one: int64[1] = [1]
    constant %heads: int64[2] = [3, 4]
    %shape = Shape(%x)
    %n = Gather(%shape, %zero)
    %s = Gather(%shape, %one)
    %t = Concat(%n, %s, %heads) {axis = 0}
    %y = Reshape(%x, %t)
    output "y" = %y)",
                R"(
    input %x: float32[N, S, 12]
    constant %t: int64[4] = [0, 0, 3, 4]
    %y = Reshape(%x, %t)
    output "y" = %y)",
                {MakeReshapeSimplification, MakeDeadCodeElimination});
  const auto graph = ReadGraph(
      "input %x: float32[N, 6] input %t: int64[2] %y = Reshape(%x, %t) output \"y\" = %y");
  const std::string before = Canonical(*graph);
  RunPasses(*graph, {MakeReshapeSimplification});
  EXPECT_EQ(Canonical(*graph), before);
}

TEST(ReshapeTest, AnInnerValueThatIsUsedElsewhereStays) {
  ExpectRewrite(R"(
    input %x: float32[2, 6]
    constant %s: int64[1] = [12]
    constant %t: int64[2] = [3, 4]
    %a = Reshape(%x, %s)
    %y = Reshape(%a, %t)
    output "y" = %y
    output "a" = %a)",
                R"(
    input %x: float32[2, 6]
    constant %s: int64[1] = [12]
    constant %t: int64[2] = [3, 4]
    %y = Reshape(%x, %t)
    %a = Reshape(%x, %s)
    output "y" = %y
    output "a" = %a)",
                {MakeReshapeSimplification});
}

TEST(ReshapeTest, ShapesThatAreNotKnownWellEnoughStay) {
  ExpectUnchanged(R"(
    input %x: float32[N, 1, C, D]
    constant %a: int64[1] = [1]
    %y = Squeeze(%x, %a)
    output "y" = %y)",
                  {MakeReshapeSimplification});
  ExpectUnchanged(R"(
    input %x: float32[0, 1, 5]
    constant %a: int64[1] = [1]
    %y = Squeeze(%x, %a)
    output "y" = %y)",
                  {MakeReshapeSimplification});
}

// ---- TransposeSimplification ----

TEST(TransposeTest, TwoBecomeOneOrNone) {
  ExpectRewrite(
      "input %x: float32[A, B, C] %a = Transpose(%x) {perm = [1, 2, 0]} %y = Transpose(%a) {perm = "
      "[1, 2, 0]} output \"y\" = %y",
      "input %x: float32[A, B, C] %y = Transpose(%x) {perm = [2, 0, 1]} output \"y\" = %y",
      {MakeTransposeSimplification, MakeDeadCodeElimination});
  ExpectRewrite(
      "input %x: float32[A, B, C] %a = Transpose(%x) {perm = [1, 2, 0]} %b = Transpose(%a) {perm = "
      "[2, 0, 1]} %y = Relu(%b) output \"y\" = %y",
      "input %x: float32[A, B, C] %y = Relu(%x) output \"y\" = %y",
      {MakeTransposeSimplification, MakeDeadCodeElimination});
  ExpectRewrite(
      "input %x: float32[A, B] %a = Transpose(%x) %b = Transpose(%a) %y = Relu(%b) output \"y\" = "
      "%y output \"a\" = %a",
      "input %x: float32[A, B] %y = Relu(%x) %a = Transpose(%x) output \"y\" = %y output \"a\" = "
      "%a",
      {MakeTransposeSimplification, MakeDeadCodeElimination});
}

TEST(TransposeTest, MovingOnesIsAReshape) {
  ExpectRewrite(
      "input %x: float32[N, 1, 5] %y = Transpose(%x) {perm = [1, 0, 2]} output \"y\" = %y",
      "input %x: float32[N, 1, 5] constant %s: int64[3] = [1, -1, 5] %y = Reshape(%x, %s) output "
      "\"y\" = %y",
      {MakeTransposeSimplification});
  ExpectUnchanged(
      "input %x: float32[N, 2, 5] %y = Transpose(%x) {perm = [1, 0, 2]} output \"y\" = %y",
      {MakeTransposeSimplification});
}

TEST(TransposeTest, PairsAroundElementwiseCancel) {
  ExpectRewrite(R"(
    input %x: float32[N, C, H, 2]
    input %z: float32[N, C, H, 2]
    constant %b: float32[3] = [1.0, 2.0, 3.0]
    constant %k: float32[] = [0.5]
    %t = Transpose(%x) {perm = [0, 2, 3, 1]}
    %u = Transpose(%z) {perm = [0, 2, 3, 1]}
    %a = Add(%t, %b)
    %r = Relu(%a)
    %m = Mul(%r, %k)
    %s = Add(%u, %m)
    %y = Transpose(%s) {perm = [0, 3, 1, 2]}
    output "y" = %y)",
                R"(
    input %x: float32[N, C, H, 2]
    input %z: float32[N, C, H, 2]
    constant %b: float32[1, 3, 1, 1] = [1.0, 2.0, 3.0]
    constant %k: float32[] = [0.5]
    %a = Add(%x, %b)
    %r = Relu(%a)
    %m = Mul(%r, %k)
    %y = Add(%z, %m)
    output "y" = %y)",
                {MakeTransposeSimplification, MakeDeadCodeElimination});
}

TEST(TransposeTest, PairsThatDoNotCancelBecomeOne) {
  ExpectRewrite(
      "input %x: float32[A, B, C] %t = Transpose(%x) {perm = [1, 2, 0]} %r = Relu(%t) %y = "
      "Transpose(%r) {perm = [0, 2, 1]} output \"y\" = %y",
      "input %x: float32[A, B, C] %r = Relu(%x) %y = Transpose(%r) {perm = [1, 0, 2]} output \"y\" "
      "= %y",
      {MakeTransposeSimplification, MakeDeadCodeElimination});
}

TEST(TransposeTest, WhatSomethingElseNeedsStays) {
  // Another order of axes on the other side; a value inside that is an output; a reduction between;
  // scales along an axis.
  for (
      const char* body : {
          R"(input %x: float32[A, A, A] %t = Transpose(%x) {perm = [1, 2, 0]} %u = Transpose(%x) {perm = [0, 2, 1]}
              %a = Add(%t, %u) %y = Transpose(%a) {perm = [2, 0, 1]} output "y" = %y)",
          R"(input %x: float32[A, B, C] %t = Transpose(%x) {perm = [1, 2, 0]} %r = Relu(%t)
              %y = Transpose(%r) {perm = [2, 0, 1]} output "y" = %y output "r" = %r)",
          R"(input %x: float32[A, B, C] input %z: float32[A] %t = Transpose(%x) {perm = [1, 2, 0]} %r = Add(%t, %z)
              %y = Transpose(%r) {perm = [2, 0, 1]} output "y" = %y)",
          R"(input %x: float32[A, A, B] constant %s: float32[3] = [1.0, 0.5, 0.25] %t = Transpose(%x) {perm = [1, 2, 0]}
              %q = QuantizeLinear(%t, %s) {axis = 2} %y = Transpose(%q) {perm = [2, 0, 1]} output "y" = %y)",
          R"(input %x: uint8[A, B] constant %s: float32[1, 3] = [1.0, 0.5, 0.25] %t = Transpose(%x) {perm = [1, 0]}
              %d = DequantizeLinear(%t, %s) {axis = 0, block_size = 4} %r = Neg(%d)
              %y = Transpose(%r) {perm = [1, 0]} output "y" = %y)",
      }) {
    SCOPED_TRACE(body);
    ExpectUnchanged(body, {MakeTransposeSimplification});
  }
}

}  // namespace
}  // namespace asc
