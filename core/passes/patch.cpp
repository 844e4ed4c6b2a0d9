#include "core/passes/patch.h"

#include <algorithm>
#include <unordered_map>

#include "core/graph/infer.h"
#include "core/passes/inline_region.h"

namespace asc {

ValueId Patch::AddConstant(Tensor tensor, std::string_view name) {
  constants_.push_back({std::move(tensor), std::string(name), NewId()});
  return constants_.back().id;
}

ValueId Patch::AddNode(const OpSchema* schema, std::vector<ValueId> inputs,
                       AttributeMap attributes) {
  return AddNode(schema, std::move(inputs), std::move(attributes), 1)[0];
}

std::vector<ValueId> Patch::AddNode(const OpSchema* schema, std::vector<ValueId> inputs,
                                    AttributeMap attributes, size_t output_count) {
  std::vector<ValueId> outputs;
  for (size_t i = 0; i < output_count; ++i) outputs.push_back(NewId());
  nodes_.push_back({schema, std::move(inputs), std::move(attributes), outputs, "", NodeId()});
  return outputs;
}

void Patch::Describe(ValueId made, std::string name, NodeId origins_of) {
  for (NewNode& node : nodes_) {
    if (std::find(node.outputs.begin(), node.outputs.end(), made) == node.outputs.end()) continue;
    node.name = std::move(name);
    node.origins_of = origins_of;
    return;
  }
}

std::vector<NodeId> Patch::TouchedNodes() const {
  std::vector<NodeId> out = {anchor_};
  const auto add = [&](NodeId id) {
    if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
  };
  for (const NodeId id : removed_) add(id);
  for (const NodeId id : matched_) add(id);
  for (const InputChange& change : inputs_) add(change.node);
  for (const auto& [id, slot] : removed_outputs_) add(id);
  for (const auto& [id, region] : inlined_) add(id);
  for (const CaptureChange& change : captures_) add(change.node);
  return out;
}

class PatchApplier {
 public:
  PatchApplier(Graph& graph, const Patch& patch, int scope)
      : graph_(graph), patch_(patch), scope_(scope) {}

  Result<AppliedPatch> Run() {
    ASC_RETURN_IF_ERROR(CheckIds());
    ASC_RETURN_IF_ERROR(CheckRemovals());
    if (Status status = AddNewValues(); !status.ok()) {
      Undo();
      return status;
    }
    if (Status status = CheckReplacements(); !status.ok()) {
      Undo();
      return status;
    }
    Commit();
    return AppliedPatch{added_nodes_, Users()};
  }

 private:
  bool Exists(ValueId id) const {
    return Patch::IsNew(id) ? id.index < Patch::kFirstNew + patch_.new_values_ : graph_.Has(id);
  }
  ValueId Resolve(ValueId id) const { return Patch::IsNew(id) ? resolved_.at(id.index) : id; }

  template <typename... Args>
  Status Refuse(const Args&... args) const {
    return InternalError("rewrite '", patch_.rule_, "': ", args...);
  }

  Status CheckIds() const {
    for (const NodeId id : patch_.TouchedNodes()) {
      if (!graph_.Has(id)) return Refuse("node number ", id.index, " does not exist");
    }
    for (const auto& node : patch_.nodes_) {
      if (node.schema == nullptr) return Refuse("the operator of a new node is not registered");
      for (const ValueId input : node.inputs) {
        if (input.valid() && !Exists(input))
          return Refuse("an operand of a new node does not exist");
      }
    }
    for (const auto& [from, to] : patch_.replacements_) {
      if (Patch::IsNew(from) || !graph_.Has(from) || !Exists(to))
        return Refuse("a replaced value does not exist");
    }
    for (const auto& change : patch_.inputs_) {
      if (change.to.valid() && !Exists(change.to)) return Refuse("a new operand does not exist");
      if (change.slot >= graph_.AllInputs(change.node).size())
        return Refuse("operand ", change.slot, " does not exist");
    }
    return Ok();
  }

  bool Removed(NodeId id) const {
    return std::find(patch_.removed_.begin(), patch_.removed_.end(), id) != patch_.removed_.end();
  }
  bool Replaced(ValueId id) const {
    return std::any_of(patch_.replacements_.begin(), patch_.replacements_.end(),
                       [&](const auto& pair) { return pair.first == id; });
  }
  bool InputChanges(const Use& use) const {
    return std::any_of(patch_.inputs_.begin(), patch_.inputs_.end(), [&](const auto& change) {
      return change.node == use.node && change.slot == use.slot;
    });
  }

