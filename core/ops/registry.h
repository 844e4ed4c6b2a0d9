// The operator registry: one explicit static table (families.h) and a run-time overlay for plug-ins and user operators.
#ifndef ASC_CORE_OPS_REGISTRY_H_
#define ASC_CORE_OPS_REGISTRY_H_

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/graph/op_schema.h"
#include "core/ops/op_builder.h"

namespace asc {

// Thread-safe. Rows are never removed: a schema pointer stays good for the life of the process.
class OpRegistry {
 public:
  static OpRegistry& Global();

  // Null when there is none. The domain "ai.onnx" is "".
  const OpSchema* Find(std::string_view domain, std::string_view name) const;
  // By method name ("conv2d"); user operators included.
  const OpSchema* FindMethod(std::string_view method) const;
  // All rows, ordered by domain and name.
  std::vector<const OpSchema*> All() const;
  // Names near to a wrong one, for hints ("" when none is).
  std::string Nearest(std::string_view name) const;

  // Adds a row to the overlay. Refused (E5003): a domain and name, or a method name, that exist already; a schema without name
  // or without both kernel and region.
  Status Register(OpSchema schema);

 private:
  OpRegistry();
  void Index(const OpSchema* schema);

  OpTable table_;
  mutable std::shared_mutex mutex_;
  std::vector<std::unique_ptr<const OpSchema>> overlay_;
  std::unordered_map<std::string, const OpSchema*> by_name_;    // "domain\0name"
  std::unordered_map<std::string, const OpSchema*> by_method_;
};

}  // namespace asc

#endif  // ASC_CORE_OPS_REGISTRY_H_
