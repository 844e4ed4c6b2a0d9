// Sequences: SequenceEmpty, SequenceConstruct, SequenceInsert, SequenceErase, SequenceAt,
// SequenceLength, SplitToSequence, ConcatFromSequence. A sequence owns its tensors: what goes in is
// copied, because the plan reuses the memory of tensors.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/join_types.h"
#include "core/ops/shape_facts.h"
#include "core/ops/strided_copy.h"

namespace asc {
namespace {
constexpr TypeSet kElements = types::kNumeric | types::kBool | types::kString | types::kComplex;

// The type of input `i`'s elements; E5002 when it is no sequence.
Result<ValueType> ElementType(const InferContext& context, size_t i) {
  const ValueType& type = context.type(i);
  if (type.kind != ValueKind::kSequence) {
    return TypeError(context.schema().FullName(), " input '",
                     context.schema().InputParameter(i)->name, "' must be a sequence, given ",
                     type);
  }
  return type.element ? *type.element : ValueType();
}

Status CheckScalar(const InferContext& context, size_t i) {
  if (!context.HasInput(i) || !context.shape(i).is_static() ||
      context.shape(i).ElementCount().IsConstant(1))
    return Ok();
  return ShapeError(context.schema().FullName(), " input '",
                    context.schema().InputParameter(i)->name, "' must be a scalar, given shape ",
                    context.shape(i));
}

// The position that input `i` names among `count` places, or `otherwise` without that input. E5007
// when out of range.
Result<size_t> ReadPosition(const KernelContext& context, size_t i, int64_t count,
                            int64_t otherwise) {
  int64_t position = otherwise;
  if (context.HasInput(i)) {
    ASC_ASSIGN_OR_RETURN(const std::vector<int64_t> given, ToInt64Vector(context.input(i)));
    if (given.size() != 1)
      return ShapeError(context.schema().FullName(), " needs one position, given ", given);
    position = given[0];
  }
  // An insertion has one place more than there are elements; negative positions count the elements
  // all the same.
  const int64_t elements = static_cast<int64_t>(context.input_value(0).sequence().size());
  if (position < -elements || position >= count) {
    return Error(Code::kOutOfRange, context.schema().FullName(), " position ", position,
                 " is out of range for a sequence of ", elements, " elements");
  }
  return static_cast<size_t>(position < 0 ? position + elements : position);
}

Result<AnyValue> OwnCopy(KernelContext& context, const AnyValue& value) {
  if (!value.is_tensor()) return value;
  ASC_ASSIGN_OR_RETURN(Tensor copy, value.tensor().Clone(context.run().allocator));
  return AnyValue(std::move(copy));
}

// ---- making ----

Status InferSequenceEmpty(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const DataType dtype,
                       OutputTypeAttribute(context, "dtype", DataType::kFloat32, 0));
  context.SetOutput(0, ValueType::Sequence(ValueType::Tensor(dtype)));
  return Ok();
}

Status SequenceEmpty(KernelContext& context) {
  context.SetOutput(0, AnyValue::MakeSequence(
                           {}, context.attributes().Type("dtype").value_or(DataType::kFloat32)));
  return Ok();
}

Status InferSequenceConstruct(InferContext& context) {
  TypeJoin join("SequenceConstruct");
  ValueType element;
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (!context.HasInput(i))
      return InvalidArgument("SequenceConstruct needs its input number ", i);
    ASC_ASSIGN_OR_RETURN(element, join(element, context.type(i)));
  }
  context.SetOutput(0, ValueType::Sequence(std::move(element)));
  return Ok();
}

Status SequenceConstruct(KernelContext& context) {
  AnyValue::Sequence items;
  for (size_t i = 0; i < context.input_count(); ++i) {
    ASC_ASSIGN_OR_RETURN(AnyValue item, OwnCopy(context, context.input_value(i)));
    items.push_back(std::move(item));
  }
  context.SetOutput(0, AnyValue::MakeSequence(std::move(items)));
  return Ok();
}

// ---- changing ----

