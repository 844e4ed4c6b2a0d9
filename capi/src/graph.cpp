#include "capi/src/graph.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "capi/src/attributes.h"
#include "capi/src/import.h"
#include "capi/src/method_attributes.h"
#include "capi/src/pinned.h"
#include "capi/src/registry.h"
#include "capi/src/type.h"
#include "capi/src/value.h"
#include "core/graph/builder.h"
#include "core/graph/dot.h"
#include "core/graph/origin_format.h"
#include "core/graph/text.h"

using asc::Cat;
using asc::Code;
using asc::Graph;
using asc::GraphOutput;
using asc::InvalidArgument;
using asc::NodeId;
using asc::Ok;
using asc::Status;
using asc::Tensor;
using asc::ValueId;
using asc::capi::GraphState;
using asc::capi::Guard;
using asc::capi::Lend;
using asc::capi::View;

namespace asc::capi {
namespace {
std::atomic<int64_t> last_serial{0};
}

GraphState::GraphState(std::unique_ptr<Graph> built, std::vector<std::string> defaults)
    : graph(std::move(built)), serial(++last_serial), inputs_with_default(std::move(defaults)) {}

Result<ValueId> GraphState::ValueOf(asc_value_id id, std::string_view argument) const {
  const ValueId value{static_cast<int32_t>(id & 0xffffffff)};
  if (id >> 32 != serial) {
    return InvalidArgument("argument '", argument, "' is no value of graph '", graph->name(), "'")
        .WithHint("build all operands in the same graph");
  }
  if (!graph->Has(value))
    return InvalidArgument("argument '", argument, "' names a value that graph '", graph->name(),
                           "' lacks");
  return value;
}

Result<std::vector<ValueId>> GraphState::ValuesOf(const asc_value_id* ids, size_t count,
                                                  std::string_view argument,
                                                  bool may_be_absent) const {
  ASC_RETURN_IF_ERROR(CheckArray(ids, count, argument));
  std::vector<ValueId> values(count);
  for (size_t i = 0; i < count; ++i) {
    if (may_be_absent && ids[i] == ASC_ABSENT) continue;
    ASC_ASSIGN_OR_RETURN(values[i], ValueOf(ids[i], argument));
  }
  return values;
}

namespace {
// Guard for what adds to a graph: when memory runs out halfway, the graph is as it was.
template <typename F>
asc_status* GuardAddition(asc_graph* graph, F&& add) noexcept {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    Graph& to = *(*graph)->graph;
    const Graph::Mark mark = to.mark();
    try {
      Status status = add(**graph, to);
      if (!status.ok()) to.RollBack(mark);
      return status;
    } catch (...) {
      to.RollBack(mark);
      throw;
    }
  });
}

// Names the hint after what the graph has.
Status NoSuchValue(const Graph& graph, std::string_view name) {
  std::vector<std::string> names;
  for (const ValueId id : graph.Values()) names.push_back(graph.value(id).name);
  Status status = Error(Code::kNotFound, "graph '", graph.name(), "' has no value '", name, "'");
  const std::string nearest = NearestMatch(name, names);
  return nearest.empty() ? status
                         : std::move(status).WithHint(Cat("did you mean '", nearest, "'?"));
}

Result<std::vector<Region>> RegionsOf(const GraphState& state, const asc_regions* regions) {
  std::vector<Region> out;
  if (regions == nullptr) return out;
  ASC_NEED_HANDLE(regions);
  for (const RegionSpec& spec : **regions) {
    ASC_ASSIGN_OR_RETURN(
        std::vector<ValueId> captures,
        state.ValuesOf(spec.captures.data(), spec.captures.size(), "captures", false));
    out.push_back({spec.name, spec.body->Clone(), std::move(captures)});
  }
  return out;
}

int64_t RankOf(const Graph& graph, const std::vector<ValueId>& inputs) {
  if (inputs.empty() || !inputs[0].valid()) return -1;
  const ValueType& type = graph.value(inputs[0]).type;
  return type.is_tensor() && type.shape.has_rank() ? static_cast<int64_t>(type.shape.rank()) : -1;
}
}  // namespace
}  // namespace asc::capi

using asc::capi::GuardAddition;

