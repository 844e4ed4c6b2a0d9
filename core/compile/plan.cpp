#include "core/compile/plan.h"

namespace asc {

uint64_t Plan::NextId() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

Result<std::unique_ptr<Frame>> Plan::TakeFrame(ArenaPool& arenas) const {
  std::unique_ptr<Frame> frame;
  {
    const std::lock_guard lock(frames_mutex_);
    if (!idle_frames_.empty()) {
      frame = std::move(idle_frames_.back());
      idle_frames_.pop_back();
    } else {
      idle_frames_.reserve(kMostIdleFrames);
    }
  }
  if (!frame) frame = MakeFrame();
  const uint64_t bound_to = frame->arena.id;
  ASC_ASSIGN_OR_RETURN(frame->arena, arenas.Take(arena_bytes, bound_to));
  if (frame->arena.id != bound_to) BindToArena(*frame);
  return frame;
}

// The values see the arena through a buffer that does not own it: idle frames must not keep memory that the pool lets go.
void Plan::BindToArena(Frame& frame) const {
  const Buffer& memory = *frame.arena.memory;
  const std::shared_ptr<Buffer> window = Buffer::Wrap(memory.data(), memory.size(), nullptr);
  for (size_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = slots[i];
    const Slot& root = slots[static_cast<size_t>(slot.root)];
    if (root.kind != StorageKind::kArena) continue;
    frame.values[i] = Tensor::Unchecked(slot.dtype, slot.dims, window, root.index + slot.root_offset);
  }
}

std::unique_ptr<Frame> Plan::MakeFrame() const {
  auto frame = std::make_unique<Frame>();
  frame->values.resize(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = slots[i];
    const Slot& root = slots[static_cast<size_t>(slot.root)];
    if (root.kind != StorageKind::kConstant) continue;
    const Tensor& constant = constants[root.index];
    frame->values[i] = static_cast<int>(i) == slot.root
                           ? constant
                           : Tensor::Unchecked(slot.dtype, slot.dims, constant.buffer(), constant.offset() + slot.root_offset);
  }
  for (const Step& step : steps) {
    frame->states.push_back(step.kernel ? step.kernel->MakeState() : nullptr);
    for (const int slot : step.inputs) {
      frame->step_inputs.push_back(slot < 0 ? nullptr : &frame->values[static_cast<size_t>(slot)]);
    }
    for (const int slot : step.outputs) {
      frame->step_outputs.push_back(slot < 0 ? nullptr : &frame->values[static_cast<size_t>(slot)]);
    }
  }
  return frame;
}

void Plan::GiveBack(std::unique_ptr<Frame> frame, ArenaPool& arenas) const noexcept {
  // What belongs to the caller or to this run must not outlive it here.
  for (const int slot : run_slots) frame->values[static_cast<size_t>(slot)] = AnyValue();
  arenas.GiveBack({std::move(frame->arena.memory), frame->arena.id});
  const std::lock_guard lock(frames_mutex_);
  if (idle_frames_.size() < kMostIdleFrames) idle_frames_.push_back(std::move(frame));
}

}  // namespace asc
