// Operators as instructions of a vector program (core/ops/vector_program.h).
#ifndef ASC_CORE_PASSES_VECTOR_LOWERING_H_
#define ASC_CORE_PASSES_VECTOR_LOWERING_H_

#include <map>
#include <optional>
#include <vector>

#include "core/graph/graph.h"
#include "core/ops/vector_program.h"

namespace asc {

// What kind of instructions a node is made of.
enum class VectorRole : uint8_t {
  kNone,         // it is none
  kElementwise,  // each element of the result from those at its place
  kReduction,    // over the last axis, which stays with extent 1
  kRowFunction   // of whole rows along the last axis: softmax, normalisations
};
// Types are looked at: values are float32, float16 or bfloat16, or bool where they are conditions; casts from other types
// and to bool count.
VectorRole VectorRoleOf(const Graph& graph, const Node& node);

// Turns nodes into instructions, producers first.
class VectorLowering {
 public:
  // A constant for an input of the program in place of values of the graph.
  struct Constant {
    ValueId stands_for;  // whose name it takes
    Tensor tensor;
  };
  struct Input {
    ValueId value;  // of the graph; invalid: constants[constant]
    size_t constant = 0;
  };

  // `rank`: of the index space.
  VectorLowering(const Graph& graph, size_t rank) : graph_(graph), rank_(rank) {}

  // The node has a role. Inputs that no earlier node made become inputs of the program or numbers.
  void Lower(const Node& node);
  // The instruction that made the value, which a node that was lowered has as its result; one that
  // copies it where it is no instruction's.
  int InstructionOf(ValueId value);

  // Writing a narrow output rounds: takes the last instruction away where it does no more. After the
  // outputs are there.
  void DropLastRounding();

  VectorProgram& program() { return program_; }
  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<Constant>& constants() const { return constants_; }

 private:
  VectorOperand Operand(ValueId value);
  // Another operand of the node in hand surely has as many channels: they do not make the result
  // wider than the program's other inputs.
  bool HasChannels(int64_t count) const;
  VectorOperand AddConstant(ValueId stands_for, Tensor tensor, bool channels);
  VectorOperand Make(VectorOp op, std::initializer_list<VectorOperand> operands,
                     std::initializer_list<float> parameters = {}) {
    return program_.Append(op, operands, parameters);
  }
  // As the node's result has it: rounded where its type is narrower than float32.
  VectorOperand Rounded(const Node& node, const VectorOperand& made);
  VectorOperand LowerElementwise(const Node& node);
  VectorOperand LowerReduction(const Node& node);
  VectorOperand LowerSoftmax(const Node& node);
  VectorOperand LowerNormalization(const Node& node);
  VectorOperand LowerBatchNorm(const Node& node);

  const Graph& graph_;
  size_t rank_;
  const Node* node_ = nullptr;  // that is being lowered
  VectorProgram program_;
  std::map<ValueId, VectorOperand> made_;
  std::vector<Input> inputs_;
  std::vector<Constant> constants_;
};

// The elements of a constant float32 value that lies along axis 1 of a space of this rank, with
// extents 1 elsewhere; nullopt for other values, and where axis 1 is the last one.
std::optional<Tensor> ChannelConstant(const Graph& graph, ValueId value, size_t rank);

}  // namespace asc

#endif  // ASC_CORE_PASSES_VECTOR_LOWERING_H_
