// OpSchema: everything the engine knows of an operator. `ops` fills one row per operator; everything else reads it.
#ifndef ASC_CORE_GRAPH_OP_SCHEMA_H_
#define ASC_CORE_GRAPH_OP_SCHEMA_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/graph/attributes.h"
#include "core/tensor/any_value.h"

namespace asc {

struct OpSchema;

// ---- shape and type inference -------------------------------------------------------------------------------------------

// What is known of one input while inferring.
struct InferInput {
  const ValueType* type = nullptr;          // null: an absent optional input
  const Tensor* constant = nullptr;         // the value, where it is known (a constant; at run time: any tensor)
  const std::vector<Dim>* dims = nullptr;   // an integer tensor of rank 0 or 1 whose elements are known as expressions
};

// What inference says of one output.
struct InferOutput {
  ValueType type;
  std::optional<std::vector<Dim>> dims;     // see InferInput::dims
};

// One call of a shape rule. Shape rules use origin shapes only, and are called with symbolic facts (import, passes), with
// concrete shapes (planning) and with actual values (steps whose shape only the data knows). A rule sets what it knows; an
// output it does not set keeps unknown rank.
class InferContext {
 public:
  InferContext(const OpSchema& schema, const AttributeMap& attributes, std::vector<InferInput> inputs, size_t output_count)
      : schema_(schema), attributes_(attributes), inputs_(std::move(inputs)), outputs_(output_count) {}

  const OpSchema& schema() const { return schema_; }
  const AttributeMap& attributes() const { return attributes_; }
  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const { return outputs_.size(); }
  bool HasInput(size_t i) const { return i < inputs_.size() && inputs_[i].type != nullptr; }
  const ValueType& type(size_t i) const { return *inputs_[i].type; }
  DataType dtype(size_t i) const { return inputs_[i].type->dtype; }
  const Shape& shape(size_t i) const { return inputs_[i].type->shape; }
  // Null when the value is not known now.
  const Tensor* constant(size_t i) const { return HasInput(i) ? inputs_[i].constant : nullptr; }
  // The elements of an integer input of rank 0 or 1 as expressions: from a constant or from facts; nullopt when not known.
  std::optional<std::vector<Dim>> Dims(size_t i) const;
  // Like Dims but all of them constants.
  std::optional<std::vector<int64_t>> Ints(size_t i) const;

  void SetOutput(size_t i, ValueType type) { outputs_[i].type = std::move(type); }
  void SetOutput(size_t i, DataType dtype, Shape shape = Shape()) {
    if (i < outputs_.size()) outputs_[i].type = ValueType::Tensor(dtype, std::move(shape));
  }
  void SetOutputDims(size_t i, std::vector<Dim> dims) { outputs_[i].dims = std::move(dims); }
  std::vector<InferOutput>& outputs() { return outputs_; }

  // Control flow: infers the region called `name` for inputs of these types (captures are known to the caller) and gives
  // the types of its outputs. A trial leaves the region as it is; otherwise the facts are written into it.
  using RegionInfer = std::function<Result<std::vector<ValueType>>(std::string_view name, const std::vector<ValueType>&, bool trial)>;
  void set_region_infer(RegionInfer infer) { region_infer_ = std::move(infer); }
  Result<std::vector<ValueType>> InferRegion(std::string_view name, const std::vector<ValueType>& inputs, bool trial = false) const;

 private:
  const OpSchema& schema_;
  const AttributeMap& attributes_;
  std::vector<InferInput> inputs_;
  std::vector<InferOutput> outputs_;
  RegionInfer region_infer_;
};

using InferFn = Status (*)(InferContext&);

// ---- kernels ------------------------------------------------------------------------------------------------------------

// What a run gives to all of its kernels. Owned by the executor.
struct RunState {
  std::shared_ptr<Allocator> allocator;  // for outputs whose shape the kernel decides, and for scratch
  uint64_t seed = 0;                     // of this run's counter-based random numbers
  const std::function<bool()>* cancelled = nullptr;  // long kernels may poll it
};

// What a kernel keeps between its runs, beside the step in a frame: two runs at once never share one.
class KernelState {
 public:
  virtual ~KernelState() = default;
};

// One call of a kernel: inputs, outputs, attributes. Inputs may alias each other and must not be written; an output never
// overlaps an input unless the step was planned in place.
class KernelContext {
 public:
  KernelContext(const OpSchema& schema, const AttributeMap& attributes, const AnyValue* const* inputs, size_t input_count,
                AnyValue* const* outputs, size_t output_count, RunState& run, uint64_t node_key)
      : schema_(schema), attributes_(attributes), inputs_(inputs), input_count_(input_count), outputs_(outputs),
        output_count_(output_count), run_(run), node_key_(node_key) {}

  const OpSchema& schema() const { return schema_; }
  const AttributeMap& attributes() const { return attributes_; }
  size_t input_count() const { return input_count_; }
  size_t output_count() const { return output_count_; }
  bool HasInput(size_t i) const { return i < input_count_ && inputs_[i] != nullptr; }
  // An output that the graph asks for (optional outputs may be absent).
  bool HasOutput(size_t i) const { return i < output_count_ && outputs_[i] != nullptr; }

