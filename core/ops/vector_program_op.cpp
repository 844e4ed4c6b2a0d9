// asc.VectorProgram: see core/ops/vector_program.h. The reference kernel evaluates row by row, one
// instruction after the other.
#include <algorithm>
#include <cmath>

#include "core/base/parallel.h"
#include "core/ops/activation.h"
#include "core/ops/broadcast_iterator.h"
#include "core/ops/cast_elements.h"
#include "core/ops/cost.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/vector_program.h"

namespace asc {
namespace {
constexpr int64_t kGrain = 1 << 12;

Result<VectorProgram> ReadProgram(const AttributeMap& attributes, size_t inputs, size_t outputs) {
  ASC_ASSIGN_OR_RETURN(VectorProgram program,
                       VectorProgram::Parse(attributes.String("program", "")));
  ASC_RETURN_IF_ERROR(program.Verify(inputs, outputs));
  return program;
}

Status InferVectorProgram(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(
      const VectorProgram program,
      ReadProgram(context.attributes(), context.input_count(), context.output_count()));
  const std::vector<bool> channels = program.ChannelInputs(context.input_count());
  Shape space{Dims()};
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (!context.HasInput(i)) return InvalidArgument("VectorProgram needs its input number ", i);
    if (channels[i]) continue;
    ASC_ASSIGN_OR_RETURN(space, BroadcastShapes(space, context.shape(i)));
  }
  for (size_t i = 0; i < context.input_count(); ++i) {
    const Shape& shape = context.shape(i);
    if (!channels[i] || !shape.has_rank() || !space.has_rank()) continue;
    const bool fits = shape.rank() == 1 && space.rank() >= 2 &&
                      (!shape[0].is_constant() || !space[1].is_constant() || shape[0] == space[1]);
    if (!fits)
      return ShapeError("VectorProgram: the channels of input ", i, " have shape ", shape,
                        ", the index space ", space);
  }
  if (program.HasReductions() && space.has_rank() && space.rank() == 0)
    return ShapeError("VectorProgram: there is no axis to reduce");
  const std::vector<bool> rows = program.RowValues();
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    Shape shape = space;
    if (rows[static_cast<size_t>(program.outputs[i].value)] && shape.has_rank() && shape.rank() > 0)
      shape[shape.rank() - 1] = Dim(1);
    context.SetOutput(i, program.outputs[i].type, std::move(shape));
  }
  return Ok();
}

float Apply(const VectorInstruction& made, float x, float y, float z) {
  const float a = made.parameters[0], b = made.parameters[1];
  const auto truth = [](bool condition) { return condition ? 1.0f : 0.0f; };
  switch (made.op) {
    case VectorOp::kAbs:
      return std::fabs(x);
    case VectorOp::kBFloat16:
      return BFloat16(x);
    case VectorOp::kCeil:
      return std::ceil(x);
    case VectorOp::kCelu:
      return math::Celu(x, a);
    case VectorOp::kClip:
      return math::Clip(x, a, b);
    case VectorOp::kCube:
      return x * x * x;
    case VectorOp::kElu:
      return math::Elu(x, a);
    case VectorOp::kErf:
      return std::erf(x);
    case VectorOp::kExp:
      return std::exp(x);
    case VectorOp::kFloor:
      return std::floor(x);
    case VectorOp::kGelu:
      return math::Gelu(x);
    case VectorOp::kGeluTanh:
      return math::GeluTanh(x);
    case VectorOp::kHalf:
      return Half(x);
    case VectorOp::kHardSigmoid:
      return math::HardSigmoid(x, a, b);
    case VectorOp::kHardSwish:
      return math::HardSwish(x);
    case VectorOp::kIdentity:
      return x;
    case VectorOp::kLeakyRelu:
      return math::LeakyRelu(x, a);
    case VectorOp::kLog:
      return std::log(x);
    case VectorOp::kMish:
      return math::Mish(x);
    case VectorOp::kNeg:
      return -x;
    case VectorOp::kNot:
      return truth(x == 0);
    case VectorOp::kReciprocal:
      return 1 / x;
    case VectorOp::kReciprocalSqrt:
      return std::pow(x, -0.5f);
    case VectorOp::kRelu:
      return math::Relu(x);
    case VectorOp::kRound:
      return std::nearbyint(x);
    case VectorOp::kSigmoid:
      return math::Sigmoid(x);
    case VectorOp::kSign:
      return x > 0 ? 1.0f : x < 0 ? -1.0f : x == 0 ? 0.0f : x;
    case VectorOp::kSoftplus:
      return math::Softplus(x);
    case VectorOp::kSoftsign:
      return math::Softsign(x);
    case VectorOp::kSqrt:
      return std::sqrt(x);
    case VectorOp::kSquare:
      return x * x;
    case VectorOp::kSquareRoot:
      return std::pow(x, 0.5f);
    case VectorOp::kSwish:
      return math::Swish(x, a);
    case VectorOp::kTanh:
      return std::tanh(x);
    case VectorOp::kThresholdedRelu:
      return math::ThresholdedRelu(x, a);
    case VectorOp::kAdd:
      return x + y;
    case VectorOp::kDiv:
      return x / y;
    case VectorOp::kMax:
      return std::isnan(x) || x > y ? x : y;
    case VectorOp::kMin:
      return std::isnan(x) || x < y ? x : y;
    case VectorOp::kMul:
      return x * y;
    case VectorOp::kPRelu:
      return x < 0 ? x * y : x;
    case VectorOp::kSub:
      return x - y;
    case VectorOp::kEqual:
      return truth(x == y);
    case VectorOp::kGreater:
      return truth(x > y);
    case VectorOp::kGreaterOrEqual:
      return truth(x >= y);
    case VectorOp::kLess:
      return truth(x < y);
    case VectorOp::kLessOrEqual:
      return truth(x <= y);
    case VectorOp::kFma:
      return std::fma(x, y, z);
    case VectorOp::kSelect:
      return x != 0 ? y : z;
    case VectorOp::kReduceMax:
    case VectorOp::kReduceMean:
    case VectorOp::kReduceMin:
    case VectorOp::kReduceSum:
      break;
  }
  return x;
}

