#include "core/passes/vector_lowering.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/passes/channels.h"
#include "core/passes/match.h"

namespace asc {
namespace {
constexpr float kInf = std::numeric_limits<float>::infinity();

// Operators with one instruction of their own; attributes that are its parameters.
struct Row {
  std::string_view op;
  VectorOp code;
  const char* attributes[2] = {nullptr, nullptr};
};
constexpr Row kUnary[] = {{"Abs", VectorOp::kAbs},
                          {"Ceil", VectorOp::kCeil},
                          {"Celu", VectorOp::kCelu, {"alpha"}},
                          {"Elu", VectorOp::kElu, {"alpha"}},
                          {"Erf", VectorOp::kErf},
                          {"Exp", VectorOp::kExp},
                          {"Floor", VectorOp::kFloor},
                          {"Gelu", VectorOp::kGelu},
                          {"HardSigmoid", VectorOp::kHardSigmoid, {"alpha", "beta"}},
                          {"HardSwish", VectorOp::kHardSwish},
                          {"LeakyRelu", VectorOp::kLeakyRelu, {"alpha"}},
                          {"Log", VectorOp::kLog},
                          {"Mish", VectorOp::kMish},
                          {"Neg", VectorOp::kNeg},
                          {"Reciprocal", VectorOp::kReciprocal},
                          {"Relu", VectorOp::kRelu},
                          {"Round", VectorOp::kRound},
                          {"Sigmoid", VectorOp::kSigmoid},
                          {"Sign", VectorOp::kSign},
                          {"Softplus", VectorOp::kSoftplus},
                          {"Softsign", VectorOp::kSoftsign},
                          {"Sqrt", VectorOp::kSqrt},
                          {"Swish", VectorOp::kSwish, {"alpha"}},
                          {"Tanh", VectorOp::kTanh},
                          {"ThresholdedRelu", VectorOp::kThresholdedRelu, {"alpha"}}};
constexpr Row kBinary[] = {{"Add", VectorOp::kAdd}, {"Div", VectorOp::kDiv},
                           {"Max", VectorOp::kMax}, {"Min", VectorOp::kMin},
                           {"Mul", VectorOp::kMul}, {"PRelu", VectorOp::kPRelu},
                           {"Sub", VectorOp::kSub}, {"Sum", VectorOp::kAdd}};
constexpr Row kConditions[] = {{"Equal", VectorOp::kEqual},
                               {"Greater", VectorOp::kGreater},
                               {"GreaterOrEqual", VectorOp::kGreaterOrEqual},
                               {"Less", VectorOp::kLess},
                               {"LessOrEqual", VectorOp::kLessOrEqual}};
constexpr Row kReductions[] = {
    {"ReduceL2", VectorOp::kReduceSum},    {"ReduceMax", VectorOp::kReduceMax},
    {"ReduceMean", VectorOp::kReduceMean}, {"ReduceMin", VectorOp::kReduceMin},
    {"ReduceSum", VectorOp::kReduceSum},   {"ReduceSumSquare", VectorOp::kReduceSum}};
constexpr std::pair<double, VectorOp> kPowers[] = {
    {1.0, VectorOp::kIdentity},   {2.0, VectorOp::kSquare},      {3.0, VectorOp::kCube},
    {0.5, VectorOp::kSquareRoot}, {-1.0, VectorOp::kReciprocal}, {-0.5, VectorOp::kReciprocalSqrt}};

template <size_t N>
const Row* Find(const Row (&rows)[N], const Node& node) {
  const auto row =
      std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return node.Is(r.op); });
  return row == std::end(rows) ? nullptr : row;
}

