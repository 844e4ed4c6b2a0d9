#include "core/compile/constants.h"

#include <algorithm>

#include "core/base/mapped_file.h"

namespace asc {
namespace {
constexpr size_t kLeastDropped = 1 << 20;
}  // namespace

ConstantStore::Entry& ConstantStore::EntryOf(const Tensor& constant) const {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Entry>& entry = entries_[constant.identity()];
  if (!entry) entry = std::make_unique<Entry>();
  return *entry;
}

Result<std::shared_ptr<Buffer>> ConstantStore::GetOrMake(
    const Tensor& constant, std::string_view form, size_t bytes,
    const std::function<Result<std::shared_ptr<Buffer>>(const std::shared_ptr<Allocator>&)>& make) {
  Entry& entry = EntryOf(constant);
  const std::lock_guard lock(entry.mutex);
  const auto wanted = [&](const auto& named) { return named.first == form && named.second->size() == bytes; };
  if (const auto it = std::ranges::find_if(entry.forms, wanted); it != entry.forms.end()) return it->second;
  if (entry.forms.size() >= kMostForms) {
    return Error(Code::kUnavailable, "constant ", constant.TypeString(), " has ", kMostForms, " packed forms already");
  }
  if (const auto it = std::ranges::find_if(entry.preloaded, wanted); it != entry.preloaded.end()) {
    entry.forms.push_back(std::move(*it));
    entry.preloaded.erase(it);
    return entry.forms.back().second;
  }
  ASC_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer, make(allocator_));
  // What was read of the file counts as memory of the process until it is let go; few read it again.
  if (!constant.is_lazy() && constant.bytes() >= kLeastDropped) MappedFile::DropPagesOf(constant.raw(), constant.bytes());
  entry.forms.emplace_back(form, buffer);
  packed_bytes_.fetch_add(static_cast<int64_t>(buffer->size()), std::memory_order_relaxed);
  forms_made_.fetch_add(1, std::memory_order_relaxed);
  return buffer;
}

std::vector<std::string> ConstantStore::Forms(const Tensor& constant) const {
  Entry& entry = EntryOf(constant);
  const std::lock_guard lock(entry.mutex);
  std::vector<std::string> names;
  for (const auto& [name, buffer] : entry.forms) names.push_back(name);
  return names;
}

std::vector<std::pair<std::string, std::shared_ptr<Buffer>>> ConstantStore::FormsOf(const Tensor& constant) const {
  Entry& entry = EntryOf(constant);
  const std::lock_guard lock(entry.mutex);
  NamedForms all = entry.forms;
  for (const auto& named : entry.preloaded) {
    if (all.size() < kMostForms) all.push_back(named);
  }
  return all;
}

void ConstantStore::Preload(const Tensor& constant, std::string form, std::shared_ptr<Buffer> packed) {
  // Kernels rely on the alignment of packed weights; a file in memory may lie anywhere.
  if (reinterpret_cast<uintptr_t>(packed->data()) % kAlignment != 0) return;
  Entry& entry = EntryOf(constant);
  const std::lock_guard lock(entry.mutex);
  if (entry.preloaded.size() < kMostForms) entry.preloaded.emplace_back(std::move(form), std::move(packed));
}

}  // namespace asc
