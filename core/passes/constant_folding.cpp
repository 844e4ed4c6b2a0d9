// ConstantFolding: what depends on constants alone is computed now: nodes by their reference
// kernels, elements that shape rules know, Ifs whose condition is known; regions get captured
// constants as their own.
#include "core/passes/constant_folding.h"

#include <algorithm>

#include "core/base/mapped_file.h"
#include "core/ops/evaluate.h"
#include "core/ops/strided_copy.h"
#include "core/ops/view.h"
#include "core/passes/inline_region.h"
#include "core/passes/passes.h"

namespace asc {
namespace {
// A result may be larger than what it is made from (Expand, ConstantOfShape, Tile) only up to this
// size: beyond, it is cheaper to make it at run time than to keep it.
constexpr size_t kMostGrownBytes = size_t{16} << 20;
// From this size on one element repeated is made part by part, by whoever packs or copies it.
constexpr size_t kLeastLazyBytes = size_t{64} << 10;
// Constants from this size on stay in their file where a product can read them transposed.
constexpr size_t kLeastLeftBytes = size_t{4} << 20;

class ConstantFolding : public NodePass {
 public:
  explicit ConstantFolding(bool is_last) : is_last_(is_last) {}
  std::string_view name() const override { return "ConstantFolding"; }

  void Visit(PassContext& context, const Node& node) override {
    if (SinkCaptures(context, node)) return;
    if (node.Is("If")) {
      InlineBranch(context, node);
      return;
    }
    if (!node.schema->deterministic || node.schema->writes_variable || !node.regions.empty())
      return;
    if (FoldKnownElements(context, node)) return;
    if (!is_last_ && context.options().graph_opt_level >= 2 && IsForProducts(context.graph(), node))
      return;
    Evaluate(context, node);
  }

 private:
  // A transposed big matrix that only products read: the fusion of products takes it as it is, which spares a copy of an embedding
  // that is the output matrix too. What it leaves is folded after it.
  static bool IsForProducts(const Graph& graph, const Node& node) {
    if (!node.Is("Transpose")) return false;
    const Tensor* constant = graph.Constant(node.inputs[0]);
    if (constant == nullptr || constant->rank() != 2 || constant->bytes() < kLeastLeftBytes)
      return false;
    const std::vector<Use>& uses = graph.value(node.outputs[0]).uses;
    return !uses.empty() && std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
      return use.node.valid() && graph.node(use.node).Is("MatMul");
    });
  }

  // Region captures of constants become constants of the region, so that it folds them like its
  // own.
  static bool SinkCaptures(PassContext& context, const Node& node) {
    Patch patch("Sink constants into region", node);
    bool any = false;
    for (size_t r = 0; r < node.regions.size(); ++r) {
      const auto& captures = node.regions[r].captures;
      // From the back, so that the positions of the others stay.
      for (size_t i = captures.size(); i-- > 0;) {
        if (context.graph().Constant(captures[i]) == nullptr) continue;
        patch.SinkConstant(node.id, r, i);
        any = true;
      }
    }
    return any && context.Submit(patch);
  }

  static void InlineBranch(PassContext& context, const Node& node) {
    constexpr std::string_view kRule = "If with known condition";
    const Tensor* condition = context.graph().Constant(node.input(0));
    if (condition == nullptr || condition->dtype() != DataType::kBool || condition->size() != 1)
      return;
    const std::string_view wanted = *condition->data<bool>() ? "then_branch" : "else_branch";
    for (size_t r = 0; r < node.regions.size(); ++r) {
      if (node.regions[r].name != wanted) continue;
      if (const std::string reason = WhyNotInline(node, r); !reason.empty()) {
        context.Reject(kRule, node, reason);
        return;
      }
      Patch patch(kRule, node);
      patch.InlineRegion(node.id, r);
      context.Submit(patch);
      return;
    }
  }

  // "dims" facts: the sole output is an integer tensor whose elements are all known although its
  // inputs are not.
  static bool FoldKnownElements(PassContext& context, const Node& node) {
    if (node.outputs.size() != 1 || !node.outputs[0].valid()) return false;
    const Value& value = context.graph().value(node.outputs[0]);
    if (!value.dims || !value.type.is_tensor() || !value.type.shape.has_rank() ||
        value.type.shape.rank() > 1)
      return false;
    std::vector<int64_t> elements;
    for (const Dim& dim : *value.dims) {
      if (!dim.is_constant()) return false;
      elements.push_back(dim.value());
    }
    Dims dims;
    if (value.type.shape.rank() == 1) dims.push_back(static_cast<int64_t>(elements.size()));
    Tensor tensor;
    if (value.type.dtype == DataType::kInt64) {
      tensor = Tensor::FromValues<int64_t>(dims, std::span<const int64_t>(elements));
    } else if (value.type.dtype == DataType::kInt32) {
      const std::vector<int32_t> narrow(elements.begin(), elements.end());
      if (!std::equal(narrow.begin(), narrow.end(), elements.begin())) return false;
      tensor = Tensor::FromValues<int32_t>(dims, std::span<const int32_t>(narrow));
    } else if (value.type.dtype == DataType::kBool) {
      const Result<Tensor> made = Tensor::Allocate(DataType::kBool, dims);
      if (!made.ok()) return false;
      tensor = *made;
      std::transform(elements.begin(), elements.end(), tensor.data<bool>(),
                     [](int64_t v) { return v != 0; });
    } else {
      return false;
    }
    Patch patch("Fold known elements", node);
    patch.Replace(node.outputs[0], patch.AddConstant(std::move(tensor), value.name));
    patch.Remove(node.id);
    return context.Submit(patch);
  }

