// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/ops/cast_elements.h"
#include "core/ops/dynamic_quantization.h"
#include "core/ops/elementwise_map.h"
#include "core/ops/families.h"
#include "core/ops/quantize_range.h"

namespace asc {
namespace {
constexpr TypeSet kFloat8 = {DataType::kFloat8E4M3FN, DataType::kFloat8E4M3FNUZ,
                             DataType::kFloat8E5M2, DataType::kFloat8E5M2FNUZ};
constexpr TypeSet kQuantized =
    kFloat8 | types::kNarrowIntegers |
    TypeSet{DataType::kInt8,       DataType::kUInt8,      DataType::kInt16,     DataType::kUInt16,
            DataType::kFloat4E2M1, DataType::kFloat6E2M3, DataType::kFloat6E3M2};
constexpr TypeSet kScales = {DataType::kFloat32, DataType::kFloat16, DataType::kBFloat16,
                             DataType::kFloat8E8M0};

// Which scale belongs to which element. The data is seen as [outer, axis, inner].
struct Granularity {
  int64_t axis = 1, inner = 1;  // extents
  int64_t block = 0;            // elements of the axis that share a scale; 0: all
  int64_t blocks = 1;
  bool per_inner = false;  // blocked: each position of outer and inner has scales of its own

  int64_t ScaleOf(int64_t i) const {
    if (block == 0) return 0;
    const int64_t place = i / inner % axis / block;
    return per_inner ? (i / inner / axis * blocks + place) * inner + i % inner : place;
  }
};

// E5001 when the scale's shape is none of the three that the data can have.
Result<Granularity> ReadGranularity(std::string_view op, const AttributeMap& attributes,
                                    const Dims& x, const Dims& scale) {
  Granularity out;
  const int64_t block = attributes.Int("block_size", 0);
  if (block < 0) return InvalidArgument(op, " needs block_size >= 0, given ", block);
  if (block == 0 && (scale.empty() || (scale.size() == 1 && scale[0] == 1))) return out;
  const auto refuse = [&]() {
    return ShapeError(op, " of ", x, " cannot use a scale of shape ", scale)
        .WithHint(
            "a scalar, one value for each element of `axis`, or with block_size the data's shape "
            "with a shorter axis");
  };
  if (x.empty() || scale.empty()) return refuse();
  const int64_t given = attributes.Int("axis", 1);
  // For one axis there is no choice, and the default may not fit.
  Result<int64_t> normal = x.size() == 1 ? Result<int64_t>(int64_t{0})
                                         : NormalizeAxis(given, static_cast<int64_t>(x.size()));
  if (!normal.ok()) return std::move(normal).status().WithContext(op);
  const auto axis = static_cast<size_t>(*normal);
  out.axis = x[axis];
  out.inner = ElementCount(x, axis + 1, x.size());
  if (block == 0) {
    out.block = 1;
    out.blocks = out.axis;
    if (scale.size() != 1 || scale[0] != out.axis) return refuse();
    return out;
  }
  out.block = block;
  out.per_inner = true;
  if (scale.size() != x.size()) return refuse();
  out.blocks = scale[axis];
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t want = i == axis ? x[i] / block + (x[i] % block != 0) : x[i];
    if (scale[i] != want) return refuse();
  }
  return out;
}

Status CheckScale(const InferContext& context) {
  const auto x = context.shape(0).ToDims(), scale = context.shape(1).ToDims();
  if (x && scale) {
    ASC_RETURN_IF_ERROR(
        ReadGranularity(context.schema().FullName(), context.attributes(), *x, *scale).status());
  }
  if (!context.HasInput(2) || !scale) return Ok();
  const auto zero = context.shape(2).ToDims();
  const bool both_one = zero && ElementCount(*zero) == 1 && ElementCount(*scale) == 1;
  if (!zero || *zero == *scale || both_one) return Ok();
  return ShapeError(context.schema().FullName(), " needs a zero point of the scale's shape ",
                    *scale, ", given ", *zero);
}

Status InferQuantize(InferContext& context) {
  DataType to = context.HasInput(2) ? context.dtype(2) : DataType::kUInt8;
  if (const int64_t number = context.attributes().Int("output_dtype", 0); number != 0) {
    const auto given = DataTypeFromOnnx(number);
    if (!given || !kQuantized.Contains(*given)) {
      return TypeError("QuantizeLinear cannot make type number ", number, ": expected one of ",
                       kQuantized);
    }
    if (context.HasInput(2) && *given != to) {
      return TypeError("QuantizeLinear has output_dtype ", DataTypeName(*given),
                       " but a zero point of ", DataTypeName(to));
    }
    to = *given;
  }
  const int64_t precision = context.attributes().Int("precision", 0);
  if (precision != 0 &&
      !types::kFloats.Contains(DataTypeFromOnnx(precision).value_or(DataType::kString))) {
    return TypeError("QuantizeLinear has no precision number ", precision, ": expected one of ",
                     types::kFloats);
  }
  ASC_RETURN_IF_ERROR(CheckScale(context));
  context.SetOutput(0, to, context.shape(0));
  return Ok();
}

// x / scale as the precision's type has it.
double Divide(double x, double scale, DataType precision) {
  switch (precision) {
    case DataType::kFloat16:
      return Half(static_cast<float>(Half(static_cast<float>(x))) / static_cast<float>(scale));
    case DataType::kBFloat16:
      return BFloat16(static_cast<float>(BFloat16(static_cast<float>(x))) /
                      static_cast<float>(scale));
    case DataType::kFloat64:
      return x / scale;
    default:
      return static_cast<float>(x) / static_cast<float>(scale);
  }
}

// Elements in a row that share a scale, or whose scales lie side by side (blocked, inner > 1).
struct ScaleRun {
  int64_t count = 0;
  int64_t scale = 0;   // of the first
  bool moves = false;  // each has the scale after that of the one before
};

// Calls use(first, run) for the runs of the elements [begin, end) of granularity `g`.
template <typename Use>
void ForScaleRuns(const Granularity& g, int64_t begin, int64_t end, Use&& use) {
  while (begin < end) {
    ScaleRun run{end - begin, g.ScaleOf(begin), false};
    if (g.block != 0) {
      const int64_t within = begin % g.inner, place = begin / g.inner % g.axis;
      const int64_t places = std::min(g.block - place % g.block, g.axis - place);
      run.moves = g.per_inner && g.inner > 1;
      run.count = std::min(run.count, (run.moves ? 1 : places) * g.inner - within);
    }
    use(begin, run);
    begin += run.count;
  }
}

// `count` scales or zero points as float, where one stands for all.
std::vector<float> AsFloats(const Tensor* tensor, int64_t count) {
  std::vector<float> out(static_cast<size_t>(count), 0.0f);
  if (tensor == nullptr || count == 0) return out;
  CastElements(tensor->dtype(), tensor->raw(), DataType::kFloat32, out.data(),
               std::min(tensor->size(), count));
  if (tensor->size() == 1) std::fill(out.begin() + 1, out.end(), out[0]);
  return out;
}

// Whole numbers up to 2^22, halves to even: what is added leaves no room for a fraction.
inline float RoundSmall(float x) {
  constexpr float kWhole = 0x1.8p23f;
  return (x + kWhole) - kWhole;
}

// One element of float32 to an integer of at most 16 bits. To clamp before rounding gives the same,
// as the ends are whole; NaN becomes the low end.
template <typename Y>
inline Y QuantizeOne(float x, float scale, float zero) {
  const float low = static_cast<float>(std::numeric_limits<Y>::min()) - zero,
              high = static_cast<float>(std::numeric_limits<Y>::max()) - zero;
  float quotient = x / scale;
  quotient = quotient > low ? quotient : low;
  quotient = quotient < high ? quotient : high;
  return static_cast<Y>(static_cast<int32_t>(RoundSmall(quotient) + zero));
}

template <typename Y>
void QuantizeRun(const float* x, const float* scale, const float* zero, bool moves, int64_t count,
                 Y* y) {
  if (moves) {
    for (int64_t i = 0; i < count; ++i) y[i] = QuantizeOne<Y>(x[i], scale[i], zero[i]);
    return;
  }
  const float one_scale = *scale, one_zero = *zero;
  for (int64_t i = 0; i < count; ++i) y[i] = QuantizeOne<Y>(x[i], one_scale, one_zero);
}

// From float32 divided in float32 to integers of 8 and 16 bits; false for other types.
bool QuantizeFloats(const Tensor& x, const Tensor& scale, const Tensor* zero,
                    const Granularity& granularity, DataType precision, Tensor& y) {
  if (x.dtype() != DataType::kFloat32 || precision != DataType::kFloat32) return false;
  return VisitType<uint8_t, int8_t, uint16_t, int16_t>(y.dtype(), [&](auto tag) {
    using Y = decltype(tag);
    const std::vector<float> scales = AsFloats(&scale, scale.size());
    const std::vector<float> zeros = AsFloats(zero, scale.size());
    const float* from = x.data<float>();
    Y* to = y.data<Y>();
    ParallelFor(x.size(), kElementGrain, [&](int64_t begin, int64_t end) {
      ForScaleRuns(granularity, begin, end, [&](int64_t first, const ScaleRun& run) {
        QuantizeRun<Y>(from + first, &scales[static_cast<size_t>(run.scale)],
                       &zeros[static_cast<size_t>(run.scale)], run.moves, run.count, to + first);
      });
    });
  });
}

DataType Precision(const AttributeMap& attributes, DataType scale) {
  if (const auto given = attributes.Type("precision")) return *given;
  return scale == DataType::kInt32        ? DataType::kFloat64
         : scale == DataType::kFloat8E8M0 ? DataType::kFloat32
                                          : scale;
}

Status Quantize(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& scale = context.input(1);
  const Tensor* zero = context.HasInput(2) ? &context.input(2) : nullptr;
  Tensor& y = context.output(0);
  ASC_ASSIGN_OR_RETURN(
      const Granularity granularity,
      ReadGranularity("QuantizeLinear", context.attributes(), x.dims(), scale.dims()));
  const DataType precision = Precision(context.attributes(), scale.dtype());
  if (QuantizeFloats(x, scale, zero, granularity, precision, y)) return Ok();
  const auto range = IntegerRange(y.dtype());
  ASC_ASSIGN_OR_RETURN(const auto buffer,
                       context.Scratch(static_cast<size_t>(x.size()) * sizeof(double)));
  double* quotients = reinterpret_cast<double*>(buffer->data());
  ParallelFor(x.size(), kElementGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = granularity.ScaleOf(i);
      const double quotient = Divide(ReadAsDouble(x.dtype(), x.raw(), i),
                                     ReadAsDouble(scale.dtype(), scale.raw(), at), precision);
      const double offset =
          zero == nullptr ? 0
                          : ReadAsDouble(zero->dtype(), zero->raw(), zero->size() == 1 ? 0 : at);
      quotients[i] = range ? range->Clamp(std::nearbyint(quotient) + offset) : quotient + offset;
    }
  });
  CastOptions options;
  options.saturate = context.attributes().Int("saturate", 1) != 0;
  CastElements(DataType::kFloat64, quotients, y.dtype(), y.raw(), y.size(), options);
  return Ok();
}

