// Damaged models give a status or a graph that compiles and runs or refuses to: never a crash, a hang or a leak.
//
// Mutation number i of a seed is always the same, so a report can be followed up:
//   ASC_FUZZ=FIRST,COUNT  runs that range of every seed and says each number before it starts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "asc/asc.hpp"
#include "core/base/hash.h"
#include "core/compile/om_format.h"
#include "tests/fuzz/mutator.h"

namespace {
namespace om = asc::om;

constexpr int kMutations = 250;                        // of each seed
constexpr int64_t kMemoryLimit = int64_t{256} << 20;   // bytes
constexpr int64_t kMostElements = 1 << 16;             // of an input
constexpr int64_t kPatience = 500'000'000;             // nanoseconds until a run is cancelled
constexpr auto kSlow = std::chrono::seconds(30);       // for one mutation, sanitizers included

struct Range {
  int first = 0, count = kMutations;
  bool verbose = false;
};

Range RangeToRun() {
  Range range;
  if (const char* text = std::getenv("ASC_FUZZ")) {
    range.verbose = std::sscanf(text, "%d,%d", &range.first, &range.count) == 2;
  }
  return range;
}

std::vector<std::filesystem::path> Seeds() {
  std::vector<std::filesystem::path> paths;
  for (const char* folder : {FUZZ_SEEDS, TEST_DATA}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".onnx") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

asc::Value AsValue(const std::string& bytes) {
  return asc::Value::Tensor<uint8_t>({static_cast<int64_t>(bytes.size())}, {bytes.begin(), bytes.end()});
}

asc::Session Load(const asc::Value& model, int level) {
  asc_session* session = nullptr;
  const asc::CompileOptions options = asc::CompileOptions().Set("threads", 1).Set("graph_opt_level", level);
  asc::Check(asc_session_load_bytes(model.get(), asc_text("cpu"), options.get(), &session));
  return asc::Session(session);
}

class TooLarge : public std::exception {};

// Small numbers of the type; unknown extents are 2.
asc::Value MakeTensor(const asc_type* type) {
  asc_data_type dtype = ASC_UNDEFINED;
  int64_t rank = 0;
  asc::Check(asc_type_get_dtype(type, &dtype));
  asc::Check(asc_type_get_rank(type, &rank));
  asc::Dims dims(rank < 0 ? 2 : static_cast<size_t>(rank), 2);
  int64_t count = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (rank >= 0) {
      int64_t extent = 0;
      asc::Check(asc_type_get_extent(type, i, &extent));
      if (extent >= 0) dims[i] = extent;
    }
    if (dims[i] > kMostElements || (count *= dims[i]) > kMostElements) throw TooLarge();
  }
  if (dtype == ASC_STRING) {
    return asc::Value::Strings(dims, std::vector<std::string>(static_cast<size_t>(count), "ab1,c"));
  }
  asc::Value value = asc::Value::Tensor(dtype, dims);
  void* data = nullptr;
  size_t bytes = 0;
  asc::Check(asc_value_get_mutable_data(value.get(), &data, &bytes));
  auto* out = static_cast<uint8_t*>(data);
  std::memset(out, 0, bytes);
  for (int64_t i = 0; i < count; ++i) {
    if (dtype == ASC_FLOAT32) {
      reinterpret_cast<float*>(out)[i] = static_cast<float>(i % 7 - 3) / 2;
    } else if (const auto width = static_cast<int64_t>(asc_data_type_bits(dtype)) / 8; width > 0 && width <= 8) {
      out[i * width] = static_cast<uint8_t>(dtype == ASC_BOOL ? i % 2 : i % 3);
    }
  }
  return value;
}

asc::Value MakeValue(const asc_type* type) {
  asc_value_kind kind = ASC_TENSOR;
  asc::Check(asc_type_get_kind(type, &kind));
  if (kind == ASC_TENSOR) return MakeTensor(type);
  asc_type* element = nullptr;
  asc::Check(asc_type_create_element(type, &element));
  const asc::Value item = MakeValue(asc::Type(element).get());
  return kind == ASC_OPTIONAL ? asc::Value::Optional(item) : asc::Value::Sequence({item, item});
}

// Reads every element, so that sanitizers see what is not there.
uint64_t Sum(const asc::Value& value) {
  uint64_t sum = 0;
  if (value.Kind() != ASC_TENSOR) {
    for (size_t i = 0; i < value.Count(); ++i) sum += Sum(value.Item(i));
  } else if (value.DataType() == ASC_STRING) {
    for (size_t i = 0; i < value.Count(); ++i) sum += value.String(i).size();
  } else {
    const void* data = nullptr;
    size_t bytes = 0;
    asc::Check(asc_value_get_data(value.get(), &data, &bytes));
    for (size_t i = 0; i < bytes; ++i) sum += static_cast<const uint8_t*>(data)[i];
  }
  return sum;
}

void RunOnce(const asc::Session& session) {
  std::vector<asc::Value> inputs;
  for (const asc::Port& port : session.Inputs()) inputs.push_back(MakeValue(port.type.get()));
  asc::CancelToken token;
  const asc::Future future = session.RunAsync(inputs, asc::RunOptions().SetCancelToken(token).SetSeed(1));
  if (!future.WaitFor(kPatience)) token.Cancel();
  for (const asc::Value& output : future.Wait()) Sum(output);
}

// Everything that one may do with a model; true when it ran to the end.
bool Use(const std::string& bytes, int level) {
  const auto start = std::chrono::steady_clock::now();
  bool ran = false;
  try {
    const asc::Value model = AsValue(bytes);
    const asc::Session session = Load(model, level);
    session.Summary();
    RunOnce(session);
    ran = true;
  } catch (const asc::Error& error) {
    EXPECT_NE(error.code(), ASC_INTERNAL) << error.what();
    EXPECT_FALSE(error.message().empty());
  } catch (const TooLarge&) {
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, kSlow);
  return ran;
}

class ModelFuzz : public testing::Test {
 protected:
  void SetUp() override { asc::Check(asc_device_set_memory_limit(asc_text("cpu"), kMemoryLimit)); }
  void TearDown() override {
    asc::Check(asc_device_set_memory_limit(asc_text("cpu"), 0));
    EXPECT_EQ(asc_handle_count(), 0);
  }

