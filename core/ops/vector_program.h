// VectorProgram: a short list of vector instructions over one index space, the meaning of the
// asc.VectorProgram operator. Compiler passes make them from chains of operators; kernels run them
// tile by tile.
//
// The index space is the broadcast shape of the inputs. Every value is float32 and either has an
// element for each place of the space, or (reductions over the last axis, and what is computed from
// those and numbers alone) one for each row. Conditions are 0 or 1; every number but 0 is true.
// Text, one instruction after the other:
//
//   %0 = sub in0, in1; %1 = mean %0; %2 = mul %1, 0.5; %3 = clip %2, 0, 6; float32 %3; float16 %0
//
// `in0` is an input that broadcasts as usual; `ch1` one of rank 1 whose elements lie along axis 1
// of the space (channels). Numbers after the operands are parameters of the function. The last
// instructions give the type and value of each output: converted as Cast does, bool by "is not 0".
// Operators on float16 and bfloat16 are those on float32 followed by `half` or `bfloat16`.
#ifndef ASC_CORE_OPS_VECTOR_PROGRAM_H_
#define ASC_CORE_OPS_VECTOR_PROGRAM_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/tensor/data_type.h"

namespace asc {

// X(name of the constant, text, operands, parameters). Functions of one operand and parameters are
// as the operators of that name have them; conditions give 0 or 1; NaN compares as IEEE 754 says.
// clang-format off
#define ASC_VECTOR_OPS(X)                                \
  X(Abs, "abs", 1, 0)                                    \
  X(BFloat16, "bfloat16", 1, 0) /* rounded to that */    \
  X(Ceil, "ceil", 1, 0)                                  \
  X(Celu, "celu", 1, 1)                                  \
  X(Clip, "clip", 1, 2)                                  \
  X(Cube, "cube", 1, 0)                                  \
  X(Elu, "elu", 1, 1)                                    \
  X(Erf, "erf", 1, 0)                                    \
  X(Exp, "exp", 1, 0)                                    \
  X(Floor, "floor", 1, 0)                                \
  X(Gelu, "gelu", 1, 0)                                  \
  X(GeluTanh, "gelu_tanh", 1, 0)                         \
  X(Half, "half", 1, 0)     /* rounded to float16 */     \
  X(HardSigmoid, "hard_sigmoid", 1, 2)                   \
  X(HardSwish, "hard_swish", 1, 0)                       \
  X(Identity, "copy", 1, 0)                              \
  X(LeakyRelu, "leaky_relu", 1, 1)                       \
  X(Log, "log", 1, 0)                                    \
  X(Mish, "mish", 1, 0)                                  \
  X(Neg, "neg", 1, 0)                                    \
  X(Not, "not", 1, 0)                                    \
  X(Reciprocal, "reciprocal", 1, 0)                      \
  X(ReciprocalSqrt, "reciprocal_sqrt", 1, 0)             \
  X(Relu, "relu", 1, 0)                                  \
  X(Round, "round", 1, 0)                                \
  X(Sigmoid, "sigmoid", 1, 0)                            \
  X(Sign, "sign", 1, 0)                                  \
  X(Softplus, "softplus", 1, 0)                          \
  X(Softsign, "softsign", 1, 0)                          \
  X(Sqrt, "sqrt", 1, 0)                                  \
  X(Square, "square", 1, 0)                              \
  X(SquareRoot, "square_root", 1, 0)                     \
  X(Swish, "swish", 1, 1)                                \
  X(Tanh, "tanh", 1, 0)                                  \
  X(ThresholdedRelu, "thresholded_relu", 1, 1)           \
  X(Add, "add", 2, 0)                                    \
  X(Div, "div", 2, 0)                                    \
  X(Max, "max", 2, 0)                                    \
  X(Min, "min", 2, 0)                                    \
  X(Mul, "mul", 2, 0)                                    \
  X(PRelu, "prelu", 2, 0)                                \
  X(Sub, "sub", 2, 0)                                    \
  X(Equal, "equal", 2, 0)                                \
  X(Greater, "greater", 2, 0)                            \
  X(GreaterOrEqual, "greater_or_equal", 2, 0)            \
  X(Less, "less", 2, 0)                                  \
  X(LessOrEqual, "less_or_equal", 2, 0)                  \
  X(Fma, "fma", 3, 0)       /* a b + c, rounded once */  \
  X(Select, "select", 3, 0) /* a is not 0 ? b : c */     \
  X(ReduceMax, "reduce_max", 1, 0)                       \
  X(ReduceMean, "reduce_mean", 1, 0)                     \
  X(ReduceMin, "reduce_min", 1, 0)                       \
  X(ReduceSum, "reduce_sum", 1, 0)
// clang-format on

enum class VectorOp : uint8_t {
#define ASC_VECTOR_ENUM(name, text, operands, parameters) k##name,
  ASC_VECTOR_OPS(ASC_VECTOR_ENUM)
#undef ASC_VECTOR_ENUM
};

struct VectorOpInfo {
  std::string_view text;
  int operands, parameters;
};
const VectorOpInfo& InfoOf(VectorOp op);
bool IsReduction(VectorOp op);

struct VectorOperand {
  enum class Kind : uint8_t { kValue, kInput, kChannel, kNumber };
  Kind kind = Kind::kNumber;
  int index = 0;     // of the instruction whose value it is, or of the input
  float number = 0;  // kNumber