asc_status* asc_graph_create(asc_string name, asc_graph** out) {
  return Guard([&]() -> Status {
    ASC_NEED_TEXT(name);
    ASC_NEED(out);
    *out = asc_graph::New(std::make_unique<Graph>(
        std::string(name.size == 0 ? std::string_view("graph") : View(name))));
    return Ok();
  });
}

asc_status* asc_graph_copy(const asc_graph* graph, asc_graph** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_NEED(out);
    *out = asc_graph::New((*graph)->graph->Clone(), **graph);
    return Ok();
  });
}

asc_status* asc_graph_import_file(asc_string path, asc_graph** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(asc::capi::ImportedModel model, asc::capi::ImportFile(path));
    std::vector<std::string> defaults = asc::capi::NamesOf(model.overridable);
    *out = asc_graph::New(std::move(model.graph), std::move(defaults));
    return Ok();
  });
}

asc_status* asc_graph_import_bytes(const asc_value* model, asc_graph** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(std::shared_ptr<asc::Buffer> bytes, asc::capi::ModelBytes(model));
    ASC_ASSIGN_OR_RETURN(asc::capi::ImportedModel imported,
                         asc::capi::ImportBytes(std::move(bytes)));
    std::vector<std::string> defaults = asc::capi::NamesOf(imported.overridable);
    *out = asc_graph::New(std::move(imported.graph), std::move(defaults));
    return Ok();
  });
}

void asc_graph_retain(asc_graph* graph) { asc_graph::Retain(graph); }
void asc_graph_release(asc_graph* graph) { asc_graph::Release(graph); }

asc_status* asc_graph_add_input(asc_graph* graph, asc_string name, const asc_type* type,
                                asc_value_id* out) {
  return GuardAddition(graph, [&](GraphState& state, Graph& to) -> Status {
    ASC_NEED_TEXT(name);
    ASC_NEED_HANDLE(type);
    ASC_NEED(out);
    *out = state.IdOf(to.AddInput(View(name), (*type)->type));
    return Ok();
  });
}

asc_status* asc_graph_add_constant(asc_graph* graph, asc_string name, const asc_value* tensor,
                                   asc_value_id* out) {
  return GuardAddition(graph, [&](GraphState& state, Graph& to) -> Status {
    ASC_NEED_TEXT(name);
    ASC_ASSIGN_OR_RETURN(Tensor shared, asc::capi::TensorOf(tensor, "tensor"));
    ASC_NEED(out);
    *out = state.IdOf(to.AddConstant(name.size == 0 ? std::string_view("constant") : View(name),
                                     std::move(shared)));
    return Ok();
  });
}

asc_status* asc_graph_remove_constant(asc_graph* graph, asc_value_id constant) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    Graph& from = *(*graph)->graph;
    ASC_ASSIGN_OR_RETURN(const ValueId id, (*graph)->ValueOf(constant, "constant"));
    const asc::Value& value = from.value(id);
    if (!value.is_constant()) return InvalidArgument("value '", value.name, "' is no constant");
    if (!value.uses.empty() || from.IsOutput(id))
      return InvalidArgument("constant '", value.name, "' is in use");
    from.RemoveValue(id);
    return Ok();
  });
}

asc_status* asc_graph_add_variable(asc_graph* graph, asc_string name, const asc_value* initial,
                                   asc_value_id* out) {
  return GuardAddition(graph, [&](GraphState& state, Graph& to) -> Status {
    ASC_NEED_TEXT(name);
    ASC_ASSIGN_OR_RETURN(Tensor shared, asc::capi::TensorOf(initial, "initial"));
    ASC_NEED(out);
    *out = state.IdOf(to.AddVariable(name.size == 0 ? std::string_view("variable") : View(name),
                                     std::move(shared)));
    return Ok();
  });
}

asc_status* asc_regions_create(asc_regions** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    *out = asc_regions::New();
    return Ok();
  });
}

asc_status* asc_regions_add(asc_regions* regions, asc_string name, const asc_graph* body,
                            const asc_value_id* captures, size_t count) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(regions);
    ASC_NEED_TEXT(name);
    ASC_NEED_HANDLE(body);
    ASC_NEED_ARRAY(captures, count);
    if (count > (*body)->graph->inputs().size()) {
      return InvalidArgument("region '", View(name), "' has ", (*body)->graph->inputs().size(),
                             " inputs, too few for ", count, " captures");
    }
    (*regions)->push_back(
        {std::string(View(name)), (*body)->graph->Clone(), {captures, captures + count}});
    return Ok();
  });
}

