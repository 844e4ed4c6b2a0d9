#include <algorithm>
#include <array>

#include "core/kernels/vector/program.h"

namespace asc::simd {
namespace {
using Kind = VectorOperand::Kind;
using Memory = ProgramOperand::Kind;

// About how many cheap instructions the function costs.
double CostOf(VectorOp op) {
  switch (op) {
    case VectorOp::kCelu:
    case VectorOp::kElu:
    case VectorOp::kErf:
    case VectorOp::kExp:
    case VectorOp::kGelu:
    case VectorOp::kGeluTanh:
    case VectorOp::kLog:
    case VectorOp::kMish:
    case VectorOp::kSigmoid:
    case VectorOp::kSoftplus:
    case VectorOp::kSwish:
    case VectorOp::kTanh:
      return 10;
    case VectorOp::kDiv:
    case VectorOp::kReciprocal:
    case VectorOp::kReciprocalSqrt:
    case VectorOp::kSoftsign:
    case VectorOp::kSqrt:
    case VectorOp::kSquareRoot:
      return 4;
    default:
      return 1;
  }
}

class Lowering {
 public:
  Lowering(const VectorProgram& program, const std::vector<bool>& scalar_inputs, bool split)
      : program_(program),
        scalar_inputs_(scalar_inputs),
        split_(split),
        rows_(program.RowValues()),
        needed_(program.instructions.size(), false),
        levels_(program.instructions.size(), 0),
        kept_(program.instructions.size(), false) {}

  Result<ProgramCode> Lower() {
    FindNeeded();
    FindLevels();
    FindKept();
    // Results of reductions have places from the start.
    row_place_.assign(program_.instructions.size(), -1);
    reduction_of_.assign(program_.instructions.size(), -1);
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      if (!needed_[i] || !IsReduction(program_.instructions[i].op)) continue;
      reduction_of_[i] = static_cast<int>(code_.reductions.size());
      row_place_[i] = code_.rows++;
      code_.reductions.push_back({program_.instructions[i].op, row_place_[i]});
    }
    const int last = *std::max_element(levels_.begin(), levels_.end());
    for (int level = 0; level <= last; ++level) {
      Segment(level, false);
      Segment(level, true);
      if (split_) ReductionsOfKept(level);
    }
    if (code_.operands.size() > ProgramCode::kMostOperands ||
        code_.reductions.size() > kMostReductions)
      return Error(Code::kUnavailable, "the vector program is too large for the interpreter");
    return std::move(code_);
  }

 private:
  const VectorInstruction& At(int v) const { return program_.instructions[static_cast<size_t>(v)]; }
  static size_t Index(int v) { return static_cast<size_t>(v); }

  template <typename F>
  void ForValues(const VectorInstruction& made, F&& f) const {
    for (int k = 0; k < made.operand_count(); ++k) {
      if (made.operands[Index(k)].is_value()) f(made.operands[Index(k)].index);
    }
  }

  void FindNeeded() {
    for (const VectorOutput& output : program_.outputs) needed_[Index(output.value)] = true;
    for (size_t i = program_.instructions.size(); i-- > 0;) {
      if (needed_[i]) ForValues(program_.instructions[i], [&](int v) { needed_[Index(v)] = true; });
    }
  }

  void FindLevels() {
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      ForValues(program_.instructions[i],
                [&](int v) { levels_[i] = std::max(levels_[i], levels_[Index(v)]); });
      if (IsReduction(program_.instructions[i].op)) ++levels_[i];
    }
  }

  // What it takes to compute a wide value again from what is in memory: instructions, and twice as
  // much for each read but the first (a value that is kept is one read, and stores are for free
  // beside the two reads that they spare). Much where an instruction is dear.
  struct Again {
    int instructions = 0, reads = 0;
    int Cost() const { return instructions + 2 * std::max(0, reads - 1); }
  };
  Again AgainOf(int v) const {
    constexpr int kDear = 100;
    const VectorInstruction& made = At(v);
    Again again{CostOf(made.op) > 1 ? kDear : 1, 0};
    for (int k = 0; k < made.operand_count(); ++k) {
      const VectorOperand& operand = made.operands[Index(k)];
      if (!operand.is_value()) {
        again.reads += operand.kind != Kind::kNumber && !scalar_inputs_[Index(operand.index)];
      } else if (kept_[Index(operand.index)]) {
        ++again.reads;
      } else if (!rows_[Index(operand.index)]) {
        const Again of = AgainOf(operand.index);
        again.instructions = std::min(kDear, again.instructions + of.instructions);
        again.reads = std::min(kDear, again.reads + of.reads);
      }
    }
    return again;
  }