Status InferDequantize(InferContext& context) {
  const DataType scale = context.dtype(1);
  DataType to = scale == DataType::kFloat8E8M0 ? DataType::kFloat32 : scale;
  if (const int64_t number = context.attributes().Int("output_dtype", 0); number != 0) {
    const auto given = DataTypeFromOnnx(number);
    if (!given || !(kScales - TypeSet{DataType::kFloat8E8M0}).Contains(*given)) {
      return TypeError("DequantizeLinear cannot make type number ", number,
                       ": expected float32, float16 or bfloat16");
    }
    to = *given;
  }
  ASC_RETURN_IF_ERROR(CheckScale(context));
  context.SetOutput(0, to, context.shape(0));
  return Ok();
}

template <typename X>
void DequantizeRun(const X* x, const float* scale, const float* zero, bool moves, int64_t count,
                   float* y) {
  if (moves) {
    for (int64_t i = 0; i < count; ++i)
      y[i] = (static_cast<float>(static_cast<int32_t>(x[i])) - zero[i]) * scale[i];
    return;
  }
  const float one_scale = *scale, one_zero = *zero;
  for (int64_t i = 0; i < count; ++i)
    y[i] = (static_cast<float>(static_cast<int32_t>(x[i])) - one_zero) * one_scale;
}