Status InferSequenceInsert(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const ValueType element, ElementType(context, 0));
  ASC_RETURN_IF_ERROR(CheckScalar(context, 2));
  TypeJoin join("SequenceInsert");
  ASC_ASSIGN_OR_RETURN(ValueType joined, join(element, context.type(1)));
  context.SetOutput(0, ValueType::Sequence(std::move(joined)));
  return Ok();
}

Status SequenceInsert(KernelContext& context) {
  AnyValue::Sequence items = context.input_value(0).sequence();
  const auto count = static_cast<int64_t>(items.size());
  const Tensor& tensor = context.input(1);
  const DataType wanted = context.input_value(0).sequence_element_type();
  if (wanted != DataType::kUndefined && wanted != tensor.dtype()) {
    return TypeError("SequenceInsert of ", tensor.TypeString(), " into a sequence of ",
                     DataTypeName(wanted));
  }
  ASC_ASSIGN_OR_RETURN(const size_t position, ReadPosition(context, 2, count + 1, count));
  ASC_ASSIGN_OR_RETURN(AnyValue item, OwnCopy(context, context.input_value(1)));
  items.insert(items.begin() + static_cast<ptrdiff_t>(position), std::move(item));
  context.SetOutput(0, AnyValue::MakeSequence(std::move(items), tensor.dtype()));
  return Ok();
}

Status InferSequenceErase(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(ValueType element, ElementType(context, 0));
  ASC_RETURN_IF_ERROR(CheckScalar(context, 1));
  context.SetOutput(0, ValueType::Sequence(std::move(element)));
  return Ok();
}

Status SequenceErase(KernelContext& context) {
  AnyValue::Sequence items = context.input_value(0).sequence();
  const auto count = static_cast<int64_t>(items.size());
  ASC_ASSIGN_OR_RETURN(const size_t position, ReadPosition(context, 1, count, count - 1));
  items.erase(items.begin() + static_cast<ptrdiff_t>(position));
  context.SetOutput(
      0, AnyValue::MakeSequence(std::move(items), context.input_value(0).sequence_element_type()));
  return Ok();
}

// ---- reading ----

Status InferSequenceAt(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(ValueType element, ElementType(context, 0));
  ASC_RETURN_IF_ERROR(CheckScalar(context, 1));
  context.SetOutput(0, std::move(element));
  return Ok();
}

Status SequenceAt(KernelContext& context) {
  const AnyValue::Sequence& items = context.input_value(0).sequence();
  const auto count = static_cast<int64_t>(items.size());
  ASC_ASSIGN_OR_RETURN(const size_t position, ReadPosition(context, 1, count, 0));
  ASC_ASSIGN_OR_RETURN(AnyValue item, OwnCopy(context, items[position]));
  context.SetOutput(0, std::move(item));
  return Ok();
}

Status InferSequenceLength(InferContext& context) {
  ASC_RETURN_IF_ERROR(ElementType(context, 0).status());
  context.SetOutput(0, DataType::kInt64, Shape(Dims()));
  return Ok();
}

Status SequenceLength(KernelContext& context) {
  *context.output(0).data<int64_t>() =
      static_cast<int64_t>(context.input_value(0).sequence().size());
  return Ok();
}

// ---- SplitToSequence ----

Status InferSplitToSequence(InferContext& context) {
  Shape shape = context.shape(0);
  if (shape.has_rank()) {
    ASC_ASSIGN_OR_RETURN(const int64_t axis,
                         AxisAttribute(context, "axis", static_cast<int64_t>(shape.rank())));
    std::vector<Dim> dims = shape.dims();
    if (context.HasInput(1)) {
      dims[static_cast<size_t>(axis)] = Dim::Unknown();  // parts may differ
    } else if (context.attributes().Int("keepdims", 1) != 0) {
      dims[static_cast<size_t>(axis)] = Dim(1);
    } else {
      dims.erase(dims.begin() + axis);
    }
    shape = Shape(std::move(dims));
  }
  if (context.HasInput(1) && context.shape(1).has_rank() && context.shape(1).rank() > 1) {
    return ShapeError("SplitToSequence input 'split' must be a scalar or a vector, given shape ",
                      context.shape(1));
  }
  context.SetOutput(0, ValueType::Sequence(ValueType::Tensor(context.dtype(0), std::move(shape))));
  return Ok();
}

