#include "core/ops/vector_program.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>

namespace asc {
namespace {
constexpr VectorOpInfo kInfo[] = {
#define ASC_VECTOR_INFO(name, text, operands, parameters) {text, operands, parameters},
    ASC_VECTOR_OPS(ASC_VECTOR_INFO)
#undef ASC_VECTOR_INFO
};
constexpr size_t kOpCount = std::size(kInfo);

std::optional<VectorOp> FindOp(std::string_view text) {
  for (size_t i = 0; i < kOpCount; ++i) {
    if (kInfo[i].text == text) return static_cast<VectorOp>(i);
  }
  return std::nullopt;
}

// Reads the text piece by piece.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<VectorProgram> Program() {
    VectorProgram program;
    for (Blanks(); at_ < text_.size(); Blanks()) {
      ASC_RETURN_IF_ERROR(text_[at_] == '%' ? Instruction(program) : Output(program));
      Blanks();
      if (at_ < text_.size() && !Take(';')) return Wrong("a semicolon");
    }
    return program;
  }

 private:
  Status Wrong(std::string_view wanted) const {
    return Error(Code::kInvalidModel, "vector program: expected ", wanted, " at character ", at_,
                 ", found '", text_.substr(at_, 16), "'");
  }
  void Blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool Take(char c) {
    Blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view Word() {
    Blanks();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }
  template <typename T>
  std::optional<T> Number() {
    Blanks();
    T value{};
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) return std::nullopt;
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }

  Status Instruction(VectorProgram& program) {
    Take('%');
    const auto number = Number<int>();
    if (!number || *number != static_cast<int>(program.instructions.size()))
      return Wrong(Cat("the number ", program.instructions.size(), " of the next value"));
    if (program.instructions.size() == VectorProgram::kMostInstructions)
      return Wrong(Cat("at most ", VectorProgram::kMostInstructions, " instructions"));
    if (!Take('=')) return Wrong("'='");
    const std::string_view name = Word();
    const auto op = FindOp(name);
    if (!op) {
      at_ -= name.size();
      return Wrong("the name of an instruction");
    }
    VectorInstruction made;
    made.op = *op;
    const VectorOpInfo& info = InfoOf(*op);
    for (int i = 0; i < info.operands + info.parameters; ++i) {
      if (i > 0 && !Take(',')) return Wrong("a comma");
      if (i >= info.operands) {
        const auto parameter = Number<float>();
        if (!parameter) return Wrong("a number");
        made.parameters[static_cast<size_t>(i - info.operands)] = *parameter;
      } else if (!Operand(made.operands[static_cast<size_t>(i)])) {
        return Wrong("an operand: %0, in0, ch0 or a number");
      }
    }
    program.instructions.push_back(made);
    return Ok();
  }

  bool Operand(VectorOperand& operand) {
    using Kind = VectorOperand::Kind;
    if (Take('%')) {
      operand.kind = Kind::kValue;
    } else if (text_.substr(at_, 2) == "in" && text_.substr(at_, 3) != "inf") {
      operand.kind = Kind::kInput;
      at_ += 2;
    } else if (text_.substr(at_, 2) == "ch") {
      operand.kind = Kind::kChannel;
      at_ += 2;
    } else {
      const auto number = Number<float>();
      if (number) operand = VectorOperand::Number(*number);
      return number.has_value();
    }
    const auto index = Number<int>();
    if (index) operand.index = *index;
    return index.has_value();
  }

  Status Output(VectorProgram& program) {
    const std::string_view name = Word();
    const auto type = ParseDataType(name);
    if (!type) {
      at_ -= name.size();
      return Wrong("an instruction or an output's type");
    }
    if (program.outputs.size() == VectorProgram::kMostOutputs)
      return Wrong(Cat("at most ", VectorProgram::kMostOutputs, " outputs"));
    const auto value = Take('%') ? Number<int>() : std::nullopt;
    if (!value) return Wrong("the value of an output");
    program.outputs.push_back({*type, *value});
    return Ok();
  }

  std::string_view text_;
  size_t at_ = 0;
};

void AppendOperand(std::string& out, const VectorOperand& operand) {
  using Kind = VectorOperand::Kind;
  switch (operand.kind) {
    case Kind::kValue:
      out += Cat('%', operand.index);
      return;
    case Kind::kInput:
      out += Cat("in", operand.index);
      return;
    case Kind::kChannel:
      out += Cat("ch", operand.index);
      return;
    case Kind::kNumber:
      AppendNumber(out, static_cast<double>(operand.number));
      return;
  }
}
}  // namespace

const VectorOpInfo& InfoOf(VectorOp op) { return kInfo[static_cast<size_t>(op)]; }

bool IsReduction(VectorOp op) {
  return op == VectorOp::kReduceMax || op == VectorOp::kReduceMean || op == VectorOp::kReduceMin ||
         op == VectorOp::kReduceSum;
}

bool VectorOperand::operator==(const VectorOperand& other) const {
  return kind == other.kind && index == other.index &&
         std::bit_cast<uint32_t>(number) == std::bit_cast<uint32_t>(other.number);
}

