// Vector programs made ready to run: instructions for an accumulator of eight vectors.
//
// A program is cut at its reductions into segments. A wide segment runs over the elements of one
// row, block by block: eight vectors stay in registers from one instruction to the next, other
// operands come from memory. A row segment does the same over the results of reductions of a group
// of rows. Values that a later segment needs are computed again where that is cheap; else they are
// kept for the group of rows.
#ifndef ASC_CORE_KERNELS_VECTOR_PROGRAM_H_
#define ASC_CORE_KERNELS_VECTOR_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/ops/vector_program.h"

namespace asc::simd {

// Superinstructions: two instructions in one. To add one, write it here; the lowering looks for
// `first` and `second` (program_join.cpp), and the interpreter runs the expression in a, x and y.
//   X(name, first, second, whether a is the right operand of second, expression)
// Products that are added to are rounded first (RoundedProduct), as they would be alone.
// clang-format off
// second(first(a, x), y)
#define ASC_JOINED_STEPS(X)                                                  X(MulAdd, Mul, Add, false, hn::Add(RoundedProduct(a, x), y))               X(MulSub, Mul, Sub, false, hn::Sub(RoundedProduct(a, x), y))               X(MulSubFrom, Mul, Sub, true, hn::Sub(y, RoundedProduct(a, x)))            X(AddAdd, Add, Add, false, hn::Add(hn::Add(a, x), y))                      X(AddMul, Add, Mul, false, hn::Mul(hn::Add(a, x), y))                      X(SubMul, Sub, Mul, false, hn::Mul(hn::Sub(a, x), y))
// second(a, first(x, y)): without a place for what was in the accumulator
#define ASC_PAIR_STEPS(X)                                                    X(AddProduct, Mul, Add, false, hn::Add(a, RoundedProduct(x, y)))           X(SubProduct, Mul, Sub, false, hn::Sub(a, RoundedProduct(x, y)))           X(SubFromProduct, Mul, Sub, true, hn::Sub(RoundedProduct(x, y), a))        X(MulSum, Add, Mul, false, hn::Mul(a, hn::Add(x, y)))                      X(MulDifference, Sub, Mul, false, hn::Mul(a, hn::Sub(x, y)))
// clang-format on

// What one instruction does to the accumulator a; x and y are operands in memory.
enum class ProgramStep : uint8_t {
  kLoad,        // x
  kUnary,       // op(a)
  kBinary,      // op(a, x)
  kReverse,     // op(x, a)
  kAddRelu,     // relu(a + x)
  kMulAddRelu,  // relu(a x + y), the product rounded first
  kFma,         // a x + y, rounded once
  kFmaAdd,      // x y + a, rounded once
  kIf,          // a is not 0 ? x : y
  kThen,        // x is not 0 ? a : y
  kElse,        // x is not 0 ? y : a
  kStore,       // a, to x
  kReduce,      // of a, into the reduction numbered `reduction`
  kSquaredSum,  // (a - x)^2, summed into it
#define ASC_STEP_NAME(name, first, second, reversed, expression) k##name,
  ASC_JOINED_STEPS(ASC_STEP_NAME) ASC_PAIR_STEPS(ASC_STEP_NAME)
#undef ASC_STEP_NAME
      kEnd
};
// Whether the instruction reads or writes x; whether it reads y as well.
bool HasOperand(ProgramStep step);
bool HasTwoOperands(ProgramStep step);

struct ProgramInstruction {
  ProgramStep step = ProgramStep::kEnd;
  VectorOp op = VectorOp::kIdentity;
  bool x_scalar = false, y_scalar = false;  // one element for all lanes
  int x = 0, y = 0;                         // places in the table of operands
  int reduction = 0;
  float a = 0, b = 0;         // parameters of op
  bool not_positive = false;  // the accumulator is known to hold no number above 0
};

// Where an operand lies.
struct ProgramOperand {
  enum class Kind : uint8_t {
    kInput,
    kOutput,
    kRow,    // a value of each row of the group
    kSpill,  // a wide value of the group of rows
    kTemp,   // a block
    kNumber
  };
  Kind kind = Kind::kNumber;
  int index = 0;
  float number = 0;
  bool operator==(const ProgramOperand& other) const = default;
};

struct ProgramReduction {
  VectorOp op;
  int row;  // which row value its result is
};

struct ProgramSegment {
  bool wide = true;
  std::vector<ProgramInstruction> instructions;  // the last one is kEnd
  std::vector<int> reductions;                   // that it feeds
};

struct ProgramCode {
  static constexpr size_t kMostOperands = 256;