// The extents of the parts. A scalar `split` gives equal parts (the last may be smaller), a vector
// one extent each.
Result<std::vector<int64_t>> PartSizes(const KernelContext& context, int64_t extent) {
  int64_t each = 1;
  if (context.HasInput(1)) {
    ASC_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, ToInt64Vector(context.input(1)));
    if (context.input(1).rank() == 1) {
      int64_t left = extent;
      for (const int64_t size : sizes) {
        if (size < 0 || size > left)
          return ShapeError("SplitToSequence of ", extent, " elements into parts of ", sizes);
        left -= size;
      }
      if (left != 0)
        return ShapeError("SplitToSequence of ", extent, " elements into parts of ", sizes);
      return sizes;
    }
    each = sizes[0];
    if (each < 1)
      return InvalidArgument("SplitToSequence needs parts of at least one element, given ", each);
  }
  std::vector<int64_t> sizes;
  for (int64_t at = 0; at < extent; at += each) sizes.push_back(std::min(each, extent - at));
  return sizes;
}

Status SplitToSequence(KernelContext& context) {
  const Tensor& in = context.input(0);
  ASC_ASSIGN_OR_RETURN(const int64_t attribute,
                       AxisAttribute(context, "axis", static_cast<int64_t>(in.rank())));
  const auto axis = static_cast<size_t>(attribute);
  ASC_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, PartSizes(context, in.dim(axis)));
  const bool drop_axis = !context.HasInput(1) && context.attributes().Int("keepdims", 1) == 0;
  const int64_t outer = ElementCount(in.dims(), 0, axis),
                inner = ElementCount(in.dims(), axis + 1, in.rank());
  const int64_t in_row = in.dim(axis) * inner;
  AnyValue::Sequence items;
  int64_t at = 0;
  for (const int64_t size : sizes) {
    Dims dims = in.dims();
    dims[axis] = size;
    if (drop_axis) dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
    ASC_ASSIGN_OR_RETURN(Tensor part, Tensor::Allocate(in.dtype(), dims, context.run().allocator));
    const int64_t row = size * inner;
    StridedCopy(in.dtype(), {outer, row}, {in.raw(), at, {in_row, 1}}, {part.raw(), 0, {row, 1}});
    items.emplace_back(std::move(part));
    at += row;
  }
  context.SetOutput(0, AnyValue::MakeSequence(std::move(items), in.dtype()));
  return Ok();
}

// ---- ConcatFromSequence ----

Status InferConcatFromSequence(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const ValueType element, ElementType(context, 0));
  const bool stack = context.attributes().Int("new_axis", 0) != 0;
  context.SetOutput(0, element.dtype);
  if (!element.is_tensor())
    return TypeError("ConcatFromSequence joins tensors, given a sequence of ", element);
  if (!element.shape.has_rank()) return Ok();
  std::vector<Dim> dims = element.shape.dims();
  ASC_ASSIGN_OR_RETURN(
      const int64_t axis,
      AxisAttribute(context, "axis", static_cast<int64_t>(dims.size()) + (stack ? 1 : 0)));
  if (stack) dims.insert(dims.begin() + axis, Dim::Unknown());
  dims[static_cast<size_t>(axis)] = Dim::Unknown();
  context.SetOutput(0, element.dtype, Shape(std::move(dims)));
  return Ok();
}

