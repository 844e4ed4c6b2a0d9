// DFT and STFT. Complex numbers are pairs along the last axis; float64 is computed in double
// precision, other types in single.
#include "core/ops/fourier.h"

#include <algorithm>

#include "core/base/parallel.h"
#include "core/ops/cost.h"
#include "core/ops/families.h"
#include "core/ops/fft.h"
#include "core/ops/infer_rules.h"
#include "core/ops/shape_facts.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
constexpr int64_t kLongest = int64_t{1} << 30;

// What elements of type T are computed in.
template <typename T>
using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Lines of a float tensor as complex numbers.
template <typename T>
std::complex<Real<T>> ReadComplex(const T* x, int64_t width) {
  return {static_cast<Real<T>>(x[0]), width == 2 ? static_cast<Real<T>>(x[1]) : Real<T>(0)};
}

// The transform of real numbers has real values where a number is its own mirror image.
template <typename R>
void RealAtMirrors(std::complex<R>* line, int64_t n) {
  line[0] = line[0].real();
  if (n % 2 == 0) line[n / 2] = line[n / 2].real();
}

// The scalar that integer input `i` holds; nullopt where it is not known. E5001 when it is no
// scalar.
Result<std::optional<Dim>> ScalarInput(const InferContext& context, size_t i) {
  if (!context.HasInput(i)) return std::optional<Dim>();
  const auto dims = context.Dims(i);
  if (dims && dims->size() != 1) {
    return ShapeError(context.schema().FullName(), " input '", context.schema().inputs[i].name,
                      "' must be a scalar, given ", *dims);
  }
  return dims ? std::optional((*dims)[0]) : std::nullopt;
}

// The same at run.
Result<int64_t> ReadScalar(const KernelContext& context, size_t i) {
  ASC_ASSIGN_OR_RETURN(const std::vector<int64_t> values, ToInt64Vector(context.input(i)));
  if (values.size() == 1) return values[0];
  return ShapeError(context.schema().FullName(), " input '", context.schema().inputs[i].name,
                    "' must be a scalar, given ", values);
}

Status CheckLength(const OpSchema& schema, std::string_view what, const Dim& length,
                   int64_t least) {
  if (!length.is_constant() || (length.value() >= least && length.value() <= kLongest)) return Ok();
  return InvalidArgument(schema.FullName(), " ", what, " must be from ", least, " to 2^30, given ",
                         length);
}

// ---- DFT ----

Result<int64_t> DftAxis(std::optional<int64_t> given, int64_t rank) {
  const int64_t axis = given.value_or(-2);
  ASC_ASSIGN_OR_RETURN(const int64_t normal, NormalizeAxis(axis, rank));
  if (normal == rank - 1)
    return InvalidArgument("DFT axis ", axis, " is the axis of real and imaginary parts");
  return normal;
}

