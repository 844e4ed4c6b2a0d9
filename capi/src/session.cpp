#include "capi/src/session.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "capi/src/device.h"
#include "capi/src/graph.h"
#include "capi/src/import.h"
#include "capi/src/onnx.h"
#include "capi/src/options.h"
#include "capi/src/run.h"
#include "capi/src/value.h"
#include "core/compile/om.h"
#include "core/runtime/driver.h"

using asc::Cat;
using asc::Code;
using asc::Graph;
using asc::InvalidArgument;
using asc::Ok;
using asc::Port;
using asc::Session;
using asc::Status;
using asc::capi::Guard;
using asc::capi::Lend;
using asc::capi::View;

namespace asc::capi {
namespace {
std::vector<std::shared_ptr<asc_type>> TypesOf(const std::vector<Port>& ports) {
  std::vector<std::shared_ptr<asc_type>> types;
  types.reserve(ports.size());
  for (const Port& port : ports) types.emplace_back(asc_type::New(port.type), asc_type_release);
  return types;
}

bool IsStatic(const std::vector<Port>& ports) {
  return std::all_of(ports.begin(), ports.end(), [](const Port& port) {
    return port.type.is_tensor() && port.type.shape.is_static();
  });
}

Status CreateSession(std::shared_ptr<Executable> executable, asc_session** out,
                     OverridableInputs overridable = {}, SessionSource source = {}) {
  ASC_ASSIGN_OR_RETURN(std::shared_ptr<Session> session,
                       Session::Create(std::move(executable), 0, std::move(overridable)));
  // What does not fit is refused now, not in the first run.
  if (IsStatic(session->executable().inputs())) ASC_RETURN_IF_ERROR(PlanOf(*session, {}).status());
  *out = asc_session::New(std::move(session), std::move(source));
  return Ok();
}

// What a session is to be made for.
struct Target {
  Device* device;
  CompileOptions options;
};

Result<Target> TargetOf(asc_string device, const asc_compile_options* options) {
  if (options != nullptr) ASC_NEED_HANDLE(options);
  ASC_ASSIGN_OR_RETURN(Device * found, DeviceOf(device));
  if (options != nullptr && !(*options)->dump_path.empty()) DumpOnnxToo();
  return Target{found, options ? **options : CompileOptions()};
}

Status CompileSession(ImportedModel model, const Target& target, asc_session** out) {
  SessionSource source{std::move(model.again), NamesOf(model.overridable)};
  ASC_ASSIGN_OR_RETURN(std::shared_ptr<Executable> executable,
                       Executable::Compile(std::move(model.graph), *target.device, target.options));
  return CreateSession(std::move(executable), out, std::move(model.overridable),
                       std::move(source));
}

// Whether the file begins like a compiled model. A file that cannot be read is left to the importer
// to refuse.
bool IsCompiledFile(const std::string& path) {
  std::array<char, 16> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  return LooksLikeOm(head.data(), static_cast<size_t>(file.gcount()));
}
}  // namespace

SessionState::SessionState(std::shared_ptr<Session> made, SessionSource from)
    : session(std::move(made)),
      source(std::move(from)),
      input_types(TypesOf(session->executable().inputs())),
      output_types(TypesOf(session->executable().outputs())),
      overridable_types(TypesOf(session->overridable())) {}

Result<std::shared_ptr<const Plan>> PlanOf(const Session& session,
                                           const std::vector<ValueType>& types) {
  const Executable& executable = session.executable();
  Result<std::shared_ptr<const Plan>> plan = InternalError("planning did not happen");
  // Planning looks at types and extents only: these tensors have no elements.
  const std::shared_ptr<Buffer> nothing = Buffer::Wrap(nullptr, 0, nullptr);
  std::vector<AnyValue> values;
  std::vector<const AnyValue*> pointers;
  for (size_t i = 0; i < types.size(); ++i) {
    const auto dims = types[i].is_tensor() ? types[i].shape.ToDims() : std::nullopt;
    if (!dims)
      return InvalidArgument("type ", i, " must be a tensor of fixed shape, given ", types[i]);
    values.emplace_back(Tensor::Unchecked(types[i].dtype, *dims, nothing, 0));
  }
  for (const AnyValue& value : values) pointers.push_back(&value);
  if (!types.empty()) ASC_RETURN_IF_ERROR(executable.CheckInputs(pointers));
  // Packing runs in parallel, which is the driver thread's to do.
  Driver::ForDevice(executable.device().properties().id)->RunAndWait([&] {
    plan = types.empty() ? executable.StaticPlan() : executable.PlanFor(pointers);
  });
  return plan;
}

}  // namespace asc::capi

