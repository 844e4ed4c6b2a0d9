// The LSTM, GRU and RNN vector kernels against the reference kernels.
#include <cmath>

#include "tests/core/kernels/vector_test.h"

namespace asc::testing {
namespace {
// Weights are scaled down, so that gates do not all saturate.
Tensor Weights(const Dims& dims, uint32_t seed) {
  Tensor out = Noise(dims, seed);
  for (int64_t i = 0; i < out.size(); ++i) out.data<float>()[i] *= 0.3f;
  return out;
}

KernelCase Lstm(const char* direction, int64_t steps, int64_t batch, int64_t input, int64_t hidden,
                int64_t layout) {
  const int64_t directions = direction == std::string("bidirectional") ? 2 : 1;
  const Dims state =
      layout == 0 ? Dims{directions, batch, hidden} : Dims{batch, directions, hidden};
  KernelCase test{
      .op = "LSTM",
      .inputs = {Noise(layout == 0 ? Dims{steps, batch, input} : Dims{batch, steps, input}),
                 Weights({directions, 4 * hidden, input}, 2),
                 Weights({directions, 4 * hidden, hidden}, 3), Noise({directions, 8 * hidden}, 4),
                 std::nullopt, Noise(state, 5), Noise(state, 6)},
      .constants = {1, 2},
      .outputs = 3};
  test.attributes.Set("direction", std::string(direction));
  test.attributes.Set("hidden_size", hidden);
  test.attributes.Set("layout", layout);
  return test;
}

TEST(VectorLstm, AgreesWithReference) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    for (const int64_t layout : {0, 1}) {
      SCOPED_TRACE(Cat(direction, ", layout ", layout));
      ExpectVectorKernel(Lstm(direction, 5, 1, 7, 6, layout), "vector.lstm", 2e-6);
      ExpectVectorKernel(Lstm(direction, 3, 6, 33, 40, layout), "vector.lstm", 2e-6);
    }
  }
  ExpectVectorKernel(Lstm("forward", 1, 1, 128, 128, 0), "vector.lstm", 2e-6);
  KernelCase bare = Lstm("forward", 4, 2, 9, 8, 0);
  bare.inputs.resize(3);
  ExpectVectorKernel(bare, "vector.lstm", 2e-6);
}

TEST(VectorLstm, SequencesOfDifferentLengths) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    for (const int64_t layout : {0, 1}) {
      SCOPED_TRACE(Cat(direction, ", layout ", layout));
      KernelCase test = Lstm(direction, 5, 4, 7, 6, layout);
      test.inputs[4] = Tensor::FromValues<int32_t>({4}, {5, 2, 0, 3});
      ExpectVectorKernel(test, "vector.lstm", 2e-6);
    }
  }
}

TEST(VectorLstm, OtherFormsAreLeft) {
  KernelCase clipped = Lstm("forward", 2, 2, 3, 4, 0);
  clipped.attributes.Set("clip", 0.5f);
  EXPECT_TRUE(ExpectKernelsAgree(clipped).empty());
  KernelCase activations = Lstm("forward", 2, 2, 3, 4, 0);
  activations.attributes.Set("activations", std::vector<std::string>{"Sigmoid", "Relu", "Tanh"});
  EXPECT_TRUE(ExpectKernelsAgree(activations).empty());
  KernelCase variable = Lstm("forward", 2, 2, 3, 4, 0);
  variable.constants = {};
  EXPECT_TRUE(ExpectKernelsAgree(variable).empty());
}

KernelCase Gru(const char* direction, int64_t steps, int64_t batch, int64_t input, int64_t hidden,
               int64_t layout, int64_t linear) {
  KernelCase test = Lstm(direction, steps, batch, input, hidden, layout);
  const int64_t directions = test.inputs[1]->dim(0);
  test.op = "GRU";
  test.inputs[1] = Weights({directions, 3 * hidden, input}, 2);
  test.inputs[2] = Weights({directions, 3 * hidden, hidden}, 3);
  test.inputs[3] = Noise({directions, 6 * hidden}, 4);
  test.inputs.resize(6);
  test.outputs = 2;
  test.attributes.Set("linear_before_reset", linear);
  return test;
}

