#include "core/ops/recurrent.h"

#include "core/ops/cost.h"

namespace asc {
namespace {
int64_t Directions(const AttributeMap& attributes) {
  return attributes.String("direction", "forward") == "bidirectional" ? 2 : 1;
}

// The functions of all directions with their parameters: values of activation_alpha and
// activation_beta go to the functions that take them, in order.
Result<std::vector<Activation>> ReadActivations(std::string_view op, const AttributeMap& attributes,
                                                const RecurrentKind& kind) {
  const size_t wanted =
      kind.default_activations.size() * static_cast<size_t>(Directions(attributes));
  std::vector<std::string> names;
  if (const auto* given = attributes.Get<std::vector<std::string>>("activations")) names = *given;
  if (names.empty()) {
    for (int64_t d = 0; d < Directions(attributes); ++d) {
      names.insert(names.end(), kind.default_activations.begin(), kind.default_activations.end());
    }
  }
  // RNN's default is written for two directions.
  if (kind.default_activations.size() == 1 && names.size() == 2) names.resize(wanted);
  if (names.size() != wanted) {
    return InvalidArgument(op, " needs ", wanted, " activations, given ", names);
  }
  const std::vector<float> alphas = attributes.Floats("activation_alpha"),
                           betas = attributes.Floats("activation_beta");
  size_t alpha = 0, beta = 0;
  std::vector<Activation> activations;
  for (const std::string& name : names) {
    Result<Activation> activation = ParseActivation(name, {});
    if (!activation.ok()) return std::move(activation).status().WithContext(op);
    const int parameters = ParameterCount(activation->kind);
    if (parameters > 0 && alpha < alphas.size()) activation->a = alphas[alpha++];
    if (parameters > 1 && beta < betas.size()) activation->b = betas[beta++];
    activations.push_back(*activation);
  }
  return activations;
}

Status CheckShape(const InferContext& context, size_t i, const std::vector<Dim>& want) {
  if (!context.HasInput(i) || !context.shape(i).has_rank()) return Ok();
  const Shape& have = context.shape(i);
  bool fits = have.rank() == want.size();
  for (size_t k = 0; fits && k < want.size(); ++k) {
    fits = !have[k].is_constant() || !want[k].is_constant() || have[k] == want[k];
  }
  if (fits) return Ok();
  return ShapeError(context.schema().FullName(), " needs '", context.schema().inputs[i].name,
                    "' of shape ", Shape(want), ", given ", have);
}
}  // namespace

Status InferRecurrent(InferContext& context, const RecurrentKind& kind) {
  const std::string op = context.schema().FullName();
  const AttributeMap& attributes = context.attributes();
  const std::string direction = attributes.String("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    return InvalidArgument(
        op, " attribute 'direction' must be forward, reverse or bidirectional, given '", direction,
        "'");
  }
  const int64_t layout = attributes.Int("layout", 0);
  if (layout != 0 && layout != 1)
    return InvalidArgument(op, " attribute 'layout' must be 0 or 1, given ", layout);
  ASC_RETURN_IF_ERROR(ReadActivations(op, attributes, kind).status());
  const Shape& x = context.shape(0);
  if (x.has_rank() && x.rank() != 3) {
    return ShapeError(op, " needs x of rank 3, ",
                      layout == 0 ? "[steps, batch, input]" : "[batch, steps, input]", ", given ",
                      x);
  }
  Dim steps = Dim::Unknown(), batch = Dim::Unknown(), input = Dim::Unknown(),
      hidden = Dim::Unknown();
  if (x.has_rank()) {
    steps = x[layout == 0 ? 0 : 1];
    batch = x[layout == 0 ? 1 : 0];
    input = x[2];
  }
  if (attributes.Has("hidden_size")) {
    hidden = Dim(attributes.Int("hidden_size", 0));
    if (hidden.value() < 1 || hidden.value() > INT32_MAX)
      return InvalidArgument(op, " needs hidden_size >= 1, given ", hidden);
  } else if (context.shape(2).has_rank() && context.shape(2).rank() == 3) {
    hidden = context.shape(2)[kind.columns ? 1 : 2];
  }
  const Dim directions(Directions(attributes)), rows = hidden * Dim(kind.gates);
  const std::vector<Dim> state = layout == 0 ? std::vector<Dim>{directions, batch, hidden}
                                             : std::vector<Dim>{batch, directions, hidden};
  const auto weight = [&](const Dim& columns) {
    return kind.columns ? std::vector<Dim>{directions, columns, rows}
                        : std::vector<Dim>{directions, rows, columns};
  };
  ASC_RETURN_IF_ERROR(CheckShape(context, 1, weight(input)));
  ASC_RETURN_IF_ERROR(CheckShape(context, 2, weight(hidden)));
  ASC_RETURN_IF_ERROR(CheckShape(context, 3, {directions, rows * Dim(2)}));
  ASC_RETURN_IF_ERROR(CheckShape(context, 4, {batch}));
  ASC_RETURN_IF_ERROR(CheckShape(context, 5, state));
  if (context.input_count() > 6) ASC_RETURN_IF_ERROR(CheckShape(context, 6, state));
  if (context.input_count() > 7)
    ASC_RETURN_IF_ERROR(CheckShape(context, 7, {directions, hidden * Dim(3)}));
  const std::vector<Dim> y = layout == 0 ? std::vector<Dim>{steps, directions, batch, hidden}
                                         : std::vector<Dim>{batch, steps, directions, hidden};
  for (size_t i = 0; i < context.output_count(); ++i)
    context.SetOutput(i, context.dtype(0), Shape(i == 0 ? y : state));
  return Ok();
}

