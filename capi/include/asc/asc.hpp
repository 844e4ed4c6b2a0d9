#ifndef ASC_ASC_HPP_
#define ASC_ASC_HPP_

// The C ABI as C++17 classes, header-only: handles that release themselves, failures as exceptions, containers instead of
// pointers and counts. What is said of ownership, threads and errors in the C headers holds here; each class is a shared handle
// whose copies stand for one object.
//
//   asc::Session session = asc::Session::LoadFile("model.onnx");
//   std::vector<asc::Value> y = session.Run({asc::Value::Tensor<float>({1, 3}, {1, 2, 3})});
//   const float* data = y[0].Data<float>();

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "asc/asc.h"

namespace asc {
// In a namespace of its own inside `asc`, so that its classes are told from those of a statically linked library.
inline namespace api {

// A failed call.
class Error : public std::runtime_error {
 public:
  explicit Error(asc_status* status)
      : std::runtime_error(asc_status_get_text(status)),
        code_(asc_status_code(status)),
        message_(asc_status_get_message(status)),
        node_(asc_status_get_node(status)),
        hint_(asc_status_get_hint(status)) {
    asc_status_release(status);
  }
  asc_code code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& node() const { return node_; }
  const std::string& hint() const { return hint_; }

 private:
  asc_code code_;
  std::string message_, node_, hint_;
};

// Throws when the status is a failure.
inline void Check(asc_status* status) {
  if (status != nullptr) throw Error(status);
}

inline asc_string Text(std::string_view text) { return {text.data(), text.size()}; }
inline std::string ToString(asc_string text) {
  return {text.data == nullptr ? "" : text.data, text.size};
}

// Takes the text out of an owned byte string.
inline std::string TakeText(asc_bytes* bytes) {
  std::string text = ToString(asc_bytes_get(bytes));
  asc_bytes_release(bytes);
  return text;
}

inline std::string_view Version() { return asc_version(); }

// A shared handle. Null only when default-constructed or moved from.
template <typename T, void (*retain)(T*), void (*release)(T*)>
class Handle {
 public:
  Handle() = default;
  // Takes over one reference.
  explicit Handle(T* handle) : handle_(handle) {}
  Handle(const Handle& other) : handle_(other.handle_) { retain(handle_); }
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { release(handle_); }
  T* get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  T* handle_ = nullptr;
};

// The element type of a C++ type.
template <typename T>
struct DataTypeOf;
template <>
struct DataTypeOf<float> {
  static constexpr asc_data_type value = ASC_FLOAT32;
};
template <>
struct DataTypeOf<double> {
  static constexpr asc_data_type value = ASC_FLOAT64;
};
template <>
struct DataTypeOf<int8_t> {
  static constexpr asc_data_type value = ASC_INT8;
};
template <>
struct DataTypeOf<int16_t> {
  static constexpr asc_data_type value = ASC_INT16;
};
template <>
struct DataTypeOf<int32_t> {
  static constexpr asc_data_type value = ASC_INT32;
};
template <>
struct DataTypeOf<int64_t> {
  static constexpr asc_data_type value = ASC_INT64;
};
template <>
struct DataTypeOf<uint8_t> {
  static constexpr asc_data_type value = ASC_UINT8;
};
template <>
struct DataTypeOf<uint16_t> {
  static constexpr asc_data_type value = ASC_UINT16;
};
template <>
struct DataTypeOf<uint32_t> {
  static constexpr asc_data_type value = ASC_UINT32;
};
template <>
struct DataTypeOf<uint64_t> {
  static constexpr asc_data_type value = ASC_UINT64;
};
template <>
struct DataTypeOf<bool> {
  static constexpr asc_data_type value = ASC_BOOL;
};

using Dims = std::vector<int64_t>;

class Type : public Handle<asc_type, asc_type_retain, asc_type_release> {
 public:
  using Handle::Handle;
  // Extents as texts: "3", "N", "2*H", "?".
  static Type Tensor(asc_data_type dtype, const std::vector<std::string>& extents) {
    std::vector<asc_string> texts;
    for (const std::string& extent : extents) texts.push_back(Text(extent));
    asc_type* made = nullptr;
    Check(asc_type_create_tensor(dtype, texts.data(), texts.size(), &made));
    return Type(made);
  }
  std::string ToString() const {
    asc_string text{};
    Check(asc_type_get_text(get(), &text));
    return api::ToString(text);
  }
};

class Value : public Handle<asc_value, asc_value_retain, asc_value_release> {
 public:
  using Handle::Handle;
  // Uninitialised elements.
  static Value Tensor(asc_data_type dtype, const Dims& dims) {
    asc_value* made = nullptr;
    Check(asc_value_create_tensor(dtype, dims.data(), dims.size(), &made));
    return Value(made);
  }
  // A copy of the elements.
  template <typename T>
  static Value Tensor(const Dims& dims, const std::vector<T>& elements) {
    static_assert(!std::is_same_v<T, bool>,
                  "std::vector<bool> has no elements in memory: use uint8_t or pointers");
    asc_value* made = nullptr;
    Check(asc_value_create_tensor_copy(DataTypeOf<T>::value, dims.data(), dims.size(),
                                       elements.data(), elements.size() * sizeof(T), &made));
    return Value(made);
  }
  static Value Strings(const Dims& dims, const std::vector<std::string>& elements) {
    std::vector<asc_string> texts;
    for (const std::string& element : elements) texts.push_back(Text(element));
    asc_value* made = nullptr;
    Check(asc_value_create_strings(dims.data(), dims.size(), texts.data(), texts.size(), &made));
    return Value(made);
  }
  static Value Sequence(const std::vector<Value>& items, asc_data_type element = ASC_UNDEFINED) {
    std::vector<const asc_value*> handles;
    for (const Value& item : items) handles.push_back(item.get());
    asc_value* made = nullptr;
    Check(asc_value_create_sequence(handles.data(), handles.size(), element, &made));
    return Value(made);
  }
  // A null value makes the optional that holds nothing.
  static Value Optional(const Value& held) {
    asc_value* made = nullptr;
    Check(asc_value_create_optional(held.get(), &made));
    return Value(made);
  }

  asc_value_kind Kind() const {
    asc_value_kind kind = ASC_TENSOR;
    Check(asc_value_get_kind(get(), &kind));
    return kind;
  }
  asc_data_type DataType() const {
    asc_data_type dtype = ASC_UNDEFINED;
    Check(asc_value_get_dtype(get(), &dtype));
    return dtype;
  }
  Dims Shape() const {
    const int64_t* dims = nullptr;
    size_t rank = 0;
    Check(asc_value_get_dims(get(), &dims, &rank));
    return Dims(dims, dims + rank);
  }
  // Elements of a tensor, items of a sequence or optional.
  size_t Count() const {
    size_t count = 0;
    Check(asc_value_get_count(get(), &count));
    return count;
  }
  // The elements, lent; std::invalid_argument when they are of another type.
  template <typename T>
  const T* Data() const {
    CheckElement(DataTypeOf<T>::value);
    const void* data = nullptr;
    size_t bytes = 0;
    Check(asc_value_get_data(get(), &data, &bytes));
    return static_cast<const T*>(data);
  }
  template <typename T>
  T* MutableData() {
    CheckElement(DataTypeOf<T>::value);
    void* data = nullptr;
    size_t bytes = 0;
    Check(asc_value_get_mutable_data(get(), &data, &bytes));
    return static_cast<T*>(data);
  }
  std::string String(size_t index) const {
    asc_string text{};
    Check(asc_value_get_string(get(), index, &text));
    return ToString(text);
  }
  Value Item(size_t index) const {
    asc_value* made = nullptr;
    Check(asc_value_create_item(get(), index, &made));
    return Value(made);
  }

 private:
  void CheckElement(asc_data_type expected) const {
    if (const asc_data_type given = DataType(); given != expected) {
      throw std::invalid_argument("the elements are " + ToString(asc_data_type_name(given)) +
                                  ", asked for as " + ToString(asc_data_type_name(expected)));
    }
  }
};

class Attributes : public Handle<asc_attributes, asc_attributes_retain, asc_attributes_release> {
 public:
  Attributes() : Handle(Make()) {}
  Attributes& Set(std::string_view name, int64_t value) {
    return Done(asc_attributes_set_int(get(), Text(name), value));
  }
  Attributes& Set(std::string_view name, int value) {
    return Set(name, static_cast<int64_t>(value));
  }
  Attributes& Set(std::string_view name, double value) {
    return Done(asc_attributes_set_float(get(), Text(name), value));
  }
  Attributes& Set(std::string_view name, const char* value) {
    return Done(asc_attributes_set_string(get(), Text(name), asc_text(value)));
  }
  Attributes& Set(std::string_view name, const std::vector<int64_t>& values) {
    return Done(asc_attributes_set_ints(get(), Text(name), values.data(), values.size()));
  }
  Attributes& Set(std::string_view name, const std::vector<double>& values) {
    return Done(asc_attributes_set_floats(get(), Text(name), values.data(), values.size()));
  }
  Attributes& Set(std::string_view name, const Value& tensor) {
    return Done(asc_attributes_set_tensor(get(), Text(name), tensor.get()));
  }

 private:
  static asc_attributes* Make() {
    asc_attributes* made = nullptr;
    Check(asc_attributes_create(&made));
    return made;
  }
  Attributes& Done(asc_status* status) {
    Check(status);
    return *this;
  }
};

class ExportOptions
    : public Handle<asc_export_options, asc_export_options_retain, asc_export_options_release> {
 public:
  ExportOptions() : Handle(Make()) {}
  // Keys: see asc_export_options_set_int.
  ExportOptions& Set(std::string_view key, int64_t value) {
    Check(asc_export_options_set_int(get(), Text(key), value));
    return *this;
  }

 private:
  static asc_export_options* Make() {
    asc_export_options* made = nullptr;
    Check(asc_export_options_create(&made));
    return made;
  }
};

class Graph : public Handle<asc_graph, asc_graph_retain, asc_graph_release> {
 public:
  using Handle::Handle;
  explicit Graph(std::string_view name = "graph") {
    asc_graph* made = nullptr;
    Check(asc_graph_create(Text(name), &made));
    Handle::operator=(Handle(made));
  }
  static Graph ImportFile(std::string_view path) {
    asc_graph* made = nullptr;
    Check(asc_graph_import_file(Text(path), &made));
    return Graph(made);
  }

  // As an ONNX model: see asc_graph_export_file.
  void Export(std::string_view path, const ExportOptions& options = ExportOptions()) const {
    Check(asc_graph_export_file(get(), Text(path), options.get()));
  }
  Value ExportBytes(const ExportOptions& options = ExportOptions()) const {
    asc_value* made = nullptr;
    Check(asc_graph_export_bytes(get(), options.get(), &made));
    return Value(made);
  }

  asc_value_id Input(std::string_view name, const Type& type) {
    asc_value_id id = ASC_ABSENT;
    Check(asc_graph_add_input(get(), Text(name), type.get(), &id));
    return id;
  }
  asc_value_id Constant(const Value& tensor, std::string_view name = "") {
    asc_value_id id = ASC_ABSENT;
    Check(asc_graph_add_constant(get(), Text(name), tensor.get(), &id));
    return id;
  }
  asc_value_id Variable(const Value& initial, std::string_view name = "") {
    asc_value_id id = ASC_ABSENT;
    Check(asc_graph_add_variable(get(), Text(name), initial.get(), &id));
    return id;
  }
  // An operator by method or ONNX name, with one result...
  asc_value_id Add(std::string_view operation, const std::vector<asc_value_id>& inputs,
                   const Attributes& attributes = Attributes(), std::string_view name = "") {
    return AddMany(operation, inputs, 1, attributes, name)[0];
  }
  // ... or several.
  std::vector<asc_value_id> AddMany(std::string_view operation,
                                    const std::vector<asc_value_id>& inputs, size_t outputs,
                                    const Attributes& attributes = Attributes(),
                                    std::string_view name = "") {
    std::vector<asc_value_id> ids(outputs);
    Check(asc_graph_add_operator(get(), Text(operation), inputs.data(), inputs.size(),
                                 attributes.get(), nullptr, Text(name), outputs, ids.data()));
    return ids;
  }
  void Output(asc_value_id value, std::string_view name = "") {
    Check(asc_graph_add_output(get(), value, Text(name)));
  }
  std::string ToText() const {
    asc_bytes* text = nullptr;
    Check(asc_graph_create_text(get(), &text));
    return TakeText(text);
  }
};

class CompileOptions
    : public Handle<asc_compile_options, asc_compile_options_retain, asc_compile_options_release> {
 public:
  CompileOptions() {
    asc_compile_options* made = nullptr;
    Check(asc_compile_options_create(&made));
    Handle::operator=(Handle(made));
  }
  CompileOptions& Set(std::string_view key, int64_t value) {
    Check(asc_compile_options_set_int(get(), Text(key), value));
    return *this;
  }
  CompileOptions& Set(std::string_view key, const char* value) {
    Check(asc_compile_options_set_text(get(), Text(key), asc_text(value)));
    return *this;
  }
};

class CancelToken
    : public Handle<asc_cancel_token, asc_cancel_token_retain, asc_cancel_token_release> {
 public:
  CancelToken() {
    asc_cancel_token* made = nullptr;
    Check(asc_cancel_token_create(&made));
    Handle::operator=(Handle(made));
  }
  void Cancel() { Check(asc_cancel_token_cancel(get())); }
};

class RunOptions : public Handle<asc_run_options, asc_run_options_retain, asc_run_options_release> {
 public:
  RunOptions() {
    asc_run_options* made = nullptr;
    Check(asc_run_options_create(&made));
    Handle::operator=(Handle(made));
  }
  RunOptions& SetCancelToken(const CancelToken& token) {
    Check(asc_run_options_set_cancel_token(get(), token.get()));
    return *this;
  }
  RunOptions& SetSeed(uint64_t seed) {
    Check(asc_run_options_set_seed(get(), seed));
    return *this;
  }
  RunOptions& SetOutput(size_t index, const Value& tensor) {
    Check(asc_run_options_set_output(get(), index, tensor.get()));
    return *this;
  }
};

class Future : public Handle<asc_future, asc_future_retain, asc_future_release> {
 public:
  Future(asc_future* future, size_t outputs) : Handle(future), outputs_(outputs) {}
  std::vector<Value> Wait() const {
    std::vector<asc_value*> handles(outputs_);
    Check(asc_future_wait(get(), handles.data(), handles.size()));
    return {handles.begin(), handles.end()};
  }
  bool WaitFor(int64_t nanoseconds) const {
    int32_t done = 0;
    Check(asc_future_wait_for(get(), nanoseconds, &done));
    return done != 0;
  }

 private:
  size_t outputs_;
};

struct Port {
  std::string name;
  Type type;
};

class Session : public Handle<asc_session, asc_session_retain, asc_session_release> {
 public:
  using Handle::Handle;
  static Session Compile(const Graph& graph, std::string_view device = "cpu",
                         const CompileOptions& options = CompileOptions()) {
    asc_session* made = nullptr;
    Check(asc_session_create(graph.get(), Text(device), options.get(), &made));
    return Session(made);
  }
  static Session LoadFile(std::string_view path, std::string_view device = "cpu",
                          const CompileOptions& options = CompileOptions()) {
    asc_session* made = nullptr;
    Check(asc_session_load_file(Text(path), Text(device), options.get(), &made));
    return Session(made);
  }

  // See asc_session_create_source_graph, and the optimised one.
  Graph SourceGraph() const {
    asc_graph* made = nullptr;
    Check(asc_session_create_source_graph(get(), &made));
    return Graph(made);
  }
  Graph OptimizedGraph() const {
    asc_graph* made = nullptr;
    Check(asc_session_create_graph(get(), &made));
    return Graph(made);
  }

  std::vector<Port> Inputs() const {
    return Ports(asc_session_get_input_count, asc_session_get_input);
  }
  std::vector<Port> Outputs() const {
    return Ports(asc_session_get_output_count, asc_session_get_output);
  }
  // Inputs with a default: see asc_session_get_overridable.
  std::vector<Port> Overridable() const {
    return Ports(asc_session_get_overridable_count, asc_session_get_overridable);
  }

  // Inputs by position, and after them overridable ones where wanted; a null value is an optional that
  // holds nothing, or the default.
  std::vector<Value> Run(const std::vector<Value>& inputs,
                         const RunOptions& options = RunOptions()) const {
    const std::vector<const asc_value*> given = Handles(inputs);
    std::vector<asc_value*> results(OutputCount());
    Check(asc_session_run(get(), given.data(), given.size(), options.get(), results.data(),
                          results.size()));
    return {results.begin(), results.end()};
  }
  Future RunAsync(const std::vector<Value>& inputs,
                  const RunOptions& options = RunOptions()) const {
    const std::vector<const asc_value*> given = Handles(inputs);
    asc_future* future = nullptr;
    Check(asc_session_run_async(get(), given.data(), given.size(), options.get(), &future));
    return Future(future, OutputCount());
  }

  void Save(std::string_view path) const { Check(asc_session_save_file(get(), Text(path))); }
  // JSON: see asc_session_create_summary.
  std::string Summary() const {
    asc_bytes* text = nullptr;
    Check(asc_session_create_summary(get(), &text));
    return TakeText(text);
  }
  // Of inputs with fixed shapes. JSON: see asc_session_create_memory_plan.
  std::string MemoryPlan() const {
    asc_bytes* text = nullptr;
    Check(asc_session_create_memory_plan(get(), nullptr, 0, &text));
    return TakeText(text);
  }
  Value GetVariable(std::string_view name) const {
    asc_value* value = nullptr;
    Check(asc_session_create_variable(get(), Text(name), &value));
    return Value(value);
  }
  void SetVariable(std::string_view name, const Value& value) const {
    Check(asc_session_set_variable(get(), Text(name), value.get()));
  }

 private:
  static std::vector<const asc_value*> Handles(const std::vector<Value>& values) {
    std::vector<const asc_value*> handles;
    for (const Value& value : values) handles.push_back(value.get());
    return handles;
  }
  size_t OutputCount() const {
    size_t count = 0;
    Check(asc_session_get_output_count(get(), &count));
    return count;
  }
  template <typename CountPorts, typename GetPort>
  std::vector<Port> Ports(CountPorts count_ports, GetPort get_port) const {
    size_t count = 0;
    Check(count_ports(get(), &count));
    std::vector<Port> ports;
    for (size_t i = 0; i < count; ++i) {
      asc_string name{};
      const asc_type* type = nullptr;
      Check(get_port(get(), i, &name, &type));
      asc_type_retain(const_cast<asc_type*>(type));
      ports.push_back({ToString(name), Type(const_cast<asc_type*>(type))});
    }
    return ports;
  }
};

// Sees the runs of all sessions between Start and Stop: see profiler.h.
class Profiler : public Handle<asc_profiler, asc_profiler_retain, asc_profiler_release> {
 public:
  using Handle::Handle;
  static Profiler Make() {
    asc_profiler* made = nullptr;
    Check(asc_profiler_create(&made));
    return Profiler(made);
  }
  void Start() const { Check(asc_profiler_start(get())); }
  void Stop() const { Check(asc_profiler_stop(get())); }
  void SetPeaks(double flops_per_second, double bytes_per_second) const {
    Check(asc_profiler_set_peaks(get(), flops_per_second, bytes_per_second));
  }
  void MeasurePeaks(int32_t threads = 0) const {
    Check(asc_profiler_measure_peaks(get(), threads));
  }
  // JSON: see asc_profiler_create_report.
  std::string Report() const {
    asc_bytes* text = nullptr;
    Check(asc_profiler_create_report(get(), &text));
    return TakeText(text);
  }
  // JSON that Perfetto opens.
  std::string Trace() const {
    asc_bytes* text = nullptr;
    Check(asc_profiler_create_trace(get(), &text));
    return TakeText(text);
  }
};

}  // namespace api
}  // namespace asc

#endif  // ASC_ASC_HPP_
