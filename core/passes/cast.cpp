// CastSimplification: of two casts in a row the first is left out where it widens without loss, so
// that the second gives the same from the original.
#include "core/passes/match.h"
#include "core/passes/passes.h"

namespace asc {
namespace {
struct Integers {
  int64_t bits;
  bool is_signed;
};

Integers IntegersOf(DataType type) {
  return type == DataType::kBool ? Integers{1, false}
                                 : Integers{BitWidth(type), IsSignedInteger(type)};
}

// Bits of precision of a standard floating type; 0 for other types.
int Precision(DataType type) {
  switch (type) {
    case DataType::kFloat64:
      return 53;
    case DataType::kFloat32:
      return 24;
    case DataType::kFloat16:
      return 11;
    case DataType::kBFloat16:
      return 8;
    default:
      return 0;
  }
}

bool IsIntegerOrBool(DataType type) {
  return types::kIntegers.Contains(type) || type == DataType::kBool;
}

// Every value of `from` is a value of `to`.
bool Preserves(DataType from, DataType to) {
  if (from == to) return true;
  if (IsIntegerOrBool(from)) {
    const Integers a = IntegersOf(from);
    const int64_t magnitude = a.bits - (a.is_signed ? 1 : 0);
    if (to == DataType::kBool) return false;
    if (types::kIntegers.Contains(to)) {
      const Integers b = IntegersOf(to);
      return (b.is_signed || !a.is_signed) && magnitude <= b.bits - (b.is_signed ? 1 : 0);
    }
    // float16 also ends at 65504, beyond its exact integers, so precision is the tighter bound for
    // all.
    return magnitude <= Precision(to);
  }
  if (to == DataType::kFloat64) return Precision(from) > 0;
  if (to == DataType::kFloat32) return Precision(from) > 0 && from != DataType::kFloat64;
  return false;  // float16 has more precision than bfloat16 and less range
}

// Casting a value of `from` by way of `middle` gives the same as casting it to `to` at once.
bool SameDirectly(DataType from, DataType middle, DataType to) {
  if (!Preserves(from, middle)) return false;
  if (Preserves(from, to)) return true;
  // One rounding of the same number, either way.
  if (Precision(to) > 0) return true;
  if (to == DataType::kBool) return true;
  // Integers wrap; how floats beyond the range convert to integers may differ between float types,
  // so these stay.
  return IsIntegerOrBool(from) && IsIntegerOrBool(middle) && types::kIntegers.Contains(to);
}

class CastSimplification : public NodePass {
 public:
  std::string_view name() const override { return "CastSimplification"; }

  void Visit(PassContext& context, const Node& node) override {
    const Graph& graph = context.graph();
    if (!node.Is("Cast")) return;
    const Node* first = ProducerOf(graph, node.inputs[0], "Cast");
    if (first == nullptr || IsVariable(graph, first->inputs[0])) return;
    const DataType from = graph.value(first->inputs[0]).type.dtype,
                   middle = graph.value(node.inputs[0]).type.dtype,
                   to = graph.value(node.outputs[0]).type.dtype;
    constexpr std::string_view kRule = "Cast+Cast";
    const bool known = (IsIntegerOrBool(from) || Precision(from) > 0) &&
                       (IsIntegerOrBool(middle) || Precision(middle) > 0) &&
                       (IsIntegerOrBool(to) || Precision(to) > 0);
    if (!known || !SameDirectly(from, middle, to)) {
      context.Reject(kRule, node,
                     Cat(DataTypeName(from), " by way of ", DataTypeName(middle), " to ",
                         DataTypeName(to), " may change values"));
      return;
    }
    Patch patch(kRule, node);
    patch.Remove(node.id);
    patch.Match(first->id);
    const ValueId source = first->inputs[0];
    patch.Replace(node.outputs[0],
                  from == to ? source : patch.AddNode(node.schema, {source}, node.attributes));
    context.Submit(patch);
  }
};
}  // namespace

std::unique_ptr<Pass> MakeCastSimplification() { return std::make_unique<CastSimplification>(); }

}  // namespace asc
