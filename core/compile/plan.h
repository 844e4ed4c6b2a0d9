// Plan: a graph made ready for one set of input extents. A flat list of steps with resolved kernels and argument slots, and a
// place in memory for every value. Immutable; its frames are what concurrent runs use.
#ifndef ASC_CORE_COMPILE_PLAN_H_
#define ASC_CORE_COMPILE_PLAN_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "core/compile/arena_pool.h"
#include "core/device/kernel.h"
#include "core/graph/graph.h"

namespace asc {

enum class StorageKind : uint8_t {
  kArena,     // at an offset of the run's arena
  kInput,     // the caller's value
  kConstant,  // a constant of the graph, or a value that the extents alone decide
  kOutput,    // a tensor made for (or given by) the caller
  kVariable,  // the session's storage of a variable
  kRun,       // made while running: shapes that only the data knows, results of regions, sequences
};

// Where one value lives.
struct Slot {
  ValueId value;
  StorageKind kind = StorageKind::kRun;
  size_t index = 0;         // kArena: byte offset; kInput, kOutput, kVariable: position; kConstant: index into Plan::constants
  int root = -1;            // the slot whose memory this one shares (views, in-place results); itself for owners
  size_t root_offset = 0;   // bytes into the root
  DataType dtype = DataType::kUndefined;
  Dims dims;                // in storage form; meaningful unless kRun
  bool is_static = false;   // dtype and dims are known (kRun slots of regions may have them too)
  int first_step = 0, last_step = 0;  // of the root: from the step that makes it to its last reader, both included

  size_t bytes() const { return ByteSize(dtype, ElementCount(dims)).value_or(0); }
};

// Kernels for a step whose extents come with the data, by the extents that were met (capped).
class DynamicKernels {
 public:
  virtual ~DynamicKernels() = default;
  virtual Result<std::shared_ptr<const Kernel>> For(const std::vector<const AnyValue*>& inputs,
                                                    const std::vector<ValueType>& outputs) const = 0;
};

struct Step {
  const Node* node = nullptr;
  std::shared_ptr<const Kernel> kernel;           // null for regions and for dynamic steps
  std::unique_ptr<DynamicKernels> dynamic;        // set: infer, allocate and choose the kernel at run time
  std::vector<int> inputs, outputs;               // slots; -1: absent
  size_t scratch_offset = 0, scratch_bytes = 0;   // in the arena, while the step runs
  std::vector<int> release;                       // kRun slots whose last reader this is
  uint64_t key = 0;                               // KernelContext::node_key
  CostEstimate cost;                              // of one run; of dynamic steps the bytes of what is known before
};

// One run's values, bound to its arena. Taken from the plan's idle ones and given back.
struct Frame {
  Arena arena;                                 // its id stays when the memory goes back to the pool
  std::vector<AnyValue> values;                // by slot
  std::vector<const AnyValue*> step_inputs;    // all steps' inputs, one after the other
  std::vector<AnyValue*> step_outputs;
  std::vector<std::unique_ptr<KernelState>> states;  // by step; null where the kernel keeps nothing
};

// What the checker found of a plan (memory_check.h).
struct MemoryReport {
  size_t arena_bytes = 0;
  size_t lower_bound_bytes = 0;  // the most bytes that are live in one step
};

class Plan {
 public:
  std::vector<Step> steps;
  std::vector<Slot> slots;
  std::vector<Tensor> constants;
  std::vector<int> input_slots;    // by graph input; -1: nothing reads it
  std::vector<int> output_slots;   // by graph output
  std::vector<int> variable_slots; // by variable: the initial version's slot; -1: nothing reads it
  // What each run does, so that it need not look through all slots.
  std::vector<int> bound_roots;    // slots that get the memory of an output, or of a variable that another slot reads first
  std::vector<int> bound_views;    // slots that share the memory of an input, output or variable: bound after those
  std::vector<int> run_slots;      // slots whose values belong to the caller or to one run: emptied after it
  // What the plan was made for; undefined and empty for values that are no tensors.
  std::vector<DataType> input_types;
  std::vector<Dims> input_dims;
  MemoryReport memory;
  size_t arena_bytes = 0;
  double work = 0;                 // estimated flops plus bytes, for the choice between caller and team
  int threads = 1;                 // the team that the kernels were made for
  const uint64_t id = NextId();    // no other plan of the process has it

  // An idle frame or a new one, with an arena of the pool (E5012 when that does not fit). Thread-safe.
  Result<std::unique_ptr<Frame>> TakeFrame(ArenaPool& arenas) const;
  void GiveBack(std::unique_ptr<Frame> frame, ArenaPool& arenas) const noexcept;

 private:
  static constexpr size_t kMostIdleFrames = 8;
  static uint64_t NextId();
  std::unique_ptr<Frame> MakeFrame() const;
  void BindToArena(Frame& frame) const;

  mutable std::mutex frames_mutex_;
  mutable std::vector<std::unique_ptr<Frame>> idle_frames_;  // room for all is reserved when the first one is made
};

}  // namespace asc

#endif  // ASC_CORE_COMPILE_PLAN_H_
