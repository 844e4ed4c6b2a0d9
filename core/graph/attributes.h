// Attribute values and the small map that a node keeps them in.
#ifndef ASC_CORE_GRAPH_ATTRIBUTES_H_
#define ASC_CORE_GRAPH_ATTRIBUTES_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/tensor/any_value.h"

namespace asc {

enum class AttributeType : uint8_t { kInt, kFloat, kString, kInts, kFloats, kStrings, kTensor, kType };
std::string_view AttributeTypeName(AttributeType type);

// In the order of AttributeType.
using AttributeValue = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                                    std::vector<std::string>, Tensor, ValueType>;

inline AttributeType TypeOf(const AttributeValue& value) { return static_cast<AttributeType>(value.index()); }
bool AttributeEquals(const AttributeValue& a, const AttributeValue& b);

// Ordered by name. Getters with a default give it when the attribute is absent; a present one of another type counts as
// absent (the verifier refuses such nodes, so kernels need not check).
class AttributeMap {
 public:
  using Entry = std::pair<std::string, AttributeValue>;

  void Set(std::string_view name, AttributeValue value);
  void Erase(std::string_view name);
  const AttributeValue* Find(std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  template <typename T>
  const T* Get(std::string_view name) const {
    const AttributeValue* value = Find(name);
    return value ? std::get_if<T>(value) : nullptr;
  }
  int64_t Int(std::string_view name, int64_t otherwise) const;
  float Float(std::string_view name, float otherwise) const;
  std::string String(std::string_view name, std::string_view otherwise) const;
  std::vector<int64_t> Ints(std::string_view name, std::vector<int64_t> otherwise = {}) const;
  std::vector<float> Floats(std::string_view name, std::vector<float> otherwise = {}) const;
  std::optional<DataType> Type(std::string_view name) const;  // an int attribute that names an element type (`to`, `dtype`)

  size_t size() const { return entries_.size(); }
  std::vector<Entry>::const_iterator begin() const { return entries_.begin(); }
  std::vector<Entry>::const_iterator end() const { return entries_.end(); }
  bool operator==(const AttributeMap& other) const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace asc

#endif  // ASC_CORE_GRAPH_ATTRIBUTES_H_
