#include "core/passes/report.h"

#include "core/base/json_writer.h"

namespace asc {
namespace {

void WriteRules(JsonWriter& json, const std::map<std::string, RuleRecord>& rules, bool fusion) {
  json.BeginObject();
  for (const auto& [name, rule] : rules) {
    if (rule.fusion != fusion) continue;
    json.Key(name).BeginObject();
    json.Field("match_times", rule.matched()).Field("effect_times", rule.applied);
    json.Key("not_applied").BeginArray();
    for (const auto& [node, reason] : rule.reasons) {
      json.BeginObject().Field("node", node).Field("reason", reason).EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndObject();
}

}  // namespace

std::string PassReport::ToJson() const {
  JsonWriter json(2);
  json.BeginObject().Field("graph", graph);
  json.Key("passes").BeginArray();
  for (const PassRecord& pass : passes) {
    json.BeginObject()
        .Field("name", pass.name)
        .Field("milliseconds", pass.milliseconds)
        .Field("rounds", pass.rounds)
        .Field("applied", pass.applied)
        .Field("nodes_before", pass.nodes_before)
        .Field("nodes_after", pass.nodes_after)
        .EndObject();
  }
  json.EndArray();
  WriteRules(json.Key("fusions"), rules, true);
  WriteRules(json.Key("rewrites"), rules, false);
  json.Field("notes", notes).EndObject();
  return std::move(json).Take() + "\n";
}

}  // namespace asc