DataType TypeOf(const Graph& graph, ValueId id) {
  const ValueType& type = graph.value(id).type;
  return type.is_tensor() && type.shape.has_rank() ? type.dtype : DataType::kUndefined;
}
// Values of programs are float32; the narrow ones among these are rounded after each operator.
constexpr TypeSet kReals{DataType::kFloat32, DataType::kFloat16, DataType::kBFloat16};
bool IsFloat(const Graph& graph, ValueId id) {
  return id.valid() && kReals.Contains(TypeOf(graph, id));
}
bool IsFloat32(const Graph& graph, ValueId id) {
  return id.valid() && TypeOf(graph, id) == DataType::kFloat32;
}
bool AllFloats(const Graph& graph, const std::vector<ValueId>& ids) {
  return std::all_of(ids.begin(), ids.end(), [&](ValueId id) { return IsFloat(graph, id); });
}
// Integers that float32 holds.
constexpr TypeSet kShort{DataType::kBool, DataType::kUInt8, DataType::kInt8};
bool AllShort(const Graph& graph, const std::vector<ValueId>& ids) {
  return std::all_of(ids.begin(), ids.end(),
                     [&](ValueId id) { return id.valid() && kShort.Contains(TypeOf(graph, id)); });
}
bool AllBools(const Graph& graph, const std::vector<ValueId>& ids) {
  return std::all_of(ids.begin(), ids.end(), [&](ValueId id) {
    return id.valid() && TypeOf(graph, id) == DataType::kBool;
  });
}

std::optional<VectorOp> PowerOf(const Graph& graph, const Node& node) {
  const auto exponent = ScalarConstant(graph, node.input(1));
  if (!exponent ||
      graph.value(node.inputs[1]).type.shape.rank() > graph.value(node.inputs[0]).type.shape.rank())
    return std::nullopt;
  for (const auto& [value, op] : kPowers) {
    if (value == *exponent) return op;
  }
  return std::nullopt;
}

// A bound of Clip, as float without loss.
std::optional<float> Bound(const Graph& graph, ValueId id, float absent) {
  if (!id.valid()) return absent;
  const auto bound = ScalarConstant(graph, id);
  if (!bound || static_cast<double>(static_cast<float>(*bound)) != *bound) return std::nullopt;
  return static_cast<float>(*bound);
}

bool IsLastAxis(const Graph& graph, ValueId x, int64_t axis) {
  return axis == -1 || axis + 1 == static_cast<int64_t>(graph.value(x).type.shape.rank());
}

bool ReducesLastAxis(const Graph& graph, const Node& node) {
  if (Find(kReductions, node) == nullptr || node.attributes.Int("keepdims", 1) == 0) return false;
  if (graph.value(node.inputs[0]).type.shape.rank() == 0) return false;
  const auto axes = node.input(1).valid() ? IntsConstant(graph, node.input(1)) : std::nullopt;
  return axes && axes->size() == 1 && IsLastAxis(graph, node.inputs[0], axes->front());
}

// Softmax and normalisations over the last axis, with one result: rounded once.
bool IsRowFunction(const Graph& graph, const Node& node) {
  const ValueId x = node.inputs[0];
  if (!AllFloats(graph, node.inputs) || graph.value(x).type.shape.rank() == 0 ||
      !IsLastAxis(graph, x, node.attributes.Int("axis", -1)))
    return false;
  if (node.Is("Softmax") || node.Is("LogSoftmax")) return true;
  const bool centred = node.Is("LayerNormalization");
  if ((!centred && !node.Is("RMSNormalization")) || node.inputs.size() < 2) return false;
  const Shape& shape = graph.value(x).type.shape;
  // Scale and bias have an element for each of the row.
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ValueId id) {
    const Shape& of = graph.value(id).type.shape;
    return of.rank() == 1 && of[0] == shape[shape.rank() - 1];
  });
}

// Scale and shift of each channel; nullopt unless all are known and finite.
struct ScaleAndShift {
  Tensor scale, shift;
};
std::optional<ScaleAndShift> StatisticsOf(const Graph& graph, const Node& node) {
  const Shape& x = graph.value(node.inputs[0]).type.shape;
  if (node.attributes.Int("training_mode", 0) != 0 || x.rank() < 3 || !x[1].is_constant())
    return std::nullopt;
  const auto affine = BatchNormAffine(graph, node, x[1].value());
  if (!affine) return std::nullopt;
  for (const std::vector<double>* values : {&affine->scale, &affine->shift}) {
    if (!std::all_of(values->begin(), values->end(), [](double v) { return std::isfinite(v); }))
      return std::nullopt;
  }
  auto scale = MakeVector(DataType::kFloat32, affine->scale),
       shift = MakeVector(DataType::kFloat32, affine->shift);
  if (!scale || !shift) return std::nullopt;
  return ScaleAndShift{std::move(*scale), std::move(*shift)};
}

