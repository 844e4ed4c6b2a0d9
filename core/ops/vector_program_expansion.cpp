// asc.VectorProgram as ONNX operators: one or a few for each instruction, in float32.
#include <algorithm>

#include "core/ops/expansion.h"
#include "core/ops/vector_program.h"

namespace asc {
namespace {
// Numbers, or a condition before it is made 0 or 1.
struct Made {
  ValueId number, truth;
};

class ProgramExpansion {
 public:
  ProgramExpansion(Expansion& expansion, const VectorProgram& program)
      : expansion_(expansion), program_(program), rows_(program.RowValues()) {}

  Status Run() {
    ASC_RETURN_IF_ERROR(ReadInputs());
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      made_.push_back(Instruction(program_.instructions[i]));
      ASC_RETURN_IF_ERROR(expansion_.status());
    }
    for (size_t i = 0; i < program_.outputs.size(); ++i) Output(i);
    return expansion_.status();
  }

 private:
  // Inputs as float32, channels along axis 1 of the space, and the space itself.
  Status ReadInputs() {
    const size_t count = expansion_.node().inputs.size();
    const std::vector<bool> channels = program_.ChannelInputs(count);
    space_ = Shape(Dims());
    for (size_t i = 0; i < count; ++i) {
      if (channels[i]) continue;
      ASC_ASSIGN_OR_RETURN(space_, BroadcastShapes(space_, expansion_.shape(expansion_.input(i))));
    }
    if (!space_.has_rank()) return InvalidArgument("the rank of its operands is not known");
    for (size_t i = 0; i < count; ++i) {
      ValueId x = expansion_.Cast(expansion_.input(i), DataType::kFloat32);
      if (channels[i] && space_.rank() > 2) {
        std::vector<int64_t> axes;
        for (size_t axis = 1; axis + 1 < space_.rank(); ++axis)
          axes.push_back(static_cast<int64_t>(axis));
        x = expansion_.Add("Unsqueeze", {x, expansion_.Ints(axes)});
      }
      inputs_.push_back(x);
      if (!channels[i]) spanning_.push_back(x);
    }
    return expansion_.status();
  }

  ValueId Number(double value) { return expansion_.Scalar(DataType::kFloat32, value); }

  ValueId Rounded(ValueId value, DataType type) {
    return expansion_.Cast(expansion_.Cast(value, type), DataType::kFloat32);
  }

  ValueId Truth(size_t value) {
    Made& made = made_[value];
    if (!made.truth.valid()) made.truth = expansion_.Cast(made.number, DataType::kBool);
    return made.truth;
  }

  ValueId Operand(const VectorOperand& operand) {
    const auto index = static_cast<size_t>(operand.index);
    switch (operand.kind) {
      case VectorOperand::Kind::kNumber:
        return Number(operand.number);
      case VectorOperand::Kind::kValue: {
        Made& made = made_[index];
        if (!made.number.valid()) made.number = expansion_.Cast(made.truth, DataType::kFloat32);
        return made.number;
      }
      case VectorOperand::Kind::kInput:
      case VectorOperand::Kind::kChannel:
        break;
    }
    return inputs_[index];
  }

  ValueId Condition(const VectorOperand& operand) {
    if (operand.is_value()) return Truth(static_cast<size_t>(operand.index));
    return expansion_.Cast(Operand(operand), DataType::kBool);
  }

  // The value with an element for each place of the space (or, `row`, each row of it).
  ValueId Spread(ValueId x, bool row) {
    if (!expansion_.status().ok()) return x;
    Shape wanted = space_;
    if (row && wanted.rank() > 0) wanted[wanted.rank() - 1] = Dim(1);
    if (expansion_.shape(x) == wanted) return x;
    ValueId extents;
    if (const auto dims = wanted.ToDims()) {
      extents = expansion_.Ints({dims->begin(), dims->end()});
    } else {
      ValueId all = spanning_.size() == 1 ? spanning_[0] : expansion_.Add("Sum", spanning_);
      if (row) all = expansion_.Add("ReduceMax", {all, expansion_.Ints({-1})});
      extents = expansion_.Add("Shape", {all});
    }
    return expansion_.Add("Expand", {x, extents});
  }

  ValueId Reduce(std::string_view op, const VectorOperand& operand) {
    return expansion_.Add(op, {Spread(Operand(operand), false), expansion_.Ints({-1})});
  }

