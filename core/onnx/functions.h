// Model-local functions: calls become the nodes of the function's body.
#ifndef ASC_CORE_ONNX_FUNCTIONS_H_
#define ASC_CORE_ONNX_FUNCTIONS_H_

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/onnx/imported_model.h"
#include "core/onnx/names.h"

namespace asc::onnx {

class FunctionLibrary {
 public:
  // E5006 when two functions have the same domain, name and overload. `functions` must outlive
  // this.
  Status Add(const std::vector<ImportedFunction>& functions);

  // The function that the node calls; null when it calls none.
  const ImportedFunction* Find(const ImportedNode& call) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // domain, name, overload
  std::map<Key, const ImportedFunction*> functions_;
};

// The body's nodes for one call, in an order in which they can be built: outer names are the
// call's, inner names are fresh, attributes are filled in, origins are the call's. E5006 when the
// call does not fit the function or the body is not closed.
Result<std::vector<ImportedNode>> ExpandCall(const ImportedFunction& function,
                                             const ImportedNode& call, NameSupply& names);

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_FUNCTIONS_H_