  static VectorOperand Value(int i) { return {Kind::kValue, i, 0}; }
  static VectorOperand Input(int i) { return {Kind::kInput, i, 0}; }
  static VectorOperand Channel(int i) { return {Kind::kChannel, i, 0}; }
  static VectorOperand Number(float x) { return {Kind::kNumber, 0, x}; }
  bool is_value() const { return kind == Kind::kValue; }
  // Numbers by their bits.
  bool operator==(const VectorOperand& other) const;
};

struct VectorInstruction {
  VectorOp op = VectorOp::kIdentity;
  std::array<VectorOperand, 3> operands = {};
  std::array<float, 2> parameters = {};

  int operand_count() const { return InfoOf(op).operands; }
};

struct VectorOutput {
  DataType type = DataType::kFloat32;
  int value = 0;  // the instruction's number
};

class VectorProgram {
 public:
  static constexpr size_t kMostInstructions = 128;
  static constexpr size_t kMostInputs = 32;
  static constexpr size_t kMostOutputs = 8;
  // Element types that can be read and written.
  static constexpr TypeSet kTypes{DataType::kFloat32, DataType::kFloat16, DataType::kBFloat16,
                                  DataType::kBool,    DataType::kUInt8,   DataType::kInt8,
                                  DataType::kInt32,   DataType::kInt64};
  static constexpr TypeSet kOutputTypes{DataType::kFloat32, DataType::kFloat16, DataType::kBFloat16,
                                        DataType::kBool};

  std::vector<VectorInstruction> instructions;
  std::vector<VectorOutput> outputs;

  // Appends an instruction and gives its value.
  VectorOperand Append(VectorOp op, std::initializer_list<VectorOperand> operands,
                       std::initializer_list<float> parameters = {});

  // E5006 with the place for anything that ToText does not write. The result is not verified.
  static Result<VectorProgram> Parse(std::string_view text);
  std::string ToText() const;

  // Refuses (E5003) programs that are not safe to run with so many inputs and outputs: sizes past
  // the limits, operands that are no inputs or come later, an input that is read both ways,
  // reductions of rows, output types that cannot be written.
  Status Verify(size_t input_count, size_t output_count) const;

  // By instruction: whether its value has one element for each row. Only for verified programs.
  std::vector<bool> RowValues() const;
  // By input: whether it lies along the channels.
  std::vector<bool> ChannelInputs(size_t input_count) const;
  bool HasReductions() const;
};

}  // namespace asc

#endif  // ASC_CORE_OPS_VECTOR_PROGRAM_H_
