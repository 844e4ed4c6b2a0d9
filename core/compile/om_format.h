// The layout of a `.om` file in memory; see om.h.
#ifndef ASC_CORE_COMPILE_OM_FORMAT_H_
#define ASC_CORE_COMPILE_OM_FORMAT_H_

#include <cstdint>

namespace asc::om {

inline constexpr char kMagic[8] = {'A', 'S', 'C', 'O', 'M', '\r', '\n', '\0'};
inline constexpr uint32_t kVersion = 1;
inline constexpr uint64_t kSectionAlignment = 64;

enum class SectionKind : uint32_t { kManifest = 1, kGraph = 2, kWeights = 3, kPacked = 4 };

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t section_count;
  uint64_t table_hash;
};
static_assert(sizeof(Header) == 24);

struct Section {
  uint32_t kind;
  uint32_t reserved;
  uint64_t offset;
  uint64_t size;
  uint64_t hash;
};
static_assert(sizeof(Section) == 32);

}  // namespace asc::om

#endif  // ASC_CORE_COMPILE_OM_FORMAT_H_
