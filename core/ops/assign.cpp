// asc.Assign: writes a variable. Its output is the variable's next version.
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/strided_copy.h"

namespace asc {
namespace {

Status InferAssign(InferContext& context) {
  const Shape &variable = context.shape(0), &value = context.shape(1);
  bool fits = !variable.has_rank() || !value.has_rank() || variable.rank() == value.rank();
  for (size_t i = 0; fits && variable.has_rank() && value.has_rank() && i < variable.rank(); ++i) {
    fits = !variable[i].is_constant() || !value[i].is_constant() || variable[i] == value[i];
  }
  if (!fits)
    return ShapeError("Assign of a value of shape ", value, " to a variable of shape ", variable);
  return InferSameAsFirst(context);
}

// The executor gives the variable's own storage as output.
Status Assign(KernelContext& context) {
  const Tensor& value = context.input(1);
  Tensor& out = context.output(0);
  if (value.dims() != out.dims()) {
    return ShapeError("Assign of a value of shape ", value.dims(), " to a variable of shape ",
                      out.dims());
  }
  CopyElements(value, out);
  return Ok();
}
}  // namespace

void AddAssignOps(OpTable& table) {
  table.Add("Assign", 1, "asc")
      .Doc("writes a value into a variable and gives its next version")
      .Input("variable", "T")
      .Input("value", "T")
      .Output("next", "T")
      .Types("T", types::kAll)
      .WritesVariable()
      .Infer(InferAssign)
      .Kernel(Assign);
}

}  // namespace asc