  // `mutate`: damage to a seed; `seed_number` makes the damage differ from seed to seed.
  template <typename Mutate>
  void Mutations(const std::string& name, const std::string& seed, Mutate mutate) {
    const Range range = RangeToRun();
    int ran = 0;
    for (int i = range.first; i < range.first + range.count; ++i) {
      if (range.verbose) std::fprintf(stderr, "%s %d\n", name.c_str(), i);
      fuzz::Random random(asc::HashBytes(name.data(), name.size(), static_cast<uint64_t>(i)));
      const std::string bytes = mutate(seed, random);
      ran += Use(bytes, random.OneIn(2) ? 3 : 0);
      if (HasFailure()) FAIL() << "mutation " << i << " of " << name;
    }
    RecordProperty(name, ran);
  }
};

TEST_F(ModelFuzz, SeedsRun) {
  ASSERT_GE(Seeds().size(), 10u);
  for (const auto& path : Seeds()) {
    for (const int level : {0, 3}) {
      try {
        const asc::Value model = AsValue(ReadFile(path));
        RunOnce(Load(model, level));
      } catch (const asc::Error& error) {
        ADD_FAILURE() << path << ": " << error.what();
      }
    }
  }
}

TEST_F(ModelFuzz, OnnxBytes) {
  for (const auto& path : Seeds()) Mutations(path.stem().string(), ReadFile(path), fuzz::MutateBytes);
}

TEST_F(ModelFuzz, OnnxMessages) {
  for (const auto& path : Seeds()) Mutations(path.stem().string() + " message", ReadFile(path), fuzz::MutateMessage);
}

// The sections of a compiled model.
struct Sections {
  std::vector<om::Section> table;
  std::vector<std::string> contents;
};

Sections Split(const std::string& bytes) {
  om::Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  Sections sections;
  sections.table.resize(header.section_count);
  std::memcpy(sections.table.data(), bytes.data() + sizeof header, header.section_count * sizeof(om::Section));
  for (const om::Section& section : sections.table) sections.contents.push_back(bytes.substr(section.offset, section.size));
  return sections;
}

// A file with right offsets and checksums.
std::string Join(Sections sections) {
  const size_t table_bytes = sections.table.size() * sizeof(om::Section);
  const auto align = [](size_t size) {
    return (size + om::kSectionAlignment - 1) / om::kSectionAlignment * om::kSectionAlignment;
  };
  std::string bytes(align(sizeof(om::Header) + table_bytes), '\0');
  for (size_t i = 0; i < sections.table.size(); ++i) {
    om::Section& section = sections.table[i];
    section.offset = bytes.size();
    section.size = sections.contents[i].size();
    section.hash = asc::HashBytes(sections.contents[i].data(), section.size);
    bytes += sections.contents[i];
    bytes.resize(align(bytes.size()));
  }
  om::Header header{{}, om::kVersion, static_cast<uint32_t>(sections.table.size()),
                    asc::HashBytes(sections.table.data(), table_bytes)};
  std::memcpy(header.magic, om::kMagic, sizeof header.magic);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, sections.table.data(), table_bytes);
  return bytes;
}

// The seed as a compiled model with packed weights.
std::string Compiled(const std::filesystem::path& path, int level) {
  const asc::Value model = AsValue(ReadFile(path));
  const asc::Session session = Load(model, level);
  RunOnce(session);
  const auto file = std::filesystem::temp_directory_path() / ("fuzz_" + std::to_string(::getpid()) + ".om");
  session.Save(file.string());
  std::string bytes = ReadFile(file);
  std::filesystem::remove(file);
  return bytes;
}

std::string MutateSection(const std::string& seed, fuzz::Random& random) {
  Sections sections = Split(seed);
  const size_t i = random.Below(sections.contents.size());
  std::string& content = sections.contents[i];
  const auto kind = static_cast<om::SectionKind>(sections.table[i].kind);
  const bool text = kind == om::SectionKind::kManifest || kind == om::SectionKind::kGraph;
  content = text ? fuzz::MutateText(content.substr(0, content.find('\0')), random) : fuzz::MutateBytes(content, random);
  return Join(std::move(sections));
}

TEST_F(ModelFuzz, CompiledBytes) {
  for (const auto& path : Seeds()) Mutations(path.stem().string() + " om", Compiled(path, 3), fuzz::MutateBytes);
}

TEST_F(ModelFuzz, CompiledSectionsWithRightChecksums) {
  for (const auto& path : Seeds()) {
    EXPECT_TRUE(Use(Join(Split(Compiled(path, 3))), 3)) << path;
    Mutations(path.stem().string() + " section", Compiled(path, 3), MutateSection);
  }
}
}  // namespace
