// The graph: nodes and values in static single assignment form, held in stable containers and named by ids.
//
// Values come from: graph inputs, constants, variables (mutable storage; each version of it is a value), node outputs.
// Regions (bodies of If, Loop, Scan, functions) are graphs of their own. A region sees outer values only through explicit
// captures: its last inputs stand for them. So a captured value has ordinary uses, and a region compiles like any graph.
//
// Not thread-safe; a finished graph that nobody changes may be read from many threads.
#ifndef ASC_CORE_GRAPH_GRAPH_H_
#define ASC_CORE_GRAPH_GRAPH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/base/status.h"
#include "core/graph/attributes.h"
#include "core/graph/op_schema.h"
#include "core/tensor/any_value.h"
#include "core/tensor/format.h"

namespace asc {

class Graph;

template <typename Tag>
struct Id {
  int32_t index = -1;
  bool valid() const { return index >= 0; }
  auto operator<=>(const Id&) const = default;
};
using NodeId = Id<struct NodeTag>;
using ValueId = Id<struct ValueTag>;  // invalid: an absent optional input or output

// Where a node came from, in the user's words. Rewrites join the lists of all nodes that they replace.
struct Origin {
  std::string node;    // the user's node name
  std::string source;  // "file.py:12", where there is one
  auto operator<=>(const Origin&) const = default;
};

// One use of a value: input `slot` of `node`; slots from inputs.size() on are the captures of its regions, in order.
struct Use {
  NodeId node;
  size_t slot;
  auto operator<=>(const Use&) const = default;
};

struct Region {
  std::string name;               // the schema's name for it: "then_branch", "body"
  std::unique_ptr<Graph> graph;   // its last captures.size() inputs stand for the captures
  std::vector<ValueId> captures;  // values of the graph that owns the node
};

struct Node {
  NodeId id;
  const OpSchema* schema = nullptr;
  std::string name;  // unique in its graph, never empty
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  AttributeMap attributes;
  std::vector<Region> regions;
  std::vector<Origin> origins;
  int scope = 0;  // fusion scope that the node was built in; 0: none

  bool Is(std::string_view op, std::string_view domain = "") const {
    return schema->name == op && schema->domain == domain;
  }
  ValueId input(size_t i) const { return i < inputs.size() ? inputs[i] : ValueId(); }
  ValueId output(size_t i) const { return i < outputs.size() ? outputs[i] : ValueId(); }
  // For messages: the user's names, "conv1+bn1", or the node's own when it has no origin.
  std::string OriginText() const;
};

enum class ValueSource : uint8_t { kInput, kConstant, kVariable, kNode };

struct Value {
  ValueId id;
  std::string name;  // unique in its graph, never empty
  ValueSource source = ValueSource::kNode;
  ValueType type;
  Format origin_format = Format::kND;  // what the user said; shape rules know only the origin
  Layout storage;                      // what the compiler chose
  NodeId producer;                     // kNode: the node, and which of its outputs
  size_t producer_slot = 0;
  Tensor constant;                          // kConstant: the elements; kVariable: the initial ones
  std::optional<std::vector<Dim>> dims;     // elements of an integer tensor of rank 0 or 1, where known as expressions
  std::vector<Use> uses;                    // sorted by node, slot
  // All versions of one variable share this index into Graph::variables(); -1 for other values.
  int variable = -1;

  bool is_constant() const { return source == ValueSource::kConstant; }
};

struct GraphOutput {
  ValueId value;
  std::string name;  // what users ask for; stays when rewrites replace the value
};

struct Variable {
  std::string name;
  ValueId initial;  // the version that holds at the start of a run
  ValueId final;    // the version that holds at its end
};

class Graph {
 public:
  explicit Graph(std::string name = "graph") : name_(std::move(name)) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // ---- building ----
  ValueId AddInput(std::string_view name, ValueType type);
  ValueId AddConstant(std::string_view name, Tensor tensor);
  // A mutable value with storage that lives as long as the executable; gives its initial version.
  ValueId AddVariable(std::string_view name, Tensor initial);
  // Adds a node with `output_count` fresh output values of unknown type (named after the node; use RenameValue for others). No
  // inference: InferNode/InferGraph (infer.h) fill the types. An empty `name` makes one from the operator's method name.
  // An Assign node (schema->writes_variable) makes its output the next version of its first input's variable.
  NodeId AddNode(const OpSchema* schema, std::vector<ValueId> inputs, size_t output_count, AttributeMap attributes = {},
                 std::string_view name = "");
  // Gives the node a region; `captures` are values of this graph.
  Region& AddRegion(NodeId node, std::string_view region_name, std::unique_ptr<Graph> graph, std::vector<ValueId> captures);
  // Marks a value as a graph output; the same value may be one several times under different names.
  void AddOutput(ValueId value, std::string_view name = "");

