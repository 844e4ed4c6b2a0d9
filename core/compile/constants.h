// The packed forms of an executable's constants: at most two each, each made once on first need.
#ifndef ASC_CORE_COMPILE_CONSTANTS_H_
#define ASC_CORE_COMPILE_CONSTANTS_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "core/device/kernel.h"

namespace asc {

class ConstantStore : public PackedConstants {
 public:
  static constexpr size_t kMostForms = 2;

  explicit ConstantStore(std::shared_ptr<Allocator> allocator) : allocator_(std::move(allocator)) {}

  Result<std::shared_ptr<Buffer>> GetOrMake(
      const Tensor& constant, std::string_view form, size_t bytes,
      const std::function<Result<std::shared_ptr<Buffer>>(const std::shared_ptr<Allocator>&)>& make) override;
  std::vector<std::string> Forms(const Tensor& constant) const override;

  // The packed forms themselves, also those preloaded that nobody asked for yet, for saving.
  std::vector<std::pair<std::string, std::shared_ptr<Buffer>>> FormsOf(const Tensor& constant) const;
  // A form that was packed before, in a file: when GetOrMake asks for that name and size nothing is made or counted as made.
  // Until then it is hearsay: neither its name nor its bytes are looked at.
  void Preload(const Tensor& constant, std::string form, std::shared_ptr<Buffer> packed);

  int64_t packed_bytes() const { return packed_bytes_.load(std::memory_order_relaxed); }
  int64_t forms_made() const { return forms_made_.load(std::memory_order_relaxed); }

 private:
  // One constant's forms; its own mutex is held while a form is made, so that others wait for it rather than make it again.
  using NamedForms = std::vector<std::pair<std::string, std::shared_ptr<Buffer>>>;
  struct Entry {
    std::mutex mutex;
    NamedForms forms, preloaded;
  };
  Entry& EntryOf(const Tensor& constant) const;

  std::shared_ptr<Allocator> allocator_;
  mutable std::mutex mutex_;
  // Constants of one graph that have equal contents share their buffer, so Tensor::identity() stands for the content.
  mutable std::map<const void*, std::unique_ptr<Entry>> entries_;
  std::atomic<int64_t> packed_bytes_{0}, forms_made_{0};
};

}  // namespace asc

#endif  // ASC_CORE_COMPILE_CONSTANTS_H_
