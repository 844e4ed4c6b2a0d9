#include "core/graph/graph.h"

#include <algorithm>
#include <cassert>
#include <queue>

namespace asc {

std::string Node::OriginText() const {
  if (origins.empty()) return name;
  std::string text;
  for (const Origin& origin : origins) {
    if (!text.empty()) text += '+';
    text += origin.node;
    if (!origin.source.empty()) text += Cat(" (", origin.source, ")");
  }
  return text;
}

void AppendOrigins(std::vector<Origin>& to, const std::vector<Origin>& from) {
  for (const Origin& origin : from) {
    if (std::find(to.begin(), to.end(), origin) == to.end()) to.push_back(origin);
  }
}

namespace {
template <typename IdType>
std::string UniqueName(std::string_view base, const std::unordered_map<std::string, IdType>& taken,
                       std::unordered_map<std::string, int>& counters, char kind) {
  std::string name(base.empty() ? "value" : base);
  if (!taken.contains(name)) return name;
  int& counter = counters[kind + name];
  std::string candidate;
  do {
    candidate = Cat(name, "_", ++counter);
  } while (taken.contains(candidate));
  return candidate;
}
}  // namespace

std::string Graph::UniqueValueName(std::string_view base) const {
  return UniqueName(base, value_names_, name_counters_, 'v');
}

std::string Graph::UniqueNodeName(std::string_view base) const {
  return UniqueName(base.empty() ? "node" : base, node_names_, name_counters_, 'n');
}

Value& Graph::NewValue(std::string_view name, ValueSource source, ValueType type) {
  auto value = std::make_unique<Value>();
  value->id = ValueId{static_cast<int32_t>(values_.size())};
  value->name = UniqueValueName(name);
  value->source = source;
  value->type = std::move(type);
  value_names_.emplace(value->name, value->id);
  values_.push_back(std::move(value));
  return *values_.back();
}

ValueId Graph::AddInput(std::string_view name, ValueType type) {
  const ValueId id = NewValue(name, ValueSource::kInput, std::move(type)).id;
  inputs_.push_back(id);
  return id;
}

ValueId Graph::AddConstant(std::string_view name, Tensor tensor) {
  Value& value = NewValue(name, ValueSource::kConstant, ValueType::Tensor(tensor.dtype(), Shape(tensor.dims())));
  value.constant = std::move(tensor);
  return value.id;
}

ValueId Graph::AddVariable(std::string_view name, Tensor initial) {
  Value& value = NewValue(name, ValueSource::kVariable, ValueType::Tensor(initial.dtype(), Shape(initial.dims())));
  value.constant = std::move(initial);
  value.variable = static_cast<int>(variables_.size());
  variables_.push_back({value.name, value.id, value.id});
  return value.id;
}

NodeId Graph::AddNode(const OpSchema* schema, std::vector<ValueId> inputs, size_t output_count, AttributeMap attributes,
                      std::string_view name) {
  auto node = std::make_unique<Node>();
  const NodeId id{static_cast<int32_t>(nodes_.size())};
  node->id = id;
  node->schema = schema;
  node->name = UniqueNodeName(name.empty() ? schema->method : name);
  node->attributes = std::move(attributes);
  node->inputs = std::move(inputs);
  node_names_.emplace(node->name, id);
  nodes_.push_back(std::move(node));
  ++live_nodes_;
  Node& added = *nodes_.back();
  for (size_t i = 0; i < added.inputs.size(); ++i) AddUse(added.inputs[i], {id, i});
  for (size_t i = 0; i < output_count; ++i) {
    Value& value = NewValue(Cat(added.name, "_out"), ValueSource::kNode, ValueType());
    value.producer = id;
    value.producer_slot = i;
    added.outputs.push_back(value.id);
  }
  if (schema->writes_variable && output_count > 0 && Has(added.input(0))) {
    const Value& overwritten = this->value(added.inputs[0]);
    Value& next = this->value(added.outputs[0]);
    next.variable = overwritten.variable;
    next.type = overwritten.type;
    if (next.variable >= 0) variables_[static_cast<size_t>(next.variable)].final = next.id;
  }
  return id;
}

Region& Graph::AddRegion(NodeId node_id, std::string_view region_name, std::unique_ptr<Graph> graph,
                         std::vector<ValueId> captures) {
  Node& owner = node(node_id);
  size_t slot = AllInputs(node_id).size();
  for (const ValueId capture : captures) AddUse(capture, {node_id, slot++});
  owner.regions.push_back({std::string(region_name), std::move(graph), std::move(captures)});
  return owner.regions.back();
}

void Graph::AddOutput(ValueId id, std::string_view name) {
  outputs_.push_back({id, std::string(name.empty() ? std::string_view(value(id).name) : name)});
}

void Graph::AddUse(ValueId id, Use use) {
  if (!id.valid()) return;
  auto& uses = value(id).uses;
  uses.insert(std::upper_bound(uses.begin(), uses.end(), use), use);
}

void Graph::DropUse(ValueId id, Use use) {
  if (!id.valid()) return;
  auto& uses = value(id).uses;
  const auto it = std::find(uses.begin(), uses.end(), use);
  assert(it != uses.end());
  uses.erase(it);
}

namespace {
ValueId& SlotOf(Node& node, size_t slot) {
  if (slot < node.inputs.size()) return node.inputs[slot];
  slot -= node.inputs.size();
  for (Region& region : node.regions) {
    if (slot < region.captures.size()) return region.captures[slot];
    slot -= region.captures.size();
  }
  assert(false && "slot out of range");
  return node.inputs[0];
}
}  // namespace

void Graph::SetInput(NodeId node_id, size_t slot, ValueId to) {
  ValueId& at = SlotOf(node(node_id), slot);
  DropUse(at, {node_id, slot});
  at = to;
  AddUse(to, {node_id, slot});
}

void Graph::AppendInput(NodeId node_id, ValueId id) {
  Node& changed = node(node_id);
  const size_t slot = changed.inputs.size();
  // Captures come after the inputs: their slots move up by one.
  size_t capture_slot = AllInputs(node_id).size();
  for (auto region = changed.regions.rbegin(); region != changed.regions.rend(); ++region) {
    for (auto capture = region->captures.rbegin(); capture != region->captures.rend(); ++capture) {
      --capture_slot;
      DropUse(*capture, {node_id, capture_slot});
      AddUse(*capture, {node_id, capture_slot + 1});
    }
  }
  changed.inputs.push_back(id);
  AddUse(id, {node_id, slot});
}

void Graph::TrimInputs(NodeId node_id) {
  Node& changed = node(node_id);
  if (!changed.regions.empty()) return;
  while (!changed.inputs.empty() && !changed.inputs.back().valid()) changed.inputs.pop_back();
}

void Graph::RemoveCapture(NodeId node_id, size_t region_index, size_t i) {
  const std::vector<ValueId> before = AllInputs(node_id);
  for (size_t slot = 0; slot < before.size(); ++slot) DropUse(before[slot], {node_id, slot});
  Region& region = node(node_id).regions[region_index];
  Graph& body = *region.graph;
  const size_t input = body.inputs_.size() - region.captures.size() + i;
  const ValueId inner = body.inputs_[input];
  region.captures.erase(region.captures.begin() + static_cast<ptrdiff_t>(i));
  body.inputs_.erase(body.inputs_.begin() + static_cast<ptrdiff_t>(input));
  body.value_names_.erase(body.value(inner).name);
  body.values_[static_cast<size_t>(inner.index)].reset();
  const std::vector<ValueId> after = AllInputs(node_id);
  for (size_t slot = 0; slot < after.size(); ++slot) AddUse(after[slot], {node_id, slot});
}

void Graph::ReplaceUses(ValueId from, ValueId to) {
  if (from == to) return;
  const std::vector<Use> uses = value(from).uses;
  for (const Use& use : uses) SetInput(use.node, use.slot, to);
  for (GraphOutput& output : outputs_) {
    if (output.value == from) output.value = to;
  }
}

void Graph::RemoveNode(NodeId id) {
  Node& removed = node(id);
  const std::vector<ValueId> all = AllInputs(id);
  for (size_t slot = 0; slot < all.size(); ++slot) DropUse(all[slot], {id, slot});
  for (const ValueId output : removed.outputs) {
    if (!output.valid()) continue;
    assert(value(output).uses.empty() && !IsOutput(output));
    const int variable = value(output).variable;
    if (variable >= 0 && variables_[static_cast<size_t>(variable)].final == output) {
      variables_[static_cast<size_t>(variable)].final = removed.inputs[0];
    }
    value_names_.erase(value(output).name);
    values_[static_cast<size_t>(output.index)].reset();
  }
  node_names_.erase(removed.name);
  nodes_[static_cast<size_t>(id.index)].reset();
  --live_nodes_;
}

void Graph::RemoveOutput(NodeId node_id, size_t slot) {
  Node& changed = node(node_id);
  const ValueId id = changed.outputs[slot];
  if (id.valid()) {
    assert(value(id).uses.empty() && !IsOutput(id) && value(id).variable < 0);
    value_names_.erase(value(id).name);
    values_[static_cast<size_t>(id.index)].reset();
    changed.outputs[slot] = ValueId();
  }
  while (!changed.outputs.empty() && !changed.outputs.back().valid()) changed.outputs.pop_back();
}

void Graph::RemoveValue(ValueId id) {
  assert(value(id).uses.empty() && value(id).source != ValueSource::kNode && !IsOutput(id));
  std::erase(inputs_, id);
  value_names_.erase(value(id).name);
  values_[static_cast<size_t>(id.index)].reset();
}

void Graph::RenameValue(ValueId id, std::string_view name) {
  Value& renamed = value(id);
  if (renamed.name == name) return;
  value_names_.erase(renamed.name);
  renamed.name = UniqueValueName(name);
  value_names_.emplace(renamed.name, id);
}

void Graph::RenameNode(NodeId id, std::string_view name) {
  Node& renamed = node(id);
  if (renamed.name == name) return;
  node_names_.erase(renamed.name);
  renamed.name = UniqueNodeName(name);
  node_names_.emplace(renamed.name, id);
}

void Graph::RollBack(const Mark& mark) noexcept {
  const auto is_new_node = [&](NodeId id) { return id.index >= static_cast<int32_t>(mark.nodes); };
  const auto is_new_value = [&](ValueId id) { return id.index >= static_cast<int32_t>(mark.values); };
  std::erase_if(value_names_, [&](const auto& entry) { return is_new_value(entry.second); });
  std::erase_if(node_names_, [&](const auto& entry) { return is_new_node(entry.second); });
  nodes_.resize(std::min(nodes_.size(), mark.nodes));
  values_.resize(std::min(values_.size(), mark.values));
  inputs_.resize(std::min(inputs_.size(), mark.inputs));
  outputs_.resize(std::min(outputs_.size(), mark.outputs));
  variables_.resize(std::min(variables_.size(), mark.variables));
  live_nodes_ = static_cast<size_t>(std::count_if(nodes_.begin(), nodes_.end(), [](const auto& node) { return node != nullptr; }));
  for (const auto& value : values_) {
    if (value == nullptr) continue;
    std::erase_if(value->uses, [&](const Use& use) { return is_new_node(use.node); });
    // Versions of a variable come in order of their ids.
    if (value->variable >= 0 && is_new_value(variables_[static_cast<size_t>(value->variable)].final)) {
      Variable& variable = variables_[static_cast<size_t>(value->variable)];
      variable.final = variable.initial;
    }
  }
  for (const auto& value : values_) {
    if (value == nullptr || value->variable < 0) continue;
    ValueId& final = variables_[static_cast<size_t>(value->variable)].final;
    final = std::max(final, value->id);
  }
}

std::vector<NodeId> Graph::Nodes() const {
  std::vector<NodeId> out;
  out.reserve(live_nodes_);
  for (const auto& node : nodes_) {
    if (node) out.push_back(node->id);
  }
  return out;
}

std::vector<ValueId> Graph::Values() const {
  std::vector<ValueId> out;
  for (const auto& value : values_) {
    if (value) out.push_back(value->id);
  }
  return out;
}

ValueId Graph::FindValue(std::string_view name) const {
  const auto it = value_names_.find(std::string(name));
  return it == value_names_.end() ? ValueId() : it->second;
}

NodeId Graph::FindNode(std::string_view name) const {
  const auto it = node_names_.find(std::string(name));
  return it == node_names_.end() ? NodeId() : it->second;
}

bool Graph::IsOutput(ValueId id) const {
  return std::any_of(outputs_.begin(), outputs_.end(), [&](const GraphOutput& output) { return output.value == id; });
}

const Node* Graph::Producer(ValueId id) const {
  if (!id.valid() || value(id).source != ValueSource::kNode) return nullptr;
  return &node(value(id).producer);
}

const Tensor* Graph::Constant(ValueId id) const {
  return id.valid() && value(id).is_constant() ? &value(id).constant : nullptr;
}

bool Graph::HasSingleUse(ValueId id) const { return value(id).uses.size() == 1 && !IsOutput(id); }

std::vector<ValueId> Graph::AllInputs(NodeId id) const {
  const Node& of = node(id);
  std::vector<ValueId> all = of.inputs;
  for (const Region& region : of.regions) all.insert(all.end(), region.captures.begin(), region.captures.end());
  return all;
}

namespace {
// Calls f(other) for each node that must come before `node`, as often as it is one.
template <typename F>
void ForEachBefore(const Graph& graph, const Node& node, F&& f) {
  const auto producer = [&](ValueId input) {
    if (input.valid() && graph.value(input).source == ValueSource::kNode) f(graph.value(input).producer);
  };
  for (const ValueId input : node.inputs) producer(input);
  for (const Region& region : node.regions) {
    for (const ValueId capture : region.captures) producer(capture);
  }
  if (!node.schema->writes_variable || !graph.Has(node.input(0))) return;
  for (const Use& use : graph.value(node.inputs[0]).uses) {
    if (use.node != node.id) f(use.node);
  }
}
}  // namespace

Result<std::vector<NodeId>> Graph::TopologicalOrder() const {
  std::vector<int> waiting(nodes_.size(), 0);
  // Where the edges of each node to those that wait for it begin.
  std::vector<int> first(nodes_.size() + 1, 0);
  bool by_id = true;
  for (const auto& node : nodes_) {
    if (!node) continue;
    ForEachBefore(*this, *node, [&](NodeId before) {
      ++waiting[static_cast<size_t>(node->id.index)];
      ++first[static_cast<size_t>(before.index) + 1];
      by_id = by_id && before < node->id;
    });
  }
  // Ids in order, as builders and importers give them.
  if (by_id) return Nodes();
  for (size_t i = 0; i < nodes_.size(); ++i) first[i + 1] += first[i];
  std::vector<NodeId> after(static_cast<size_t>(first.back()));
  std::vector<int> next = first;
  for (const auto& node : nodes_) {
    if (!node) continue;
    ForEachBefore(*this, *node, [&](NodeId before) {
      after[static_cast<size_t>(next[static_cast<size_t>(before.index)]++)] = node->id;
    });
  }
  std::vector<NodeId> heap;
  heap.reserve(live_nodes_);
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready(std::greater<>(), std::move(heap));
  for (const auto& node : nodes_) {
    if (node && waiting[static_cast<size_t>(node->id.index)] == 0) ready.push(node->id);
  }
  std::vector<NodeId> order;
  order.reserve(live_nodes_);
  while (!ready.empty()) {
    const NodeId id = ready.top();
    ready.pop();
    order.push_back(id);
    const auto index = static_cast<size_t>(id.index);
    for (int i = first[index]; i < first[index + 1]; ++i) {
      const NodeId then = after[static_cast<size_t>(i)];
      if (--waiting[static_cast<size_t>(then.index)] == 0) ready.push(then);
    }
  }
  if (order.size() != live_nodes_) {
    for (const auto& node : nodes_) {
      if (node && waiting[static_cast<size_t>(node->id.index)] > 0) {
        return Error(Code::kInvalidGraph, "the graph is not acyclic: node '", node->name, "' waits for its own result")
            .WithNode(node->OriginText());
      }
    }
  }
  return order;
}

std::unique_ptr<Graph> Graph::Clone() const {
  auto copy = std::make_unique<Graph>(name_);
  for (const auto& node : nodes_) {
    if (!node) {
      copy->nodes_.push_back(nullptr);
      continue;
    }
    auto twin = std::make_unique<Node>();
    twin->id = node->id;
    twin->schema = node->schema;
    twin->name = node->name;
    twin->inputs = node->inputs;
    twin->outputs = node->outputs;
    twin->attributes = node->attributes;
    twin->origins = node->origins;
    twin->scope = node->scope;
    for (const Region& region : node->regions) {
      twin->regions.push_back({region.name, region.graph->Clone(), region.captures});
    }
    copy->nodes_.push_back(std::move(twin));
  }
  for (const auto& value : values_) copy->values_.push_back(value ? std::make_unique<Value>(*value) : nullptr);
  copy->live_nodes_ = live_nodes_;
  copy->inputs_ = inputs_;
  copy->outputs_ = outputs_;
  copy->variables_ = variables_;
  copy->value_names_ = value_names_;
  copy->node_names_ = node_names_;
  copy->name_counters_ = name_counters_;
  copy->metadata_ = metadata_;
  return copy;
}

}  // namespace asc
