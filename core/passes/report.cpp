#include "core/passes/report.h"

#include <nlohmann/json.hpp>

namespace asc {

std::string PassReport::ToJson() const {
  // Ordered, so that the file reads in the order of running. Names come from models and need not be
  // valid UTF-8.
  using Json = nlohmann::ordered_json;
  Json out = {{"graph", graph},
              {"passes", Json::array()},
              {"fusions", Json::object()},
              {"rewrites", Json::object()}};
  for (const PassRecord& pass : passes) {
    out["passes"].push_back({{"name", pass.name},
                             {"milliseconds", pass.milliseconds},
                             {"rounds", pass.rounds},
                             {"applied", pass.applied},
                             {"nodes_before", pass.nodes_before},
                             {"nodes_after", pass.nodes_after}});
  }
  for (const auto& [name, rule] : rules) {
    Json row = {{"match_times", rule.matched()},
                {"effect_times", rule.applied},
                {"not_applied", Json::array()}};
    for (const auto& [node, reason] : rule.reasons) {
      row["not_applied"].push_back({{"node", node}, {"reason", reason}});
    }
    out[rule.fusion ? "fusions" : "rewrites"][name] = std::move(row);
  }
  out["notes"] = notes;
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace asc