bool IsElementwise(const Graph& graph, const Node& node) {
  const ValueId out = node.outputs[0];
  if (node.Is("Cast")) {
    if (!node.inputs[0].valid()) return false;
    const DataType from = TypeOf(graph, node.inputs[0]), to = TypeOf(graph, out);
    if (kReals.Contains(from)) return VectorProgram::kOutputTypes.Contains(to);
    // Longer integers would be rounded twice.
    return to == DataType::kFloat32 ? VectorProgram::kTypes.Contains(from)
                                    : kReals.Contains(to) && kShort.Contains(from);
  }
  if (node.Is("Not") || node.Is("And") || node.Is("Or") || node.Is("Xor"))
    return AllBools(graph, node.inputs);
  if (node.Is("IsNaN")) return AllFloats(graph, node.inputs);
  if (node.Is("Where")) {
    return node.inputs[0].valid() && TypeOf(graph, node.inputs[0]) == DataType::kBool &&
           IsFloat(graph, node.inputs[1]) && IsFloat(graph, node.inputs[2]);
  }
  if (Find(kConditions, node) != nullptr)
    return AllFloats(graph, node.inputs) || AllShort(graph, node.inputs);
  if (!IsFloat(graph, out) || !node.inputs[0].valid() || !IsFloat(graph, node.inputs[0]))
    return false;
  if (node.Is("Celu")) return node.attributes.Float("alpha", 1) > 0;
  if (Find(kUnary, node) != nullptr) return true;
  if (node.Is("Clip")) {
    return Bound(graph, node.input(1), -kInf) && Bound(graph, node.input(2), kInf);
  }
  if (node.Is("Pow")) return PowerOf(graph, node).has_value();
  if (Find(kBinary, node) != nullptr) {
    // Sums of several narrow operands are rounded once.
    const size_t most = node.Is("Sum") && !IsFloat32(graph, out) ? 2 : 4;
    return node.inputs.size() >= 2 && node.inputs.size() <= most && AllFloats(graph, node.inputs);
  }
  return IsFloat32(graph, out) && node.Is("BatchNormalization") &&
         StatisticsOf(graph, node).has_value();
}
}  // namespace

VectorRole VectorRoleOf(const Graph& graph, const Node& node) {
  if (!node.schema->domain.empty() || node.outputs.size() != 1 || !node.regions.empty() ||
      node.inputs.empty() || !node.outputs[0].valid())
    return VectorRole::kNone;
  if (TypeOf(graph, node.outputs[0]) == DataType::kUndefined) return VectorRole::kNone;
  if (std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
        return id.valid() && (IsVariable(graph, id) || TypeOf(graph, id) == DataType::kUndefined);
      }))
    return VectorRole::kNone;
  if (IsElementwise(graph, node)) return VectorRole::kElementwise;
  const ValueId x = node.inputs[0];
  if (!IsFloat(graph, x) || !IsFloat(graph, node.outputs[0])) return VectorRole::kNone;
  if (ReducesLastAxis(graph, node)) return VectorRole::kReduction;
  return IsRowFunction(graph, node) ? VectorRole::kRowFunction : VectorRole::kNone;
}

std::optional<Tensor> ChannelConstant(const Graph& graph, ValueId value, size_t rank) {
  const Tensor* constant = graph.Constant(value);
  if (constant == nullptr || constant->dtype() != DataType::kFloat32 || rank < 3 ||
      constant->rank() > rank || constant->rank() + 1 < rank || constant->size() == 1)
    return std::nullopt;
  const size_t axis = constant->rank() + 1 - rank;
  if (constant->dim(axis) != constant->size()) return std::nullopt;
  return Tensor::Unchecked(DataType::kFloat32, {constant->size()}, constant->buffer(),
                           constant->offset());
}

VectorOperand VectorLowering::AddConstant(ValueId stands_for, Tensor tensor, bool channels) {
  inputs_.push_back({ValueId(), constants_.size()});
  constants_.push_back({stands_for, std::move(tensor)});
  const int i = static_cast<int>(inputs_.size()) - 1;
  return channels ? VectorOperand::Channel(i) : VectorOperand::Input(i);
}

