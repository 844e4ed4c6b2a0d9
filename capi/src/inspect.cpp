// What a session tells of itself, as JSON.
#include "capi/src/graph.h"
#include "capi/src/session.h"
#include "core/base/json_writer.h"

using asc::Ok;
using asc::Status;
using asc::capi::Guard;
using asc::capi::View;

namespace asc::capi {
namespace {

void WritePorts(JsonWriter& json, const std::vector<Port>& ports) {
  json.BeginArray();
  for (const Port& port : ports)
    json.BeginObject().Field("name", port.name).Field("type", port.type.ToString()).EndObject();
  json.EndArray();
}

void WriteLayer(JsonWriter& json, const Graph& graph, const Node& node, std::string_view kernel) {
  json.BeginObject()
      .Field("name", node.OriginText())
      .Field("operator", node.schema->FullName())
      .Field("kernel", kernel);
  json.Key("outputs").BeginArray();
  for (const ValueId output : node.outputs) {
    if (output.valid()) json.Value(graph.value(output).type.ToString());
  }
  json.EndArray();
  size_t parameter_bytes = 0;
  for (const ValueId input : node.inputs) {
    if (const Tensor* constant = graph.Constant(input)) parameter_bytes += constant->bytes();
  }
  json.Field("parameter_bytes", parameter_bytes).EndObject();
}

// With the kernels of the plan where all shapes are known, else without.
Status WriteLayers(JsonWriter& json, const Session& session) {
  const Executable& executable = session.executable();
  const Graph& graph = executable.graph();
  json.BeginArray();
  if (const Result<std::shared_ptr<const Plan>> plan = PlanOf(session, {}); plan.ok()) {
    for (const Step& step : (*plan)->steps) {
      if (step.node != nullptr)
        WriteLayer(json, graph, *step.node, step.kernel ? step.kernel->name() : "");
    }
  } else {
    ASC_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
    for (const NodeId id : order) WriteLayer(json, graph, graph.node(id), "");
  }
  json.EndArray();
  return Ok();
}

size_t ParameterBytes(const Graph& graph) {
  size_t bytes = 0;
  for (const ValueId id : graph.Values())
    bytes += graph.value(id).is_constant() ? graph.value(id).constant.bytes() : 0;
  for (const NodeId id : graph.Nodes()) {
    for (const Region& region : graph.node(id).regions) bytes += ParameterBytes(*region.graph);
  }
  return bytes;
}

std::string_view KindName(StorageKind kind) {
  switch (kind) {
    case StorageKind::kArena:
      return "arena";
    case StorageKind::kInput:
      return "input";
    case StorageKind::kConstant:
      return "constant";
    case StorageKind::kOutput:
      return "output";
    case StorageKind::kVariable:
      return "variable";
    case StorageKind::kRun:
      return "run";
  }
  return "run";
}

void WriteBuffer(JsonWriter& json, const Graph& graph, const Plan& plan, size_t index) {
  const auto name_of = [&](const Slot& slot) {
    return slot.value.valid() ? graph.value(slot.value).name : std::string();
  };
  const Slot& slot = plan.slots[index];
  const Slot& root = plan.slots[static_cast<size_t>(slot.root)];
  json.BeginObject()
      .Field("name", name_of(slot))
      .Field("type", Cat(DataTypeName(slot.dtype),
                         slot.is_static ? ToString(slot.dims) : std::string("[*]")))
      .Field("kind", KindName(root.kind))
      .Field("bytes", slot.is_static ? slot.bytes() : 0)
      .Field("first_step", root.first_step)
      .Field("last_step", root.last_step);
  if (root.kind == StorageKind::kArena) json.Field("offset", root.index + slot.root_offset);
  if (slot.root != static_cast<int>(index)) json.Field("shares", name_of(root));
  json.EndObject();
}

void Write(JsonWriter& json, const Graph& graph, const Plan& plan) {
  json.BeginObject()
      .Field("peak_bytes", plan.memory.arena_bytes)
      .Field("lower_bound_bytes", plan.memory.lower_bound_bytes);
  json.Key("buffers").BeginArray();
  for (size_t i = 0; i < plan.slots.size(); ++i) WriteBuffer(json, graph, plan, i);
  json.EndArray();
  json.Key("steps").BeginArray();
  for (const Step& step : plan.steps)
    json.Value(step.node ? step.node->OriginText() : std::string("copy"));
  json.EndArray().EndObject();
}

}  // namespace
}  // namespace asc::capi

