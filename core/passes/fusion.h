// Fusions by name, and the consent of scopes to them.
#ifndef ASC_CORE_PASSES_FUSION_H_
#define ASC_CORE_PASSES_FUSION_H_

#include <set>
#include <string>
#include <vector>

#include "core/passes/options.h"

namespace asc {

struct FusionInfo {
  std::string name;  // "Conv2d+BatchNorm"
  std::string pass;  // the pass that does it
  std::string doc;   // one line
  // The least mode that has it on: conservative ones compute no weights anew.
  FusionSettings::Mode mode = FusionSettings::Mode::kDefault;
};

// All fusions, ordered by name.
const std::vector<FusionInfo>& ListFusions();
// Null when there is none of that name.
const FusionInfo* FindFusion(std::string_view name);

// The scopes of one run. Nodes that come from fusing nodes of several scopes get a scope that needs
// the consent of all of them.
class FusionScopes {
 public:
  // `first_free`: larger than every scope in the graph.
  FusionScopes(const PassOptions& options, int first_free) : options_(options), next_(first_free) {}

  // Empty when the scope consents; otherwise why not.
  std::string WhyNot(const FusionInfo& fusion, int scope) const;
  // One scope for what becomes of nodes of these scopes.
  int Join(const std::set<int>& scopes);

 private:
  std::string WhyNotPlain(const FusionInfo& fusion, int scope) const;

  const PassOptions& options_;
  int next_;
  std::map<int, std::set<int>> joined_;  // joined scope -> the plain ones
};

}  // namespace asc

#endif  // ASC_CORE_PASSES_FUSION_H_
