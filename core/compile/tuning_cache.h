// What tuning found: the fastest kernel for each step that was measured, in memory and in a file of its own for each machine.
#ifndef ASC_CORE_COMPILE_TUNING_CACHE_H_
#define ASC_CORE_COMPILE_TUNING_CACHE_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/device/device.h"

namespace asc {

// Thread-safe; other processes may use the same folder at the same time.
class TuningCache {
 public:
  // That of this CPU and these libraries in the folder, which is made when the first choice is kept; "": `pyasc` in XDG_CACHE_HOME or
  // ~/.cache. One object for each folder in a process.
  static std::shared_ptr<TuningCache> Open(const Device& device, const std::string& folder);

  // The name of the kernel's entry that was the fastest for this key.
  std::optional<std::string> Find(const std::string& key);
  // Keeps it, also in the file. A file that cannot be written is logged and otherwise without effect.
  void Keep(const std::string& key, std::string_view kernel);
  const std::string& path() const { return path_; }

 private:
  TuningCache(std::string path, std::string title);
  void Read();

  const std::string path_, title_;
  std::mutex mutex_;
  std::map<std::string, std::string> choices_;
};

// What decides which kernel is the fastest: operator, attributes, types, extents and layouts of operands, which are constant, threads
// and the options that kernels look at. One line of text.
std::string TuningKey(const KernelRequest& request);

}  // namespace asc

#endif  // ASC_CORE_COMPILE_TUNING_CACHE_H_