asc_status* asc_session_create_summary(const asc_session* session, asc_bytes** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(session);
    ASC_NEED(out);
    const asc::Session& of = *(*session)->session;
    const asc::Executable& executable = of.executable();
    asc::JsonWriter json;
    json.BeginObject()
        .Field("device", executable.device().properties().id)
        .Field("threads", executable.threads())
        .Field("graph_opt_level", executable.options().graph_opt_level);
    asc::capi::WritePorts(json.Key("inputs"), executable.inputs());
    asc::capi::WritePorts(json.Key("outputs"), executable.outputs());
    json.Field("parameter_bytes", asc::capi::ParameterBytes(executable.graph()))
        .Field("packed_bytes", executable.packed_bytes());
    ASC_RETURN_IF_ERROR(asc::capi::WriteLayers(json.Key("layers"), of));
    json.EndObject();
    *out = asc_bytes::New(std::move(json).Take());
    return Ok();
  });
}

asc_status* asc_session_create_memory_plan(const asc_session* session, const asc_type* const* types,
                                           size_t count, asc_bytes** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(session);
    ASC_NEED(out);
    std::vector<asc::ValueType> given;
    for (size_t i = 0; types != nullptr && i < count; ++i) {
      ASC_RETURN_IF_ERROR(asc::capi::CheckHandle(types[i], "types"));
      given.push_back((*types[i])->type);
    }
    const asc::Session& of = *(*session)->session;
    ASC_ASSIGN_OR_RETURN(const std::shared_ptr<const asc::Plan> plan, asc::capi::PlanOf(of, given));
    asc::JsonWriter json;
    asc::capi::Write(json, of.executable().graph(), *plan);
    *out = asc_bytes::New(std::move(json).Take());
    return Ok();
  });
}

asc_status* asc_session_create_pass_report(const asc_session* session, asc_bytes** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(session);
    ASC_NEED(out);
    *out = asc_bytes::New((*session)->session->executable().pass_report());
    return Ok();
  });
}

asc_status* asc_session_create_metadata(const asc_session* session, asc_bytes** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(session);
    ASC_NEED(out);
    asc::JsonWriter json;
    json.Value((*session)->session->executable().graph().metadata());
    *out = asc_bytes::New(std::move(json).Take());
    return Ok();
  });
}

asc_status* asc_session_create_source_graph(const asc_session* session, asc_graph** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(session);
    ASC_NEED(out);
    const asc::capi::SessionSource& source = (*session)->source;
    if (!source.graph) {
      *out = asc_graph::New((*session)->session->executable().graph().Clone());
      return Ok();
    }
    ASC_ASSIGN_OR_RETURN(std::unique_ptr<asc::Graph> graph, source.graph());
    *out = asc_graph::New(std::move(graph), source.inputs_with_default);
    return Ok();
  });
}

asc_status* asc_session_create_graph(const asc_session* session, asc_graph** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(session);
    ASC_NEED(out);
    *out = asc_graph::New((*session)->session->executable().graph().Clone());
    return Ok();
  });
}

asc_status* asc_session_get_counter(const asc_session* session, asc_string name, int64_t* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(session);
    ASC_NEED_TEXT(name);
    ASC_NEED(out);
    const asc::Executable& executable = (*session)->session->executable();
    const std::map<std::string, int64_t, std::less<>> counters = {
        {"plans_made", executable.plans_made()},
        {"forms_made", executable.forms_made()},
        {"packed_bytes", executable.packed_bytes()},
        {"threads", executable.threads()}};
    const auto found = counters.find(View(name));
    if (found == counters.end()) {
      std::vector<std::string> names;
      for (const auto& [known, count] : counters) names.push_back(known);
      const std::string nearest = asc::NearestMatch(View(name), names);
      Status status =
          asc::InvalidArgument("there is no counter '", View(name), "'; expected one of ", names);
      return nearest.empty()
                 ? status
                 : std::move(status).WithHint(asc::Cat("did you mean '", nearest, "'?"));
    }
    *out = found->second;
    return Ok();
  });
}