  // Wide values that a later level reads and that are dear to compute again.
  void FindKept() {
    constexpr int kCheap = 2;
    for (size_t i = 0; split_ && i < needed_.size(); ++i) {
      if (needed_[i] && IsReduction(program_.instructions[i].op))
        ForValues(program_.instructions[i], [&](int v) { kept_[Index(v)] = true; });
    }
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      if (!needed_[i]) continue;
      const VectorInstruction& made = program_.instructions[i];
      const int level = IsReduction(made.op) ? levels_[i] - 1 : levels_[i];
      ForValues(made, [&](int v) {
        if (!rows_[Index(v)] && levels_[Index(v)] < level && AgainOf(v).Cost() > kCheap)
          kept_[Index(v)] = true;
      });
    }
  }

  int Place(const ProgramOperand& operand) {
    const auto found = std::find(code_.operands.begin(), code_.operands.end(), operand);
    if (found != code_.operands.end()) return static_cast<int>(found - code_.operands.begin());
    code_.operands.push_back(operand);
    return static_cast<int>(code_.operands.size()) - 1;
  }

  // The value in memory, -1 where it has to be computed.
  int InMemory(int v) {
    if (place_[Index(v)] >= 0) return place_[Index(v)];
    if (rows_[Index(v)]) {
      return row_place_[Index(v)] >= 0 ? Place({Memory::kRow, row_place_[Index(v)], 0}) : -1;
    }
    return kept_place_[Index(v)];
  }
  bool IsScalar(const VectorOperand& operand) const {
    switch (operand.kind) {
      case Kind::kNumber:
        return true;
      case Kind::kValue:
        return wide_ && rows_[Index(operand.index)];
      default:
        return wide_ && scalar_inputs_[Index(operand.index)];
    }
  }
  int PlaceOf(const VectorOperand& operand) {
    switch (operand.kind) {
      case Kind::kNumber:
        return Place({Memory::kNumber, 0, operand.number});
      case Kind::kValue:
        return InMemory(operand.index);
      default:
        return Place({Memory::kInput, operand.index, 0});
    }
  }

  // Counts the reads of the values that this segment computes.
  void Count(int v) {
    if (++uses_[Index(v)] > 1 || InMemory(v) >= 0) return;
    ForValues(At(v), [&](int x) { Count(x); });
  }

  void Segment(int level, bool wide) {
    const size_t count = program_.instructions.size();
    if (kept_place_.empty()) kept_place_.assign(count, -1);
    wide_ = wide;
    place_.assign(count, -1);
    uses_.assign(count, 0);
    free_temps_.clear();
    temps_ = 0;
    accumulator_ = -1;
    segment_ = {};
    segment_.wide = wide;
    std::vector<int> roots;
    for (size_t i = 0; i < count; ++i) {
      if (!needed_[i]) continue;
      const auto v = static_cast<int>(i);
      const bool reduction = IsReduction(program_.instructions[i].op);
      if (wide && reduction && levels_[i] == level + 1) {
        if (split_) continue;
        roots.push_back(program_.instructions[i].operands[0].is_value()
                            ? program_.instructions[i].operands[0].index
                            : -1 - v);
      } else if (rows_[i] == !wide && levels_[i] == level) {
        // Row values are all kept: there are few of them.
        const bool kept = wide ? kept_[i] || IsOutput(v) : !reduction;
        if (kept) roots.push_back(v);
      }
    }
    // Reductions that are outputs come last: loading them does not save the accumulator.
    for (size_t i = 0; !wide && i < count; ++i) {
      const auto v = static_cast<int>(i);
      if (IsReduction(program_.instructions[i].op) && levels_[i] == level && IsOutput(v))
        roots.push_back(v);
    }
    level_ = level;
    std::stable_partition(roots.begin(), roots.end(), [](int v) { return v < 0; });
    for (const int v : roots) {
      if (v >= 0) Count(v);
    }
    for (const int v : roots) {
      if (v < 0) {
        // A reduction of an input.
        Emit(ProgramStep::kLoad, VectorOp::kIdentity, At(-1 - v).operands[0]);
        EmitReduction(-1 - v);
      } else if (IsReduction(At(v).op)) {
        // An output.
        Emit(ProgramStep::kLoad, VectorOp::kIdentity, VectorOperand::Value(v));
        EmitOutputs(v);
      } else if (!done_.contains(v)) {
        Compute(v);
      }
    }
    done_.clear();
    Finish();
  }

  // Where segments are split: one more for the reductions, of values in memory alone.
  void ReductionsOfKept(int level) {
    segment_ = {};
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      const VectorInstruction& made = program_.instructions[i];
      if (!needed_[i] || !IsReduction(made.op) || levels_[i] != level + 1) continue;
      Emit(ProgramStep::kLoad, VectorOp::kIdentity, made.operands[0]);
      EmitReduction(static_cast<int>(i));
    }
    Finish();
  }

  void Finish() {
    if (segment_.instructions.empty()) return;
    JoinInstructions(segment_.instructions, code_.operands);
    for (const ProgramInstruction& made : segment_.instructions)
      code_.cost += segment_.wide ? CostOf(made.op) : 0;
    segment_.instructions.emplace_back();
    code_.temps = std::max(code_.temps, temps_);
    code_.segments.push_back(std::move(segment_));
  }

  bool IsOutput(int v) const {
    return std::any_of(program_.outputs.begin(), program_.outputs.end(),
                       [&](const VectorOutput& output) { return output.value == v; });
  }

  void Emit(ProgramStep step, VectorOp op, const VectorOperand& x) {
    ProgramInstruction made;
    made.step = step;
    made.op = op;
    made.x = PlaceOf(x);
    made.x_scalar = IsScalar(x);
    segment_.instructions.push_back(made);
  }
  void EmitStore(int place) {
    ProgramInstruction made;
    made.step = ProgramStep::kStore;
    made.x = place;
    segment_.instructions.push_back(made);
  }
  void EmitReduction(int v) {
    ProgramInstruction made;
    made.step = ProgramStep::kReduce;
    made.op = At(v).op;
    made.reduction = reduction_of_[Index(v)];
    segment_.instructions.push_back(made);
    segment_.reductions.push_back(made.reduction);
  }

  // Every read of a value ends here; the last one frees its block.
  void Read(const VectorOperand& operand) {
    if (!operand.is_value()) return;
    const int v = operand.index;
    if (--uses_[Index(v)] > 0 || place_[Index(v)] < 0) return;
    const ProgramOperand& at = code_.operands[Index(place_[Index(v)])];
    if (at.kind != Memory::kTemp) return;
    free_temps_.push_back(at.index);
    place_[Index(v)] = -1;
  }

  void Save(int v) {
    if (free_temps_.empty()) free_temps_.push_back(temps_++);
    place_[Index(v)] = Place({Memory::kTemp, free_temps_.back(), 0});
    free_temps_.pop_back();
    EmitStore(place_[Index(v)]);
  }

  bool Deferred(const VectorOperand& operand) {
    return operand.is_value() && InMemory(operand.index) < 0;
  }

  // Leaves v in the accumulator.
  void Compute(int v) {
    const VectorInstruction& made = At(v);
    const auto n = static_cast<size_t>(made.operand_count());
    const auto& in = made.operands;
    std::vector<int> deferred;
    for (size_t k = 0; k < n; ++k) {
      if (Deferred(in[k]) && in[k].index != accumulator_ &&
          std::find(deferred.begin(), deferred.end(), in[k].index) == deferred.end())
        deferred.push_back(in[k].index);
    }
    // What a superinstruction computes beside the accumulator comes last.
    std::stable_partition(deferred.begin(), deferred.end(), [&](int x) {
      return At(x).operand_count() != 2 || Deferred(At(x).operands[0]) ||
             Deferred(At(x).operands[1]);
    });
    // A deferred value in the accumulator has no other place: it is saved before others come.
    const auto save_accumulator = [&] {
      if (accumulator_ >= 0 && uses_[Index(accumulator_)] > 0 && InMemory(accumulator_) < 0)
        Save(accumulator_);
    };
    for (const int x : deferred) {
      if (InMemory(x) >= 0) continue;  // made and saved on the way to one before
      save_accumulator();
      Compute(x);
    }
    // The slot that the accumulator stands in.
    size_t slot = n;
    for (size_t k = 0; k < n; ++k) {
      if (in[k].is_value() && in[k].index == accumulator_) {
        slot = k;
        break;
      }
    }
    if (slot == n) {
      save_accumulator();
      // One element for all is better an operand.
      slot = n == 2 && (made.op == VectorOp::kAdd || made.op == VectorOp::kMul) &&
                     IsScalar(in[0]) && !IsScalar(in[1])
                 ? 1
                 : 0;
      Emit(ProgramStep::kLoad, VectorOp::kIdentity, in[slot]);
    } else {
      // Read in two slots: one of them from memory.
      for (size_t k = slot + 1; k < n; ++k) {
        if (in[k].is_value() && in[k].index == accumulator_ && InMemory(accumulator_) < 0)
          Save(accumulator_);
      }
      // The accumulator is lost, and others may want what is in it.
      const int x = accumulator_;
      const auto reads = static_cast<int>(
          std::count_if(in.begin(), in.begin() + made.operand_count(),
                        [&](const VectorOperand& o) { return o.is_value() && o.index == x; }));
      if (uses_[Index(x)] > reads && InMemory(x) < 0) Save(x);
    }
    Operate(v, slot);
    for (size_t k = 0; k < n; ++k) Read(in[k]);
    accumulator_ = v;
    Produced(v);
  }

  void Operate(int v, size_t slot) {
    const VectorInstruction& from = At(v);
    ProgramInstruction made;
    made.op = from.op;
    made.a = from.parameters[0];
    made.b = from.parameters[1];
    const auto set_x = [&](size_t k) {
      made.x = PlaceOf(from.operands[k]);
      made.x_scalar = IsScalar(from.operands[k]);
    };
    const auto set_y = [&](size_t k) {
      made.y = PlaceOf(from.operands[k]);
      made.y_scalar = IsScalar(from.operands[k]);
    };
    switch (from.operand_count()) {
      case 1:
        made.step = ProgramStep::kUnary;
        made.not_positive = IsBelowLargest(from.operands[0]);
        break;
      case 2:
        made.step = slot == 0 ? ProgramStep::kBinary : ProgramStep::kReverse;
        set_x(1 - slot);
        break;
      default: {
        constexpr std::array<ProgramStep, 3> kSelect = {ProgramStep::kIf, ProgramStep::kThen,
                                                        ProgramStep::kElse};
        const bool select = from.op == VectorOp::kSelect;
        made.step = select ? kSelect[slot] : slot == 2 ? ProgramStep::kFmaAdd : ProgramStep::kFma;
        set_x(slot == 0 ? 1 : 0);
        set_y(slot == 2 ? 1 : 2);
      }
    }
    segment_.instructions.push_back(made);
  }

  // x - max(x): no number above 0.
  bool IsBelowLargest(const VectorOperand& operand) const {
    if (!operand.is_value() || At(operand.index).op != VectorOp::kSub) return false;
    const VectorOperand &x = At(operand.index).operands[0], &most = At(operand.index).operands[1];
    return most.is_value() && At(most.index).op == VectorOp::kReduceMax &&
           At(most.index).operands[0] == x;
  }

  void EmitOutputs(int v) {
    for (size_t i = 0; i < program_.outputs.size(); ++i) {
      if (program_.outputs[i].value != v) continue;
      const int place = Place({Memory::kOutput, static_cast<int>(i), 0});
      EmitStore(place);
      if (wide_ && program_.outputs[i].type == DataType::kFloat32)
        place_[Index(v)] = kept_place_[Index(v)] = place;
    }
  }

  // What becomes of a value that has just been computed.
  void Produced(int v) {
    done_.insert(v);
    const auto root = [&] { --uses_[Index(v)]; };
    if (!wide_) {
      row_place_[Index(v)] = code_.rows++;
      const int place = Place({Memory::kRow, row_place_[Index(v)], 0});
      EmitStore(place);
      if (levels_[Index(v)] == level_) root();
    }
    if (levels_[Index(v)] == level_) {
      EmitOutputs(v);
      if (wide_ && (kept_[Index(v)] || IsOutput(v))) root();
      if (wide_ && kept_[Index(v)] && kept_place_[Index(v)] < 0) {
        kept_place_[Index(v)] = Place({Memory::kSpill, code_.spills++, 0});
        EmitStore(kept_place_[Index(v)]);
      }
    }
    if (!wide_ || split_) return;
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      const VectorInstruction& made = program_.instructions[i];
      if (!needed_[i] || !IsReduction(made.op) || levels_[i] != level_ + 1 ||
          !made.operands[0].is_value() || made.operands[0].index != v)
        continue;
      EmitReduction(static_cast<int>(i));
      root();
    }
  }

  struct Set {
    std::vector<int> items;
    void insert(int v) { items.push_back(v); }
    bool contains(int v) const { return std::find(items.begin(), items.end(), v) != items.end(); }
    void clear() { items.clear(); }
  };

  const VectorProgram& program_;
  const std::vector<bool>& scalar_inputs_;
  const bool split_;
  const std::vector<bool> rows_;
  std::vector<bool> needed_;
  std::vector<int> levels_;
  std::vector<bool> kept_;  // wide values that later segments read
  std::vector<int> kept_place_, row_place_, reduction_of_;
  ProgramCode code_;

  // Of the segment at hand.
  bool wide_ = true;
  int level_ = 0, accumulator_ = -1, temps_ = 0;
  std::vector<int> place_, uses_, free_temps_;
  Set done_;
  ProgramSegment segment_;
};
}  // namespace

Result<ProgramCode> LowerProgram(const VectorProgram& program,
                                 const std::vector<bool>& scalar_inputs, bool split) {
  return Lowering(program, scalar_inputs, split).Lower();
}

}  // namespace asc::simd