// From integers of 8 and 16 bits, whose differences float32 holds exactly, to float32; false for
// other types.
bool DequantizeToFloats(const Tensor& x, const Tensor& scale, const Tensor* zero,
                        const Granularity& granularity, Tensor& y) {
  if (y.dtype() != DataType::kFloat32) return false;
  return VisitType<uint8_t, int8_t, uint16_t, int16_t>(x.dtype(), [&](auto tag) {
    using X = decltype(tag);
    const std::vector<float> scales = AsFloats(&scale, scale.size());
    const std::vector<float> zeros = AsFloats(zero, scale.size());
    const X* from = x.data<X>();
    float* to = y.data<float>();
    ParallelFor(x.size(), kElementGrain, [&](int64_t begin, int64_t end) {
      ForScaleRuns(granularity, begin, end, [&](int64_t first, const ScaleRun& run) {
        DequantizeRun<X>(from + first, &scales[static_cast<size_t>(run.scale)],
                         &zeros[static_cast<size_t>(run.scale)], run.moves, run.count, to + first);
      });
    });
  });
}

Status Dequantize(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& scale = context.input(1);
  const Tensor* zero = context.HasInput(2) ? &context.input(2) : nullptr;
  Tensor& y = context.output(0);
  ASC_ASSIGN_OR_RETURN(
      const Granularity granularity,
      ReadGranularity("DequantizeLinear", context.attributes(), x.dims(), scale.dims()));
  if (DequantizeToFloats(x, scale, zero, granularity, y)) return Ok();
  VisitFloats(y.dtype(), [&](auto tag) {
    using T = decltype(tag);
    T* to = y.data<T>();
    ParallelFor(x.size(), kElementGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = granularity.ScaleOf(i);
        const double offset =
            zero == nullptr ? 0
                            : ReadAsDouble(zero->dtype(), zero->raw(), zero->size() == 1 ? 0 : at);
        const auto steps = static_cast<float>(ReadAsDouble(x.dtype(), x.raw(), i) - offset);
        to[i] = static_cast<T>(steps *
                               static_cast<float>(ReadAsDouble(scale.dtype(), scale.raw(), at)));
      }
    });
  });
  return Ok();
}