asc_status* asc_session_create(const asc_graph* graph, asc_string device,
                               const asc_compile_options* options, asc_session** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(const asc::capi::Target target, asc::capi::TargetOf(device, options));
    std::unique_ptr<Graph> copy = (*graph)->graph->Clone();
    if (copy->outputs().empty()) {
      return InvalidArgument("graph '", copy->name(), "' has no outputs")
          .WithHint("mark one with asc_graph_add_output");
    }
    // As it was given, for whoever asks for it: passes change the other one.
    const std::shared_ptr<const Graph> given = copy->Clone();
    std::shared_ptr<asc::Executable> executable;
    ASC_ASSIGN_OR_RETURN(executable, asc::Executable::Compile(std::move(copy), *target.device,
                                                              target.options));
    return asc::capi::CreateSession(
        std::move(executable), out, {},
        {[given] { return given->Clone(); }, (*graph)->inputs_with_default});
  });
}

asc_status* asc_session_load_file(asc_string path, asc_string device,
                                  const asc_compile_options* options, asc_session** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    ASC_RETURN_IF_ERROR(asc::capi::CheckPath(path));
    ASC_ASSIGN_OR_RETURN(const asc::capi::Target target, asc::capi::TargetOf(device, options));
    const std::string name(View(path));
    if (asc::capi::IsCompiledFile(name)) {
      ASC_ASSIGN_OR_RETURN(auto executable, asc::LoadOm(name, *target.device, target.options));
      return asc::capi::CreateSession(std::move(executable), out);
    }
    ASC_ASSIGN_OR_RETURN(asc::capi::ImportedModel model, asc::capi::ImportFile(path));
    return asc::capi::CompileSession(std::move(model), target, out);
  });
}

asc_status* asc_session_load_bytes(const asc_value* model, asc_string device,
                                   const asc_compile_options* options, asc_session** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(std::shared_ptr<asc::Buffer> bytes, asc::capi::ModelBytes(model));
    ASC_ASSIGN_OR_RETURN(const asc::capi::Target target, asc::capi::TargetOf(device, options));
    if (asc::LooksLikeOm(bytes->data(), bytes->size())) {
      ASC_ASSIGN_OR_RETURN(auto executable,
                           asc::LoadOm(std::move(bytes), *target.device, target.options));
      return asc::capi::CreateSession(std::move(executable), out);
    }
    ASC_ASSIGN_OR_RETURN(asc::capi::ImportedModel imported,
                         asc::capi::ImportBytes(std::move(bytes)));
    return asc::capi::CompileSession(std::move(imported), target, out);
  });
}

asc_status* asc_session_save_file(const asc_session* session, asc_string path) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(session);
    ASC_RETURN_IF_ERROR(asc::capi::CheckPath(path));
    return asc::SaveOm((*session)->session->executable(), std::string(View(path)));
  });
}

void asc_session_retain(asc_session* session) { asc_session::Retain(session); }
void asc_session_release(asc_session* session) { asc_session::Release(session); }

namespace {
using Types = std::vector<std::shared_ptr<asc_type>> asc::capi::SessionState::*;

asc_status* CountPorts(const asc_session* session, Types types, size_t* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(session);
    ASC_NEED(out);
    *out = ((**session).*types).size();
    return Ok();
  });
}

