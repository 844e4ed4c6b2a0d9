// A vector program made ready for the extents at hand, and one thread's part of running it: rows go
// group by group, or, where operands have to be converted or repeated first, tile by tile.
#ifndef ASC_CORE_KERNELS_VECTOR_PROGRAM_RUNNER_H_
#define ASC_CORE_KERNELS_VECTOR_PROGRAM_RUNNER_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/kernels/vector/program.h"
#include "core/kernels/vector/program_space.h"

namespace asc::simd {

struct ReadyProgram {
  // Elements of a tile, about; periods of patterns are at most as long.
  static constexpr int64_t kTile = 1024;

  // `types`: of inputs and outputs as they lie in memory, `space.operands` in the same order.
  static Result<ReadyProgram> Make(const VectorProgram& program, ProgramSpace space,
                                   std::vector<DataType> types, size_t inputs);

  // Where a row may be cut: at multiples of this.
  int64_t cut() const {
    const auto block = static_cast<int64_t>(ProgramBlock());
    return tile == 0 ? block : std::min(tile, std::max(block, pattern));
  }

  ProgramCode code;
  ProgramSpace space;
  std::vector<BoundSegment> bound;
  std::vector<std::vector<int>> used;  // by segment: the operands that it reads or writes
  std::vector<DataType> types;
  size_t inputs = 0;
  int64_t group = 1;  // rows at once
  int64_t tile = 0;   // elements of a row at once; 0 for whole rows
  // For how many elements patterns stand repeated: a tile, or, where a block is a multiple of the
  // period, a block that stays where it is.
  int64_t pattern = 0;
  // Operands of the code that do not stand in memory as they are needed: other types, patterns,
  // repeated elements.
  struct Brought {
    int operand = 0;
    size_t k = 0;  // of the space
    bool wide = true, output = false, pattern = false, repeated = false;
    int64_t place = 0;  // in the scratch memory
  };
  std::vector<Brought> brought;
  std::vector<int> brought_at;  // by operand: its number in `brought`, or -1
  bool converts = false;        // or repeats elements: tiles are made ready one by one
  size_t scratch_floats = 0;
};

class ProgramRunner {
 public:
  // `memory`: of inputs and outputs. `scratch`: `scratch_floats` of them.
  using Memory = absl::InlinedVector<std::byte*, 16>;
  ProgramRunner(const ReadyProgram& ready, Memory memory, float* scratch);

  // Elements [from, to) of the rows [begin, end).
  void Rows(int64_t begin, int64_t end, int64_t from, int64_t to);

 private:
  float* RowsOf(int index) const;
  std::byte* At(size_t k, int64_t element) const {
    return memory_[k] + static_cast<size_t>(element) * ElementSize(ready_.types[k]);
  }
  void Group(int64_t row, int64_t rows, int64_t count);
  void Tiles(int64_t count);
  void Bring(const ReadyProgram::Brought& brought, int64_t rows, int64_t count);
  void BringTile(const ReadyProgram::Brought& brought, int64_t at, int64_t n);
  void BringPattern(const ReadyProgram::Brought& brought, int64_t count);
  void Stand(int operand, float* base, int64_t stride);
  void Wide(size_t s, int64_t rows, int64_t count);
  void RowValues(size_t s, int64_t row, int64_t rows);

  const ReadyProgram& ready_;
  Memory memory_;
  float* scratch_;
  int64_t offsets_[VectorProgram::kMostInputs + VectorProgram::kMostOutputs];
  const std::byte* pattern_of_[VectorProgram::kMostInputs] = {};  // what stands there already
  absl::InlinedVector<int, 16> moves_;
  ProgramFrame frame_;
};

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_PROGRAM_RUNNER_H_