  static bool TooLarge(const Graph& graph, const Node& node, size_t input_bytes) {
    size_t output_bytes = 0;
    for (const ValueId id : node.outputs) {
      if (!id.valid()) continue;
      const ValueType& type = graph.value(id).type;
      const auto dims = type.shape.ToDims();
      const auto count = dims ? CheckedElementCount(*dims) : std::nullopt;
      output_bytes += count ? ByteSize(type.dtype, *count).value_or(SIZE_MAX / 4) : 0;
    }
    return output_bytes > kMostGrownBytes && output_bytes > input_bytes;
  }

  // What a ConstantOfShape gives, where it is large: weights that models leave to it are then never in memory as a whole. nullopt for
  // others.
  static std::optional<Tensor> Repeated(const Graph& graph, const Node& node) {
    if (!node.Is("ConstantOfShape")) return std::nullopt;
    const ValueType& type = graph.value(node.outputs[0]).type;
    const auto dims = type.shape.ToDims();
    const Tensor* given = node.attributes.Get<Tensor>("value");
    const Tensor value = given != nullptr ? *given : Tensor::Scalar<float>(0);
    const auto count = dims ? CheckedElementCount(*dims) : std::nullopt;
    const size_t bytes = count ? ByteSize(value.dtype(), *count).value_or(0) : 0;
    if (bytes <= kLeastLazyBytes || value.size() != 1 || type.dtype != value.dtype() ||
        value.dtype() == DataType::kString || IsSubByte(value.dtype()))
      return std::nullopt;
    const auto read = [value](size_t /*begin*/, size_t count, std::byte* to) {
      const auto elements = static_cast<int64_t>(count / value.bytes());
      StridedCopy(value.dtype(), {elements}, {value.raw(), 0, {0}}, {to, 0, {1}});
    };
    Result<Tensor> lazy = Tensor::FromBuffer(
        value.dtype(), *dims, Buffer::Lazy(HostAllocator(), MemoryUse::kConstant, bytes, read));
    return lazy.ok() ? std::optional(*std::move(lazy)) : std::nullopt;
  }

  static Result<std::vector<AnyValue>> Results(const Graph& graph, const Node& node,
                                               const std::vector<const AnyValue*>& inputs) {
    if (std::optional<Tensor> repeated = Repeated(graph, node))
      return std::vector<AnyValue>{*std::move(repeated)};
    // Weights are not copied to give them another shape.
    const auto dims = graph.value(node.outputs[0]).type.shape.ToDims();
    if (KeepsElements(*node.schema) && dims) {
      ASC_ASSIGN_OR_RETURN(Tensor reshaped, inputs[0]->tensor().Reshaped(*dims));
      return std::vector<AnyValue>{std::move(reshaped)};
    }
    RunState run;
    run.allocator = HostAllocator();
    return asc::Evaluate(*node.schema, node.attributes, inputs, node.outputs.size(), run);
  }

  static void Evaluate(PassContext& context, const Node& node) {
    constexpr std::string_view kRule = "Fold constants";
    const Graph& graph = context.graph();
    if (node.schema->reference == nullptr) return;
    std::vector<AnyValue> values(node.inputs.size());
    std::vector<const AnyValue*> inputs(node.inputs.size(), nullptr);
    size_t bytes = 0;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i].valid()) continue;
      const Tensor* constant = graph.Constant(node.inputs[i]);
      if (constant == nullptr) return;
      values[i] = *constant;
      inputs[i] = &values[i];
      bytes += constant->bytes();
    }
    for (const ValueId id : node.outputs) {
      if (id.valid() && (!graph.value(id).type.is_tensor() || graph.value(id).storage.is_blocked()))
        return;
    }
    if (TooLarge(graph, node, bytes)) {
      context.Reject(kRule, node, "the result is larger than 16 MB and than its operands");
      return;
    }
    Result<std::vector<AnyValue>> results = Results(graph, node, inputs);
    if (!results.ok()) {
      context.Reject(kRule, node, results.status().ToString());
      return;
    }
    for (const AnyValue* input : inputs) {
      if (input == nullptr || input->tensor().is_lazy() ||
          input->tensor().bytes() < kLeastLeftBytes)
        continue;
      MappedFile::DropPagesOf(input->tensor().raw(), input->tensor().bytes());
    }
    Patch patch(kRule, node);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].valid()) continue;
      if (!(*results)[i].is_tensor() || !(*results)[i].tensor().defined()) return;
      patch.Replace(node.outputs[i],
                    patch.AddConstant((*results)[i].tensor(), graph.value(node.outputs[i]).name));
    }
    patch.Remove(node.id);
    context.Submit(patch);
  }

  const bool is_last_;
};
}  // namespace

std::unique_ptr<Pass> MakeConstantFolding() { return std::make_unique<ConstantFolding>(false); }

std::unique_ptr<Pass> MakeLastConstantFolding() { return std::make_unique<ConstantFolding>(true); }

}  // namespace asc
