#include "core/passes/driver.h"

#include <algorithm>
#include <chrono>

#include "core/base/log.h"
#include "core/graph/infer.h"
#include "core/graph/verify.h"
#include "core/passes/dump.h"
#include "core/passes/pipeline.h"

namespace asc {
namespace {
// A pass whose rewrites undo each other would run for ever.
constexpr int kMostRounds = 200;

template <typename F>
void ForEachGraph(const Graph& graph, F&& f) {
  f(graph);
  for (const NodeId id : graph.Nodes()) {
    for (const Region& region : graph.node(id).regions) ForEachGraph(*region.graph, f);
  }
}

size_t CountNodes(const Graph& graph) {
  size_t count = 0;
  ForEachGraph(graph, [&](const Graph& each) { count += each.node_count(); });
  return count;
}

int LargestScope(const Graph& graph, const PassOptions& options) {
  int largest = options.fusion.empty() ? 0 : options.fusion.rbegin()->first;
  ForEachGraph(graph, [&](const Graph& each) {
    for (const NodeId id : each.Nodes()) largest = std::max(largest, each.node(id).scope);
  });
  return largest;
}

// True where `now` says more than `before` about an extent or the elements of a value.
bool Sharper(const Value& value, const ValueType& before, bool had_dims) {
  if (value.dims && !had_dims) return true;
  const Shape& now = value.type.shape;
  if (!now.has_rank()) return false;
  if (!before.shape.has_rank()) return true;
  for (size_t i = 0; i < now.rank() && i < before.shape.rank(); ++i) {
    if (before.shape[i].is_unknown() && !now[i].is_unknown()) return true;
    if (!before.shape[i].is_constant() && now[i].is_constant()) return true;
  }
  return false;
}

void DropUnusedConstants(Graph& graph) {
  for (const ValueId id : graph.Values()) {
    if (graph.value(id).is_constant() && graph.value(id).uses.empty() && !graph.IsOutput(id))
      graph.RemoveValue(id);
  }
}

Status CheckNames(const std::vector<std::string>& names) {
  std::vector<std::string> known = PassNames();
  for (const FusionInfo& fusion : ListFusions()) known.push_back(fusion.name);
  known.emplace_back("ALL");
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string nearest = NearestMatch(name, known);
    Status status = InvalidArgument("there is no fusion or pass '", name, "'");
    return nearest.empty() ? status
                           : std::move(status).WithHint(Cat("did you mean '", nearest, "'?"));
  }
  return Ok();
}
}  // namespace

Status CheckPassOptions(const PassOptions& options) {
  ASC_RETURN_IF_ERROR(CheckNames(options.disabled));
  for (const auto& [scope, settings] : options.fusion)
    ASC_RETURN_IF_ERROR(CheckNames(settings.disabled));
  return Ok();
}

bool PassContext::Allows(std::string_view name, const Node& anchor, std::span<const NodeId> nodes) {
  const FusionInfo* fusion = FindFusion(name);
  if (fusion == nullptr) return true;
  for (const NodeId id : nodes) {
    const std::string reason = scopes_.WhyNot(*fusion, graph_.node(id).scope);
    if (reason.empty()) continue;
    Reject(name, anchor, reason);
    return false;
  }
  return true;
}

void PassContext::Reject(std::string_view rule, const Node& anchor, std::string_view reason) {
  RuleRecord& record = report_.rules[std::string(rule)];
  record.fusion = FindFusion(rule) != nullptr;
  record.reasons[anchor.OriginText()] = reason;
}

bool PassContext::Submit(const Patch& patch) {
  if (AtLimit()) return false;
  const std::vector<NodeId> nodes = patch.TouchedNodes();
  if (std::any_of(nodes.begin(), nodes.end(),
                  [&](NodeId id) { return Touched(id) || !graph_.Has(id); }))
    return false;
  const Node& anchor = graph_.node(patch.anchor());
  if (!Allows(patch.rule(), anchor, nodes)) return false;
  const std::string where = anchor.OriginText();
  std::set<int> scopes;
  for (const NodeId id : nodes) scopes.insert(graph_.node(id).scope);
  Result<AppliedPatch> added = ApplyPatch(graph_, patch, scopes_.Join(scopes));
  if (!added.ok()) {
    Reject(patch.rule(), anchor, added.status().ToString());
    return false;
  }
  for (const NodeId id : nodes) touched_.insert(id.index);
  for (const NodeId id : added->nodes) touched_.insert(id.index);
  changed_.insert(changed_.end(), added->users.begin(), added->users.end());
  RuleRecord& record = report_.rules[patch.rule()];
  record.fusion = FindFusion(patch.rule()) != nullptr;
  record.reasons.erase(where);
  ++record.applied;
  ++applied_;
  ++rewrites_;
  return true;
}

bool PassContext::InferOne(NodeId id) {
  // A node that cannot run as it stands may be one that never runs (a branch not taken): it keeps
  // the facts that it has, and whoever runs it gets the error.
  const Status status = InferNode(graph_, id);
  if (status.ok()) return true;
  const std::string note = status.ToString();
  if (std::find(report_.notes.begin(), report_.notes.end(), note) == report_.notes.end())
    report_.notes.push_back(note);
  return false;
}