  // What is in the graph now. RollBack takes out everything that was added since, also where an addition was cut short by
  // an exception (out of memory); what was there before must not have been changed meanwhile.
  struct Mark {
    size_t nodes, values, inputs, outputs, variables;
  };
  Mark mark() const { return {nodes_.size(), values_.size(), inputs_.size(), outputs_.size(), variables_.size()}; }
  void RollBack(const Mark& mark) noexcept;

  // ---- changing ----
  void SetInput(NodeId node, size_t slot, ValueId value);  // slots as in Use; an invalid id makes the input absent
  void AppendInput(NodeId node, ValueId value);
  // Drops absent inputs at the end.
  void TrimInputs(NodeId node);
  // Drops a region's capture number `i` together with the region's input for it, which must have no uses left.
  void RemoveCapture(NodeId node, size_t region, size_t i);
  // All uses of `from`, graph outputs included, become uses of `to`.
  void ReplaceUses(ValueId from, ValueId to);
  void RemoveNode(NodeId node);  // its outputs must have no uses and be no graph outputs
  // Makes output `slot`, which has no uses and is no graph output, absent; absent outputs at the end are dropped.
  void RemoveOutput(NodeId node, size_t slot);
  // Removes an input or constant without uses.
  void RemoveValue(ValueId value);
  void RenameValue(ValueId value, std::string_view name);
  void RenameNode(NodeId node, std::string_view name);
  // `base`, or base_1, base_2... where it is taken; names of values and of nodes are separate.
  std::string UniqueValueName(std::string_view base) const;
  std::string UniqueNodeName(std::string_view base) const;

  // ---- reading ----
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  Node& node(NodeId id) { return *nodes_[static_cast<size_t>(id.index)]; }
  const Node& node(NodeId id) const { return *nodes_[static_cast<size_t>(id.index)]; }
  Value& value(ValueId id) { return *values_[static_cast<size_t>(id.index)]; }
  const Value& value(ValueId id) const { return *values_[static_cast<size_t>(id.index)]; }
  bool Has(NodeId id) const { return id.valid() && static_cast<size_t>(id.index) < nodes_.size() && nodes_[id.index]; }
  bool Has(ValueId id) const { return id.valid() && static_cast<size_t>(id.index) < values_.size() && values_[id.index]; }
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<GraphOutput>& outputs() const { return outputs_; }
  std::vector<GraphOutput>& outputs() { return outputs_; }
  const std::vector<Variable>& variables() const { return variables_; }
  // Live ids in order of creation.
  std::vector<NodeId> Nodes() const;
  std::vector<ValueId> Values() const;
  size_t node_count() const { return live_nodes_; }
  // One past the largest index that was ever given: sizes for side tables.
  size_t node_bound() const { return nodes_.size(); }
  size_t value_bound() const { return values_.size(); }
  ValueId FindValue(std::string_view name) const;  // invalid when there is none
  NodeId FindNode(std::string_view name) const;
  bool IsOutput(ValueId value) const;
  // The node that makes the value; null for inputs, constants and variables.
  const Node* Producer(ValueId value) const;
  // The constant behind a value; null when it is not one.
  const Tensor* Constant(ValueId value) const;
  // Exactly one use, and not a graph output.
  bool HasSingleUse(ValueId value) const;
  // Inputs and captures in slot order.
  std::vector<ValueId> AllInputs(NodeId node) const;

  // Producers before users; readers of a variable's version before the Assign that overwrites it; ties by id. E5005 naming a
  // node of the cycle when there is one.
  Result<std::vector<NodeId>> TopologicalOrder() const;

  // A deep copy; constants share buffers, ids and names stay.
  std::unique_ptr<Graph> Clone() const;

  std::map<std::string, std::string>& metadata() { return metadata_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  Value& NewValue(std::string_view name, ValueSource source, ValueType type);
  void AddUse(ValueId value, Use use);
  void DropUse(ValueId value, Use use);

  std::string name_;
  std::vector<std::unique_ptr<Node>> nodes_;    // null: removed
  std::vector<std::unique_ptr<Value>> values_;  // null: removed
  size_t live_nodes_ = 0;
  std::vector<ValueId> inputs_;
  std::vector<GraphOutput> outputs_;
  std::vector<Variable> variables_;
  std::unordered_map<std::string, ValueId> value_names_;
  std::unordered_map<std::string, NodeId> node_names_;
  mutable std::unordered_map<std::string, int> name_counters_;  // so that making many names of one base stays linear
  std::map<std::string, std::string> metadata_;
};

// Joins origin lists without doubles, in order.
void AppendOrigins(std::vector<Origin>& to, const std::vector<Origin>& from);

}  // namespace asc

#endif  // ASC_CORE_GRAPH_GRAPH_H_