Status InferDft(InferContext& context) {
  const Shape& in = context.shape(0);
  const bool inverse = context.attributes().Int("inverse", 0) != 0,
             onesided = context.attributes().Int("onesided", 0) != 0;
  ASC_ASSIGN_OR_RETURN(const auto given_length, ScalarInput(context, 1));
  ASC_ASSIGN_OR_RETURN(const auto given_axis, ScalarInput(context, 2));
  if (given_length)
    ASC_RETURN_IF_ERROR(CheckLength(context.schema(), "dft_length", *given_length, 1));
  context.SetOutput(0, context.dtype(0));
  if (!in.has_rank()) return Ok();
  if (in.rank() < 2)
    return ShapeError("DFT needs an input of shape [..., 1] or [..., 2], given ", in);
  const Dim& width = in[in.rank() - 1];
  const int64_t wanted = onesided && inverse ? 2 : onesided ? 1 : 0;
  if (width.is_constant() &&
      ((wanted != 0 && width.value() != wanted) || width.value() < 1 || width.value() > 2)) {
    return ShapeError("DFT of shape ", in, ": the last axis holds ", width,
                      " parts of a number, expected ",
                      wanted == 2   ? "2 (complex) for a one-sided inverse"
                      : wanted == 1 ? "1 (real) for a one-sided transform"
                                    : "1 (real) or 2 (complex)");
  }
  Shape out = in;
  out[in.rank() - 1] = Dim(onesided && inverse ? 1 : 2);
  if (context.HasInput(2) && !(given_axis && given_axis->is_constant())) {
    for (size_t i = 0; i + 1 < in.rank(); ++i) out[i] = Dim::Unknown();
    context.SetOutput(0, context.dtype(0), std::move(out));
    return Ok();
  }
  ASC_ASSIGN_OR_RETURN(const int64_t axis,
                       DftAxis(given_axis ? std::optional(given_axis->value()) : std::nullopt,
                               static_cast<int64_t>(in.rank())));
  Dim length = onesided && inverse ? Dim(2) * (in[static_cast<size_t>(axis)] - Dim(1))
                                   : in[static_cast<size_t>(axis)];
  if (context.HasInput(1)) length = given_length ? *given_length : Dim::Unknown();
  ASC_RETURN_IF_ERROR(CheckLength(context.schema(), "length", length, 1));
  out[static_cast<size_t>(axis)] =
      onesided && !inverse ? Dim::FloorDiv(length, Dim(2)) + Dim(1) : length;
  context.SetOutput(0, context.dtype(0), std::move(out));
  return CheckSize(context, 0);
}

template <typename T>
void TransformLines(const Tensor& in, Tensor& out, size_t axis, const BasicFft<Real<T>>& fft,
                    bool inverse, bool onesided) {
  using Complex = std::complex<Real<T>>;
  const int64_t n = fft.length(), width = in.dim(in.rank() - 1),
                out_width = out.dim(out.rank() - 1);
  const int64_t in_extent = in.dim(axis), out_extent = out.dim(axis);
  const int64_t inner = ElementCount(in.dims(), axis + 1, in.rank() - 1),
                lines = ElementCount(in.dims(), 0, axis) * inner;
  const bool half = inverse && onesided;
  const int64_t read = std::min(in_extent, half ? n / 2 + 1 : n);
  ParallelFor(lines, std::max<int64_t>(1, 4096 / n), [&](int64_t begin, int64_t end) {
    std::vector<Complex> line(static_cast<size_t>(n)), work;
    for (int64_t i = begin; i < end; ++i) {
      const T* x = in.data<T>() + (i / inner * in_extent * inner + i % inner) * width;
      for (int64_t k = 0; k < n; ++k)
        line[static_cast<size_t>(k)] =
            k < read ? ReadComplex(x + k * inner * width, width) : Complex();
      if (half) {
        // The other half is the conjugate of the one that is given.
        for (int64_t k = 1; k < n - k; ++k)
          line[static_cast<size_t>(n - k)] = std::conj(line[static_cast<size_t>(k)]);
        RealAtMirrors(line.data(), n);
      }
      fft.Transform(line.data(), inverse, work);
      if (width == 1) RealAtMirrors(line.data(), n);
      T* y = out.data<T>() + (i / inner * out_extent * inner + i % inner) * out_width;
      for (int64_t k = 0; k < out_extent; ++k, y += inner * out_width) {
        y[0] = T(line[static_cast<size_t>(k)].real());
        if (out_width == 2) y[1] = T(line[static_cast<size_t>(k)].imag());
      }
    }
  });
}

Status Dft(KernelContext& context) {
  const Tensor& in = context.input(0);
  Tensor& out = context.output(0);
  ASC_ASSIGN_OR_RETURN(const DftCall call, ReadDft(context));
  if (out.size() == 0) return Ok();
  VisitFloats(in.dtype(), [&](auto zero) {
    using T = decltype(zero);
    TransformLines<T>(in, out, call.axis, BasicFft<Real<T>>(call.length), call.inverse,
                      call.onesided);
  });
  return Ok();
}

// ---- STFT ----