  const Tensor& input(size_t i) const { return inputs_[i]->tensor(); }
  const AnyValue& input_value(size_t i) const { return *inputs_[i]; }
  // The output tensor, allocated with the type and extents that inference gave. Only for operators without
  // `output_shape_from_kernel`.
  Tensor& output(size_t i) { return outputs_[i]->tensor(); }
  // For operators with `output_shape_from_kernel`: makes the output and gives it.
  Result<Tensor*> AllocateOutput(size_t i, DataType dtype, const Dims& dims);
  // For outputs that are sequences, optionals, maps, or tensors that share an input's buffer.
  void SetOutput(size_t i, AnyValue value) { *outputs_[i] = std::move(value); }
  // Scratch memory for this call, uninitialised, counted; freed with the last reference.
  Result<std::shared_ptr<Buffer>> Scratch(size_t bytes) {
    return Buffer::Allocate(run_.allocator, MemoryUse::kScratch, bytes);
  }
  // The part of the plan's arena that the kernel asked for (Kernel::scratch_bytes); null when it asked for none.
  void* planned_scratch() const { return planned_scratch_; }
  void set_planned_scratch(void* scratch) { planned_scratch_ = scratch; }
  // What the kernel made by Kernel::MakeState; null where it is run without a plan.
  KernelState* state() const { return state_; }
  void set_state(KernelState* state) { state_ = state; }
  RunState& run() { return run_; }
  // Differs from node to node and is the same in every run; keys the counter-based random numbers with RunState::seed.
  uint64_t node_key() const { return node_key_; }

 private:
  const OpSchema& schema_;
  const AttributeMap& attributes_;
  const AnyValue* const* inputs_;
  size_t input_count_;
  AnyValue* const* outputs_;
  size_t output_count_;
  RunState& run_;
  uint64_t node_key_;
  void* planned_scratch_ = nullptr;
  KernelState* state_ = nullptr;
};

using ReferenceKernel = Status (*)(KernelContext&);

// ---- the schema ---------------------------------------------------------------------------------------------------------

enum class ParameterKind : uint8_t { kSingle, kOptional, kVariadic };

struct Parameter {
  std::string name;
  std::string type_variable;  // of OpSchema::type_variables; "" where any value fits
  ParameterKind kind = ParameterKind::kSingle;
  bool homogeneous = true;    // variadic: all of one type
  std::string doc;
  std::string python_name;    // of the parameter in methods: PyTorch's where it has the operator; else the name in snake_case
};

struct AttributeSpec {
  std::string name;
  AttributeType type;
  std::optional<AttributeValue> default_value;  // none: optional without a default, unless required
  bool required = false;
  std::string python_name;  // PyTorch's name where it has the operator; else the ONNX name
  std::string doc;
};

// How fusion and the vector engine may treat the operator.
enum class OpClass : uint8_t { kOther, kElementwise, kReduction, kNormalization, kDataMovement, kView, kMatMul, kConvolution, kPooling };

struct CostEstimate {
  double flops = 0;
  double bytes = 0;
};

struct OpSchema {
  std::string domain;  // "" is ai.onnx; "asc" the compiler's own
  std::string name;    // ONNX name: "Conv"
  std::string method;  // of contexts and pyasc.ops: "conv2d"
  std::string fusion;  // in fusion patterns: "Conv2d"
  int since_version = 1;  // the opset whose form this is (importers upgrade older ones)
  std::string doc;        // one line
  std::vector<Parameter> inputs, outputs;
  std::map<std::string, TypeSet> type_variables;
  std::vector<AttributeSpec> attributes;
  std::vector<std::string> regions;  // names of the region attributes ("then_branch")
  OpClass op_class = OpClass::kOther;
  bool deterministic = true;             // false: random; never folded or merged
  bool output_shape_from_kernel = false; // data-dependent: the kernel allocates its outputs
  bool writes_variable = false;          // asc.Assign
  InferFn infer = nullptr;
  ReferenceKernel reference = nullptr;   // null for region operators, which the executor runs
  CostEstimate (*cost)(const std::vector<ValueType>& inputs, const std::vector<ValueType>& outputs,
                       const AttributeMap&) = nullptr;  // null: bytes moved, one flop an output element

  std::string FullName() const { return domain.empty() ? name : domain + "." + name; }
  size_t MinInputs() const;   // required ones
  size_t MaxInputs() const;   // SIZE_MAX where the last is variadic
  size_t MaxOutputs() const;
  const Parameter* InputParameter(size_t i) const;  // the variadic one repeats; null past the end
  const Parameter* OutputParameter(size_t i) const;
  const AttributeSpec* FindAttribute(std::string_view attribute) const;
};

// Refuses (E5003, E5002, E5033...) what does not fit the schema: counts, element types, type variables bound to two types,
// unknown or ill-typed or missing attributes. Fills in defaults.
Status CheckAgainstSchema(const OpSchema& schema, const std::vector<InferInput>& inputs, size_t output_count,
                          AttributeMap& attributes);

// snake_case of an ONNX name: "BatchNormalization" -> "batch_normalization", "LSTM" -> "lstm", "GatherND" -> "gather_nd".
std::string SnakeCase(std::string_view name);

}  // namespace asc

#endif  // ASC_CORE_GRAPH_OP_SCHEMA_H_
