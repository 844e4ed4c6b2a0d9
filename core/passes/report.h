// What a run of the passes did, and what it could have done and why it did not.
#ifndef ASC_CORE_PASSES_REPORT_H_
#define ASC_CORE_PASSES_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace asc {

struct PassRecord {
  std::string name;
  double milliseconds = 0;
  int rounds = 0;
  int64_t applied = 0;                       // rewrites
  size_t nodes_before = 0, nodes_after = 0;  // with those of regions
};

// One kind of rewrite; fusions go by their public name.
struct RuleRecord {
  bool fusion = false;
  int64_t applied = 0;
  std::map<std::string, std::string>
      reasons;  // by node: why the pattern that was found there was left as it is
  int64_t matched() const { return applied + static_cast<int64_t>(reasons.size()); }
};

struct PassReport {
  std::string graph;
  std::vector<PassRecord> passes;           // in order of running
  std::map<std::string, RuleRecord> rules;  // by name
  std::vector<std::string> notes;           // shape rules that failed, limits that were hit

  // {"graph", "passes": [{"name", "milliseconds", "rounds", "applied", "nodes_before",
  // "nodes_after"}],
  //  "fusions": {name: {"match_times", "effect_times", "not_applied": [{"node", "reason"}]}},
  //  "rewrites": {the same}, "notes"}
  std::string ToJson() const;
};

}  // namespace asc

#endif  // ASC_CORE_PASSES_REPORT_H_
