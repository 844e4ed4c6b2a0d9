#include <cmath>

#include "tests/core/ops/op_test.h"

namespace asc {
namespace {
using testing::ExpectTensor;
using testing::F32;
using testing::RunOp1;

TEST(ElementwiseUnary, ReluKeepsNan) {
  ExpectTensor(RunOp1("Relu", {F32({3}, {-1, NAN, 2})}), {3}, {0, NAN, 2});
}

}  // namespace
}  // namespace asc