void asc_regions_retain(asc_regions* regions) { asc_regions::Retain(regions); }
void asc_regions_release(asc_regions* regions) { asc_regions::Release(regions); }

asc_status* asc_graph_add_operator(asc_graph* graph, asc_string operation,
                                   const asc_value_id* inputs, size_t input_count,
                                   const asc_attributes* attributes, const asc_regions* regions,
                                   asc_string name, size_t output_count, asc_value_id* outputs) {
  return GuardAddition(graph, [&](GraphState& state, Graph& to) -> Status {
    ASC_NEED_TEXT(operation);
    ASC_NEED_TEXT(name);
    ASC_NEED_ARRAY(outputs, output_count);
    if (attributes != nullptr) ASC_NEED_HANDLE(attributes);
    asc::NodeSpec spec;
    ASC_ASSIGN_OR_RETURN(spec.schema, asc::capi::FindOperator(View(operation)));
    ASC_ASSIGN_OR_RETURN(spec.inputs, state.ValuesOf(inputs, input_count, "inputs", true));
    ASC_ASSIGN_OR_RETURN(spec.regions, asc::capi::RegionsOf(state, regions));
    std::optional<std::string> pinned;
    if (attributes != nullptr) {
      asc::AttributeMap given = **attributes;
      if (const std::string* format = given.Get<std::string>("expected_format")) {
        pinned = *format;
        given.Erase("expected_format");
      }
      asc::Result<asc::AttributeMap> ready =
          asc::capi::AttributesOfMethod(*spec.schema, given, asc::capi::RankOf(to, spec.inputs));
      if (!ready.ok()) {
        return std::move(ready).status().WithNode(name.size == 0 ? spec.schema->method
                                                                 : View(name));
      }
      spec.attributes = std::move(ready).value();
    }
    spec.output_count = output_count;
    spec.name = View(name);
    spec.source = state.source;
    spec.scope = state.scope;
    std::vector<ValueId> results;
    if (pinned) {
      ASC_ASSIGN_OR_RETURN(results, asc::capi::BuildPinned(to, std::move(spec), *pinned));
    } else {
      ASC_ASSIGN_OR_RETURN(const NodeId node, asc::BuildNode(to, std::move(spec)));
      results = to.node(node).outputs;
    }
    for (size_t i = 0; i < output_count; ++i) outputs[i] = state.IdOf(results[i]);
    return Ok();
  });
}

asc_status* asc_graph_add_output(asc_graph* graph, asc_value_id value, asc_string name) {
  return GuardAddition(graph, [&](GraphState& state, Graph& to) -> Status {
    ASC_NEED_TEXT(name);
    ASC_ASSIGN_OR_RETURN(const ValueId id, state.ValueOf(value, "value"));
    const std::string_view wanted =
        name.size == 0 ? std::string_view(to.value(id).name) : View(name);
    for (const GraphOutput& output : to.outputs()) {
      if (output.name == wanted)
        return InvalidArgument("graph '", to.name(), "' has an output '", wanted, "' already");
    }
    to.AddOutput(id, wanted);
    return Ok();
  });
}

asc_status* asc_graph_add_leaf_outputs(asc_graph* graph) {
  return GuardAddition(graph, [&](GraphState&, Graph& to) -> Status {
    for (const ValueId id : to.Values()) {
      const asc::Value& value = to.value(id);
      if (value.source == asc::ValueSource::kNode && value.uses.empty() && !to.IsOutput(id))
        to.AddOutput(id);
    }
    return Ok();
  });
}

asc_status* asc_graph_set_source(asc_graph* graph, asc_string source) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_NEED_TEXT(source);
    (*graph)->source = View(source);
    return Ok();
  });
}

asc_status* asc_graph_set_scope(asc_graph* graph, int32_t scope) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    if (scope < 0) return InvalidArgument("a fusion scope's number is not negative, given ", scope);
    (*graph)->scope = scope;
    return Ok();
  });
}

