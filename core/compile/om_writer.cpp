#include <array>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/file_writer.h"
#include "core/base/hash.h"
#include "core/compile/om.h"
#include "core/compile/om_format.h"
#include "core/graph/text.h"
#include "core/kernels/packing_key.h"

namespace asc {
namespace {
using nlohmann::json;

// The bytes of a section, as pieces that live elsewhere, each padded to kSectionAlignment.
class Pieces {
 public:
  // The offset inside the section.
  uint64_t Add(const void* data, size_t bytes) {
    const uint64_t offset = size_;
    pieces_.push_back({static_cast<const char*>(data), bytes});
    size_ = (size_ + bytes + om::kSectionAlignment - 1) / om::kSectionAlignment * om::kSectionAlignment;
    return offset;
  }
  uint64_t AddOwned(std::string bytes) {
    owned_.push_back(std::make_unique<std::string>(std::move(bytes)));
    return Add(owned_.back()->data(), owned_.back()->size());
  }
  uint64_t size() const { return size_; }

  // Hashing goes over the same stream of bytes that is written, paddings included.
  template <typename Sink>
  void Visit(Sink sink) const {
    static constexpr std::array<char, om::kSectionAlignment> kZeros{};
    for (const auto& [data, bytes] : pieces_) {
      sink(data, bytes);
      const size_t padding = (om::kSectionAlignment - bytes % om::kSectionAlignment) % om::kSectionAlignment;
      if (padding > 0) sink(kZeros.data(), padding);
    }
  }

 private:
  std::vector<std::pair<const char*, size_t>> pieces_;
  std::vector<std::unique_ptr<std::string>> owned_;
  uint64_t size_ = 0;
};

std::string EncodeStrings(const Tensor& tensor) {
  std::string out;
  for (const std::string& text : tensor.values<std::string>()) {
    const uint64_t length = text.size();
    out.append(reinterpret_cast<const char*>(&length), sizeof length);
    out += text;
  }
  return out;
}

// Every constant of the graph and its regions once, by content.
void CollectConstants(const Graph& graph, std::map<uint64_t, Tensor>& out) {
  for (const ValueId id : graph.Values()) {
    const Tensor& constant = graph.value(id).constant;
    if (constant.defined()) out.emplace(constant.ContentHash(), constant);
  }
  for (const NodeId id : graph.Nodes()) {
    for (const Region& region : graph.node(id).regions) CollectConstants(*region.graph, out);
  }
}

json ManifestOf(const Executable& executable) {
  const CompileOptions& options = executable.options();
  return {{"format", om::kVersion},
          {"device", executable.device().properties().id},
          {"graph_opt_level", options.graph_opt_level},
          {"buffer_optimize_level", options.buffer_optimize_level},
          {"enable_mem_reuse", options.enable_mem_reuse},
          {"assume_finite", options.assume_finite},
          {"winograd", options.winograd},
          {"packing", PackingKey()}};
}
}  // namespace

Status SaveOm(const Executable& executable, const std::string& path, bool packed) {
  std::map<uint64_t, Tensor> constants;
  CollectConstants(executable.graph(), constants);
  json manifest = ManifestOf(executable);
  Pieces weights, packed_weights;
  json& index = manifest["constants"] = json::array();
  json& packed_index = manifest["packed"] = json::array();
  for (const auto& [hash, tensor] : constants) {
    const bool text = tensor.dtype() == DataType::kString;
    std::string strings = text ? EncodeStrings(tensor) : std::string();
    const size_t bytes = text ? strings.size() : tensor.bytes();
    const uint64_t offset = text ? weights.AddOwned(std::move(strings)) : weights.Add(tensor.raw(), bytes);
    index.push_back({{"hash", hash},
                     {"type", DataTypeName(tensor.dtype())},
                     {"dims", std::vector<int64_t>(tensor.dims().begin(), tensor.dims().end())},
                     {"offset", offset},
                     {"bytes", bytes}});
    if (!packed) continue;
    for (const auto& [form, buffer] : executable.constants().FormsOf(tensor)) {
      packed_index.push_back({{"hash", hash},
                              {"form", std::vector<int>(form.begin(), form.end())},  // bytes, which JSON has not
                              {"offset", packed_weights.Add(buffer->data(), buffer->size())},
                              {"bytes", buffer->size()}});
    }
  }
  Pieces manifest_bytes, graph_bytes;
  manifest_bytes.AddOwned(manifest.dump());
  graph_bytes.AddOwned(ToText(executable.graph()));

  const std::pair<om::SectionKind, const Pieces*> parts[] = {{om::SectionKind::kManifest, &manifest_bytes},
                                                             {om::SectionKind::kGraph, &graph_bytes},
                                                             {om::SectionKind::kWeights, &weights},
                                                             {om::SectionKind::kPacked, &packed_weights}};
  std::vector<om::Section> table;
  uint64_t at = (sizeof(om::Header) + std::size(parts) * sizeof(om::Section) + om::kSectionAlignment - 1) /
                om::kSectionAlignment * om::kSectionAlignment;
  for (const auto& [kind, pieces] : parts) {
    StreamHash hash;
    pieces->Visit([&](const char* data, size_t bytes) { hash.Update(data, bytes); });
    table.push_back({static_cast<uint32_t>(kind), 0, at, pieces->size(), hash.Digest()});
    at += pieces->size();
  }
  om::Header header{};
  std::memcpy(header.magic, om::kMagic, sizeof header.magic);
  header.version = om::kVersion;
  header.section_count = static_cast<uint32_t>(table.size());
  header.table_hash = HashBytes(table.data(), table.size() * sizeof(om::Section));

  FileWriter file(path);
  file.Write(&header, sizeof header);
  file.Write(table.data(), table.size() * sizeof(om::Section));
  for (size_t i = 0; i < table.size(); ++i) {
    file.PadTo(table[i].offset);
    parts[i].second->Visit([&](const char* data, size_t bytes) { file.Write(data, bytes); });
  }
  return file.Finish();
}

}  // namespace asc
