#include "core/compile/plan.h"

namespace asc {

Result<std::unique_ptr<Frame>> Plan::TakeFrame(const std::shared_ptr<Allocator>& allocator) const {
  {
    const std::lock_guard lock(frames_mutex_);
    if (!idle_frames_.empty()) {
      std::unique_ptr<Frame> frame = std::move(idle_frames_.back());
      idle_frames_.pop_back();
      return frame;
    }
  }
  auto frame = std::make_unique<Frame>();
  ASC_ASSIGN_OR_RETURN(frame->arena, Buffer::Allocate(allocator, MemoryUse::kArena, arena_bytes));
  frame->values.resize(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = slots[i];
    const Slot& root = slots[static_cast<size_t>(slot.root)];
    if (root.kind == StorageKind::kArena) {
      frame->values[i] = Tensor::Unchecked(slot.dtype, slot.dims, frame->arena, root.index + slot.root_offset);
    } else if (root.kind == StorageKind::kConstant) {
      const Tensor& constant = constants[root.index];
      frame->values[i] = static_cast<int>(i) == slot.root
                             ? constant
                             : Tensor::Unchecked(slot.dtype, slot.dims, constant.buffer(), constant.offset() + slot.root_offset);
    }
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

void Plan::GiveBack(std::unique_ptr<Frame> frame) const {
  // What belongs to the caller or to this run must not outlive it here.
  for (size_t i = 0; i < slots.size(); ++i) {
    const StorageKind kind = slots[static_cast<size_t>(slots[i].root)].kind;
    if (kind != StorageKind::kArena && kind != StorageKind::kConstant) frame->values[i] = AnyValue();
  }
  const std::lock_guard lock(frames_mutex_);
  if (idle_frames_.size() < kMostIdleFrames) idle_frames_.push_back(std::move(frame));
}

}  // namespace asc
