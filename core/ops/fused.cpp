// Convolution and matrix product with what follows them: made by fusion passes, run by fast
// kernels. The reference kernels here say what they mean: everything in the compute type, rounded
// once at the end.
#include "core/ops/activation.h"
#include "core/ops/compute_buffer.h"
#include "core/ops/convolution.h"
#include "core/ops/expansion.h"
#include "core/ops/families.h"
#include "core/ops/matmul.h"

namespace asc {
namespace {
Result<Activation> ReadActivation(const AttributeMap& attributes) {
  return ParseActivation(attributes.String("activation", ""),
                         attributes.Floats("activation_params"));
}

// Input `i` must be of the output's shape, or (broadcast) at least fit into it.
Status CheckAddend(const InferContext& context, size_t i, const Shape& out, bool broadcast) {
  if (!context.HasInput(i) || !context.shape(i).has_rank() || !out.has_rank()) return Ok();
  const Shape& addend = context.shape(i);
  bool fits = broadcast ? addend.rank() <= out.rank() : addend.rank() == out.rank();
  for (size_t k = 0; fits && k < addend.rank(); ++k) {
    const Dim& have = addend[k];
    const Dim& want = out[out.rank() - addend.rank() + k];
    fits =
        !have.is_constant() || !want.is_constant() || have == want || (broadcast && have == Dim(1));
  }
  if (fits) return Ok();
  return ShapeError(context.schema().FullName(), " needs '", context.schema().inputs[i].name,
                    "' to fit the output's shape ", out, ", given ", addend);
}

template <typename A>
void Activate(const Activation& activation, A* x, int64_t count) {
  ParallelFor(count, kElementGrain, [&](int64_t begin, int64_t end) {
    ApplyActivation(activation, x + begin, end - begin);
  });
}

template <typename A>
void Add(KernelContext& context, size_t i, A* y) {
  if (!context.HasInput(i)) return;
  CombineBroadcast(context.input(i), context.output(0).dims(), y, [](A a, A b) { return a + b; });
}

Status InferFusedConv(InferContext& context) {
  ASC_RETURN_IF_ERROR(ReadActivation(context.attributes()).status());
  ASC_ASSIGN_OR_RETURN(Shape shape, InferConvolution(context, 0, 1));
  ASC_RETURN_IF_ERROR(CheckConvBias(context, 2, 1));
  ASC_RETURN_IF_ERROR(CheckAddend(context, 3, shape, false));
  context.SetOutput(0, context.dtype(0), std::move(shape));
  return Ok();
}

template <typename A>
Status FusedConvAs(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const Activation activation, ReadActivation(context.attributes()));
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
  ASC_RETURN_IF_ERROR(ConvolveInputs(context, y.data()));
  Add(context, 3, y.data());
  Activate(activation, y.data(), context.output(0).size());
  y.Finish();
  return Ok();
}

Status FusedConv(KernelContext& context) {
  return context.input(0).dtype() == DataType::kFloat64 ? FusedConvAs<double>(context)
                                                        : FusedConvAs<float>(context);
}

bool Transposes(const AttributeMap& attributes, std::string_view name) {
  return attributes.Int(name, 0) != 0;
}

Status InferFusedMatMul(InferContext& context) {
  ASC_RETURN_IF_ERROR(ReadActivation(context.attributes()).status());
  const AttributeMap& attributes = context.attributes();
  ASC_ASSIGN_OR_RETURN(
      Shape shape, MatMulShape(context.schema().FullName(), context.shape(0), context.shape(1),
                               Transposes(attributes, "transA"), Transposes(attributes, "transB")));
  ASC_RETURN_IF_ERROR(CheckAddend(context, 2, shape, true));
  ASC_RETURN_IF_ERROR(CheckAddend(context, 3, shape, false));
  context.SetOutput(0, context.dtype(0), std::move(shape));
  return Ok();
}

template <typename A>
Status FusedMatMulAs(KernelContext& context) {
  const AttributeMap& attributes = context.attributes();
  ASC_ASSIGN_OR_RETURN(const Activation activation, ReadActivation(attributes));
  ASC_ASSIGN_OR_RETURN(const auto a, ComputeInput<A>::Make(context, context.input(0)));
  ASC_ASSIGN_OR_RETURN(const auto b, ComputeInput<A>::Make(context, context.input(1)));
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
  const int64_t count = context.output(0).size();
  MultiplyStacks<A>(context.input(0).dims(), context.input(1).dims(),
                    Transposes(attributes, "transA"), Transposes(attributes, "transB"), a.data(),
                    b.data(), y.data());
  const auto alpha = static_cast<A>(attributes.Float("alpha", 1));
  MapElements(y.data(), y.data(), count, [=](A x) { return alpha * x; });
  Add(context, 2, y.data());
  Add(context, 3, y.data());
  Activate(activation, y.data(), count);
  y.Finish();
  return Ok();
}

Status FusedMatMul(KernelContext& context) {
  return context.input(0).dtype() == DataType::kFloat64 ? FusedMatMulAs<double>(context)
                                                        : FusedMatMulAs<float>(context);
}

CostEstimate FusedConvCost(const std::vector<ValueType>& inputs,
                           const std::vector<ValueType>& outputs, const AttributeMap&) {
  return ConvolutionCost(inputs, outputs, 1);
}

CostEstimate FusedMatMulCost(const std::vector<ValueType>& inputs,
                             const std::vector<ValueType>& outputs,
                             const AttributeMap& attributes) {
  return MatMulCost(inputs, outputs, Transposes(attributes, "transA"));
}

void AddActivationAttributes(OpBuilder& builder) {
  builder.Types("T", types::kFloats)
      .Attr(
          "activation", "", "",
          "what is applied last: '', Relu, Clip, Sigmoid, HardSigmoid, HardSwish, Silu, LeakyRelu, "
          "Tanh, Gelu, GeluTanh")
      .Attr("activation_params", std::vector<float>{}, "",
            "its parameters; missing ones take the operator's defaults");
}

ValueId ExpandActivation(Expansion& expansion, ValueId x, const Activation& activation) {
  const auto number = [&](double value) { return expansion.Number(x, value); };
  const float a = activation.a, b = activation.b;
  switch (activation.kind) {
    case ActivationKind::kNone:
      return x;
    case ActivationKind::kRelu:
      return expansion.Add("Relu", {x});
    case ActivationKind::kClip:
      return expansion.Add("Clip", {x, number(a), number(b)});
    case ActivationKind::kSigmoid:
      return expansion.Add("Sigmoid", {x});
    case ActivationKind::kHardSigmoid: {
      AttributeMap attributes;
      attributes.Set("alpha", a);
      attributes.Set("beta", b);
      return expansion.Add("HardSigmoid", {x}, std::move(attributes));
    }
    case ActivationKind::kHardSwish:
      return expansion.Add("HardSwish", {x});
    case ActivationKind::kSilu:
      return expansion.Add("Mul", {x, expansion.Add("Sigmoid", {x})});
    case ActivationKind::kLeakyRelu:
      return expansion.Add("LeakyRelu", {x}, "alpha", a);
    case ActivationKind::kTanh:
      return expansion.Add("Tanh", {x});
    case ActivationKind::kGelu:
      return expansion.Add("Gelu", {x});
    case ActivationKind::kGeluTanh:
      return expansion.Add("Gelu", {x}, "approximate", std::string("tanh"));
    case ActivationKind::kElu:
      return expansion.Add("Elu", {x}, "alpha", a);
    case ActivationKind::kThresholdedRelu:
      return expansion.Add("ThresholdedRelu", {x}, "alpha", a);
    case ActivationKind::kScaledTanh:
      return expansion.Add(
          "Mul", {expansion.Add("Tanh", {expansion.Add("Mul", {x, number(b)})}), number(a)});
    case ActivationKind::kAffine:
      return expansion.Add("Add", {expansion.Add("Mul", {x, number(a)}), number(b)});
    case ActivationKind::kSoftsign:
      return expansion.Add("Softsign", {x});
    case ActivationKind::kSoftplus:
      return expansion.Add("Softplus", {x});
  }
  return x;
}

// Adds the operands from number `first` on, and applies the activation.
Status FinishExpansion(Expansion& expansion, ValueId y, size_t first) {
  ASC_ASSIGN_OR_RETURN(const Activation activation, ReadActivation(expansion.attributes()));
  for (size_t i = first; i < 4; ++i) {
    if (expansion.HasInput(i)) y = expansion.Add("Add", {y, expansion.input(i)});
  }
  ASC_RETURN_IF_ERROR(expansion.status());
  expansion.Replace(0, ExpandActivation(expansion, y, activation));
  return Ok();
}

Result<ValueId> LastAxesSwapped(Expansion& expansion, ValueId x, std::string_view what) {
  ASC_ASSIGN_OR_RETURN(const size_t rank, expansion.Rank(x, what));
  if (rank < 2) return x;
  std::vector<int64_t> perm(rank);
  for (size_t i = 0; i < rank; ++i) perm[i] = static_cast<int64_t>(i);
  std::swap(perm[rank - 2], perm[rank - 1]);
  return expansion.Add("Transpose", {x}, "perm", std::move(perm));
}
}  // namespace

