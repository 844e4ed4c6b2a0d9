// Cast and CastLike: every pair of types, strings included.
#include <charconv>
#include <cmath>
#include <cstring>

#include "core/base/parallel.h"
#include "core/ops/cast_elements.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/number_cast.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
constexpr TypeSet kCastTypes = types::kAll - types::kComplex;

// Shortest digits that read back equal; scientific from 10^`most` on and below 10^-5.
template <typename T>
std::string FloatText(T value, int most) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
  const T magnitude = std::fabs(value);
  const bool plain =
      magnitude == 0 || (magnitude >= T(1e-5) && magnitude < std::pow(T(10), T(most)));
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  return std::string(text, end.ptr);
}

std::string ElementText(const Tensor& tensor, int64_t i) {
  const DataType type = tensor.dtype();
  if (type == DataType::kUInt64) return std::to_string(tensor.data<uint64_t>()[i]);
  if (!IsFloat(type)) return std::to_string(ReadAsInt64(type, tensor.raw(), i));
  const double value = ReadAsDouble(type, tensor.raw(), i);
  return type == DataType::kFloat64 ? FloatText(value, 16)
                                    : FloatText(static_cast<float>(value), 8);
}

Status BadText(std::string_view text, DataType to) {
  return InvalidArgument("Cast cannot read '", text.substr(0, 80), "' as ", DataTypeName(to));
}

// "inf" and "nan" in any case with a sign are read by from_chars; a plus sign is not.
std::optional<double> ParseReal(std::string_view text) {
  if (!text.empty() && text[0] == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text[0] == '-') return std::nullopt;
  }
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec == std::errc::result_out_of_range) {
    // Too large or too small for a double.
    const size_t exponent = text.find_first_of("eE");
    const bool tiny = exponent != std::string_view::npos && text.substr(exponent + 1, 1) == "-";
    return (text[0] == '-' ? -1.0 : 1.0) * (tiny ? 0.0 : INFINITY);
  }
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