asc_status* asc_graph_set_format(asc_graph* graph, asc_value_id value, asc_string format) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_NEED_TEXT(format);
    ASC_ASSIGN_OR_RETURN(const ValueId id, (*graph)->ValueOf(value, "value"));
    const auto parsed = asc::ParseFormat(View(format));
    if (!parsed) {
      const std::vector<std::string> names = asc::FormatNames();
      Status status =
          InvalidArgument("there is no format '", View(format), "'; expected one of ", names);
      const std::string nearest = asc::NearestMatch(View(format), names);
      return nearest.empty() ? status
                             : std::move(status).WithHint(Cat("did you mean '", nearest, "'?"));
    }
    (*graph)->graph->value(id).origin_format = *parsed;
    return Ok();
  });
}

asc_status* asc_graph_get_format(const asc_graph* graph, asc_value_id value, asc_string* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(const ValueId id, (*graph)->ValueOf(value, "value"));
    *out = Lend(asc::FormatName(asc::OriginFormatOf((*graph)->graph->value(id))));
    return Ok();
  });
}

asc_status* asc_graph_get_node_count(const asc_graph* graph, size_t* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_NEED(out);
    *out = (*graph)->graph->node_count();
    return Ok();
  });
}

asc_status* asc_graph_get_input_count(const asc_graph* graph, size_t* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_NEED(out);
    *out = (*graph)->graph->inputs().size();
    return Ok();
  });
}

asc_status* asc_graph_get_input(const asc_graph* graph, size_t index, asc_value_id* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_NEED(out);
    const auto& inputs = (*graph)->graph->inputs();
    if (index >= inputs.size())
      return asc::Error(Code::kOutOfRange, "input ", index, " of a graph that has ", inputs.size());
    *out = (*graph)->IdOf(inputs[index]);
    return Ok();
  });
}

asc_status* asc_graph_get_output_count(const asc_graph* graph, size_t* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_NEED(out);
    *out = std::as_const(*(*graph)->graph).outputs().size();
    return Ok();
  });
}

asc_status* asc_graph_get_output(const asc_graph* graph, size_t index, asc_string* name,
                                 asc_value_id* value) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_NEED(name);
    ASC_NEED(value);
    const auto& outputs = std::as_const(*(*graph)->graph).outputs();
    if (index >= outputs.size())
      return asc::Error(Code::kOutOfRange, "output ", index, " of a graph that has ",
                        outputs.size());
    *name = Lend(outputs[index].name);
    *value = (*graph)->IdOf(outputs[index].value);
    return Ok();
  });
}

asc_status* asc_graph_find_value(const asc_graph* graph, asc_string name, asc_value_id* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_NEED_TEXT(name);
    ASC_NEED(out);
    const ValueId id = (*graph)->graph->FindValue(View(name));
    if (!id.valid()) return asc::capi::NoSuchValue(*(*graph)->graph, View(name));
    *out = (*graph)->IdOf(id);
    return Ok();
  });
}

asc_status* asc_graph_get_value_name(const asc_graph* graph, asc_value_id value, asc_string* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(const ValueId id, (*graph)->ValueOf(value, "value"));
    *out = Lend((*graph)->graph->value(id).name);
    return Ok();
  });
}

asc_status* asc_graph_create_value_type(const asc_graph* graph, asc_value_id value,
                                        asc_type** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(const ValueId id, (*graph)->ValueOf(value, "value"));
    *out = asc_type::New((*graph)->graph->value(id).type);
    return Ok();
  });
}

asc_status* asc_graph_create_value_constant(const asc_graph* graph, asc_value_id value,
                                            asc_value** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(const ValueId id, (*graph)->ValueOf(value, "value"));
    const asc::Value& of = (*graph)->graph->value(id);
    if (!of.constant.defined())
      return asc::Error(Code::kNotFound, "value '", of.name, "' is no constant");
    *out = asc_value::New(of.constant);
    return Ok();
  });
}

asc_status* asc_graph_create_text(const asc_graph* graph, asc_bytes** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_NEED(out);
    *out = asc_bytes::New(asc::ToText(*(*graph)->graph));
    return Ok();
  });
}

asc_status* asc_graph_create_dot(const asc_graph* graph, asc_bytes** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_NEED(out);
    *out = asc_bytes::New(asc::ToDot(*(*graph)->graph));
    return Ok();
  });
}