// The length of a frame: given, the window's, or the whole signal's.
Status InferStft(InferContext& context) {
  const Shape& signal = context.shape(0);
  const bool onesided = context.attributes().Int("onesided", 1) != 0;
  ASC_RETURN_IF_ERROR(CheckRank(context, 0, 3));
  ASC_RETURN_IF_ERROR(CheckRank(context, 2, 1));
  ASC_ASSIGN_OR_RETURN(const auto step, ScalarInput(context, 1));
  ASC_ASSIGN_OR_RETURN(const auto given, ScalarInput(context, 3));
  if (step) ASC_RETURN_IF_ERROR(CheckLength(context.schema(), "frame_step", *step, 1));
  const std::optional<Dim> window = context.HasInput(2) && context.shape(2).has_rank()
                                        ? std::optional(context.shape(2)[0])
                                        : std::nullopt;
  if (given && window && given->is_constant() && window->is_constant() && !(*given == *window)) {
    return ShapeError("STFT frame_length ", *given, " differs from the window's length ", *window);
  }
  Dim frame = Dim::Unknown(), batch = Dim::Unknown(), frames = Dim::Unknown();
  if (given) {
    frame = *given;
  } else if (window) {
    frame = *window;
  } else if (!context.HasInput(2) && !context.HasInput(3) && signal.has_rank()) {
    frame = signal[1];
  }
  ASC_RETURN_IF_ERROR(CheckLength(context.schema(), "frame length", frame, 1));
  if (signal.has_rank()) {
    batch = signal[0];
    if (signal[2].is_constant() && (signal[2].value() < 1 || signal[2].value() > 2)) {
      return ShapeError("STFT needs a signal of shape [batch, length, 1 or 2], given ", signal);
    }
    if (onesided && signal[2].IsConstant(2)) {
      return InvalidArgument("STFT of a complex signal has no one-sided form")
          .WithHint("set onesided to 0");
    }
    if (signal[1].is_constant() && frame.is_constant() && frame.value() > signal[1].value()) {
      return ShapeError("STFT frames of ", frame, " samples are longer than the signal, which has ",
                        signal[1]);
    }
    if (step) frames = Dim::FloorDiv(signal[1] - frame, *step) + Dim(1);
  }
  context.SetOutput(
      0, context.dtype(0),
      Shape({batch, frames, onesided ? Dim::FloorDiv(frame, Dim(2)) + Dim(1) : frame, Dim(2)}));
  return CheckSize(context, 0);
}

template <typename T>
void TransformFrames(const Tensor& signal, const Tensor* window, Tensor& out,
                     const BasicFft<Real<T>>& fft, int64_t step) {
  using Complex = std::complex<Real<T>>;
  const int64_t n = fft.length(), length = signal.dim(1), width = signal.dim(2),
                frames = out.dim(1), bins = out.dim(2);
  ParallelFor(out.dim(0) * frames, std::max<int64_t>(1, 4096 / n), [&](int64_t begin, int64_t end) {
    std::vector<Complex> line(static_cast<size_t>(n)), work;
    for (int64_t i = begin; i < end; ++i) {
      const T* x = signal.data<T>() + (i / frames * length + i % frames * step) * width;
      for (int64_t k = 0; k < n; ++k) {
        const Real<T> weight = window != nullptr ? static_cast<Real<T>>(window->data<T>()[k]) : 1;
        line[static_cast<size_t>(k)] = ReadComplex(x + k * width, width) * weight;
      }
      fft.Transform(line.data(), false, work);
      if (width == 1) RealAtMirrors(line.data(), n);
      T* y = out.data<T>() + i * bins * 2;
      for (int64_t k = 0; k < bins; ++k) {
        y[2 * k] = T(line[static_cast<size_t>(k)].real());
        y[2 * k + 1] = T(line[static_cast<size_t>(k)].imag());
      }
    }
  });
}

