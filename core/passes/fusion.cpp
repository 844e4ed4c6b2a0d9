#include "core/passes/fusion.h"

#include <algorithm>

namespace asc {
namespace {
bool Names(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view ModeName(FusionSettings::Mode mode) {
  constexpr std::string_view kNames[] = {"off", "conservative", "default", "aggressive"};
  return kNames[static_cast<int>(mode)];
}
}  // namespace

const FusionInfo* FindFusion(std::string_view name) {
  const auto& all = ListFusions();
  const auto it = std::lower_bound(
      all.begin(), all.end(), name,
      [](const FusionInfo& info, std::string_view key) { return info.name < key; });
  return it != all.end() && it->name == name ? &*it : nullptr;
}

std::string FusionScopes::WhyNot(const FusionInfo& fusion, int scope) const {
  if (Names(options_.disabled, "ALL")) return "every fusion is switched off";
  if (Names(options_.disabled, fusion.name)) return Cat("'", fusion.name, "' is switched off");
  if (Names(options_.disabled, fusion.pass)) return Cat("pass ", fusion.pass, " is switched off");
  const auto it = joined_.find(scope);
  if (it == joined_.end()) return WhyNotPlain(fusion, scope);
  for (const int part : it->second) {
    if (std::string reason = WhyNotPlain(fusion, part); !reason.empty()) return reason;
  }
  return "";
}

std::string FusionScopes::WhyNotPlain(const FusionInfo& fusion, int scope) const {
  const auto it = options_.fusion.find(scope);
  const FusionSettings settings = it == options_.fusion.end() ? FusionSettings{} : it->second;
  const std::string where =
      scope == 0 ? "nodes outside of fusion scopes" : Cat("fusion scope ", scope);
  if (Names(settings.disabled, "ALL")) return Cat("every fusion is switched off for ", where);
  if (Names(settings.disabled, fusion.name))
    return Cat("'", fusion.name, "' is switched off for ", where);
  if (settings.mode < fusion.mode) {
    return Cat("the mode of ", where, " is ", ModeName(settings.mode), ", '", fusion.name,
               "' needs ", ModeName(fusion.mode));
  }
  return "";
}

int FusionScopes::Join(const std::set<int>& scopes) {
  std::set<int> plain;
  for (const int scope : scopes) {
    const auto it = joined_.find(scope);
    if (it == joined_.end()) {
      plain.insert(scope);
    } else {
      plain.insert(it->second.begin(), it->second.end());
    }
  }
  if (plain.size() == 1) return *plain.begin();
  for (const auto& [joined, parts] : joined_) {
    if (parts == plain) return joined;
  }
  joined_.emplace(next_, std::move(plain));
  return next_++;
}

}  // namespace asc
