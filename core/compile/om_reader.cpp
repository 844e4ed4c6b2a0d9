#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "core/base/hash.h"
#include "core/compile/om.h"
#include "core/compile/om_format.h"
#include "core/graph/infer.h"
#include "core/graph/text.h"
#include "core/graph/verify.h"
#include "core/kernels/packing_key.h"
#include "core/ops/registry.h"

namespace asc {
namespace {
using nlohmann::json;

template <typename... Args>
Status Damaged(const Args&... args) {
  return Error(Code::kInvalidModel, "the .om file is damaged: ", args...).WithHint("compile and save the model again");
}

// A checked stretch of the file.
struct View {
  const std::byte* data = nullptr;
  uint64_t size = 0;
  uint64_t offset = 0;  // in the file
};

class Reader {
 public:
  // `file`: where the bytes are mapped from; null when they are in memory.
  explicit Reader(std::shared_ptr<Buffer> bytes, const MappedFile* file = nullptr)
      : bytes_(std::move(bytes)), file_(file) {}

  Result<std::shared_ptr<Executable>> Read(Device& device, const CompileOptions& options) {
    ASC_RETURN_IF_ERROR(ReadTable());
    ASC_RETURN_IF_ERROR(ReadManifest());
    ASC_RETURN_IF_ERROR(ReadConstants());
    ParseOptions parse;
    parse.find_op = [](std::string_view domain, std::string_view name) { return OpRegistry::Global().Find(domain, name); };
    parse.find_constant = [&](uint64_t hash) -> std::optional<Tensor> {
      const auto it = constants_.find(hash);
      return it == constants_.end() ? std::nullopt : std::optional<Tensor>(it->second);
    };
    const View& text = sections_[om::SectionKind::kGraph];
    // Sections are padded with zero bytes.
    std::string_view source(reinterpret_cast<const char*>(text.data), text.size);
    source = source.substr(0, source.find('\0'));
    ASC_ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph, ParseText(source, parse));
    ASC_RETURN_IF_ERROR(Verify(*graph));
    ASC_RETURN_IF_ERROR(InferGraph(*graph));  // types are claims like everything else in a file
    CompileOptions merged = options;
    merged.graph_opt_level = static_cast<int>(manifest_.value("graph_opt_level", int64_t{3}));
    merged.assume_finite = manifest_.value("assume_finite", false);
    merged.winograd = manifest_.value("winograd", merged.winograd);
    ASC_ASSIGN_OR_RETURN(std::shared_ptr<Executable> executable, Executable::FromOptimized(std::move(graph), device, merged));
    if (manifest_.value("packing", std::string()) == PackingKey()) ASC_RETURN_IF_ERROR(ReadPacked(*executable));
    return executable;
  }

 private:
  Status ReadTable() {
    if (!LooksLikeOm(bytes_->data(), bytes_->size())) return Error(Code::kInvalidModel, "this is no .om file");
    om::Header header;
    if (bytes_->size() < sizeof header) return Damaged("it is shorter than its header");
    std::memcpy(&header, bytes_->data(), sizeof header);
    if (header.version != om::kVersion) {
      return Error(Code::kInvalidModel, "the .om file has format version ", header.version, ", this library reads ", om::kVersion)
          .WithHint("compile the model again with this version");
    }
    constexpr uint32_t kMostSections = 64;
    if (header.section_count > kMostSections) return Damaged("it says it has ", header.section_count, " sections");
    const size_t table_bytes = header.section_count * sizeof(om::Section);
    if (bytes_->size() - sizeof header < table_bytes) return Damaged("its section table is cut off");
    std::vector<om::Section> table(header.section_count);
    if (table_bytes > 0) std::memcpy(table.data(), bytes_->data() + sizeof header, table_bytes);
    if (HashBytes(table.data(), table_bytes) != header.table_hash) return Damaged("the checksum of its section table is wrong");
    for (const om::Section& section : table) {
      if (section.offset > bytes_->size() || section.size > bytes_->size() - section.offset) {
        return Damaged("section ", section.kind, " lies outside the file");
      }
      if (section.offset % om::kSectionAlignment != 0) return Damaged("section ", section.kind, " is not aligned");
      const View view{bytes_->data() + section.offset, section.size, section.offset};
      if (HashOf(view) != section.hash) return Damaged("the checksum of section ", section.kind, " is wrong");
      sections_[static_cast<om::SectionKind>(section.kind)] = view;
    }
    for (const om::SectionKind kind : {om::SectionKind::kManifest, om::SectionKind::kGraph, om::SectionKind::kWeights}) {
      if (!sections_.contains(kind)) return Damaged("section ", static_cast<uint32_t>(kind), " is missing");
    }
    return Ok();
  }

