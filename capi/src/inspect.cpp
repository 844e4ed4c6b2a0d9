// What a session tells of itself, as JSON.
#include <nlohmann/json.hpp>

#include "capi/src/graph.h"
#include "capi/src/session.h"

using asc::Ok;
using asc::Status;
using asc::capi::Guard;
using asc::capi::View;
using Json = nlohmann::ordered_json;

namespace asc::capi {
namespace {

// Names come from model files and may hold anything.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json PortsToJson(const std::vector<Port>& ports) {
  Json out = Json::array();
  for (const Port& port : ports)
    out.push_back({{"name", port.name}, {"type", port.type.ToString()}});
  return out;
}

Json LayerToJson(const Graph& graph, const Node& node, std::string_view kernel) {
  Json outputs = Json::array();
  for (const ValueId output : node.outputs) {
    if (output.valid()) outputs.push_back(graph.value(output).type.ToString());
  }
  size_t parameter_bytes = 0;
  for (const ValueId input : node.inputs) {
    if (const Tensor* constant = graph.Constant(input)) parameter_bytes += constant->bytes();
  }
  return {{"name", node.OriginText()},
          {"operator", node.schema->FullName()},
          {"kernel", kernel},
          {"outputs", std::move(outputs)},
          {"parameter_bytes", parameter_bytes}};
}

// With the kernels of the plan where all shapes are known, else without.
Result<Json> Layers(const Session& session) {
  const Executable& executable = session.executable();
  Json layers = Json::array();
  const Result<std::shared_ptr<const Plan>> plan = PlanOf(session, {});
  if (plan.ok()) {
    for (const Step& step : (*plan)->steps) {
      if (step.node != nullptr) {
        layers.push_back(
            LayerToJson(executable.graph(), *step.node, step.kernel ? step.kernel->name() : ""));
      }
    }
    return layers;
  }
  ASC_ASSIGN_OR_RETURN(const std::vector<NodeId> order, executable.graph().TopologicalOrder());
  for (const NodeId id : order)
    layers.push_back(LayerToJson(executable.graph(), executable.graph().node(id), ""));
  return layers;
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

Json PlanToJson(const Graph& graph, const Plan& plan) {
  const auto name_of = [&](const Slot& slot) {
    return slot.value.valid() ? graph.value(slot.value).name : std::string();
  };
  Json buffers = Json::array();
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const Slot& slot = plan.slots[i];
    const Slot& root = plan.slots[static_cast<size_t>(slot.root)];
    const bool is_static = slot.is_static;
    Json buffer = {{"name", name_of(slot)},
                   {"type", Cat(DataTypeName(slot.dtype),
                                is_static ? ToString(slot.dims) : std::string("[*]"))},
                   {"kind", KindName(root.kind)},
                   {"bytes", is_static ? slot.bytes() : 0},
                   {"first_step", root.first_step},
                   {"last_step", root.last_step}};
    if (root.kind == StorageKind::kArena) buffer["offset"] = root.index + slot.root_offset;
    if (slot.root != static_cast<int>(i)) buffer["shares"] = name_of(root);
    buffers.push_back(std::move(buffer));
  }
  Json steps = Json::array();
  for (const Step& step : plan.steps) steps.push_back(step.node ? step.node->OriginText() : "copy");
  return {{"peak_bytes", plan.memory.arena_bytes},
          {"lower_bound_bytes", plan.memory.lower_bound_bytes},
          {"buffers", std::move(buffers)},
          {"steps", std::move(steps)}};
}

}  // namespace
}  // namespace asc::capi

asc_status* asc_session_create_summary(const asc_session* session, asc_bytes** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(session);
    ASC_NEED(out);
    const asc::Session& of = *(*session)->session;
    const asc::Executable& executable = of.executable();
    ASC_ASSIGN_OR_RETURN(Json layers, asc::capi::Layers(of));
    const Json summary = {{"device", executable.device().properties().id},
                          {"threads", executable.threads()},
                          {"graph_opt_level", executable.options().graph_opt_level},
                          {"inputs", asc::capi::PortsToJson(executable.inputs())},
                          {"outputs", asc::capi::PortsToJson(executable.outputs())},
                          {"parameter_bytes", asc::capi::ParameterBytes(executable.graph())},
                          {"packed_bytes", executable.packed_bytes()},
                          {"layers", std::move(layers)}};
    *out = asc_bytes::New(asc::capi::Dump(summary));
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
    *out = asc_bytes::New(asc::capi::Dump(asc::capi::PlanToJson(of.executable().graph(), *plan)));
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
    *out =
        asc_bytes::New(asc::capi::Dump(Json((*session)->session->executable().graph().metadata())));
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