asc_status* GetPort(const asc_session* session, Types types,
                    const std::vector<Port>& (*ports_of)(const Session&), std::string_view what,
                    size_t index, asc_string* name, const asc_type** type) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(session);
    ASC_NEED(name);
    ASC_NEED(type);
    const std::vector<Port>& ports = ports_of(*(*session)->session);
    if (index >= ports.size()) {
      return asc::Error(Code::kOutOfRange, what, " ", index, " of a model that has ", ports.size());
    }
    *name = Lend(ports[index].name);
    *type = ((**session).*types)[index].get();
    return Ok();
  });
}

const std::vector<Port>& InputsOf(const Session& session) { return session.executable().inputs(); }
const std::vector<Port>& OutputsOf(const Session& session) {
  return session.executable().outputs();
}
const std::vector<Port>& OverridableOf(const Session& session) { return session.overridable(); }
}  // namespace

asc_status* asc_session_get_input_count(const asc_session* session, size_t* out) {
  return CountPorts(session, &asc::capi::SessionState::input_types, out);
}
asc_status* asc_session_get_output_count(const asc_session* session, size_t* out) {
  return CountPorts(session, &asc::capi::SessionState::output_types, out);
}
asc_status* asc_session_get_overridable_count(const asc_session* session, size_t* out) {
  return CountPorts(session, &asc::capi::SessionState::overridable_types, out);
}
asc_status* asc_session_get_input(const asc_session* session, size_t index, asc_string* name,
                                  const asc_type** type) {
  return GetPort(session, &asc::capi::SessionState::input_types, InputsOf, "input", index, name,
                 type);
}
asc_status* asc_session_get_output(const asc_session* session, size_t index, asc_string* name,
                                   const asc_type** type) {
  return GetPort(session, &asc::capi::SessionState::output_types, OutputsOf, "output", index, name,
                 type);
}
asc_status* asc_session_get_overridable(const asc_session* session, size_t index, asc_string* name,
                                        const asc_type** type) {
  return GetPort(session, &asc::capi::SessionState::overridable_types, OverridableOf,
                 "overridable input", index, name, type);
}

asc_status* asc_session_run(asc_session* session, const asc_value* const* inputs,
                            size_t input_count, const asc_run_options* options, asc_value** outputs,
                            size_t output_count) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(session);
    ASC_NEED_ARRAY(outputs, output_count);
    if (options != nullptr) ASC_NEED_HANDLE(options);
    // Of its own: another thread may release the handle meanwhile.
    const std::shared_ptr<Session> running = (*session)->session;
    ASC_RETURN_IF_ERROR(
        asc::capi::CheckOutputCount(running->executable().outputs().size(), output_count));
    ASC_ASSIGN_OR_RETURN(std::vector<asc::AnyValue> values,
                         asc::capi::InputsOf(inputs, input_count));
    asc::Result<std::vector<asc::AnyValue>> results =
        options ? running->Run(std::move(values), **options) : running->Run(std::move(values));
    if (!results.ok()) return std::move(results).status();
    return asc::capi::HandOut(std::move(results).value(), outputs);
  });
}

asc_status* asc_session_run_async(asc_session* session, const asc_value* const* inputs,
                                  size_t input_count, const asc_run_options* options,
                                  asc_future** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(session);
    ASC_NEED(out);
    if (options != nullptr) ASC_NEED_HANDLE(options);
    ASC_ASSIGN_OR_RETURN(std::vector<asc::AnyValue> values,
                         asc::capi::InputsOf(inputs, input_count));
    *out = asc_future::New(
        (*session)->session->RunAsync(std::move(values), options ? **options : asc::RunOptions()));
    return Ok();
  });
}

asc_status* asc_session_create_variable(asc_session* session, asc_string name, asc_value** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(session);
    ASC_NEED_TEXT(name);
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(asc::Tensor tensor, (*session)->session->GetVariable(View(name)));
    *out = asc_value::New(std::move(tensor));
    return Ok();
  });
}

asc_status* asc_session_set_variable(asc_session* session, asc_string name,
                                     const asc_value* value) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(session);
    ASC_NEED_TEXT(name);
    ASC_ASSIGN_OR_RETURN(const asc::Tensor tensor, asc::capi::TensorOf(value, "value"));
    return (*session)->session->SetVariable(View(name), tensor);
  });
}
