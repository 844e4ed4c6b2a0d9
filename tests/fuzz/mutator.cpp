#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

namespace fuzz {
namespace {
constexpr uint64_t kNumbers[] = {0,
                                 1,
                                 2,
                                 3,
                                 7,
                                 10,
                                 16,
                                 64,
                                 127,
                                 255,
                                 65536,
                                 0x7fffffff,
                                 0x80000000,
                                 0xffffffff,
                                 0x100000000,
                                 uint64_t{1} << 40,
                                 uint64_t{1} << 61,
                                 0x7fffffffffffffff,
                                 0x8000000000000000,
                                 ~uint64_t{0},   // -1
                                 ~uint64_t{1}};  // -2
constexpr uint32_t kFloats[] = {0,           // 0
                                0x80000000,  // -0
                                0x3f800000,  // 1
                                0xbf800000,  // -1
                                0x7f800000,  // infinity
                                0xff800000,  // -infinity
                                0x7fc00000,  // NaN
                                0x7f7fffff,  // the largest
                                0x00000001,  // the smallest
                                0x4f000000,  // 2^31
                                0xcf000000,  // -2^31
                                0x5f000000};  // 2^63
constexpr std::string_view kWords[] = {"",     "0",    "1",     "-1",        "2",
                                       "3",    "16",   "65536", "2147483648", "9223372036854775807",
                                       "-9223372036854775808", "1e30", "nan", "inf", "[",
                                       "]",    "(",    ")",     "{",         "}",
                                       "%",    "\"",   ",",     "=",         ":"};

template <typename T, size_t kCount>
const T& Pick(const T (&values)[kCount], Random& random) {
  return values[random.Below(kCount)];
}

enum Wire : uint32_t { kVarint = 0, kFixed64 = 1, kDelimited = 2, kFixed32 = 5 };

struct Field;
using Fields = std::vector<Field>;
struct Field {
  uint32_t number = 0, wire = kVarint;
  uint64_t value = 0;  // of scalars
  std::string bytes;   // of what has a length and is no message
  std::optional<Fields> message;
};

bool ReadVarint(std::string_view& in, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(in[0]);
    in.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool ReadFixed(std::string_view& in, size_t size, uint64_t& value) {
  if (in.size() < size) return false;
  value = 0;
  for (size_t i = 0; i < size; ++i) value |= uint64_t{static_cast<uint8_t>(in[i])} << (8 * i);
  in.remove_prefix(size);
  return true;
}

// What has a length counts as a message when it reads as one; now and then a text does, which harms nothing.
std::optional<Fields> Parse(std::string_view in, int depth) {
  if (depth > 16) return std::nullopt;
  Fields fields;
  while (!in.empty()) {
    Field field;
    uint64_t tag = 0;
    if (!ReadVarint(in, tag) || tag >> 3 == 0 || tag >> 3 > 64) return std::nullopt;
    field.number = static_cast<uint32_t>(tag >> 3);
    field.wire = static_cast<uint32_t>(tag & 7);
    uint64_t length = 0;
    switch (field.wire) {
      case kVarint:
        if (!ReadVarint(in, field.value)) return std::nullopt;
        break;
      case kFixed64:
        if (!ReadFixed(in, 8, field.value)) return std::nullopt;
        break;
      case kFixed32:
        if (!ReadFixed(in, 4, field.value)) return std::nullopt;
        break;
      case kDelimited:
        if (!ReadVarint(in, length) || length > in.size()) return std::nullopt;
        field.bytes = in.substr(0, length);
        in.remove_prefix(length);
        if (length > 0) field.message = Parse(field.bytes, depth + 1);
        break;
      default:
        return std::nullopt;
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

void WriteVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

std::string Serialize(const Fields& fields) {
  std::string out;
  for (const Field& field : fields) {
    WriteVarint(out, uint64_t{field.number} << 3 | field.wire);
    if (field.wire == kVarint) {
      WriteVarint(out, field.value);
    } else if (field.wire == kDelimited) {
      const std::string bytes = field.message ? Serialize(*field.message) : field.bytes;
      WriteVarint(out, bytes.size());
      out += bytes;
    } else {
      for (int i = 0; i < (field.wire == kFixed32 ? 4 : 8); ++i)
        out += static_cast<char>(field.value >> (8 * i));
    }
  }
  return out;
}

// Every list of fields, the outermost first. Pointers are good until a list changes.
void Collect(Fields& fields, std::vector<Fields*>& out) {
  if (fields.empty()) return;
  out.push_back(&fields);
  for (Field& field : fields) {
    if (field.message) Collect(*field.message, out);
  }
}

void MutateLeaf(Field& field, const Field& other, Random& random) {
  switch (field.wire) {
    case kVarint:
      field.value = random.OneIn(3) ? field.value + random.Below(5) - 2 : Pick(kNumbers, random);
      break;
    case kFixed64:
      field.value = random.Next();
      break;
    case kFixed32:
      field.value = Pick(kFloats, random);
      break;
    default:
      // Names of the same model make other graphs; bytes of numbers make other numbers.
      if (!other.message && other.wire == kDelimited && !random.OneIn(3)) {
        field.bytes = other.bytes;
      } else {
        field.bytes = MutateBytes(std::move(field.bytes), random);
      }
  }
}

void MutateOnce(Fields& root, Random& random) {
  std::vector<Fields*> lists;
  Collect(root, lists);
  if (lists.empty()) return;
  Fields& fields = *lists[random.Below(lists.size())];
  const Fields& elsewhere = *lists[random.Below(lists.size())];
  const size_t at = random.Below(fields.size());
  const Field other = elsewhere[random.Below(elsewhere.size())];
  const auto position = fields.begin() + static_cast<ptrdiff_t>(at);
  switch (random.Below(12)) {
    case 0:
      fields.erase(position);
      break;
    case 1: {
      const Field copy = fields[at];
      fields.insert(position, copy);
      break;
    }
    case 2:
      std::swap(fields[at], fields[random.Below(fields.size())]);
      break;
    case 3:
      fields[at].number = static_cast<uint32_t>(1 + random.Below(16));
      break;
    case 4:
      fields.insert(position, other);
      break;
    case 5:
      fields[at] = other;
      break;
    default:
      if (!fields[at].message) MutateLeaf(fields[at], other, random);
  }
}
}  // namespace

uint64_t Random::Next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::string MutateBytes(std::string bytes, Random& random) {
  const uint64_t rounds = 1 + random.Below(4);
  for (uint64_t round = 0; round < rounds; ++round) {
    const size_t at = random.Below(bytes.size() + 1), run = 1 + random.Below(8);
    switch (random.Below(6)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes.insert(at, run, static_cast<char>(random.Next()));
        break;
      case 2:
        bytes.erase(at, run);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, run));
        break;
      default:
        if (at < bytes.size())
          bytes[at] = static_cast<char>(
              random.OneIn(2) ? bytes[at] ^ (1 << random.Below(8)) : Pick(kNumbers, random));
    }
  }
  return bytes;
}

std::string MutateMessage(std::string_view message, Random& random) {
  std::optional<Fields> root = Parse(message, 0);
  if (!root) return MutateBytes(std::string(message), random);
  const uint64_t rounds = 1 + random.Below(3);
  for (uint64_t round = 0; round < rounds; ++round) MutateOnce(*root, random);
  return Serialize(*root);
}

std::string MutateText(std::string text, Random& random) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.'; };
  // A word, or one other character, around a random place.
  const auto find = [&] {
    size_t begin = random.Below(text.size()), end = begin + 1;
    while (is_word(text[begin]) && begin > 0 && is_word(text[begin - 1])) --begin;
    while (is_word(text[begin]) && end < text.size() && is_word(text[end])) ++end;
    return std::pair(begin, end - begin);
  };
  const uint64_t rounds = 1 + random.Below(3);
  for (uint64_t round = 0; round < rounds && !text.empty(); ++round) {
    const auto [at, size] = find();
    const auto [from, length] = find();
    switch (random.Below(6)) {
      case 0:
        text.erase(at, size);
        break;
      case 1:
        text.insert(at, text.substr(from, length) + " ");
        break;
      case 2: {  // a line again, or none
        const size_t line = text.rfind('\n', at) + 1, end = std::min(text.find('\n', at), text.size() - 1) + 1;
        if (random.OneIn(2)) {
          text.insert(line, text.substr(line, end - line));
        } else {
          text.erase(line, end - line);
        }
        break;
      }
      case 3:
        text.replace(at, size, Pick(kWords, random));
        break;
      default:
        text.replace(at, size, text.substr(from, length));
    }
  }
  return text;
}

}  // namespace fuzz
