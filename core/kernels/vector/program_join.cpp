// Superinstructions of vector programs: a peephole over the instructions of a segment.
#include <algorithm>
#include <array>
#include <optional>

#include "core/kernels/vector/program.h"

namespace asc::simd {
namespace {
struct Rule {
  ProgramStep step;
  VectorOp first, second;
  bool reversed;
};
#define ASC_RULE(name, first, second, reversed, expression) \
  Rule{ProgramStep::k##name, VectorOp::k##first, VectorOp::k##second, reversed},
constexpr std::array kJoined = {ASC_JOINED_STEPS(ASC_RULE)};
constexpr std::array kPairs = {ASC_PAIR_STEPS(ASC_RULE)};
#undef ASC_RULE

template <size_t N>
bool Holds(const std::array<Rule, N>& rules, ProgramStep step) {
  return std::any_of(rules.begin(), rules.end(), [&](const Rule& r) { return r.step == step; });
}

bool Commutes(VectorOp op) { return op == VectorOp::kAdd || op == VectorOp::kMul; }
// op(a, x), or op(x, a) where `reversed`.
bool Is(const ProgramInstruction& made, VectorOp op, bool reversed) {
  if (made.op != op) return false;
  if (Commutes(op)) return made.step == ProgramStep::kBinary || made.step == ProgramStep::kReverse;
  return made.step == (reversed ? ProgramStep::kReverse : ProgramStep::kBinary);
}
bool IsUnary(const ProgramInstruction& made, VectorOp op) {
  return made.step == ProgramStep::kUnary && made.op == op;
}
bool IsSum(const ProgramInstruction& made) {
  return made.step == ProgramStep::kReduce &&
         (made.op == VectorOp::kReduceSum || made.op == VectorOp::kReduceMean);
}

class Joining {
 public:
  Joining(std::vector<ProgramInstruction>& all, const std::vector<ProgramOperand>& operands)
      : all_(all), operands_(operands) {}

  void Run() {
    for (size_t i = 0; i < all_.size(); ++i) {
      next_ = i + 1;
      if (!Joined(all_[i])) made_.push_back(all_[i]);
    }
    all_ = std::move(made_);
  }

 private:
  // The instruction `back` places before the end of what is made; nullptr where there is none.
  ProgramInstruction* Before(size_t back) {
    return back < made_.size() ? &made_[made_.size() - 1 - back] : nullptr;
  }

  bool Joined(const ProgramInstruction& made) {
    ProgramInstruction* const one = Before(0);
    if (one == nullptr) return false;
    return Pair(made) || TwoOperands(made, *one) || Activation(made, *one) || Squares(made);
  }

  bool TwoOperands(const ProgramInstruction& made, ProgramInstruction& one) {
    for (const Rule& rule : kJoined) {
      if (!Is(one, rule.first, false) || !Is(made, rule.second, rule.reversed)) continue;
      one.step = rule.step;
      one.y = made.x;
      one.y_scalar = made.x_scalar;
      return true;
    }
    return false;
  }

  static bool Activation(const ProgramInstruction& made, ProgramInstruction& one) {
    if (!IsUnary(made, VectorOp::kRelu)) return false;
    if (Is(one, VectorOp::kAdd, false)) {
      one.step = ProgramStep::kAddRelu;
    } else if (one.step == ProgramStep::kMulAdd) {
      one.step = ProgramStep::kMulAddRelu;
    } else {
      return false;
    }
    return true;
  }

  // a to a block, first(x, y) into the accumulator, second of both.
  bool Pair(const ProgramInstruction& made) {
    ProgramInstruction *inner = Before(0), *load = Before(1), *store = Before(2);
    if (store == nullptr || load->step != ProgramStep::kLoad ||
        store->step != ProgramStep::kStore || made.x != store->x || made.x_scalar ||
        operands_[static_cast<size_t>(store->x)].kind != ProgramOperand::Kind::kTemp ||
        IsReadLater(store->x))
      return false;
    for (const Rule& rule : kPairs) {
      // The accumulator of `made` is what the pair has in memory.
      if (!Is(*inner, rule.first, false) || !Is(made, rule.second, !rule.reversed)) continue;
      store->step = rule.step;
      store->x = load->x;
      store->x_scalar = load->x_scalar;
      store->y = inner->x;
      store->y_scalar = inner->x_scalar;
      made_.resize(made_.size() - 2);
      return true;
    }
    return false;
  }

  // Whether the block is read after the instruction at hand before it is written again.
  bool IsReadLater(int block) const {
    for (size_t i = next_; i < all_.size(); ++i) {
      const ProgramInstruction& made = all_[i];
      if (made.step == ProgramStep::kStore && made.x == block) return false;
      if ((HasOperand(made.step) && made.x == block) ||
          (HasTwoOperands(made.step) && made.y == block))
        return true;
    }
    return false;
  }

  // The sum of (a - x)^2, where nothing else wants the square.
  bool Squares(const ProgramInstruction& made) {
    ProgramInstruction *one = Before(0), *two = Before(1);
    const bool last = next_ == all_.size() || all_[next_].step == ProgramStep::kLoad;
    if (two == nullptr || !IsSum(made) || !last || !two->x_scalar ||
        !IsUnary(*one, VectorOp::kSquare) || !Is(*two, VectorOp::kSub, false))
      return false;
    two->step = ProgramStep::kSquaredSum;
    two->reduction = made.reduction;
    made_.pop_back();
    return true;
  }

  std::vector<ProgramInstruction>& all_;
  const std::vector<ProgramOperand>& operands_;
  std::vector<ProgramInstruction> made_;
  size_t next_ = 0;  // after the instruction at hand
};
}  // namespace

bool HasOperand(ProgramStep step) {
  return step != ProgramStep::kUnary && step != ProgramStep::kReduce && step != ProgramStep::kEnd;
}
bool HasTwoOperands(ProgramStep step) {
  switch (step) {
    case ProgramStep::kMulAddRelu:
    case ProgramStep::kFma:
    case ProgramStep::kFmaAdd:
    case ProgramStep::kIf:
    case ProgramStep::kThen:
    case ProgramStep::kElse:
      return true;
    default:
      return Holds(kJoined, step) || Holds(kPairs, step);
  }
}

void JoinInstructions(std::vector<ProgramInstruction>& instructions,
                      const std::vector<ProgramOperand>& operands) {
  Joining(instructions, operands).Run();
}

}  // namespace asc::simd