VectorOperand VectorProgram::Append(VectorOp op, std::initializer_list<VectorOperand> operands,
                                    std::initializer_list<float> parameters) {
  VectorInstruction made;
  made.op = op;
  std::copy(operands.begin(), operands.end(), made.operands.begin());
  std::copy(parameters.begin(), parameters.end(), made.parameters.begin());
  instructions.push_back(made);
  return VectorOperand::Value(static_cast<int>(instructions.size()) - 1);
}

Result<VectorProgram> VectorProgram::Parse(std::string_view text) { return Reader(text).Program(); }

std::string VectorProgram::ToText() const {
  std::string out;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const VectorInstruction& made = instructions[i];
    const VectorOpInfo& info = InfoOf(made.op);
    out += Cat(i == 0 ? "%" : "; %", i, " = ", info.text, ' ');
    for (int k = 0; k < info.operands; ++k) {
      if (k > 0) out += ", ";
      AppendOperand(out, made.operands[static_cast<size_t>(k)]);
    }
    for (int k = 0; k < info.parameters; ++k) {
      out += ", ";
      AppendNumber(out, static_cast<double>(made.parameters[static_cast<size_t>(k)]));
    }
  }
  for (const VectorOutput& output : outputs)
    out += Cat("; ", DataTypeName(output.type), " %", output.value);
  return out;
}

Status VectorProgram::Verify(size_t input_count, size_t output_count) const {
  if (instructions.empty() || instructions.size() > kMostInstructions)
    return InvalidArgument("a vector program has 1 to ", kMostInstructions, " instructions, given ",
                           instructions.size());
  if (input_count == 0 || input_count > kMostInputs)
    return InvalidArgument("a vector program has 1 to ", kMostInputs, " inputs, given ",
                           input_count);
  if (outputs.empty() || outputs.size() > kMostOutputs || outputs.size() != output_count)
    return InvalidArgument("the vector program has ", outputs.size(), " outputs, its node ",
                           output_count);
  using Kind = VectorOperand::Kind;
  // By input: 1 read as it broadcasts, 2 along the channels.
  std::vector<int> read(input_count, 0);
  for (size_t i = 0; i < instructions.size(); ++i) {
    for (int k = 0; k < instructions[i].operand_count(); ++k) {
      const VectorOperand& operand = instructions[i].operands[static_cast<size_t>(k)];
      if (operand.kind == Kind::kNumber) continue;
      const auto most = operand.is_value() ? i : input_count;
      if (operand.index < 0 || static_cast<size_t>(operand.index) >= most)
        return InvalidArgument("vector program: %", i, " reads ",
                               operand.is_value() ? "value " : "input ", operand.index,
                               ", which is not there");
      if (operand.is_value()) continue;
      read[static_cast<size_t>(operand.index)] |= operand.kind == Kind::kChannel ? 2 : 1;
    }
  }
  if (std::find(read.begin(), read.end(), 3) != read.end())
    return InvalidArgument("vector program: an input is read both along the channels and not");
  // One that only takes part in the space would be read by nothing.
  if (const auto unread = std::find(read.begin(), read.end(), 0); unread != read.end())
    return InvalidArgument("vector program: input ", unread - read.begin(), " is never read");
  if (std::find(read.begin(), read.end(), 1) == read.end())
    return InvalidArgument("vector program: channels alone give no index space");
  const std::vector<bool> rows = RowValues();
  for (size_t i = 0; i < instructions.size(); ++i) {
    const VectorOperand& operand = instructions[i].operands[0];
    if (!IsReduction(instructions[i].op)) continue;
    if (operand.kind == Kind::kNumber ||
        (operand.is_value() && rows[static_cast<size_t>(operand.index)]))
      return InvalidArgument("vector program: %", i, " reduces one element a row");
  }
  for (const VectorOutput& output : outputs) {
    if (output.value < 0 || static_cast<size_t>(output.value) >= instructions.size())
      return InvalidArgument("vector program: output value ", output.value, " is not there");
    if (!kOutputTypes.Contains(output.type))
      return InvalidArgument("vector program: outputs are ", kOutputTypes.ToString(), ", given ",
                             DataTypeName(output.type));
  }
  return Ok();
}

std::vector<bool> VectorProgram::RowValues() const {
  std::vector<bool> rows(instructions.size());
  for (size_t i = 0; i < instructions.size(); ++i) {
    bool row = true;
    for (int k = 0; k < instructions[i].operand_count(); ++k) {
      const VectorOperand& operand = instructions[i].operands[static_cast<size_t>(k)];
      if (operand.kind == VectorOperand::Kind::kNumber) continue;
      row = row && operand.is_value() && rows[static_cast<size_t>(operand.index)];
    }
    rows[i] = row || IsReduction(instructions[i].op);
  }
  return rows;
}

std::vector<bool> VectorProgram::ChannelInputs(size_t input_count) const {
  std::vector<bool> channels(input_count, false);
  for (const VectorInstruction& made : instructions) {
    for (int k = 0; k < made.operand_count(); ++k) {
      const VectorOperand& operand = made.operands[static_cast<size_t>(k)];
      if (operand.kind == VectorOperand::Kind::kChannel)
        channels[static_cast<size_t>(operand.index)] = true;
    }
  }
  return channels;
}

bool VectorProgram::HasReductions() const {
  return std::any_of(instructions.begin(), instructions.end(),
                     [](const VectorInstruction& made) { return IsReduction(made.op); });
}

}  // namespace asc