float Reduce(VectorOp op, const float* x, int64_t step, int64_t n) {
  if (op == VectorOp::kReduceMax || op == VectorOp::kReduceMin) {
    const bool largest = op == VectorOp::kReduceMax;
    float best = largest ? -INFINITY : INFINITY;
    for (int64_t i = 0; i < n; ++i) {
      const float v = x[i * step];
      if (std::isnan(v)) return v;
      best = largest ? std::max(best, v) : std::min(best, v);
    }
    return best;
  }
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i * step]);
  return static_cast<float>(op == VectorOp::kReduceMean ? sum / static_cast<double>(n) : sum);
}

// One row: inputs as they lie in it, and a buffer for each value.
class RowEvaluator {
 public:
  struct Input {
    const float* data;
    int64_t step;
  };

  RowEvaluator(const VectorProgram& program, const std::vector<bool>& rows, int64_t length)
      : program_(program), rows_(rows), length_(length), values_(program.instructions.size()) {
    for (size_t i = 0; i < values_.size(); ++i)
      values_[i].resize(rows[i] ? 1 : static_cast<size_t>(length));
  }

  void Run(const std::vector<Input>& inputs) {
    for (size_t i = 0; i < values_.size(); ++i) {
      const VectorInstruction& made = program_.instructions[i];
      std::array<Input, 3> in{};
      for (int k = 0; k < made.operand_count(); ++k) {
        const VectorOperand& operand = made.operands[static_cast<size_t>(k)];
        const auto index = static_cast<size_t>(operand.index);
        in[static_cast<size_t>(k)] =
            operand.kind == VectorOperand::Kind::kNumber ? Input{&operand.number, 0}
            : operand.is_value() ? Input{values_[index].data(), rows_[index] ? 0 : 1}
                                 : inputs[index];
      }
      if (IsReduction(made.op)) {
        values_[i][0] = Reduce(made.op, in[0].data, in[0].step, length_);
        continue;
      }
      const auto element = [&](size_t k, int64_t at) {
        return in[k].data == nullptr ? 0.0f : in[k].data[at * in[k].step];
      };
      for (int64_t at = 0; at < static_cast<int64_t>(values_[i].size()); ++at)
        values_[i][static_cast<size_t>(at)] =
            Apply(made, element(0, at), element(1, at), element(2, at));
    }
  }

  const std::vector<float>& value(int i) const { return values_[static_cast<size_t>(i)]; }

 private:
  const VectorProgram& program_;
  const std::vector<bool>& rows_;
  int64_t length_;
  std::vector<std::vector<float>> values_;
};