bool VectorLowering::HasChannels(int64_t count) const {
  return node_ != nullptr &&
         std::any_of(node_->inputs.begin(), node_->inputs.end(), [&](ValueId id) {
           if (!id.valid() || graph_.value(id).is_constant()) return false;
           const Shape& shape = graph_.value(id).type.shape;
           return shape.has_rank() && shape.rank() == rank_ && shape[1].IsConstant(count);
         });
}

VectorOperand VectorLowering::Operand(ValueId value) {
  const auto made = made_.find(value);
  if (made != made_.end()) return made->second;
  VectorOperand operand;
  const Tensor* constant = graph_.Constant(value);
  if (constant != nullptr && kReals.Contains(constant->dtype()) && constant->size() == 1) {
    operand = VectorOperand::Number(static_cast<float>(*ScalarConstant(graph_, value)));
  } else if (auto channels = ChannelConstant(graph_, value, rank_);
             channels && HasChannels(channels->size())) {
    operand = AddConstant(value, std::move(*channels), true);
  } else {
    inputs_.push_back({value, 0});
    operand = VectorOperand::Input(static_cast<int>(inputs_.size()) - 1);
  }
  made_.emplace(value, operand);
  return operand;
}

void VectorLowering::Lower(const Node& node) {
  node_ = &node;
  VectorOperand made;
  switch (VectorRoleOf(graph_, node)) {
    case VectorRole::kReduction:
      made = LowerReduction(node);
      break;
    case VectorRole::kRowFunction:
      made = node.Is("Softmax") || node.Is("LogSoftmax") ? LowerSoftmax(node)
                                                         : LowerNormalization(node);
      break;
    default:
      made = node.Is("BatchNormalization") ? LowerBatchNorm(node) : LowerElementwise(node);
  }
  made_[node.outputs[0]] = Rounded(node, made);
}

VectorOperand VectorLowering::Rounded(const Node& node, const VectorOperand& made) {
  const DataType type = TypeOf(graph_, node.outputs[0]);
  if (type != DataType::kFloat16 && type != DataType::kBFloat16) return made;
  // What only chooses among its operands, or changes a sign, has nothing to round.
  constexpr std::string_view kExact[] = {"Abs", "Max", "Min", "Neg", "Relu", "Sign", "Where"};
  if (std::any_of(std::begin(kExact), std::end(kExact),
                  [&](std::string_view op) { return node.Is(op); }))
    return made;
  if (node.Is("Cast") && TypeOf(graph_, node.inputs[0]) == type) return made;
  return Make(type == DataType::kFloat16 ? VectorOp::kHalf : VectorOp::kBFloat16, {made});
}

void VectorLowering::DropLastRounding() {
  const VectorInstruction last = program_.instructions.back();
  const bool half = last.op == VectorOp::kHalf;
  if ((!half && last.op != VectorOp::kBFloat16) || !last.operands[0].is_value()) return;
  const int value = static_cast<int>(program_.instructions.size()) - 1;
  const DataType type = half ? DataType::kFloat16 : DataType::kBFloat16;
  for (const VectorOutput& output : program_.outputs) {
    if (output.value == value && output.type != type) return;
  }
  for (VectorOutput& output : program_.outputs) {
    if (output.value == value) output.value = last.operands[0].index;
  }
  program_.instructions.pop_back();
}

int VectorLowering::InstructionOf(ValueId value) {
  VectorOperand operand = Operand(value);
  if (!operand.is_value()) operand = Make(VectorOp::kIdentity, {operand});
  return operand.index;
}

