// The vector kernels of LSTM, also with weights of integers, GRU and RNN against the reference kernels.
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

// Weights of integers are stored with the gates as columns.
KernelCase QuantizedLstm(const char* direction, int64_t steps, int64_t batch, int64_t input,
                         int64_t hidden, DataType type, bool by_column) {
  KernelCase test = Lstm(direction, steps, batch, input, hidden, 0);
  test.op = "DynamicQuantizeLSTM";
  test.domain = "com.microsoft";
  test.attributes.Erase("layout");
  test.inputs.resize(12);
  test.constants.clear();
  const int64_t directions = test.inputs[1]->dim(0);
  const Dims parameters = by_column ? Dims{directions, 4 * hidden} : Dims{directions};
  uint32_t seed = 17;
  for (const size_t i : {1, 2}) {
    const int64_t depth = i == 1 ? input : hidden;
    test.inputs[i] = Tensor::Allocate(type, {directions, depth, 4 * hidden}).value();
    Tensor scale = Noise(parameters, seed), zero = Tensor::Allocate(type, parameters).value();
    for (int64_t k = 0; k < scale.size(); ++k) {
      scale.data<float>()[k] = 0.002f + 0.001f * std::fabs(scale.data<float>()[k]);
      static_cast<int8_t*>(zero.raw())[k] =
          static_cast<int8_t>(type == DataType::kInt8 ? k % 5 : 117 + k % 9);
    }
    for (int64_t k = 0; k < test.inputs[i]->size(); ++k) {
      seed = seed * 1664525u + 1013904223u;
      static_cast<uint8_t*>(test.inputs[i]->raw())[k] = static_cast<uint8_t>(seed >> 24);
    }
    test.inputs[4 + 2 * i + 2] = scale;
    test.inputs[4 + 2 * i + 3] = zero;
    test.constants.insert(test.constants.end(), {i, 4 + 2 * i + 2, 4 + 2 * i + 3});
  }
  return test;
}

TEST(VectorQuantizedLstm, AgreesWithReference) {
  constexpr char kName[] = "vector.quantized_lstm";
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    for (const DataType type : {DataType::kInt8, DataType::kUInt8}) {
      for (const bool by_column : {false, true}) {
        SCOPED_TRACE(Cat(direction, ", ", static_cast<int>(type), ", by column ", by_column));
        ExpectVectorKernel(QuantizedLstm(direction, 3, 1, 7, 6, type, by_column), kName, 4e-6);
        KernelCase test = QuantizedLstm(direction, 4, 3, 33, 20, type, by_column);
        ExpectVectorKernel(test, kName, 4e-6);
        test.inputs[4] = Tensor::FromValues<int32_t>({3}, {3, 0, 2});
        EXPECT_TRUE(ExpectKernelsAgree(test).empty());
        KernelCase shorter = QuantizedLstm(direction, 4, 1, 7, 6, type, by_column);
        shorter.inputs[4] = Tensor::FromValues<int32_t>({1}, {2});
        ExpectVectorKernel(shorter, kName, 4e-6);
      }
    }
  }
  // As much as two threads share in a step.
  ExpectVectorKernel(QuantizedLstm("forward", 2, 1, 16, 520, DataType::kInt8, false), kName, 4e-6);
  KernelCase bare = QuantizedLstm("forward", 3, 2, 9, 8, DataType::kInt8, false);
  for (const size_t i : {3, 5, 6}) bare.inputs[i] = std::nullopt;
  ExpectVectorKernel(bare, kName, 4e-6);
  bare.attributes.Set("clip", 0.5f);
  EXPECT_TRUE(ExpectKernelsAgree(bare).empty());
  bare.attributes.Erase("clip");
  bare.constants.clear();
  EXPECT_TRUE(ExpectKernelsAgree(bare).empty());
}
}  // namespace
}  // namespace asc::testing
