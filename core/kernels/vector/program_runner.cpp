#include "core/kernels/vector/program_runner.h"

#include <algorithm>
#include <cstring>

namespace asc::simd {
namespace {
using Within = ProgramSpace::Within;
using Kind = ProgramOperand::Kind;

// Rows of a group: results of reductions stand in arrays of so many.
constexpr int64_t kMostRows = 64;
// Elements of a group of rows: what is kept of them stays in the first cache; where nothing is
// kept, changing segments is shared by more rows.
constexpr int64_t kGroup = 6144, kGroupWithoutSpills = 16384;
// Rows that are short for reductions which are no superinstructions: changing from row to row takes
// longer than to write what is reduced, and read it again.
constexpr int64_t kShortRow = 256;

bool HasSlowReductions(const ProgramCode& code) {
  return std::any_of(code.segments.begin(), code.segments.end(),
                     [&](const ProgramSegment& segment) {
                       return !segment.reductions.empty() && FindRowLoop(code, segment) == nullptr;
                     });
}
}  // namespace

Result<ReadyProgram> ReadyProgram::Make(const VectorProgram& program, ProgramSpace space,
                                        std::vector<DataType> types, size_t inputs) {
  ReadyProgram ready;
  ready.space = std::move(space);
  ready.types = std::move(types);
  ready.inputs = inputs;
  const auto& operands = ready.space.operands;
  std::vector<bool> scalars;
  for (size_t i = 0; i < inputs; ++i) scalars.push_back(operands[i].within == Within::kScalar);
  ASC_ASSIGN_OR_RETURN(ready.code, LowerProgram(program, scalars));
  if (ready.space.count <= kShortRow && HasSlowReductions(ready.code)) {
    ASC_ASSIGN_OR_RETURN(ready.code, LowerProgram(program, scalars, true));
  }
  ProgramCode& code = ready.code;
  const bool alone =
      code.segments.size() == 1 && code.segments[0].wide && code.segments[0].reductions.empty();

  const std::vector<bool> row_values = program.RowValues();
  bool patterns = false;
  for (size_t i = 0; i < code.operands.size(); ++i) {
    const ProgramOperand& operand = code.operands[i];
    ready.brought_at.push_back(-1);
    if (operand.kind != Kind::kInput && operand.kind != Kind::kOutput) continue;
    Brought brought;
    brought.operand = static_cast<int>(i);
    brought.output = operand.kind == Kind::kOutput;
    const auto index = static_cast<size_t>(operand.index);
    brought.k = index + (brought.output ? inputs : 0);
    brought.wide =
        !brought.output || !row_values[static_cast<size_t>(program.outputs[index].value)];
    brought.pattern = operands[brought.k].within == Within::kPattern;
    brought.repeated = operands[brought.k].within == Within::kRepeated;
    const bool converts = ready.types[brought.k] != DataType::kFloat32;
    if (!brought.pattern && !brought.repeated && !converts) continue;
    patterns = patterns || brought.pattern || brought.repeated;
    ready.converts = ready.converts || brought.repeated || (converts && !brought.pattern);
    ready.brought_at.back() = static_cast<int>(ready.brought.size());
    ready.brought.push_back(brought);
  }

  const int64_t count = std::max<int64_t>(1, ready.space.count);
  if (alone && (patterns || (ready.converts && count > kTile))) {
    const int64_t period = std::max<int64_t>(1, ready.space.period);
    // Shorter ones where repeating a pattern would take longer than what it spares.
    const int64_t wanted = std::clamp<int64_t>(count / 8, 256, kTile);
    const auto block = static_cast<int64_t>(ProgramBlock());
    const bool blocks = patterns && !ready.converts && block % period == 0;
    ready.tile = blocks ? (count + block - 1) / block * block
                        : std::max<int64_t>(1, wanted / period) * period;
    ready.pattern = blocks ? block : ready.tile;
  } else if (alone && !ready.converts) {
    ready.group = kMostRows;
  } else {
    const int64_t most = code.spills > 0 ? kGroup : kGroupWithoutSpills;
    ready.group = std::clamp<int64_t>(most / count, 1, kMostRows);
  }

  int64_t floats = code.spills * ready.group * count + code.rows * kMostRows +
                   code.temps * static_cast<int64_t>(ProgramBlock());
  for (Brought& brought : ready.brought) {
    brought.place = floats;
    const bool moving = operands[brought.k].within != Within::kScalar;
    floats += !brought.wide      ? kMostRows
              : brought.pattern  ? ready.pattern
              : brought.repeated ? ready.tile + ready.tile / ready.space.period +
                                       static_cast<int64_t>(kRepeatSlack)
              : ready.tile > 0 ? (moving ? ready.tile : 1)
              : moving         ? ready.group * count
                               : ready.group;
  }
  ready.scratch_floats = static_cast<size_t>((floats + 15) / 16 * 16);

  for (const ProgramSegment& segment : code.segments) {
    std::vector<int>& used = ready.used.emplace_back();
    const auto add = [&](int i) {
      if (std::find(used.begin(), used.end(), i) == used.end()) used.push_back(i);
    };
    for (const ProgramInstruction& made : segment.instructions) {
      if (HasOperand(made.step)) add(made.x);
      if (HasTwoOperands(made.step)) add(made.y);
    }
    ready.bound.push_back(BindSegment(code, segment));
    // Row superinstructions know no blocks that stay.
    if (ready.pattern < ready.tile) ready.bound.back().loop = nullptr;
  }
  return ready;
}

ProgramRunner::ProgramRunner(const ReadyProgram& ready, Memory memory, float* scratch)
    : ready_(ready), memory_(std::move(memory)), scratch_(scratch) {
  const ProgramCode& code = ready.code;
  const auto block = static_cast<int64_t>(ProgramBlock());
  float* const temps = scratch +
                       code.spills * ready.group * std::max<int64_t>(1, ready.space.count) +
                       code.rows * kMostRows;
  for (size_t i = 0; i < code.operands.size(); ++i) {
    const ProgramOperand& operand = code.operands[i];
    const bool temp = operand.kind == Kind::kTemp;
    const int brought = ready.brought_at[i];
    const bool stays = brought >= 0 && ready.brought[static_cast<size_t>(brought)].pattern &&
                       ready.pattern < ready.tile;
    frame_.moves[i] = temp || stays ? 0 : ~size_t{0};
    frame_.strides[i] = 0;
    if (temp) frame_.base[i] = temps + operand.index * block;
    if (operand.kind == Kind::kNumber) frame_.base[i] = const_cast<float*>(&operand.number);
  }
}

float* ProgramRunner::RowsOf(int index) const {
  return scratch_ + ready_.code.spills * ready_.group * std::max<int64_t>(1, ready_.space.count) +
         index * kMostRows;
}

void ProgramRunner::Rows(int64_t begin, int64_t end, int64_t from, int64_t to) {
  const ProgramSpace& space = ready_.space;
  const int64_t last = space.outer.back();
  for (int64_t row = begin; row < end;) {
    const int64_t within = row % last;
    int64_t some = std::min(end - row, last - within);
    for (size_t k = 0; k < space.operands.size(); ++k) {
      const ProgramSpace::Operand& operand = space.operands[k];
      int64_t rest = row / last, offset = within * operand.strides.back();
      for (size_t axis = space.outer.size() - 1; axis-- > 0;) {
        offset += rest % space.outer[axis] * operand.strides[axis];
        rest /= space.outer[axis];
      }
      if (operand.within == Within::kMoving) offset += from;
      if (operand.within == Within::kRepeated) offset += from / space.period;
      offsets_[k] = offset;
    }
    const int64_t run = some;
    for (int64_t done = 0; done < run; done += some) {
      some = std::min(ready_.group, run - done);
      if (ready_.tile > 0) {
        Tiles(to - from);
      } else {
        Group(row + done, some, to - from);
      }
      for (size_t k = 0; k < space.operands.size(); ++k)
        offsets_[k] += some * space.operands[k].strides.back();
    }
    row += run;
  }
}

void ProgramRunner::Stand(int operand, float* base, int64_t stride) {
  const auto i = static_cast<size_t>(operand);
  frame_.base[i] = base;
  frame_.strides[i] = stride;
  if (stride != 0) moves_.push_back(operand);
}

void ProgramRunner::Group(int64_t row, int64_t rows, int64_t count) {
  for (const ReadyProgram::Brought& brought : ready_.brought) {
    if (!brought.output) Bring(brought, rows, count);
  }
  for (size_t s = 0; s < ready_.bound.size(); ++s) {
    if (ready_.code.segments[s].wide) {
      Wide(s, rows, count);
    } else {
      RowValues(s, row, rows);
    }
  }
  for (const ReadyProgram::Brought& brought : ready_.brought) {
    if (brought.output && brought.wide) Bring(brought, rows, count);
  }
}

// Converts an input of the group, or an output back.
void ProgramRunner::Bring(const ReadyProgram::Brought& brought, int64_t rows, int64_t count) {
  const ProgramSpace::Operand& operand = ready_.space.operands[brought.k];
  const DataType type = ready_.types[brought.k];
  const int64_t stride = operand.strides.back();
  const int64_t length = operand.within == Within::kScalar ? 1 : count;
  // All at once where nothing is between the rows.
  const int64_t runs = stride == 0 || stride == length ? 1 : rows;
  const int64_t n = stride == length ? length * rows : length;
  for (int64_t g = 0; g < runs; ++g) {
    std::byte* at = At(brought.k, offsets_[brought.k] + g * stride);
    float* floats = scratch_ + brought.place + g * length;
    if (brought.output) {
      FromFloats(floats, type, at, static_cast<size_t>(n));
    } else {
      ToFloats(type, at, floats, static_cast<size_t>(n));
    }
  }
}

void ProgramRunner::Wide(size_t s, int64_t rows, int64_t count) {
  moves_.clear();
  // Rows without anything between them, and without a value of each: one long row.
  bool one_row = rows > 1 && ready_.bound[s].reductions.empty() && count == ready_.space.count;
  for (const int i : ready_.used[s]) {
    const auto at = static_cast<size_t>(i);
    const ProgramOperand& operand = ready_.code.operands[at];
    switch (operand.kind) {
      case Kind::kRow:
        one_row = false;
        Stand(i, RowsOf(operand.index), 1);
        break;
      case Kind::kSpill:
        Stand(i, scratch_ + operand.index * ready_.group * ready_.space.count, ready_.space.count);
        break;
      case Kind::kInput:
      case Kind::kOutput: {
        const size_t k = static_cast<size_t>(operand.index) +
                         (operand.kind == Kind::kOutput ? ready_.inputs : 0);
        const ProgramSpace::Operand& of = ready_.space.operands[k];
        const int64_t stride = of.strides.back();
        one_row = one_row && stride == (of.within == Within::kScalar ? 0 : count);
        if (const int number = ready_.brought_at[at]; number >= 0) {
          const int64_t length = of.within == Within::kScalar ? 1 : count;
          Stand(i, scratch_ + ready_.brought[static_cast<size_t>(number)].place,
                stride == 0 ? 0 : length);
        } else {
          Stand(i, reinterpret_cast<float*>(At(k, offsets_[k])), stride);
        }
        break;
      }
      default:
        break;
    }
  }
  if (one_row) {
    count *= rows;
    rows = 1;
  }
  float* to[kMostReductions];
  for (const int r : ready_.bound[s].reductions)
    to[r] = RowsOf(ready_.code.reductions[static_cast<size_t>(r)].row);
  RunSegment(ready_.code, ready_.bound[s], frame_, static_cast<size_t>(count), rows, moves_, to);
}

void ProgramRunner::RowValues(size_t s, int64_t row, int64_t rows) {
  const ReadyProgram::Brought* converted[VectorProgram::kMostOutputs];
  size_t count = 0;
  for (const int i : ready_.used[s]) {
    const auto at = static_cast<size_t>(i);
    const ProgramOperand& operand = ready_.code.operands[at];
    if (operand.kind == Kind::kRow) {
      frame_.base[at] = RowsOf(operand.index);
    } else if (operand.kind == Kind::kOutput) {
      // One element for each row, in their order.
      const size_t k = ready_.inputs + static_cast<size_t>(operand.index);
      if (const int number = ready_.brought_at[at]; number >= 0) {
        converted[count] = &ready_.brought[static_cast<size_t>(number)];
        frame_.base[at] = scratch_ + converted[count++]->place;
      } else {
        frame_.base[at] = reinterpret_cast<float*>(At(k, row));
      }
    }
  }
  RunSegment(ready_.code, ready_.bound[s], frame_, static_cast<size_t>(rows), 1, {}, nullptr);
  for (size_t i = 0; i < count; ++i)
    FromFloats(scratch_ + converted[i]->place, ready_.types[converted[i]->k],
               At(converted[i]->k, row), static_cast<size_t>(rows));
}

void ProgramRunner::BringPattern(const ReadyProgram::Brought& brought, int64_t count) {
  const int64_t period = ready_.space.period;
  const std::byte* from = At(brought.k, offsets_[brought.k]);
  if (pattern_of_[brought.k] == from) return;
  float* to = scratch_ + brought.place;
  ToFloats(ready_.types[brought.k], from, to, static_cast<size_t>(period));
  const int64_t most = std::min(ready_.pattern, (count + period - 1) / period * period);
  for (int64_t done = period; done < most; done *= 2)
    std::memcpy(to + done, to, static_cast<size_t>(std::min(done, most - done)) * sizeof(float));
  // What a longer row of the same needs is there only then.
  pattern_of_[brought.k] = most == ready_.pattern ? from : nullptr;
}

// Elements [at, at + n) of a row: makes an input ready, or brings an output back.
void ProgramRunner::BringTile(const ReadyProgram::Brought& brought, int64_t at, int64_t n) {
  const DataType type = ready_.types[brought.k];
  const int64_t offset = offsets_[brought.k];
  float* floats = scratch_ + brought.place;
  if (brought.repeated) {
    const int64_t period = ready_.space.period, count = (n + period - 1) / period;
    // Converted elements stand after those that are repeated.
    float* elements = floats + ready_.tile + static_cast<int64_t>(kRepeatSlack);
    ToFloats(type, At(brought.k, offset + at / period), elements, static_cast<size_t>(count));
    RepeatElements(elements, static_cast<size_t>(count), static_cast<size_t>(period), floats);
  } else if (ready_.space.operands[brought.k].within != Within::kMoving) {
    return;
  } else if (brought.output) {
    FromFloats(floats, type, At(brought.k, offset + at), static_cast<size_t>(n));
  } else {
    ToFloats(type, At(brought.k, offset + at), floats, static_cast<size_t>(n));
  }
}

// One row.
void ProgramRunner::Tiles(int64_t count) {
  const int64_t tile = ready_.tile;
  for (const ReadyProgram::Brought& brought : ready_.brought) {
    if (brought.pattern) {
      BringPattern(brought, count);
    } else if (ready_.space.operands[brought.k].within == Within::kScalar) {
      Bring(brought, 1, 1);
    }
  }
  for (int64_t at = 0; at < count;) {
    const int64_t n = std::min(tile, count - at);
    const int64_t tiles = ready_.converts ? 1 : std::max<int64_t>(1, (count - at) / tile);
    moves_.clear();
    const auto bring = [&](bool output) {
      for (const ReadyProgram::Brought& brought : ready_.brought) {
        if (brought.output == output) BringTile(brought, at, n);
      }
    };
    bring(false);
    for (const int i : ready_.used[0]) {
      const auto place = static_cast<size_t>(i);
      const ProgramOperand& operand = ready_.code.operands[place];
      if (operand.kind != Kind::kInput && operand.kind != Kind::kOutput) continue;
      if (const int number = ready_.brought_at[place]; number >= 0) {
        Stand(i, scratch_ + ready_.brought[static_cast<size_t>(number)].place, 0);
        continue;
      }
      const size_t k =
          static_cast<size_t>(operand.index) + (operand.kind == Kind::kOutput ? ready_.inputs : 0);
      const bool moving = ready_.space.operands[k].within == Within::kMoving;
      Stand(i, reinterpret_cast<float*>(At(k, offsets_[k] + (moving ? at : 0))), moving ? tile : 0);
    }
    RunSegment(ready_.code, ready_.bound[0], frame_, static_cast<size_t>(n), tiles, moves_,
               nullptr);
    bring(true);
    at += n == tile ? tiles * tile : n;
  }
}

}  // namespace asc::simd
