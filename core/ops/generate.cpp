// Tensors from attributes and scalars: Constant, ConstantOfShape, Range, EyeLike.
#include <cmath>
#include <cstring>

#include "core/base/parallel.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/shape_facts.h"
#include "core/ops/strided_copy.h"
#include "core/tensor/element.h"

namespace asc {
namespace {

// ---- Constant ----

// Importers turn these nodes into constant values; the row serves graphs that are built by hand.
Result<Tensor> ConstantTensor(const AttributeMap& attributes) {
  std::optional<Tensor> found;
  const auto take = [&](Tensor tensor) {
    if (found) return false;
    found = std::move(tensor);
    return true;
  };
  bool single = true;
  if (const auto* value = attributes.Get<Tensor>("value")) single &= take(*value);
  if (const auto* value = attributes.Get<float>("value_float"))
    single &= take(Tensor::Scalar<float>(*value));
  if (const auto* value = attributes.Get<int64_t>("value_int"))
    single &= take(Tensor::Scalar<int64_t>(*value));
  if (const auto* value = attributes.Get<std::string>("value_string"))
    single &= take(Tensor::Scalar<std::string>(*value));
  if (const auto* values = attributes.Get<std::vector<float>>("value_floats")) {
    single &= take(Tensor::FromValues<float>({static_cast<int64_t>(values->size())}, *values));
  }
  if (const auto* values = attributes.Get<std::vector<int64_t>>("value_ints")) {
    single &= take(FromInt64Vector(*values));
  }
  if (const auto* values = attributes.Get<std::vector<std::string>>("value_strings")) {
    single &=
        take(Tensor::FromValues<std::string>({static_cast<int64_t>(values->size())}, *values));
  }
  if (!found || !single)
    return InvalidArgument("Constant needs exactly one of its value attributes");
  return *std::move(found);
}

Status InferConstant(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const Tensor value, ConstantTensor(context.attributes()));
  context.SetOutput(0, value.dtype(), Shape(value.dims()));
  if (types::kIndex.Contains(value.dtype()) && value.rank() <= 1 && value.size() <= kMaxRank) {
    ASC_ASSIGN_OR_RETURN(const std::vector<int64_t> ints, ToInt64Vector(value));
    SetKnownElements(context, 0, std::vector<Dim>(ints.begin(), ints.end()));
  }
  return Ok();
}

Status ConstantKernel(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const Tensor value, ConstantTensor(context.attributes()));
  CopyElements(value, context.output(0));
  return Ok();
}

// ---- ConstantOfShape ----

Status InferConstantOfShape(InferContext& context) {
  const Tensor* value = context.attributes().Get<Tensor>("value");
  if (value != nullptr && value->size() != 1) {
    return InvalidArgument("ConstantOfShape value must have one element, given ",
                           value->TypeString());
  }
  const DataType dtype = value != nullptr ? value->dtype() : DataType::kFloat32;
  ASC_ASSIGN_OR_RETURN(const std::optional<int64_t> length, VectorLength(context, 0));
  const auto dims = context.Dims(0);
  if (!dims) {
    context.SetOutput(0, dtype,
                      length ? Shape::UnknownDims(static_cast<size_t>(*length)) : Shape());
    return Ok();
  }
  for (const Dim& dim : *dims) {
    if (dim.is_constant() && dim.value() < 0)
      return InvalidArgument("ConstantOfShape extents must not be negative, given ", *dims);
  }
  context.SetOutput(0, dtype, Shape(*dims));
  const Shape& out = context.outputs()[0].type.shape;
  if (value != nullptr && types::kIndex.Contains(dtype) && out.is_static() && out.rank() <= 1) {
    const Dim count = out.ElementCount();
    if (count.value() <= kMaxRank) {
      SetKnownElements(context, 0,
                       std::vector<Dim>(static_cast<size_t>(count.value()),
                                        Dim(ReadAsInt64(dtype, value->raw(), 0))));
    }
  }
  return CheckSize(context, 0);
}