Status InferDynamicQuantize(InferContext& context) {
  context.SetOutput(0, DataType::kUInt8, context.shape(0));
  context.SetOutput(1, DataType::kFloat32, Shape(Dims()));
  context.SetOutput(2, DataType::kUInt8, Shape(Dims()));
  return Ok();
}

// The range always holds 0; where it holds nothing else, any scale will do.
Status DynamicQuantize(KernelContext& context) {
  const Tensor& x = context.input(0);
  const float* values = x.data<float>();
  // Lanes side by side, so that the loop becomes vector code. NaN does not count.
  constexpr int64_t kLanes = 16;
  float lows[kLanes] = {}, highs[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= x.size(); i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) {
      const float value = values[i + k];
      lows[k] = value < lows[k] ? value : lows[k];
      highs[k] = value > highs[k] ? value : highs[k];
    }
  }
  for (; i < x.size(); ++i) {
    lows[0] = values[i] < lows[0] ? values[i] : lows[0];
    highs[0] = values[i] > highs[0] ? values[i] : highs[0];
  }
  const float low = *std::min_element(lows, lows + kLanes),
              high = *std::max_element(highs, highs + kLanes);
  const DynamicQuantization fitted = FitRange(low, high);
  const auto offset = static_cast<float>(fitted.zero);
  uint8_t* y = context.output(0).data<uint8_t>();
  ParallelFor(x.size(), kElementGrain, [&](int64_t begin, int64_t end) {
    QuantizeRun<uint8_t>(values + begin, &fitted.scale, &offset, false, end - begin, y + begin);
  });
  context.output(1).data<float>()[0] = fitted.scale;
  context.output(2).data<uint8_t>()[0] = fitted.zero;
  return Ok();
}
}  // namespace

void AddQuantizeOps(OpTable& table) {
  table.Add("DequantizeLinear", 28)
      .Doc("(x - zero point) * scale")
      .Input("x", "T1")
      .Input("x_scale", "T2")
      .OptionalInput("x_zero_point", "T1")
      .Output("y", "T3")
      .Types("T1", kQuantized | TypeSet{DataType::kInt32})
      .Types("T2", kScales)
      .Types("T3", kScales - TypeSet{DataType::kFloat8E8M0})
      .Attr("axis", int64_t{1})
      .Attr("block_size", int64_t{0}, "", "elements of the axis that share a scale; 0: not blocked")
      .Attr("output_dtype", int64_t{0}, "", "as ONNX numbers it; 0: the scale's type")
      .Class(OpClass::kElementwise)
      .Infer(InferDequantize)
      .Kernel(Dequantize);
  table.Add("DynamicQuantizeLinear", 11)
      .Doc("x as uint8 with a scale and a zero point that fit its range")
      .Input("x", "T1")
      .Output("y", "T2")
      .Output("y_scale", "T1")
      .Output("y_zero_point", "T2")
      .Types("T1", TypeSet{DataType::kFloat32})
      .Types("T2", TypeSet{DataType::kUInt8})
      .Infer(InferDynamicQuantize)
      .Kernel(DynamicQuantize);
  table.Add("QuantizeLinear", 28)
      .Doc("x / scale, rounded to even, plus the zero point, saturated")
      .Input("x", "T1")
      .Input("y_scale", "T2")
      .OptionalInput("y_zero_point", "T3")
      .Output("y", "T3")
      .Types("T1",
             TypeSet{DataType::kFloat32, DataType::kFloat16, DataType::kBFloat16, DataType::kInt32})
      .Types("T2", kScales | TypeSet{DataType::kInt32})
      .Types("T3", kQuantized)
      .Attr("axis", int64_t{1})
      .Attr("block_size", int64_t{0}, "", "elements of the axis that share a scale; 0: not blocked")
      .Attr("output_dtype", int64_t{0}, "",
            "as ONNX numbers it; 0: the zero point's type, or uint8")
      .Attr("precision", int64_t{0}, "",
            "type of the division, as ONNX numbers it; 0: the scale's type")
      .Attr("saturate", int64_t{1}, "", "1: too large values become the largest finite 8-bit float")
      .Class(OpClass::kElementwise)
      .Infer(InferQuantize)
      .Kernel(Quantize);
}

}  // namespace asc
