#include "tests/core/ops/op_test.h"

namespace asc {
namespace {
using testing::ExpectTensor;
using testing::F32;
using testing::Floats;
using testing::I32;
using testing::InferText;
using testing::Pseudo;
using testing::RunOp;
using testing::RunOp1;

Tensor Einsum(std::string equation, const testing::OpInputs& inputs) {
  return RunOp1("Einsum", inputs, {{"equation", equation}});
}

TEST(Einsum, OneOperand) {
  const Tensor x = F32({2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectTensor(Einsum("ij->ji", {x}), {3, 2}, {1, 4, 2, 5, 3, 6});
  ExpectTensor(Einsum("ba", {x}), {3, 2}, {1, 4, 2, 5, 3, 6});
  ExpectTensor(Einsum("ij->i", {x}), {2}, {6, 15});
  ExpectTensor(Einsum("ij->", {x}), {}, {21});
  ExpectTensor(Einsum("ii->i", {F32({2, 2}, {1, 2, 3, 4})}), {2}, {1, 4});
  ExpectTensor(Einsum("ii", {F32({2, 2}, {1, 2, 3, 4})}), {}, {5});
  ExpectTensor(Einsum("...j -> j...", {x}), {3, 2}, {1, 4, 2, 5, 3, 6});
}

TEST(Einsum, TwoOperands) {
  const Tensor a = F32({2, 2}, {1, 2, 3, 4}), b = F32({2, 2}, {5, 6, 7, 8}), v = F32({2}, {1, 10});
  ExpectTensor(Einsum("ij,jk->ik", {a, b}), {2, 2}, {19, 22, 43, 50});
  ExpectTensor(Einsum("ij, jk", {a, b}), {2, 2}, {19, 22, 43, 50});
  ExpectTensor(Einsum("ij,ij->", {a, b}), {}, {70});
  ExpectTensor(Einsum("i,j->ij", {v, v}), {2, 2}, {1, 10, 10, 100});
  ExpectTensor(Einsum("ij,k->i", {a, v}), {2}, {33, 77});
  ExpectTensor(Einsum("...ij,...jk->...ik", {Pseudo({1, 2, 2}).Reshaped({1, 2, 2}).value(),
                                             F32({3, 2, 2}, {1, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 2})})
                   .Reshaped({12})
                   .value(),
               {12}, [&] {
                 const Tensor p = Pseudo({4});
                 std::vector<double> want;
                 for (const double scale : {1.0, 0.0, 2.0}) {
                   for (int i = 0; i < 4; ++i) want.push_back(scale * double(p.data<float>()[i]));
                 }
                 return want;
               }());
  ExpectTensor(Einsum("bij,bjk->bk", {F32({2, 1, 2}, {1, 2, 3, 4}), F32({2, 2, 1}, {5, 6, 7, 8})}),
               {2, 1}, {17, 53});
}

TEST(Einsum, SeveralOperandsTypesAndEmptyExtents) {
  const Tensor a = F32({2, 2}, {1, 2, 3, 4}), b = F32({2, 2}, {5, 6, 7, 8}), v = F32({2}, {1, 10});
  ExpectTensor(Einsum("ij,jk,k->i", {a, b, v}), {2}, {239, 543});
  ExpectTensor(Einsum("i,i,i->i", {v, v, v}), {2}, {1, 1000});
  for (const DataType type : types::kFloats.Types()) {
    ExpectTensor(Einsum("i,i->", {Floats(type, {2}, {1, 2}), Floats(type, {2}, {3, 4})}), {}, {11});
  }
  EXPECT_EQ(
      testing::ValuesOf<int32_t>(Einsum("i,i->", {I32({2}, {INT32_MAX, -1}), I32({2}, {2, 5})}))[0],
      -7);
  ExpectTensor(Einsum("i,i->", {Tensor::FromValues<uint8_t>({1}, {200}),
                                Tensor::FromValues<uint8_t>({1}, {2})}),
               {}, {144});
  ExpectTensor(Einsum("ij,jk->ik", {F32({2, 0}, {}), F32({0, 1}, {})}), {2, 1}, {0, 0});
}

TEST(Einsum, HostileEquations) {
  for (const std::string equation :
       {"ij,jk,kl->il", "ij->ij", "i$,jk->i", "i...j...,jk->i", "ij,jk->iz", "ij,jk->ii",
        "ij,jk->i->k", "->", "", "ij,jk->i.k"}) {
    EXPECT_EQ(RunOp("Einsum", {F32({1, 1}, {1}), F32({1, 1}, {1})}, {{"equation", equation}})
                  .status()
                  .code(),
              Code::kInvalidArgument)
        << equation;
  }
  EXPECT_EQ(RunOp("Einsum", {F32({1, 1}, {1})}, {{"equation", "ijk->i"}}).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("Einsum", {F32({1}, {1})}, {{"equation", "...ij->i"}}).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("Einsum", {F32({2}, {1, 2}), F32({3}, {1, 2, 3})}, {{"equation", "i,i->i"}})
                .status()
                .code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("Einsum", {F32({2}, {1, 2}), F32({1, 2}, {1, 2})}, {{"equation", "...,...->..."}})
                .status()
                .code(),
            Code::kShapeMismatch);
}

TEST(Einsum, ShapeRule) {
  const auto infer = [](std::string_view equation, std::string_view a, std::string_view b) {
    return InferText("Einsum", {{DataType::kFloat32, a}, {DataType::kFloat32, b}},
                     {{"equation", std::string(equation)}});
  };
  EXPECT_EQ(infer("bhid,bhjd->bhij", "[B, 8, S, 64]", "[B, 8, T, 64]"), "float32[B, 8, S, T]");
  EXPECT_EQ(infer("...ij,jk->...ik", "[B, C, I, 4]", "[4, K]"), "float32[B, C, I, K]");
  EXPECT_EQ(infer("...ij,jk->...ik", "[*]", "[4, K]"), "float32[*]");
}

}  // namespace
}  // namespace asc