Status ConstantOfShape(KernelContext& context) {
  Tensor& out = context.output(0);
  const Tensor* value = context.attributes().Get<Tensor>("value");
  FillElements(value != nullptr ? *value : Tensor::Scalar<float>(0), out);
  return Ok();
}

// ---- Range ----

// max(ceil((limit - start) / delta), 0), exact for integers.
Result<int64_t> RangeCount(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  const DataType type = start.dtype();
  if (IsInteger(type)) {
    const int64_t a = ReadAsInt64(type, start.raw(), 0), b = ReadAsInt64(type, limit.raw(), 0);
    const int64_t step = ReadAsInt64(type, delta.raw(), 0);
    if (step == 0) return InvalidArgument("Range delta must not be 0");
    if (step > 0 ? b <= a : b >= a) return 0;
    const uint64_t length = step > 0 ? static_cast<uint64_t>(b) - static_cast<uint64_t>(a)
                                     : static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
    const uint64_t stride =
        step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
    const uint64_t count = (length - 1) / stride + 1;
    if (count > static_cast<uint64_t>(INT64_MAX))
      return InvalidArgument("Range from ", a, " to ", b, " by ", step, " is too long");
    return static_cast<int64_t>(count);
  }
  const double a = ReadAsDouble(type, start.raw(), 0), b = ReadAsDouble(type, limit.raw(), 0);
  const double step = ReadAsDouble(type, delta.raw(), 0);
  const double count = std::ceil((b - a) / step);
  if (step == 0 || !(std::fabs(count) < 0x1p62)) {
    return InvalidArgument("Range from ", a, " to ", b, " by ", step, " has no sensible length");
  }
  return static_cast<int64_t>(std::max(count, 0.0));
}

Status InferRange(InferContext& context) {
  for (size_t i = 0; i < 3; ++i) {
    const Shape& shape = context.shape(i);
    if (shape.is_static() && shape.ElementCount().value() != 1) {
      return ShapeError("Range takes scalars, given shape ", shape, " for '",
                        context.schema().inputs[i].name, "'");
    }
  }
  Dim count = Dim::Unknown();
  const auto start = context.Dims(0), limit = context.Dims(1);
  const auto delta = context.Ints(2);
  if (context.constant(0) && context.constant(1) && context.constant(2)) {
    ASC_ASSIGN_OR_RETURN(
        const int64_t length,
        RangeCount(*context.constant(0), *context.constant(1), *context.constant(2)));
    count = Dim(length);
  } else if (start && limit && delta && start->size() == 1 && limit->size() == 1 &&
             delta->size() == 1 && (*delta)[0] > 0) {
    const Dim span = (*limit)[0] - (*start)[0];
    if (!span.is_unknown() || (*start)[0].IsConstant(0)) {
      count = Dim::CeilDiv(span, Dim((*delta)[0]));
      if (!SurelyNonNegative(span)) count = Dim::Max(count, Dim(0));
    }
  }
  context.SetOutput(0, context.dtype(0), Shape({count}));
  if (count.is_constant() && count.value() <= kMaxRank && start && delta) {
    std::vector<Dim> elements;
    for (int64_t i = 0; i < count.value(); ++i)
      elements.push_back((*start)[0] + Dim(i) * Dim((*delta)[0]));
    SetKnownElements(context, 0, std::move(elements));
  }
  return CheckSize(context, 0);
}

// Each element is computed from its index: no error piles up. Narrow floats are computed in
// float32.
template <typename T>
void FillRange(const Tensor& start, const Tensor& delta, Tensor& out) {
  T* y = out.data<T>();
  if constexpr (std::is_integral_v<T>) {
    const auto a = static_cast<uint64_t>(*start.data<T>()),
               step = static_cast<uint64_t>(*delta.data<T>());
    for (int64_t i = 0; i < out.size(); ++i)
      y[i] = static_cast<T>(a + static_cast<uint64_t>(i) * step);
  } else {
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const auto a = static_cast<Wide>(*start.data<T>()), step = static_cast<Wide>(*delta.data<T>());
    for (int64_t i = 0; i < out.size(); ++i) y[i] = T(a + static_cast<Wide>(i) * step);
  }
}