template <typename T>
std::optional<T> ParseWhole(std::string_view text) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  T value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view Trim(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

// Whole numbers are read exactly; other text as a real number, which then is cast.
Status CastFromText(const Tensor& in, const CastOptions& options, Tensor& out) {
  const DataType to = out.dtype();
  for (int64_t i = 0; i < in.size(); ++i) {
    const std::string_view text = Trim(in.data<std::string>()[i]);
    const auto store = [&](DataType type, const void* value) {
      if (!IsSubByte(to)) {
        CastElements(type, value, to,
                     static_cast<std::byte*>(out.raw()) + static_cast<size_t>(i) * ElementSize(to),
                     1, options);
        return;
      }
      uint8_t bits = 0;
      CastElements(type, value, to, &bits, 1, options);
      WritePacked(to, out.raw(), i, bits);
    };
    if (!IsFloat(to)) {
      if (const auto whole = ParseWhole<int64_t>(text)) {
        store(DataType::kInt64, &*whole);
        continue;
      }
      if (const auto whole = ParseWhole<uint64_t>(text)) {
        store(DataType::kUInt64, &*whole);
        continue;
      }
    }
    const auto real = ParseReal(text);
    if (!real || (!IsFloat(to) && !std::isfinite(*real))) return BadText(text, to);
    // float32 is what narrower floats are rounded from everywhere else.
    store(DataType::kFloat64, &*real);
  }
  return Ok();
}

Status CastTensor(KernelContext& context) {
  const Tensor& in = context.input(0);
  Tensor& out = context.output(0);
  CastOptions options;
  options.saturate = context.attributes().Int("saturate", 1) != 0;
  const std::string rounding = context.attributes().String("round_mode", "up");
  options.power_rounding = rounding == "down"      ? PowerRounding::kDown
                           : rounding == "nearest" ? PowerRounding::kNearest
                                                   : PowerRounding::kUp;
  if (in.dtype() == DataType::kString) {
    if (out.dtype() != DataType::kString) return CastFromText(in, options, out);
    std::copy_n(in.data<std::string>(), in.size(), out.data<std::string>());
    return Ok();
  }
  if (out.dtype() == DataType::kString) {
    for (int64_t i = 0; i < in.size(); ++i) out.data<std::string>()[i] = ElementText(in, i);
    return Ok();
  }
  CastElements(in.dtype(), in.raw(), out.dtype(), out.raw(), in.size(), options);
  return Ok();
}

Status InferCastTo(InferContext& context, DataType to) {
  const std::string rounding = context.attributes().String("round_mode", "up");
  if (rounding != "up" && rounding != "down" && rounding != "nearest") {
    return InvalidArgument(context.schema().FullName(),
                           " attribute 'round_mode' must be up, down or nearest, given '", rounding,
                           "'");
  }
  context.SetOutput(0, to, context.shape(0));
  if (auto elements = KnownElements(context, 0)) SetKnownElements(context, 0, std::move(*elements));
  return Ok();
}

Status InferCast(InferContext& context) {
  const auto to = context.attributes().Type("to");
  if (!to || !kCastTypes.Contains(*to)) {
    return TypeError("Cast has no type number ", context.attributes().Int("to", 0),
                     " to cast to: expected one of ", kCastTypes);
  }
  return InferCastTo(context, *to);
}

Status InferCastLike(InferContext& context) { return InferCastTo(context, context.dtype(1)); }

constexpr TypeSet kBitTypes =
    types::kAll - types::kString - TypeSet{DataType::kFloat6E2M3, DataType::kFloat6E3M2};

Status InferBitCast(InferContext& context) {
  const auto to = context.attributes().Type("to");
  if (!to || !kBitTypes.Contains(*to)) {
    return TypeError("BitCast has no type number ", context.attributes().Int("to", 0),
                     " to cast to: expected one of ", kBitTypes);
  }
  const DataType from = context.dtype(0);
  if (from != DataType::kUndefined && BitWidth(from) != BitWidth(*to)) {
    return TypeError("BitCast needs types of one width, given ", DataTypeName(from), " and ",
                     DataTypeName(*to));
  }
  context.SetOutput(0, *to, context.shape(0));
  return Ok();
}

// Bytes that become bool are made 0 or 1: any other would be no bool at all.
Status BitCast(KernelContext& context) {
  const Tensor& in = context.input(0);
  Tensor& out = context.output(0);
  if (out.dtype() == DataType::kBool) {
    const auto* from = static_cast<const uint8_t*>(in.raw());
    for (int64_t i = 0; i < in.size(); ++i) out.data<bool>()[i] = from[i] != 0;
  } else if (in.bytes() > 0) {
    std::memcpy(out.raw(), in.raw(), in.bytes());
  }
  return Ok();
}

void AddCastAttributes(OpBuilder& builder) {
  builder.Types("T1", kCastTypes)
      .Types("T2", kCastTypes)
      .Attr("saturate", int64_t{1}, "", "1: too large values become the largest finite 8-bit float")
      .Attr("round_mode", "up", "", "into float8_e8m0fnu: up, down or nearest")
      .Class(OpClass::kElementwise)
      .Kernel(CastTensor);
}
}  // namespace

void AddCastOps(OpTable& table) {
  table.Add("BitCast", 26)
      .Doc("the same bits as elements of another type")
      .Method("bitcast")
      .Input("input", "T1")
      .Output("output", "T2")
      .Types("T1", kBitTypes)
      .Types("T2", kBitTypes)
      .RequiredAttr("to", AttributeType::kInt, "dtype", "the element type, as ONNX numbers it")
      .Infer(InferBitCast)
      .Kernel(BitCast);
  OpBuilder cast = table.Add("Cast", 28);
  cast.Doc("elements as another type: floats truncate to integers, integers keep their low bits")
      .Input("input", "T1")
      .Output("output", "T2")
      .RequiredAttr("to", AttributeType::kInt, "dtype", "the element type, as ONNX numbers it")
      .Infer(InferCast);
  AddCastAttributes(cast);
  OpBuilder like = table.Add("CastLike", 28);
  like.Doc("elements as the type of another tensor")
      .Input("input", "T1")
      .Input("target_type", "T2")
      .Output("output", "T2")
      .Infer(InferCastLike);
  AddCastAttributes(like);
}

}  // namespace asc