TEST(VectorGru, AgreesWithReference) {
  for (const int64_t linear : {0, 1}) {
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      for (const int64_t layout : {0, 1}) {
        SCOPED_TRACE(Cat(direction, ", layout ", layout, ", linear ", linear));
        ExpectVectorKernel(Gru(direction, 5, 1, 7, 6, layout, linear), "vector.gru", 2e-6);
        ExpectVectorKernel(Gru(direction, 30, 6, 33, 40, layout, linear), "vector.gru", 4e-6);
        KernelCase lengths = Gru(direction, 5, 4, 7, 6, layout, linear);
        lengths.inputs[4] = Tensor::FromValues<int32_t>({4}, {5, 2, 0, 3});
        ExpectVectorKernel(lengths, "vector.gru", 2e-6);
      }
    }
    ExpectVectorKernel(Gru("bidirectional", 64, 1, 200, 100, 0, linear), "vector.gru", 4e-6);
    KernelCase bare = Gru("forward", 4, 2, 9, 8, 0, linear);
    bare.inputs.resize(3);
    ExpectVectorKernel(bare, "vector.gru", 2e-6);
    KernelCase wild = Gru("forward", 4, 2, 9, 8, 0, linear);
    wild.inputs[0]->data<float>()[3] = NAN;
    ExpectVectorKernel(wild, "vector.gru", 2e-6);
  }
}

TEST(VectorGru, OtherFormsAreLeft) {
  KernelCase clipped = Gru("forward", 2, 2, 3, 4, 0, 1);
  clipped.attributes.Set("clip", 0.5f);
  EXPECT_TRUE(ExpectKernelsAgree(clipped).empty());
  KernelCase activations = Gru("forward", 2, 2, 3, 4, 0, 1);
  activations.attributes.Set("activations", std::vector<std::string>{"Sigmoid", "Relu"});
  EXPECT_TRUE(ExpectKernelsAgree(activations).empty());
}

KernelCase Rnn(const char* direction, int64_t steps, int64_t batch, int64_t input, int64_t hidden,
               int64_t layout) {
  KernelCase test = Lstm(direction, steps, batch, input, hidden, layout);
  const int64_t directions = test.inputs[1]->dim(0);
  test.op = "RNN";
  test.inputs[1] = Weights({directions, hidden, input}, 2);
  test.inputs[2] = Weights({directions, hidden, hidden}, 3);
  test.inputs[3] = Noise({directions, 2 * hidden}, 4);
  test.inputs.resize(6);
  test.outputs = 2;
  return test;
}

TEST(VectorRnn, AgreesWithReference) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    for (const int64_t layout : {0, 1}) {
      SCOPED_TRACE(Cat(direction, ", layout ", layout));
      ExpectVectorKernel(Rnn(direction, 5, 1, 7, 6, layout), "vector.rnn", 2e-6);
      ExpectVectorKernel(Rnn(direction, 30, 6, 33, 40, layout), "vector.rnn", 4e-6);
      KernelCase lengths = Rnn(direction, 5, 4, 7, 6, layout);
      lengths.inputs[4] = Tensor::FromValues<int32_t>({4}, {5, 2, 0, 3});
      ExpectVectorKernel(lengths, "vector.rnn", 2e-6);
    }
  }
  KernelCase bare = Rnn("forward", 4, 2, 9, 8, 0);
  bare.inputs.resize(3);
  ExpectVectorKernel(bare, "vector.rnn", 2e-6);
  bare.inputs[0]->data<float>()[3] = NAN;
  ExpectVectorKernel(bare, "vector.rnn", 2e-6);
  bare.attributes.Set("activations", std::vector<std::string>{"Relu"});
  EXPECT_TRUE(ExpectKernelsAgree(bare).empty());
}
}  // namespace
}  // namespace asc::testing