Status CheckSequenceLength(const OpSchema& schema, int64_t length, int64_t steps) {
  if (length >= 0 && length <= steps) return Ok();
  return Error(Code::kOutOfRange, schema.FullName(), " has a sequence length ", length,
               ": expected 0 to ", steps);
}

Result<RecurrentSpec> ReadRecurrent(const KernelContext& context, const RecurrentKind& kind) {
  const AttributeMap& attributes = context.attributes();
  const Dims& x = context.input(0).dims();
  RecurrentSpec spec;
  spec.batch_first = attributes.Int("layout", 0) == 1;
  spec.steps = x[spec.batch_first ? 1 : 0];
  spec.batch = x[spec.batch_first ? 0 : 1];
  spec.input = x[2];
  spec.hidden = context.input(2).dim(kind.columns ? 1 : 2);
  spec.directions = Directions(attributes);
  spec.gates = kind.gates;
  spec.first_is_reverse = attributes.String("direction", "forward") == "reverse";
  spec.clip = attributes.Float("clip", 0);
  ASC_ASSIGN_OR_RETURN(spec.activations,
                       ReadActivations(context.schema().FullName(), attributes, kind));
  spec.lengths.assign(static_cast<size_t>(spec.batch), spec.steps);
  if (context.HasInput(4)) {
    ASC_ASSIGN_OR_RETURN(spec.lengths, ToInt64Vector(context.input(4)));
    for (const int64_t length : spec.lengths)
      ASC_RETURN_IF_ERROR(CheckSequenceLength(context.schema(), length, spec.steps));
  }
  return spec;
}

void AddRecurrentParameters(OpBuilder& builder, bool cell_state, bool quantized) {
  const char* weights = quantized ? "TW" : "T";
  builder.Input("x", "T")
      .Input("w", weights)
      .Input("r", weights)
      .OptionalInput("b", "T")
      .OptionalInput("sequence_lens", "T1")
      .OptionalInput("initial_h", "T");
  if (cell_state) builder.OptionalInput("initial_c", "T").OptionalInput("p", "T");
  builder.OptionalOutput("y", "T").OptionalOutput("y_h", "T");
  if (cell_state) builder.OptionalOutput("y_c", "T");
  builder.Types("T", quantized ? TypeSet{DataType::kFloat32} : types::kFloats)
      .Types("T1", TypeSet{DataType::kInt32})
      .OptionalAttr("hidden_size", AttributeType::kInt)
      .Attr("direction", "forward", "", "forward, reverse or bidirectional");
  if (!quantized)
    builder.Attr("layout", int64_t{0}, "",
                 "0: x is [steps, batch, input]; 1: [batch, steps, input]");
  builder.OptionalAttr("clip", AttributeType::kFloat, "", "bound of what goes into activations")
      .OptionalAttr("activations", AttributeType::kStrings, "", "names for each direction")
      .OptionalAttr("activation_alpha", AttributeType::kFloats)
      .OptionalAttr("activation_beta", AttributeType::kFloats)
      .Cost(RecurrentCost);
}

CostEstimate RecurrentCost(const std::vector<ValueType>& inputs,
                           const std::vector<ValueType>& outputs, const AttributeMap&) {
  CostEstimate cost;
  cost.bytes = DenseBytes(inputs, outputs);
  const auto x = inputs[0].shape.ToDims();
  if (x && x->size() == 3) {
    cost.flops = 2.0 * static_cast<double>((*x)[0] * (*x)[1]) *
                 (KnownElementCount(inputs[1]) + KnownElementCount(inputs[2]));
  }
  return cost;
}

}  // namespace asc