// By how much an input moves along each axis of the space.
Result<Dims> StridesOf(const Tensor& input, bool channels, const Dims& space) {
  if (!channels) return BroadcastStrides(input.dims(), space);
  if (space.size() < 2 || input.dims().size() != 1 || input.dim(0) != space[1])
    return Error(Code::kLayout,
                 "VectorProgram: the reference kernel reads channels of plain "
                 "tensors only");
  Dims strides(space.size(), 0);
  strides[1] = 1;
  return strides;
}

Status RunVectorProgram(KernelContext& context) {
  const size_t input_count = context.input_count();
  ASC_ASSIGN_OR_RETURN(const VectorProgram program,
                       ReadProgram(context.attributes(), input_count, context.output_count()));
  const std::vector<bool> rows = program.RowValues();
  const std::vector<bool> channels = program.ChannelInputs(input_count);
  Dims space;
  std::vector<Tensor> floats;
  for (size_t i = 0; i < input_count; ++i) {
    const Tensor& input = context.input(i);
    if (!channels[i]) {
      ASC_ASSIGN_OR_RETURN(space, BroadcastDims(space, input.dims()));
    }
    ASC_ASSIGN_OR_RETURN(Tensor wide,
                         Tensor::Allocate(DataType::kFloat32, input.dims(), context.run().allocator,
                                          MemoryUse::kScratch));
    CastElements(input.dtype(), input.raw(), DataType::kFloat32, wide.raw(), input.size());
    floats.push_back(std::move(wide));
  }
  if (space.empty()) space.push_back(1);
  std::vector<Dims> strides;
  for (size_t i = 0; i < input_count; ++i) {
    ASC_ASSIGN_OR_RETURN(Dims own, StridesOf(floats[i], channels[i], space));
    strides.push_back(std::move(own));
  }
  const int64_t length = space.back(), count = ElementCount(space, 0, space.size() - 1);
  const auto run = [&](int64_t begin, int64_t end) {
    RowEvaluator evaluator(program, rows, length);
    std::vector<RowEvaluator::Input> inputs(input_count);
    for (int64_t row = begin; row < end; ++row) {
      for (size_t i = 0; i < input_count; ++i) {
        int64_t rest = row, offset = 0;
        for (size_t axis = space.size() - 1; axis-- > 0;) {
          offset += rest % space[axis] * strides[i][axis];
          rest /= space[axis];
        }
        inputs[i] = {floats[i].data<float>() + offset, strides[i].back()};
      }
      evaluator.Run(inputs);
      for (size_t i = 0; i < program.outputs.size(); ++i) {
        if (!context.HasOutput(i)) continue;
        const std::vector<float>& value = evaluator.value(program.outputs[i].value);
        const DataType type = program.outputs[i].type;
        const auto size = static_cast<int64_t>(value.size());
        auto* to = static_cast<std::byte*>(context.output(i).raw()) +
                   static_cast<size_t>(row * size) * ElementSize(type);
        CastElements(DataType::kFloat32, value.data(), type, to, size);
      }
    }
  };
  ParallelFor(count, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, length)), run);
  return Ok();
}

CostEstimate VectorProgramCost(const std::vector<ValueType>& inputs,
                               const std::vector<ValueType>& outputs,
                               const AttributeMap& attributes) {
  CostEstimate cost;
  cost.bytes = DenseBytes(inputs, outputs);
  double largest = 0;
  for (const std::vector<ValueType>* types : {&inputs, &outputs}) {
    for (const ValueType& type : *types) largest = std::max(largest, KnownElementCount(type));
  }
  const Result<VectorProgram> program = ReadProgram(attributes, inputs.size(), outputs.size());
  if (program.ok()) cost.flops = largest * static_cast<double>(program->instructions.size());
  return cost;
}
}  // namespace

void AddVectorProgramOps(OpTable& table) {
  table.Add("VectorProgram", 1, "asc")
      .Doc("a list of vector instructions over the broadcast shape of the inputs")
      .Input("inputs", "T", ParameterKind::kVariadic, false)
      .Output("outputs", "R", ParameterKind::kVariadic, false)
      .Types("T", VectorProgram::kTypes)
      .Types("R", VectorProgram::kOutputTypes)
      .RequiredAttr("program", AttributeType::kString, "",
                    "the instructions: \"%0 = add in0, in1; %1 = relu %0; float32 %1\"")
      .Class(OpClass::kElementwise)
      .Infer(InferVectorProgram)
      .Kernel(RunVectorProgram)
      .Cost(VectorProgramCost);
}

}  // namespace asc