  // A result of a removed node must have lost all its users by the time that the node goes.
  Status CheckRemovals() const {
    for (const NodeId id : patch_.removed_) {
      const Node& node = graph_.node(id);
      if (node.schema->writes_variable)
        return Refuse("node '", node.name, "' writes a variable and must stay");
      for (const ValueId output : node.outputs) {
        if (!output.valid() || Replaced(output)) continue;
        if (graph_.IsOutput(output))
          return Refuse("value '", graph_.value(output).name, "' is a graph output and must stay");
        for (const Use& use : graph_.value(output).uses) {
          if (!Removed(use.node) && !InputChanges(use)) {
            return Refuse("value '", graph_.value(output).name, "' is still used by node '",
                          graph_.node(use.node).name, "'");
          }
        }
      }
    }
    for (const auto& [id, slot] : patch_.removed_outputs_) {
      const ValueId output = graph_.node(id).output(slot);
      if (output.valid() && (!graph_.value(output).uses.empty() || graph_.IsOutput(output))) {
        return Refuse("output '", graph_.value(output).name, "' is still used");
      }
    }
    return Ok();
  }

  Status AddNewValues() {
    for (const auto& [from, to] : patch_.replacements_)
      old_uses_.push_back(graph_.value(from).uses);
    for (const auto& constant : patch_.constants_) {
      resolved_[constant.id.index] = graph_.AddConstant(constant.name, constant.tensor);
    }
    const std::vector<Origin> origins = RemovedOrigins();
    for (const auto& fresh : patch_.nodes_) {
      std::vector<ValueId> inputs;
      for (const ValueId input : fresh.inputs)
        inputs.push_back(input.valid() ? Resolve(input) : input);
      const NodeId id =
          graph_.AddNode(fresh.schema, std::move(inputs), fresh.outputs.size(), fresh.attributes);
      added_nodes_.push_back(id);
      graph_.TrimInputs(id);
      Node& node = graph_.node(id);
      node.origins = origins;
      if (graph_.Has(fresh.origins_of))
        AppendOrigins(node.origins, graph_.node(fresh.origins_of).origins);
      node.scope = scope_;
      for (size_t i = 0; i < fresh.outputs.size(); ++i)
        resolved_[fresh.outputs[i].index] = node.outputs[i];
      ASC_RETURN_IF_ERROR(InferNode(graph_, id));
    }
    return Ok();
  }

  std::vector<Origin> RemovedOrigins() const {
    std::vector<Origin> origins;
    for (const NodeId id : patch_.removed_) AppendOrigins(origins, graph_.node(id).origins);
    return origins;
  }

  void Undo() {
    for (auto id = added_nodes_.rbegin(); id != added_nodes_.rend(); ++id) graph_.RemoveNode(*id);
    for (const auto& constant : patch_.constants_)
      graph_.RemoveValue(resolved_.at(constant.id.index));
  }

  Layout NewStorage(ValueId id) const {
    for (const auto& [value, layout] : patch_.storages_) {
      if (value == id) return layout;
    }
    return Patch::IsNew(id) ? Layout{} : graph_.value(id).storage;
  }

  Status CheckReplacements() {
    for (const auto& [from, to] : patch_.replacements_) {
      const Value& old_value = graph_.value(from);
      const Value& new_value = graph_.value(Resolve(to));
      Result<ValueType> merged = MergeTypes(new_value.type, old_value.type);
      if (!merged.ok()) {
        return Refuse("value '", old_value.name, "' of type ", old_value.type, " cannot become ",
                      new_value.type);
      }
      if (!Patch::IsNew(to) && NewStorage(to) != NewStorage(from)) {
        return Refuse("value '", old_value.name, "' is stored as ", NewStorage(from),
                      ", its replacement as ", NewStorage(to));
      }
      merged_.push_back(std::move(merged).value());
    }
    return Ok();
  }