size_t PassContext::Infer() {
  const Result<std::vector<NodeId>> order = graph_.TopologicalOrder();
  if (!order.ok()) return 0;
  size_t sharper = 0;
  std::vector<std::pair<ValueType, bool>> before;
  for (const NodeId id : *order) {
    before.clear();
    for (const ValueId output : graph_.node(id).outputs) {
      if (output.valid())
        before.emplace_back(graph_.value(output).type, graph_.value(output).dims.has_value());
    }
    if (!InferOne(id)) continue;
    size_t i = 0;
    for (const ValueId output : graph_.node(id).outputs) {
      if (!output.valid()) continue;
      sharper += Sharper(graph_.value(output), before[i].first, before[i].second);
      ++i;
    }
  }
  return sharper;
}

void PassContext::InferChanged() {
  std::vector<bool> changed(graph_.node_bound(), false);
  for (const NodeId id : changed_) changed[static_cast<size_t>(id.index)] = true;
  const Result<std::vector<NodeId>> order = graph_.TopologicalOrder();
  if (!order.ok()) return;
  std::vector<std::pair<ValueType, std::optional<std::vector<Dim>>>> before;
  for (const NodeId id : *order) {
    const Node& node = graph_.node(id);
    // Passes change the graphs of regions too.
    if (!changed[static_cast<size_t>(id.index)] && node.regions.empty()) continue;
    before.clear();
    for (const ValueId output : node.outputs) {
      if (output.valid()) before.emplace_back(graph_.value(output).type, graph_.value(output).dims);
    }
    if (!InferOne(id)) continue;
    size_t i = 0;
    for (const ValueId output : node.outputs) {
      if (!output.valid()) continue;
      const Value& value = graph_.value(output);
      if (value.type != before[i].first || value.dims != before[i].second) {
        for (const Use& use : value.uses) changed[static_cast<size_t>(use.node.index)] = true;
      }
      ++i;
    }
  }
}

void NodePass::Run(PassContext& context) {
  const Result<std::vector<NodeId>> order = context.graph().TopologicalOrder();
  if (!order.ok()) return;
  for (const NodeId id : *order) {
    if (context.AtLimit()) return;
    // What an earlier patch of this round took part in is looked at in the next one.
    if (context.graph().Has(id) && !context.Touched(id)) Visit(context, context.graph().node(id));
  }
}

Status PassDriver::Run(Graph& graph) {
  ASC_RETURN_IF_ERROR(CheckPassOptions(options_));
  return Run(graph, StandardPasses(options_));
}

Status PassDriver::Run(Graph& graph, const std::vector<std::unique_ptr<Pass>>& passes) {
  report_.graph = graph.name();
  FusionScopes scopes(options_, LargestScope(graph, options_) + 1);
  for (const auto& pass : passes) {
    if (std::find(options_.disabled.begin(), options_.disabled.end(), pass->name()) !=
        options_.disabled.end())
      continue;
    if (options_.rewrite_limit >= 0 && rewrites_ >= options_.rewrite_limit) {
      report_.notes.push_back(
          Cat("stopped after ", rewrites_, " rewrites, as asked, before pass ", pass->name()));
      break;
    }
    ASC_RETURN_IF_ERROR(RunPass(graph, *pass, scopes));
  }
  if (options_.dump_path.empty()) return Ok();
  ASC_RETURN_IF_ERROR(DumpGraph(graph, options_.dump_path, "final"));
  return WriteTextFile(options_.dump_path + "/fusion_result.json", report_.ToJson());
}

Status PassDriver::RunPass(Graph& graph, Pass& pass, FusionScopes& scopes) {
  ASC_RETURN_IF_ERROR(Dump(graph, pass.name(), "before"));
  PassRecord record;
  record.name = pass.name();
  record.nodes_before = CountNodes(graph);
  const auto start = std::chrono::steady_clock::now();
  RunRounds(graph, pass, scopes, record);
  record.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  record.nodes_after = CountNodes(graph);
  report_.passes.push_back(record);
  Log(LogLevel::kDebug, "pass ", record.name, ": ", record.applied, " rewrites, ",
      record.nodes_before, " to ", record.nodes_after, " nodes");
  ASC_RETURN_IF_ERROR(Dump(graph, pass.name(), "after"));
  ++dumped_;
  if (options_.verify && record.applied > 0) {
    if (Status status = Verify(graph); !status.ok()) {
      return InternalError("pass ", pass.name(), " left an illegal graph: ", status.ToString());
    }
  }
  return Ok();
}

void PassDriver::RunRounds(Graph& graph, Pass& pass, FusionScopes& scopes, PassRecord& record) {
  for (int round = 0;; ++round) {
    if (round == kMostRounds) {
      report_.notes.push_back(
          Cat("pass ", pass.name(), " was stopped after ", kMostRounds, " rounds"));
      Log(LogLevel::kWarning, report_.notes.back());
      break;
    }
    PassContext context(graph, options_, scopes, report_, rewrites_);
    pass.Run(context);
    ++record.rounds;
    record.applied += context.applied();
    if (context.applied() == 0) break;
    if (pass.ChangesFacts()) context.InferChanged();
  }
  DropUnusedConstants(graph);
  for (const NodeId id : graph.Nodes()) {
    for (Region& region : graph.node(id).regions) RunRounds(*region.graph, pass, scopes, record);
  }
}

Status PassDriver::Dump(const Graph& graph, std::string_view pass, std::string_view when) {
  if (options_.dump_path.empty()) return Ok();
  std::string number = std::to_string(dumped_);
  number.insert(0, number.size() < 3 ? 3 - number.size() : 0, '0');
  return DumpGraph(graph, options_.dump_path, Cat(number, "_", pass, "_", when));
}

}  // namespace asc
