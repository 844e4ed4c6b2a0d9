#include "core/compile/memory_check.h"

#include <algorithm>
#include <map>

namespace asc {
namespace {
// A stretch of the arena as one slot sees it.
struct Stretch {
  size_t begin = 0, end = 0;
};

Stretch StretchOf(const Plan& plan, int slot) {
  const Slot& s = plan.slots[static_cast<size_t>(slot)];
  const size_t begin = plan.slots[static_cast<size_t>(s.root)].index + s.root_offset;
  return {begin, begin + s.bytes()};
}

bool Overlap(const Stretch& a, const Stretch& b) { return a.begin < b.end && b.begin < a.end; }

bool InArena(const Plan& plan, int slot) {
  if (slot < 0) return false;
  return plan.slots[static_cast<size_t>(plan.slots[static_cast<size_t>(slot)].root)].kind == StorageKind::kArena;
}
}  // namespace

Result<MemoryReport> CheckMemory(const Plan& plan) {
  MemoryReport report;
  report.arena_bytes = plan.arena_bytes;
  // A view has no step of its own: it is written when the memory that it looks at is. So writes count for whole roots.
  const auto root_of = [&](int slot) { return plan.slots[static_cast<size_t>(slot)].root; };
  std::map<int, int> first_read, last_read, made;  // by slot: in or by which step
  const auto read = [&](int slot, size_t step) {
    if (!InArena(plan, slot)) return;
    first_read.emplace(slot, static_cast<int>(step));
    last_read[slot] = static_cast<int>(step);
  };
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    for (const int slot : plan.steps[i].inputs) read(slot, i);
    for (const int slot : plan.steps[i].outputs) made.emplace(slot, static_cast<int>(i));
  }
  for (const int slot : plan.output_slots) read(slot, plan.steps.size());
  std::map<int, std::vector<int>> readers;  // by root: the slots of it that are read
  for (const auto& [slot, last] : last_read) readers[root_of(slot)].push_back(slot);
  // Owners of bytes, by begin: stretches never overlap.
  struct Owner {
    size_t end;
    int root;
  };
  std::map<size_t, Owner> owners;
  const auto fail = [&](size_t step, std::string_view what, int slot) {
    return InternalError("memory plan: step ", step, " (", plan.steps[step].node ? plan.steps[step].node->name : "copy", ") ",
                         what, " slot ", slot);
  };
  // Cuts [begin, end) out of the owners.
  const auto clear = [&](size_t begin, size_t end) {
    auto it = owners.lower_bound(begin);
    if (it != owners.begin()) {
      auto before = std::prev(it);
      if (before->second.end > begin) {
        const Owner owner = before->second;
        before->second.end = begin;
        if (owner.end > end) owners.emplace(end, owner);
      }
    }
    it = owners.lower_bound(begin);
    while (it != owners.end() && it->first < end) {
      const Owner owner = it->second;
      it = owners.erase(it);
      if (owner.end > end) owners.emplace(end, owner);
    }
  };
  const auto owned_by_root = [&](int slot) {
    const Stretch stretch = StretchOf(plan, slot);
    size_t at = stretch.begin;
    while (at < stretch.end) {
      auto it = owners.upper_bound(at);
      if (it == owners.begin()) return false;
      --it;
      if (it->second.end <= at || it->second.root != root_of(slot)) return false;
      at = it->second.end;
    }
    return true;
  };
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    for (const int slot : step.inputs) {
      if (InArena(plan, slot) && !owned_by_root(slot)) return fail(i, "reads overwritten memory of", slot);
    }
    if (step.scratch_bytes > 0) {
      if (step.scratch_offset + step.scratch_bytes > plan.arena_bytes) return fail(i, "has scratch outside the arena, beside", 0);
      clear(step.scratch_offset, step.scratch_offset + step.scratch_bytes);
      owners.emplace(step.scratch_offset, Owner{step.scratch_offset + step.scratch_bytes, -1});
      for (const int slot : step.inputs) {
        if (InArena(plan, slot) && !owned_by_root(slot)) return fail(i, "has scratch over its own input", slot);
      }
    }
    for (const int slot : step.outputs) {
      if (!InArena(plan, slot)) continue;
      const Stretch stretch = StretchOf(plan, slot);
      if (stretch.end > plan.arena_bytes) return fail(i, "writes outside the arena:", slot);
      // In place: the memory already belongs to the root; nobody may read the old contents later.
      for (const int input : step.inputs) {
        if (!InArena(plan, input) || root_of(input) != root_of(slot) || !Overlap(StretchOf(plan, input), stretch)) continue;
        if (last_read[input] > static_cast<int>(i)) return fail(i, "overwrites in place a value that is read later:", input);
        // Element by element: what is read at other places may be a result already.
        const Stretch read = StretchOf(plan, input);
        if (read.begin != stretch.begin || read.end != stretch.end) return fail(i, "overwrites in place a part of its operand", input);
      }
      // Parts of a joined value are made one by one, and what looks at it, or at a piece of it, is read when all are there: a
      // value that a step has made, or that has been read before, is complete.
      for (const int reader : readers[root_of(slot)]) {
        const auto by = made.find(reader);
        const bool complete = by != made.end() ? by->second < static_cast<int>(i) : first_read[reader] <= static_cast<int>(i);
        if (!complete || last_read[reader] <= static_cast<int>(i)) continue;
        if (Overlap(StretchOf(plan, reader), stretch)) return fail(i, "overwrites a part of a value that is read later:", reader);
      }
      clear(stretch.begin, stretch.end);
      if (stretch.begin < stretch.end) owners.emplace(stretch.begin, Owner{stretch.end, root_of(slot)});
    }
    // All operands must still be there after the writes (an output must not lie over an input that is not its root).
    for (const int slot : step.inputs) {
      if (InArena(plan, slot) && !owned_by_root(slot)) return fail(i, "writes over its own input", slot);
    }
  }
  // Bytes of values that come with a step, and that go after it.
  const size_t last_step = plan.steps.size();
  std::vector<size_t> come(last_step + 1, 0), go(last_step + 1, 0);
  for (size_t s = 0; s < plan.slots.size(); ++s) {
    const Slot& slot = plan.slots[s];
    if (slot.root != static_cast<int>(s) || slot.kind != StorageKind::kArena) continue;
    const auto first = static_cast<size_t>(std::max(0, slot.first_step));
    if (slot.last_step < slot.first_step || slot.last_step < 0 || first > last_step) continue;
    const size_t size = (slot.bytes() + kAlignment - 1) / kAlignment * kAlignment;
    come[first] += size;
    go[std::min(last_step, static_cast<size_t>(slot.last_step))] += size;
  }
  size_t live = 0;
  for (size_t i = 0; i <= last_step; ++i) {
    live += come[i];
    const size_t scratch = i < last_step ? plan.steps[i].scratch_bytes : 0;
    report.lower_bound_bytes = std::max(report.lower_bound_bytes, live + scratch);
    live -= go[i];
  }
  return report;
}

}  // namespace asc