Status RangeKernel(KernelContext& context) {
  VisitType<float, double, Half, BFloat16, int16_t, int32_t, int64_t>(
      context.input(0).dtype(), [&](auto zero) {
        FillRange<decltype(zero)>(context.input(0), context.input(2), context.output(0));
      });
  return Ok();
}

// ---- EyeLike ----

Status InferEyeLike(InferContext& context) {
  ASC_RETURN_IF_ERROR(CheckRank(context, 0, 2));
  ASC_ASSIGN_OR_RETURN(const DataType dtype,
                       OutputTypeAttribute(context, "dtype", context.dtype(0), 0));
  context.SetOutput(0, dtype,
                    context.shape(0).has_rank() ? context.shape(0) : Shape::UnknownDims(2));
  return Ok();
}

Status EyeLike(KernelContext& context) {
  Tensor& out = context.output(0);
  const int64_t rows = out.dim(0), columns = out.dim(1), k = context.attributes().Int("k", 0);
  VisitType<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
            uint32_t, uint64_t, bool>(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* y = out.data<T>();
    constexpr int64_t kGrain = (1 << 17) / sizeof(T);
    ParallelFor(rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, columns)),
                [&](int64_t begin, int64_t end) {
                  std::fill(y + begin * columns, y + end * columns, T(0));
                  for (int64_t row = begin; row < end; ++row) {
                    // k may be anything: compare before adding.
                    if (k >= -row && k < columns - row) y[row * columns + row + k] = T(1);
                  }
                });
  });
  return Ok();
}
}  // namespace

void AddGenerateOps(OpTable& table) {
  table.Add("Constant", 25)
      .Doc("a tensor that is written in the graph")
      .Output("output", "T")
      .Types("T", types::kAll)
      .OptionalAttr("value", AttributeType::kTensor)
      .OptionalAttr("value_float", AttributeType::kFloat)
      .OptionalAttr("value_floats", AttributeType::kFloats)
      .OptionalAttr("value_int", AttributeType::kInt)
      .OptionalAttr("value_ints", AttributeType::kInts)
      .OptionalAttr("value_string", AttributeType::kString)
      .OptionalAttr("value_strings", AttributeType::kStrings)
      .Infer(InferConstant)
      .Kernel(ConstantKernel);
  table.Add("ConstantOfShape", 25)
      .Doc("a tensor of the given shape, filled with one value (default: float32 zero)")
      .Input("input", "T1")
      .Output("output", "T2")
      .Types("T1", types::kInt64)
      .Types("T2", types::kAll - types::kString - types::kComplex)
      .OptionalAttr("value", AttributeType::kTensor)
      .Infer(InferConstantOfShape)
      .Kernel(ConstantOfShape);
  table.Add("Range", 27)
      .Doc("start, start + delta, ... below limit (above it for a negative delta)")
      .Input("start", "T")
      .Input("limit", "T")
      .Input("delta", "T")
      .Output("output", "T")
      .Types("T", types::kFloats | TypeSet{DataType::kInt16, DataType::kInt32, DataType::kInt64})
      .Attr("stash_type", int64_t{1}, "",
            "type that narrow floats are computed in: 1, float32, is what is always used")
      .Infer(InferRange)
      .Kernel(RangeKernel);
  table.Add("EyeLike", 22)
      .Doc("ones on diagonal k of a zero matrix of the input's shape")
      .Input("input", "T1")
      .Output("output", "T2")
      .Types("T1", types::kNumeric | types::kBool)
      .Types("T2", types::kNumeric | types::kBool)
      .OptionalAttr("dtype", AttributeType::kInt)
      .Attr("k", int64_t{0})
      .Infer(InferEyeLike)
      .Kernel(EyeLike);
}

}  // namespace asc