  Made Instruction(const VectorInstruction& made) {
    const auto in = [&](size_t i) { return Operand(made.operands[i]); };
    const auto add = [&](std::string_view op, std::vector<ValueId> inputs) {
      return expansion_.Add(op, std::move(inputs));
    };
    const float a = made.parameters[0], b = made.parameters[1];
    const auto unary = [&](std::string_view op) { return Made{add(op, {in(0)}), {}}; };
    const auto with_alpha = [&](std::string_view op) {
      return Made{expansion_.Add(op, {in(0)}, "alpha", a), {}};
    };
    const auto binary = [&](std::string_view op) { return Made{add(op, {in(0), in(1)}), {}}; };
    const auto compare = [&](std::string_view op) { return Made{{}, add(op, {in(0), in(1)})}; };
    const auto reduce = [&](std::string_view op) { return Made{Reduce(op, made.operands[0]), {}}; };
    switch (made.op) {
      case VectorOp::kAbs:
        return unary("Abs");
      case VectorOp::kBFloat16:
        return {Rounded(in(0), DataType::kBFloat16), {}};
      case VectorOp::kCeil:
        return unary("Ceil");
      case VectorOp::kCelu:
        return with_alpha("Celu");
      case VectorOp::kClip:
        return {add("Clip", {in(0), Number(a), Number(b)}), {}};
      case VectorOp::kCube: {
        const ValueId x = in(0);
        return {add("Mul", {add("Mul", {x, x}), x}), {}};
      }
      case VectorOp::kElu:
        return with_alpha("Elu");
      case VectorOp::kErf:
        return unary("Erf");
      case VectorOp::kExp:
        return unary("Exp");
      case VectorOp::kFloor:
        return unary("Floor");
      case VectorOp::kGelu:
        return unary("Gelu");
      case VectorOp::kGeluTanh:
        return {expansion_.Add("Gelu", {in(0)}, "approximate", std::string("tanh")), {}};
      case VectorOp::kHalf:
        return {Rounded(in(0), DataType::kFloat16), {}};
      case VectorOp::kHardSigmoid: {
        AttributeMap attributes;
        attributes.Set("alpha", a);
        attributes.Set("beta", b);
        return {expansion_.Add("HardSigmoid", {in(0)}, std::move(attributes)), {}};
      }
      case VectorOp::kHardSwish:
        return unary("HardSwish");
      case VectorOp::kIdentity:
        return unary("Identity");
      case VectorOp::kLeakyRelu:
        return with_alpha("LeakyRelu");
      case VectorOp::kLog:
        return unary("Log");
      case VectorOp::kMish:
        return unary("Mish");
      case VectorOp::kNeg:
        return unary("Neg");
      case VectorOp::kNot:
        return {{}, add("Not", {Condition(made.operands[0])})};
      case VectorOp::kReciprocal:
        return unary("Reciprocal");
      case VectorOp::kReciprocalSqrt:
        return {add("Pow", {in(0), Number(-0.5)}), {}};
      case VectorOp::kRelu:
        return unary("Relu");
      case VectorOp::kRound:
        return unary("Round");
      case VectorOp::kSigmoid:
        return unary("Sigmoid");
      case VectorOp::kSign:
        return unary("Sign");
      case VectorOp::kSoftplus:
        return unary("Softplus");
      case VectorOp::kSoftsign:
        return unary("Softsign");
      case VectorOp::kSqrt:
        return unary("Sqrt");
      case VectorOp::kSquare: {
        const ValueId x = in(0);
        return {add("Mul", {x, x}), {}};
      }
      case VectorOp::kSquareRoot:
        return {add("Pow", {in(0), Number(0.5)}), {}};
      case VectorOp::kSwish: {
        const ValueId x = in(0), scaled = a == 1 ? x : add("Mul", {x, Number(a)});
        return {add("Mul", {x, add("Sigmoid", {scaled})}), {}};
      }
      case VectorOp::kTanh:
        return unary("Tanh");
      case VectorOp::kThresholdedRelu:
        return with_alpha("ThresholdedRelu");
      case VectorOp::kAdd:
        return binary("Add");
      case VectorOp::kDiv:
        return binary("Div");
      case VectorOp::kMax:
        return binary("Max");
      case VectorOp::kMin:
        return binary("Min");
      case VectorOp::kMul:
        return binary("Mul");
      case VectorOp::kPRelu: {
        const ValueId x = in(0);
        return {add("Where", {add("Less", {x, Number(0)}), add("Mul", {x, in(1)}), x}), {}};
      }
      case VectorOp::kSub:
        return binary("Sub");
      case VectorOp::kEqual:
        return compare("Equal");
      case VectorOp::kGreater:
        return compare("Greater");
      case VectorOp::kGreaterOrEqual:
        return compare("GreaterOrEqual");
      case VectorOp::kLess:
        return compare("Less");
      case VectorOp::kLessOrEqual:
        return compare("LessOrEqual");
      case VectorOp::kFma:
        return {add("Add", {add("Mul", {in(0), in(1)}), in(2)}), {}};
      case VectorOp::kSelect:
        return {add("Where", {Condition(made.operands[0]), in(1), in(2)}), {}};
      case VectorOp::kReduceMax:
        return reduce("ReduceMax");
      case VectorOp::kReduceMean:
        return reduce("ReduceMean");
      case VectorOp::kReduceMin:
        return reduce("ReduceMin");
      case VectorOp::kReduceSum:
        return reduce("ReduceSum");
    }
    return {};
  }

  void Output(size_t i) {
    const VectorOutput& output = program_.outputs[i];
    const auto index = static_cast<size_t>(output.value);
    ValueId x = output.type == DataType::kBool
                    ? Truth(index)
                    : expansion_.Cast(Operand(VectorOperand::Value(output.value)), output.type);
    x = Spread(x, rows_[index]);
    // Two outputs of one value are two values.
    if (std::find(given_.begin(), given_.end(), x) != given_.end())
      x = expansion_.Add("Identity", {x});
    given_.push_back(x);
    expansion_.Replace(i, x);
  }

  Expansion& expansion_;
  const VectorProgram& program_;
  const std::vector<bool> rows_;
  Shape space_{Dims()};
  std::vector<ValueId> inputs_, spanning_, given_;
  std::vector<Made> made_;
};
}  // namespace

Status ExpandVectorProgram(Expansion& expansion) {
  const Node& node = expansion.node();
  ASC_ASSIGN_OR_RETURN(const VectorProgram program,
                       VectorProgram::Parse(expansion.attributes().String("program", "")));
  ASC_RETURN_IF_ERROR(program.Verify(node.inputs.size(), node.outputs.size()));
  return ProgramExpansion(expansion, program).Run();
}

}  // namespace asc