  // Pages that were only looked at for this are let go: a plain weight whose packed form is used is never read again.
  uint64_t HashOf(const View& view) const {
    constexpr uint64_t kPart = uint64_t{4} << 20;
    if (file_ == nullptr || view.size <= kPart) return HashBytes(view.data, view.size);
    StreamHash hash;
    for (uint64_t at = 0; at < view.size; at += kPart) {
      const uint64_t size = std::min(kPart, view.size - at);
      hash.Update(view.data + at, size);
      file_->DropPages(view.offset + at, size);
    }
    return hash.Digest();
  }

  Status ReadManifest() {
    const View& view = sections_[om::SectionKind::kManifest];
    const std::string_view text(reinterpret_cast<const char*>(view.data), view.size);
    manifest_ = json::parse(text.substr(0, text.find('\0')), nullptr, /*allow_exceptions=*/false);
    if (!manifest_.is_object()) return Damaged("its manifest cannot be read");
    const auto is = [&](const char* key, auto type) { return !manifest_.contains(key) || (manifest_[key].*type)(); };
    if (!is("graph_opt_level", &json::is_number_integer) || !is("assume_finite", &json::is_boolean) ||
        !is("winograd", &json::is_boolean) || !is("packing", &json::is_string)) {
      return Damaged("its manifest has options of wrong types");
    }
    return Ok();
  }

  // The part of a section that an index entry names.
  Result<View> Part(const json& entry, om::SectionKind kind) {
    const auto whole = sections_.find(kind);
    const bool numbers = entry.is_object() && entry.contains("offset") && entry["offset"].is_number_unsigned() &&
                         entry.contains("bytes") && entry["bytes"].is_number_unsigned() && entry.contains("hash") &&
                         entry["hash"].is_number_unsigned();
    if (!numbers || whole == sections_.end()) return Damaged("an entry of its index cannot be read");
    const uint64_t offset = entry["offset"].get<uint64_t>(), size = entry["bytes"].get<uint64_t>();
    if (offset > whole->second.size || size > whole->second.size - offset) return Damaged("a weight lies outside its section");
    return View{whole->second.data + offset, size, whole->second.offset + offset};
  }

  // Shares the file's memory.
  std::shared_ptr<Buffer> Share(const View& view) const {
    return Buffer::Wrap(const_cast<std::byte*>(view.data), view.size, [keep = bytes_] {}, /*read_only=*/true);
  }

  Status ReadConstants() {
    const auto index = manifest_.find("constants");
    if (index == manifest_.end() || !index->is_array()) return Damaged("it has no index of constants");
    for (const json& entry : *index) {
      ASC_ASSIGN_OR_RETURN(const View view, Part(entry, om::SectionKind::kWeights));
      const auto name = entry.find("type");
      const auto dtype = name != entry.end() && name->is_string() ? ParseDataType(name->get<std::string>()) : std::nullopt;
      const auto extents = entry.find("dims");
      if (!dtype || extents == entry.end() || !extents->is_array()) return Damaged("an entry of its index cannot be read");
      Dims dims;
      for (const json& extent : *extents) {
        if (!extent.is_number_integer()) return Damaged("an extent in its index is no number");
        dims.push_back(extent.get<int64_t>());
      }
      ASC_ASSIGN_OR_RETURN(Tensor tensor,
                           *dtype == DataType::kString ? DecodeStrings(view, dims) : ReadTensor(*dtype, view, dims));
      constants_.emplace(entry["hash"].get<uint64_t>(), std::move(tensor));
    }
    return Ok();
  }