VectorOperand VectorLowering::LowerElementwise(const Node& node) {
  const VectorOperand x = Operand(node.inputs[0]);
  // Conversions happen where the program reads and writes.
  if (node.Is("Cast")) return x;
  if (node.Is("Not")) return Make(VectorOp::kNot, {x});
  if (node.Is("And")) return Make(VectorOp::kMul, {x, Operand(node.inputs[1])});
  if (node.Is("IsNaN")) return Make(VectorOp::kNot, {Make(VectorOp::kEqual, {x, x})});
  if (node.Is("Xor"))
    return Make(VectorOp::kNot, {Make(VectorOp::kEqual, {x, Operand(node.inputs[1])})});
  if (node.Is("Or")) return Make(VectorOp::kMax, {x, Operand(node.inputs[1])});
  if (node.Is("Where"))
    return Make(VectorOp::kSelect, {x, Operand(node.inputs[1]), Operand(node.inputs[2])});
  if (node.Is("Clip"))
    return Make(VectorOp::kClip, {x},
                {*Bound(graph_, node.input(1), -kInf), *Bound(graph_, node.input(2), kInf)});
  if (node.Is("Pow")) return Make(*PowerOf(graph_, node), {x});
  if (const Row* row = Find(kUnary, node)) {
    float parameters[2] = {0, 0};
    for (const int i : {0, 1}) {
      if (row->attributes[i] != nullptr)
        parameters[i] = node.attributes.Float(row->attributes[i], 0);
    }
    const bool tanh = node.Is("Gelu") && node.attributes.String("approximate", "none") == "tanh";
    return Make(tanh ? VectorOp::kGeluTanh : row->code, {x}, {parameters[0], parameters[1]});
  }
  const Row* condition = Find(kConditions, node);
  const VectorOp op = condition != nullptr ? condition->code : Find(kBinary, node)->code;
  if (node.Is("Mul") && node.inputs[0] == node.inputs[1]) return Make(VectorOp::kSquare, {x});
  VectorOperand result = x;
  for (size_t i = 1; i < node.inputs.size(); ++i)
    result = Make(op, {result, Operand(node.inputs[i])});
  return result;
}

VectorOperand VectorLowering::LowerReduction(const Node& node) {
  VectorOperand x = Operand(node.inputs[0]);
  if (node.Is("ReduceL2") || node.Is("ReduceSumSquare")) x = Make(VectorOp::kSquare, {x});
  const VectorOperand result = Make(Find(kReductions, node)->code, {x});
  return node.Is("ReduceL2") ? Make(VectorOp::kSqrt, {result}) : result;
}

VectorOperand VectorLowering::LowerSoftmax(const Node& node) {
  const VectorOperand x = Operand(node.inputs[0]);
  const VectorOperand off = Make(VectorOp::kSub, {x, Make(VectorOp::kReduceMax, {x})});
  const VectorOperand power = Make(VectorOp::kExp, {off});
  const VectorOperand sum = Make(VectorOp::kReduceSum, {power});
  if (node.Is("LogSoftmax")) return Make(VectorOp::kSub, {off, Make(VectorOp::kLog, {sum})});
  return Make(VectorOp::kMul, {power, Make(VectorOp::kReciprocal, {sum})});
}

VectorOperand VectorLowering::LowerNormalization(const Node& node) {
  VectorOperand x = Operand(node.inputs[0]);
  if (node.Is("LayerNormalization"))
    x = Make(VectorOp::kSub, {x, Make(VectorOp::kReduceMean, {x})});
  const VectorOperand square = Make(VectorOp::kReduceMean, {Make(VectorOp::kSquare, {x})});
  const VectorOperand epsilon = VectorOperand::Number(node.attributes.Float("epsilon", 1e-5f));
  const VectorOperand root = Make(VectorOp::kSqrt, {Make(VectorOp::kAdd, {square, epsilon})});
  const VectorOperand unit = Make(VectorOp::kMul, {x, Make(VectorOp::kReciprocal, {root})});
  const VectorOperand scale = Operand(node.inputs[1]);
  if (!node.input(2).valid()) return Make(VectorOp::kMul, {unit, scale});
  return Make(VectorOp::kFma, {unit, scale, Operand(node.inputs[2])});
}

VectorOperand VectorLowering::LowerBatchNorm(const Node& node) {
  const VectorOperand x = Operand(node.inputs[0]);
  auto statistics = *StatisticsOf(graph_, node);
  const VectorOperand scale = AddConstant(node.inputs[1], std::move(statistics.scale), true);
  const VectorOperand shift = AddConstant(node.inputs[2], std::move(statistics.shift), true);
  return Make(VectorOp::kFma, {x, scale, shift});
}

}  // namespace asc
