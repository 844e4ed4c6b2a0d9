#include "core/compile/constants.h"

namespace asc {

ConstantStore::Entry& ConstantStore::EntryOf(const Tensor& constant) const {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Entry>& entry = entries_[constant.raw()];
  if (!entry) entry = std::make_unique<Entry>();
  return *entry;
}

Result<std::shared_ptr<Buffer>> ConstantStore::GetOrMake(
    const Tensor& constant, std::string_view form,
    const std::function<Result<std::shared_ptr<Buffer>>(const std::shared_ptr<Allocator>&)>& make) {
  Entry& entry = EntryOf(constant);
  const std::lock_guard lock(entry.mutex);
  for (const auto& [name, buffer] : entry.forms) {
    if (name == form) return buffer;
  }
  if (entry.forms.size() >= kMostForms) {
    return Error(Code::kUnavailable, "constant ", constant.TypeString(), " has ", kMostForms, " packed forms already");
  }
  ASC_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer, make(allocator_));
  entry.forms.emplace_back(form, buffer);
  packed_bytes_.fetch_add(static_cast<int64_t>(buffer->size()), std::memory_order_relaxed);
  forms_made_.fetch_add(1, std::memory_order_relaxed);
  return buffer;
}

std::vector<std::string> ConstantStore::Forms(const Tensor& constant) const {
  std::vector<std::string> names;
  for (const auto& [name, buffer] : FormsOf(constant)) names.push_back(name);
  return names;
}

std::vector<std::pair<std::string, std::shared_ptr<Buffer>>> ConstantStore::FormsOf(const Tensor& constant) const {
  Entry& entry = EntryOf(constant);
  const std::lock_guard lock(entry.mutex);
  return entry.forms;
}

void ConstantStore::Preload(const Tensor& constant, std::string form, std::shared_ptr<Buffer> packed) {
  Entry& entry = EntryOf(constant);
  const std::lock_guard lock(entry.mutex);
  if (entry.forms.size() < kMostForms) entry.forms.emplace_back(std::move(form), std::move(packed));
}

}  // namespace asc
