#include "core/compile/tuning_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/kernels/packing_key.h"

namespace asc {
namespace {
std::string DefaultFolder() {
  for (const auto& [variable, below] : {std::pair("XDG_CACHE_HOME", "/pyasc"), std::pair("HOME", "/.cache/pyasc")}) {
    const char* const value = std::getenv(variable);
    if (value != nullptr && *value == '/') return Cat(value, below);
  }
  return "";
}

std::string Hexadecimal(uint64_t number) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (size_t i = text.size(); i-- > 0; number >>= 4) text[i] = kDigits[number & 15];
  return text;
}

void Append(std::string& text, const OperandDesc& operand) {
  if (!operand.present) {
    text += " _";
    return;
  }
  text += Cat(" ", DataTypeName(operand.dtype), ToString(operand.dims));
  if (operand.layout.is_blocked()) text += Cat("@", operand.layout);
  if (operand.constant != nullptr) text += "=";
}

struct AttributeText {
  std::string operator()(const Tensor& tensor) const { return Hexadecimal(tensor.ContentHash()); }
  std::string operator()(const ValueType& type) const { return type.ToString(); }
  template <typename T>
  std::string operator()(const T& value) const {
    return Cat(value);
  }
};
}  // namespace

std::string TuningKey(const KernelRequest& request) {
  std::string text = Cat(request.node.schema->FullName(), " threads=", request.threads);
  if (request.assume_finite) text += " assume_finite";
  if (request.fast_math) text += " fast_math";
  if (request.winograd) text += " winograd";
  for (const auto& [name, value] : request.node.attributes) text += Cat(" ", name, "=", std::visit(AttributeText(), value));
  text += " :";
  for (const OperandDesc& operand : request.inputs) Append(text, operand);
  text += " ->";
  for (const OperandDesc& operand : request.outputs) Append(text, operand);
  // One line, and the tab is what ends a key.
  std::replace_if(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

std::shared_ptr<TuningCache> TuningCache::Open(const Device& device, const std::string& folder) {
  static auto* mutex = new std::mutex;
  static auto* opened = new std::map<std::string, std::shared_ptr<TuningCache>>;
  const std::string where = folder.empty() ? DefaultFolder() : folder;
  const std::string title = Cat(device.properties().name, "; ", device.properties().cores, " cores; ", PackingKey());
  const std::string path =
      where.empty() ? "" : Cat(where, "/kernels-", Hexadecimal(HashBytes(title.data(), title.size())), ".tsv");
  const std::lock_guard lock(*mutex);
  std::shared_ptr<TuningCache>& cache = (*opened)[path];
  if (cache == nullptr) {
    cache.reset(new TuningCache(path, title));
    cache->Read();
  }
  return cache;
}

TuningCache::TuningCache(std::string path, std::string title) : path_(std::move(path)), title_(std::move(title)) {}

// Lines that are no choices, cut off ones say, are passed over.
void TuningCache::Read() {
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    const size_t tab = line.find('\t');
    if (line.starts_with('#') || tab == std::string::npos || tab + 1 == line.size()) continue;
    choices_[line.substr(0, tab)] = line.substr(tab + 1);
  }
}

std::optional<std::string> TuningCache::Find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = choices_.find(key);
  return found == choices_.end() ? std::nullopt : std::optional(found->second);
}

void TuningCache::Keep(const std::string& key, std::string_view kernel) {
  const std::lock_guard lock(mutex_);
  choices_[key] = kernel;
  if (path_.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), error);
  const bool fresh = !std::filesystem::exists(path_, error);
  const int file = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  // One write for a line: what other processes append at the same time stands before or behind it.
  const std::string line = Cat(fresh ? Cat("# ", title_, "\n") : std::string(), key, "\t", kernel, "\n");
  const bool written = file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (file >= 0) ::close(file);
  if (!written) Log(LogLevel::kWarning, "the choice of a kernel could not be kept in '", path_, "'");
}

}  // namespace asc
