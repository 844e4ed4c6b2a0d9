#include "core/graph/attributes.h"

#include <algorithm>
#include <bit>

namespace asc {
namespace {
bool SameFloats(const std::vector<float>& a, const std::vector<float>& b) {
  // By bits: NaN equals itself, and 0 differs from -0.
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
  });
}
auto LowerBound(auto& entries, std::string_view name) {
  return std::lower_bound(entries.begin(), entries.end(), name,
                          [](const AttributeMap::Entry& entry, std::string_view key) { return entry.first < key; });
}
}  // namespace

std::string_view AttributeTypeName(AttributeType type) {
  constexpr std::string_view kNames[] = {"int", "float", "string", "ints", "floats", "strings", "tensor", "type"};
  return kNames[static_cast<int>(type)];
}

bool AttributeEquals(const AttributeValue& a, const AttributeValue& b) {
  if (a.index() != b.index()) return false;
  switch (TypeOf(a)) {
    case AttributeType::kFloat: return SameFloats({std::get<float>(a)}, {std::get<float>(b)});
    case AttributeType::kFloats: return SameFloats(std::get<std::vector<float>>(a), std::get<std::vector<float>>(b));
    case AttributeType::kTensor: return std::get<Tensor>(a).ContentEquals(std::get<Tensor>(b));
    case AttributeType::kInt: return std::get<int64_t>(a) == std::get<int64_t>(b);
    case AttributeType::kString: return std::get<std::string>(a) == std::get<std::string>(b);
    case AttributeType::kInts: return std::get<std::vector<int64_t>>(a) == std::get<std::vector<int64_t>>(b);
    case AttributeType::kStrings: return std::get<std::vector<std::string>>(a) == std::get<std::vector<std::string>>(b);
    case AttributeType::kType: return std::get<ValueType>(a) == std::get<ValueType>(b);
  }
  return false;
}

void AttributeMap::Set(std::string_view name, AttributeValue value) {
  const auto it = LowerBound(entries_, name);
  if (it != entries_.end() && it->first == name) {
    it->second = std::move(value);
  } else {
    entries_.insert(it, {std::string(name), std::move(value)});
  }
}

void AttributeMap::Erase(std::string_view name) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.first == name; });
}

const AttributeValue* AttributeMap::Find(std::string_view name) const {
  const auto it = LowerBound(entries_, name);
  return it != entries_.end() && it->first == name ? &it->second : nullptr;
}

int64_t AttributeMap::Int(std::string_view name, int64_t otherwise) const {
  const auto* value = Get<int64_t>(name);
  return value ? *value : otherwise;
}

float AttributeMap::Float(std::string_view name, float otherwise) const {
  const auto* value = Get<float>(name);
  return value ? *value : otherwise;
}

std::string AttributeMap::String(std::string_view name, std::string_view otherwise) const {
  const auto* value = Get<std::string>(name);
  return value ? *value : std::string(otherwise);
}

std::vector<int64_t> AttributeMap::Ints(std::string_view name, std::vector<int64_t> otherwise) const {
  const auto* value = Get<std::vector<int64_t>>(name);
  return value ? *value : std::move(otherwise);
}

std::vector<float> AttributeMap::Floats(std::string_view name, std::vector<float> otherwise) const {
  const auto* value = Get<std::vector<float>>(name);
  return value ? *value : std::move(otherwise);
}

std::optional<DataType> AttributeMap::Type(std::string_view name) const {
  const auto* value = Get<int64_t>(name);
  return value ? DataTypeFromOnnx(*value) : std::nullopt;
}

bool AttributeMap::operator==(const AttributeMap& other) const {
  return std::equal(entries_.begin(), entries_.end(), other.entries_.begin(), other.entries_.end(),
                    [](const Entry& a, const Entry& b) { return a.first == b.first && AttributeEquals(a.second, b.second); });
}

}  // namespace asc