Status ExpandFusedConv(Expansion& expansion) {
  AttributeMap attributes = expansion.attributes();
  attributes.Erase("activation");
  attributes.Erase("activation_params");
  std::vector<ValueId> inputs = {expansion.input(0), expansion.input(1)};
  if (expansion.HasInput(2)) inputs.push_back(expansion.input(2));
  return FinishExpansion(expansion, expansion.Add("Conv", std::move(inputs), std::move(attributes)),
                         3);
}

Status ExpandFusedMatMul(Expansion& expansion) {
  ValueId a = expansion.input(0), b = expansion.input(1);
  if (Transposes(expansion.attributes(), "transA")) {
    ASC_ASSIGN_OR_RETURN(a, LastAxesSwapped(expansion, a, "first operand"));
  }
  if (Transposes(expansion.attributes(), "transB")) {
    ASC_ASSIGN_OR_RETURN(b, LastAxesSwapped(expansion, b, "second operand"));
  }
  ValueId y = expansion.Add("MatMul", {a, b});
  const float alpha = expansion.attributes().Float("alpha", 1);
  if (alpha != 1) y = expansion.Add("Mul", {y, expansion.Number(expansion.input(0), alpha)});
  return FinishExpansion(expansion, y, 2);
}

void AddFusedOps(OpTable& table) {
  OpBuilder conv = table.Add("FusedConv", 1, "asc");
  conv.Doc("activation(conv(x, weight, bias) + residual)")
      .Method("fused_conv2d")
      .Input("x", "T")
      .Input("weight", "T")
      .OptionalInput("bias", "T")
      .OptionalInput("residual", "T")
      .Output("y", "T")
      .Infer(InferFusedConv)
      .Kernel(FusedConv)
      .Cost(FusedConvCost);
  AddConvAttributes(conv);
  AddActivationAttributes(conv);

  OpBuilder matmul = table.Add("FusedMatMul", 1, "asc");
  matmul.Doc("activation(alpha * a * b + bias + residual)")
      .Method("fused_matmul")
      .Input("a", "T")
      .Input("b", "T")
      .OptionalInput("bias", "T")
      .OptionalInput("residual", "T")
      .Output("y", "T")
      .Attr("alpha", 1.0f)
      .Attr("transA", int64_t{0}, "trans_a", "1: swap a's last two axes")
      .Attr("transB", int64_t{0}, "trans_b", "1: swap b's last two axes")
      .Class(OpClass::kMatMul)
      .Infer(InferFusedMatMul)
      .Kernel(FusedMatMul)
      .Cost(FusedMatMulCost);
  AddActivationAttributes(matmul);
}

}  // namespace asc