Status ConcatFromSequence(KernelContext& context) {
  const AnyValue::Sequence& items = context.input_value(0).sequence();
  if (items.empty())
    return InvalidArgument("ConcatFromSequence needs at least one tensor, given an empty sequence");
  const bool stack = context.attributes().Int("new_axis", 0) != 0;
  const Tensor& first = items[0].tensor();
  ASC_ASSIGN_OR_RETURN(
      const int64_t attribute,
      AxisAttribute(context, "axis", static_cast<int64_t>(first.rank()) + (stack ? 1 : 0)));
  const auto axis = static_cast<size_t>(attribute);
  Dims dims = first.dims();
  if (stack) dims.insert(dims.begin() + attribute, 1);
  dims[axis] = 0;
  for (const AnyValue& item : items) {
    const Tensor& tensor = item.tensor();
    bool fits = tensor.dtype() == first.dtype() && tensor.rank() == first.rank();
    for (size_t i = 0; fits && i < first.rank(); ++i)
      fits = tensor.dim(i) == first.dim(i) || (!stack && i == axis);
    if (!fits) {
      return ShapeError("ConcatFromSequence along axis ", attribute, ": ", tensor.TypeString(),
                        " does not fit ", first.TypeString());
    }
    dims[axis] += stack ? 1 : tensor.dim(axis);
  }
  ASC_ASSIGN_OR_RETURN(Tensor * out, context.AllocateOutput(0, first.dtype(), dims));
  const int64_t outer = ElementCount(dims, 0, axis),
                out_row = ElementCount(dims, axis, dims.size());
  int64_t at = 0;
  for (const AnyValue& item : items) {
    const Tensor& tensor = item.tensor();
    const int64_t row = outer == 0 ? 0 : tensor.size() / outer;
    StridedCopy(first.dtype(), {outer, row}, {tensor.raw(), 0, {row, 1}},
                {out->raw(), at, {out_row, 1}});
    at += row;
  }
  return Ok();
}
}  // namespace

void AddSequenceOps(OpTable& table) {
  table.Add("SequenceEmpty", 11)
      .Doc("a sequence without elements")
      .Output("output", "S")
      .Types("S", kElements)
      .OptionalAttr("dtype", AttributeType::kInt)
      .Infer(InferSequenceEmpty)
      .Kernel(SequenceEmpty);
  table.Add("SequenceConstruct", 11)
      .Doc("a sequence of the inputs")
      .Input("inputs", "T", ParameterKind::kVariadic)
      .Output("output_sequence", "")
      .Types("T", kElements)
      .Infer(InferSequenceConstruct)
      .Kernel(SequenceConstruct);
  table.Add("SequenceInsert", 11)
      .Doc("a sequence with a tensor inserted before `position` (default: at the end)")
      .Input("input_sequence", "")
      .Input("tensor", "T")
      .OptionalInput("position", "I")
      .Output("output_sequence", "")
      .Types("T", kElements)
      .Types("I", types::kIndex)
      .Infer(InferSequenceInsert)
      .Kernel(SequenceInsert);
  table.Add("SequenceErase", 11)
      .Doc("a sequence without the element at `position` (default: the last)")
      .Input("input_sequence", "")
      .OptionalInput("position", "I")
      .Output("output_sequence", "")
      .Types("I", types::kIndex)
      .Infer(InferSequenceErase)
      .Kernel(SequenceErase);
  table.Add("SequenceAt", 11)
      .Doc("the element at `position`")
      .Input("input_sequence", "")
      .Input("position", "I")
      .Output("tensor", "")
      .Types("I", types::kIndex)
      .ShapeFromKernel()
      .Infer(InferSequenceAt)
      .Kernel(SequenceAt);
  table.Add("SequenceLength", 11)
      .Doc("the number of elements")
      .Input("input_sequence", "")
      .Output("length", "I")
      .Types("I", types::kInt64)
      .Infer(InferSequenceLength)
      .Kernel(SequenceLength);
  table.Add("SplitToSequence", 24)
      .Doc("cuts a tensor along an axis into a sequence of parts")
      .Input("input", "T")
      .OptionalInput("split", "I")
      .Output("output_sequence", "")
      .Types("T", kElements)
      .Types("I", types::kIndex)
      .Attr("axis", int64_t{0}, "dim")
      .Attr("keepdims", int64_t{1}, "keepdim", "0: without `split`, parts lose the axis")
      .Infer(InferSplitToSequence)
      .Kernel(SplitToSequence);
  table.Add("ConcatFromSequence", 11)
      .Doc("joins the tensors of a sequence along an axis, or stacks them along a new one")
      .Input("input_sequence", "")
      .Output("concat_result", "T")
      .Types("T", kElements)
      .RequiredAttr("axis", AttributeType::kInt, "dim")
      .Attr("new_axis", int64_t{0})
      .ShapeFromKernel()
      .Infer(InferConcatFromSequence)
      .Kernel(ConcatFromSequence);
}

}  // namespace asc
