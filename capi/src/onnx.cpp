#include "asc/onnx.h"

#include <mutex>

#include "capi/src/graph.h"
#include "capi/src/import.h"
#include "capi/src/onnx.h"
#include "capi/src/value.h"
#ifdef ASC_WITH_ONNX
#include "core/base/log.h"
#include "core/onnx/export.h"
#include "core/passes/dump.h"
#endif

using asc::InvalidArgument;
using asc::Ok;
using asc::Status;
using asc::capi::Guard;
using asc::capi::View;

namespace asc::capi {
namespace {
#ifdef ASC_WITH_ONNX
using Options = ExportOptions;

// A dump has a file for each pass, and each has the weights.
constexpr uint64_t kMostDumpedBytes = uint64_t{64} << 20;

Status WriteDump(const Graph& graph, const std::string& path) {
  uint64_t bytes = 0;
  for (const ValueId id : graph.Values()) {
    const Tensor& constant = graph.value(id).constant;
    if (constant.defined()) bytes += constant.bytes();
  }
  if (bytes > kMostDumpedBytes) return Ok();
  const Status status = ExportOnnxFile(graph, path);
  if (status.ok() || status.code() == Code::kIo) return status;
  // Half-way through the passes a graph may have no form in ONNX, which is nothing to fail for.
  Log(LogLevel::kWarning, "no dump '", path, "': ", status.message());
  return Ok();
}
#else
// As far as they are set and read here.
struct Options {
  int64_t opset = 0, external_data_over = 0;
  bool value_info = true;
  std::vector<std::string> inputs_with_default;
};
Status NoExporter() {
  return Error(Code::kUnavailable, "this build has no ONNX exporter")
      .WithHint("build with -Donnx=enabled");
}
Result<std::string> ExportOnnxBytes(const Graph&, const Options&) { return NoExporter(); }
Status ExportOnnxFile(const Graph&, const std::string&, const Options&) { return NoExporter(); }
#endif
}  // namespace

void DumpOnnxToo() {
#ifdef ASC_WITH_ONNX
  static std::once_flag once;
  std::call_once(once, [] { RegisterDumpWriter("onnx", WriteDump); });
#endif
}
}  // namespace asc::capi

struct asc_export_options : asc::capi::Handle<asc_export_options, asc::capi::Options> {
  static constexpr std::string_view kName = "list of export options";
};

namespace asc::capi {
namespace {
Result<Options> OptionsFor(const GraphState& graph, const asc_export_options* options) {
  if (options != nullptr) ASC_NEED_HANDLE(options);
  Options all = options != nullptr ? **options : Options();
  all.inputs_with_default = graph.inputs_with_default;
  return all;
}

Status SetOption(Options& options, std::string_view key, int64_t value) {
  const auto refuse = [&](std::string_view range) {
    return InvalidArgument(key, " must be ", range, ", given ", value);
  };
  if (key == "opset") {
    if (value < 0) return refuse("0 or an opset");
    options.opset = value;
  } else if (key == "external_data_over") {
    if (value < 0) return refuse("a number of bytes");
    options.external_data_over = value;
  } else if (key == "value_info") {
    if (value != 0 && value != 1) return refuse("0 or 1");
    options.value_info = value == 1;
  } else {
    const std::string nearest = NearestMatch(key, {"opset", "external_data_over", "value_info"});
    const Status unknown = InvalidArgument("there is no export option '", key, "'");
    return nearest.empty() ? unknown
                           : Status(unknown).WithHint(Cat("did you mean '", nearest, "'?"));
  }
  return Ok();
}
}  // namespace
}  // namespace asc::capi

asc_status* asc_export_options_create(asc_export_options** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    *out = asc_export_options::New();
    return Ok();
  });
}

void asc_export_options_retain(asc_export_options* options) { asc_export_options::Retain(options); }
void asc_export_options_release(asc_export_options* options) {
  asc_export_options::Release(options);
}

asc_status* asc_export_options_set_int(asc_export_options* options, asc_string key, int64_t value) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(options);
    ASC_NEED_TEXT(key);
    return asc::capi::SetOption(**options, View(key), value);
  });
}

asc_status* asc_graph_export_file(const asc_graph* graph, asc_string path,
                                  const asc_export_options* options) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_RETURN_IF_ERROR(asc::capi::CheckPath(path));
    ASC_ASSIGN_OR_RETURN(const asc::capi::Options all, asc::capi::OptionsFor(**graph, options));
    return ExportOnnxFile(*(*graph)->graph, std::string(View(path)), all);
  });
}

asc_status* asc_graph_export_bytes(const asc_graph* graph, const asc_export_options* options,
                                   asc_value** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(graph);
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(const asc::capi::Options all, asc::capi::OptionsFor(**graph, options));
    ASC_ASSIGN_OR_RETURN(std::string model, ExportOnnxBytes(*(*graph)->graph, all));
    const auto kept = std::make_shared<std::string>(std::move(model));
    const auto size = static_cast<int64_t>(kept->size());
    ASC_ASSIGN_OR_RETURN(
        asc::Tensor tensor,
        asc::Tensor::FromBuffer(asc::DataType::kUInt8, {size},
                                asc::Buffer::Wrap(kept->data(), kept->size(), [kept] {})));
    *out = asc_value::New(std::move(tensor));
    return Ok();
  });
}