  // Shares the file's memory unless that lies at an address where the type may not.
  Result<Tensor> ReadTensor(DataType dtype, const View& view, const Dims& dims) const {
    std::shared_ptr<Buffer> bytes = Share(view);
    if (reinterpret_cast<uintptr_t>(view.data) % om::kSectionAlignment != 0) {
      ASC_ASSIGN_OR_RETURN(bytes, Buffer::Allocate(HostAllocator(), MemoryUse::kConstant, view.size));
      if (view.size > 0) std::memcpy(bytes->data(), view.data, view.size);
    }
    ASC_ASSIGN_OR_RETURN(Tensor tensor, Tensor::FromBuffer(dtype, dims, std::move(bytes)));
    const auto* flags = static_cast<const uint8_t*>(tensor.raw());
    if (dtype == DataType::kBool && std::any_of(flags, flags + tensor.size(), [](uint8_t flag) { return flag > 1; })) {
      return Damaged("a constant of bool has elements that are neither 0 nor 1");
    }
    return tensor;
  }

  static Result<Tensor> DecodeStrings(const View& view, const Dims& dims) {
    // Each text takes at least its length field: hostile extents are refused before memory is taken.
    const auto count = CheckedElementCount(dims);
    if (!count || static_cast<uint64_t>(*count) > view.size / sizeof(uint64_t)) return Damaged("a text constant is cut off");
    ASC_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(DataType::kString, dims));
    uint64_t at = 0;
    for (int64_t i = 0; i < *count; ++i) {
      uint64_t length = 0;
      if (view.size - at < sizeof length) return Damaged("a text constant is cut off");
      std::memcpy(&length, view.data + at, sizeof length);
      at += sizeof length;
      if (length > view.size - at) return Damaged("a text constant is cut off");
      tensor.data<std::string>()[i].assign(reinterpret_cast<const char*>(view.data + at), length);
      at += length;
    }
    return tensor;
  }

  Status ReadPacked(Executable& executable) {
    const auto index = manifest_.find("packed");
    if (index == manifest_.end() || !index->is_array()) return Ok();
    for (const json& entry : *index) {
      ASC_ASSIGN_OR_RETURN(const View view, Part(entry, om::SectionKind::kPacked));
      const auto form = entry.find("form");
      if (form == entry.end() || !form->is_array()) return Damaged("a packed weight has no form");
      std::string bytes;
      for (const json& byte : *form) {
        if (!byte.is_number_integer()) return Damaged("the form of a packed weight cannot be read");
        bytes += static_cast<char>(byte.get<int64_t>());
      }
      const auto constant = constants_.find(entry["hash"].get<uint64_t>());
      if (constant != constants_.end()) executable.constants().Preload(constant->second, std::move(bytes), Share(view));
    }
    return Ok();
  }

  std::shared_ptr<Buffer> bytes_;
  const MappedFile* file_;
  std::unordered_map<om::SectionKind, View> sections_;
  json manifest_;
  std::unordered_map<uint64_t, Tensor> constants_;
};
}  // namespace

bool LooksLikeOm(const void* data, size_t bytes) {
  return bytes >= sizeof om::kMagic && std::memcmp(data, om::kMagic, sizeof om::kMagic) == 0;
}

Result<std::shared_ptr<Executable>> LoadOm(std::shared_ptr<Buffer> bytes, Device& device, const CompileOptions& options) {
  return Reader(std::move(bytes)).Read(device, options);
}

Result<std::shared_ptr<Executable>> LoadOm(const std::string& path, Device& device, const CompileOptions& options) {
  ASC_ASSIGN_OR_RETURN(const std::shared_ptr<MappedFile> file, MappedFile::Open(path));
  Result<std::shared_ptr<Executable>> loaded = Reader(MappedFile::Slice(file, 0, file->size()), file.get()).Read(device, options);
  return loaded.ok() ? std::move(loaded) : Result<std::shared_ptr<Executable>>(std::move(loaded).status().WithContext(Cat("'", path, "'")));
}

}  // namespace asc