  std::vector<ProgramOperand> operands;
  std::vector<ProgramSegment> segments;  // in order
  std::vector<ProgramReduction> reductions;
  int rows = 0, spills = 0, temps = 0;  // how many of each
  double cost = 0;                      // of one element, about in cheap instructions
};

// Makes superinstructions of neighbours, in place. `operands`: what x and y of them are numbers of.
void JoinInstructions(std::vector<ProgramInstruction>& instructions,
                      const std::vector<ProgramOperand>& operands);

// `scalar_inputs`: inputs with one element for a whole row. Fails (kUnavailable) where the tables
// are too small for the program. `split`: reductions have segments of their own, so that what they
// are of can be computed for all rows of a group as if they were one.
Result<ProgramCode> LowerProgram(const VectorProgram& program,
                                 const std::vector<bool>& scalar_inputs, bool split = false);

// ---- running, for the instruction set that is chosen at run time ---------------------------------

// A segment whose instructions are bound to code.
struct BoundInstruction {
  void (*run)() = nullptr;  // its type depends on the instruction set
  int x = 0, y = 0;
  float a = 0, b = 0;
};
struct RowLoopCall;
using RowLoop = void (*)(const RowLoopCall& call);
struct BoundSegment {
  // For whole blocks, and for the last one of up to 8, 4 and 2 vectors.
  std::vector<BoundInstruction> forms[4];
  std::vector<int> reductions;
  // Runs all of it instead of the forms; may be null.
  RowLoop loop = nullptr;
  std::vector<ProgramInstruction> instructions;  // for `loop`
};
BoundSegment BindSegment(const ProgramCode& code, const ProgramSegment& segment);

// The row superinstruction that is the whole segment; nullptr where there is none.
RowLoop FindRowLoop(const ProgramCode& code, const ProgramSegment& segment);

// Elements of a block: operands of kind kTemp have as many.
constexpr size_t kMostProgramBlock = 8 * 64;
size_t ProgramBlock();

constexpr size_t kMostReductions = 16;

struct ProgramFrame {
  // By operand: its elements, moved on from block to block where `moves` is all ones, not where 0.
  float* base[ProgramCode::kMostOperands];
  size_t moves[ProgramCode::kMostOperands];
  int64_t strides[ProgramCode::kMostOperands];  // from one row to the next
  // By reduction: partial results, for as many elements as a vector has at most.
  alignas(64) float partial[kMostReductions][64];
  const BoundInstruction* first = nullptr;
  size_t stop = 0;     // whole blocks end here at the latest
  size_t left = 0;     // elements of a partial block
  size_t vectors = 0;  // of this block
};

struct RowLoopCall {
  const ProgramInstruction* instructions;
  const ProgramReduction* reductions;
  const ProgramFrame* frame;
  size_t n;  // elements of a row
  int64_t rows;
  float* const* to;  // by reduction
};

// Runs the segment over `rows` rows of n elements. `moves`: the operands that have another place in
// each row. Results of its reductions go to to[reduction], one after the other.
void RunSegment(const ProgramCode& code, const BoundSegment& segment, ProgramFrame& frame, size_t n,
                int64_t rows, std::span<const int> moves, float* const* to);

// Each of `count` elements `times` times; writes up to kRepeatSlack elements past the end.
constexpr size_t kRepeatSlack = 64;
void RepeatElements(const float* from, size_t count, size_t times, float* to);

// Elements from and to float32, as Cast converts them.
void ToFloats(DataType type, const std::byte* from, float* to, size_t count);
void FromFloats(const float* from, DataType type, std::byte* to, size_t count);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_PROGRAM_H_
