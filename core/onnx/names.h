// Fresh value names for what the importer adds.
#ifndef ASC_CORE_ONNX_NAMES_H_
#define ASC_CORE_ONNX_NAMES_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/onnx/imported_model.h"

namespace asc::onnx {

class NameSupply {
 public:
  // Names of the graph and of all graphs inside are taken from now on.
  void Reserve(const ImportedGraph& graph);
  // `base`, or base_1, base_2... when it is taken; never the same twice.
  std::string Fresh(std::string_view base);

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> counters_;
};

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_NAMES_H_