Status Stft(KernelContext& context) {
  const Tensor& signal = context.input(0);
  Tensor& out = context.output(0);
  ASC_ASSIGN_OR_RETURN(const StftCall call, ReadStft(context));
  if (out.size() == 0) return Ok();
  VisitFloats(signal.dtype(), [&](auto zero) {
    using T = decltype(zero);
    TransformFrames<T>(signal, call.window, out, BasicFft<Real<T>>(call.frame), call.step);
  });
  return Ok();
}

// About 5 n log2(n) for complex numbers; the length is not known here, and counts as 1024.
CostEstimate FourierCost(const std::vector<ValueType>& inputs,
                         const std::vector<ValueType>& outputs,
                         const AttributeMap& /*attributes*/) {
  return {25 * KnownElementCount(outputs[0]), DenseBytes(inputs, outputs)};
}
}  // namespace

Result<DftCall> ReadDft(const KernelContext& context) {
  const Tensor& in = context.input(0);
  DftCall call{};
  call.inverse = context.attributes().Int("inverse", 0) != 0;
  call.onesided = context.attributes().Int("onesided", 0) != 0;
  std::optional<int64_t> given_axis;
  if (context.HasInput(2)) {
    ASC_ASSIGN_OR_RETURN(given_axis, ReadScalar(context, 2));
  }
  ASC_ASSIGN_OR_RETURN(const int64_t axis, DftAxis(given_axis, static_cast<int64_t>(in.rank())));
  call.axis = static_cast<size_t>(axis);
  call.length = call.onesided && call.inverse ? 2 * (in.dim(call.axis) - 1) : in.dim(call.axis);
  if (context.HasInput(1)) {
    ASC_ASSIGN_OR_RETURN(call.length, ReadScalar(context, 1));
  }
  ASC_RETURN_IF_ERROR(CheckLength(context.schema(), "length", Dim(call.length), 1));
  return call;
}

Result<StftCall> ReadStft(KernelContext& context) {
  const Tensor &signal = context.input(0), &out = context.output(0);
  StftCall call{};
  call.window = context.HasInput(2) ? &context.input(2) : nullptr;
  ASC_ASSIGN_OR_RETURN(call.step, ReadScalar(context, 1));
  call.frame = call.window != nullptr ? call.window->size() : signal.dim(1);
  if (context.HasInput(3)) {
    ASC_ASSIGN_OR_RETURN(call.frame, ReadScalar(context, 3));
  }
  ASC_RETURN_IF_ERROR(CheckLength(context.schema(), "frame length", Dim(call.frame), 1));
  if ((call.window != nullptr && call.window->size() != call.frame) ||
      (out.dim(1) - 1) * call.step + call.frame > signal.dim(1)) {
    return ShapeError("STFT frames of ", call.frame,
                      " samples do not fit the window or the signal of shape ", signal.dims());
  }
  return call;
}

void AddFourierOps(OpTable& table) {
  table.Add("DFT", 20)
      .Doc(
          "discrete Fourier transform along an axis of [..., 1] (real) or [..., 2] (complex) "
          "numbers")
      .Input("input", "T1")
      .OptionalInput("dft_length", "T2")
      .OptionalInput("axis", "tensor(int64)")
      .Output("output", "T1")
      .Types("T1", types::kFloats)
      .Types("T2", types::kIndex)
      .Types("tensor(int64)", types::kInt64)
      .Attr("inverse", int64_t{0})
      .Attr("onesided", int64_t{0}, "", "1: only the half that real signals need")
      .Infer(InferDft)
      .Kernel(Dft)
      .Cost(FourierCost);
  table.Add("STFT", 17)
      .Doc("Fourier transforms of windowed frames of a signal [batch, length, 1 or 2]")
      .Input("signal", "T1")
      .Input("frame_step", "T2")
      .OptionalInput("window", "T1")
      .OptionalInput("frame_length", "T2")
      .Output("output", "T1")
      .Types("T1", types::kFloats)
      .Types("T2", types::kIndex)
      .Attr("onesided", int64_t{1}, "", "1: only the half that real signals need")
      .Infer(InferStft)
      .Kernel(Stft)
      .Cost(FourierCost);
}

}  // namespace asc