  void Commit() {
    const std::string base = graph_.node(patch_.anchor_).name;
    const std::vector<NodeId> fresh = added_nodes_;
    for (const auto& change : patch_.inputs_) {
      graph_.SetInput(change.node, change.slot, change.to.valid() ? Resolve(change.to) : change.to);
    }
    for (size_t i = 0; i < patch_.replacements_.size(); ++i) {
      const auto& [from, to] = patch_.replacements_[i];
      Replace(from, to, old_uses_[i], merged_[i]);
    }
    for (const auto& [value, layout] : patch_.storages_)
      graph_.value(Resolve(value)).storage = layout;
    for (const auto& [id, region] : patch_.inlined_) {
      const std::vector<NodeId> inner = InlineRegionGraph(graph_, id, region);
      added_nodes_.insert(added_nodes_.end(), inner.begin(), inner.end());
    }
    for (const auto& change : patch_.captures_) ChangeCapture(change);
    for (const NodeId id : patch_.joined_) AppendOrigins(graph_.node(id).origins, RemovedOrigins());
    for (const auto& [id, slot] : patch_.removed_outputs_) graph_.RemoveOutput(id, slot);
    RemoveNodes();
    for (size_t i = 0; i < fresh.size(); ++i) {
      const std::string& wish = patch_.nodes_[i].name;
      graph_.RenameNode(fresh[i], wish.empty() ? base : wish);
    }
    // The user's name goes over to what computes the value now.
    for (const auto& [value, name] : names_) {
      if (!graph_.FindValue(name).valid()) graph_.RenameValue(value, name);
    }
  }

  void Replace(ValueId from, ValueId to, const std::vector<Use>& uses, const ValueType& type) {
    const ValueId target = Resolve(to);
    for (const Use& use : uses) {
      // An operand that the patch changes by itself is no use of `from` any more.
      if (!InputChanges(use)) graph_.SetInput(use.node, use.slot, target);
    }
    for (GraphOutput& output : graph_.outputs()) {
      if (output.value == from) output.value = target;
    }
    if (!Patch::IsNew(to)) return;
    Value& value = graph_.value(target);
    const Value& replaced = graph_.value(from);
    if (!value.is_constant()) {
      value.type = type;
      if (!value.dims) value.dims = replaced.dims;
    }
    if (value.origin_format == Format::kND) value.origin_format = replaced.origin_format;
    value.storage = replaced.storage;
    names_.emplace_back(target, replaced.name);
  }

  void ChangeCapture(const Patch::CaptureChange& change) {
    Region& region = graph_.node(change.node).regions[change.region];
    Graph& body = *region.graph;
    const ValueId inner =
        body.inputs()[body.inputs().size() - region.captures.size() + change.capture];
    if (change.sink) {
      const ValueId outer = region.captures[change.capture];
      const std::string name = body.value(inner).name;
      const ValueId constant = body.AddConstant(name, graph_.value(outer).constant);
      body.ReplaceUses(inner, constant);
      graph_.RemoveCapture(change.node, change.region, change.capture);
      body.RenameValue(constant, name);
    } else {
      graph_.RemoveCapture(change.node, change.region, change.capture);
    }
  }

  std::vector<NodeId> Users() const {
    // What comes out of an inlined region may be any value of the outer graph.
    if (!patch_.inlined_.empty()) return graph_.Nodes();
    std::vector<NodeId> users;
    const auto add_users = [&](ValueId id) {
      if (!graph_.Has(id)) return;
      for (const Use& use : graph_.value(id).uses) users.push_back(use.node);
    };
    for (const auto& [from, to] : patch_.replacements_) add_users(Resolve(to));
    for (const auto& change : patch_.inputs_) users.push_back(change.node);
    for (const NodeId id : added_nodes_) {
      for (const ValueId output : graph_.node(id).outputs) add_users(output);
    }
    return users;
  }

  void RemoveNodes() {
    std::vector<NodeId> left = patch_.removed_;
    // Users first: each sweep takes what nothing uses any more.
    for (bool progress = true; progress && !left.empty();) {
      progress = false;
      for (auto it = left.begin(); it != left.end();) {
        const auto& outputs = graph_.node(*it).outputs;
        const bool free = std::all_of(outputs.begin(), outputs.end(), [&](ValueId id) {
          return !id.valid() || graph_.value(id).uses.empty();
        });
        if (!free) {
          ++it;
          continue;
        }
        graph_.RemoveNode(*it);
        it = left.erase(it);
        progress = true;
      }
    }
  }

  Graph& graph_;
  const Patch& patch_;
  const int scope_;
  std::unordered_map<int32_t, ValueId> resolved_;
  std::vector<NodeId> added_nodes_;
  std::vector<std::vector<Use>> old_uses_;  // by replacement
  std::vector<ValueType> merged_;           // by replacement
  std::vector<std::pair<ValueId, std::string>> names_;
};

Result<AppliedPatch> ApplyPatch(Graph& graph, const Patch& patch, int scope) {
  return PatchApplier(graph, patch, scope).Run();
}

}  // namespace asc
