// Windows for spectra (HannWindow, HammingWindow, BlackmanWindow) and MelWeightMatrix.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/shape_facts.h"
#include "core/ops/strided_copy.h"
#include "core/tensor/element.h"

namespace asc {
namespace {

// A real number as an element; integers are cut off what float32 holds of it, so that rounding does
// not take a one for less.
template <typename T>
T Element(double value) {
  if constexpr (std::is_same_v<T, double>) return value;
  return static_cast<T>(static_cast<float>(value));
}

Status InferWindow(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const DataType dtype,
                       OutputTypeAttribute(context, "output_datatype", DataType::kFloat32, 0));
  const auto size = context.Dims(0);
  if (size && size->size() != 1)
    return ShapeError(context.schema().FullName(), " needs one size, given ", *size);
  if (size && (*size)[0].is_constant() && (*size)[0].value() < 0) {
    return InvalidArgument(context.schema().FullName(), " size must not be negative, given ",
                           (*size)[0]);
  }
  context.SetOutput(0, dtype, Shape({size ? (*size)[0] : Dim::Unknown()}));
  return CheckSize(context, 0);
}

// a0 - a1 cos(2 pi n / period) + a2 cos(4 pi n / period); a periodic window is the first part of a
// symmetric one that is one element longer.
Status CosineWindow(KernelContext& context, double a0, double a1, double a2) {
  Tensor& out = context.output(0);
  if (out.size() == 0) return Ok();
  const int64_t period = context.attributes().Int("periodic", 1) != 0 ? out.size() : out.size() - 1;
  const int64_t half = period / 2 + 1;
  const auto value = [&](int64_t n) {
    if (period == 0) return 1.0;  // a symmetric window of one element
    const double angle =
        2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(period);
    const double two_terms = a0 - a1 * std::cos(angle);
    return a2 == 0 ? two_terms : two_terms + a2 * std::cos(2 * angle);
  };
  VisitNumeric(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t n = 0; n < half; ++n) out.data<T>()[n] = Element<T>(value(n));
  });
  // Element n equals element period - n.
  void* const elements = out.raw();
  StridedCopy(out.dtype(), {out.size() - half}, {elements, period - half, {-1}},
              {elements, half, {1}});
  return Ok();
}

Status HannWindow(KernelContext& context) { return CosineWindow(context, 0.5, 0.5, 0); }
Status HammingWindow(KernelContext& context) {
  return CosineWindow(context, 25.0 / 46.0, 21.0 / 46.0, 0);
}
Status BlackmanWindow(KernelContext& context) { return CosineWindow(context, 0.42, 0.5, 0.08); }

// ---- MelWeightMatrix ----

struct Mel {
  int64_t bands, bins;         // bins: of a one-sided spectrum
  std::vector<int64_t> edges;  // bands + 2 of them, in bins
};

// mel(f) = 2595 log10(1 + f / 700); the edges of the bands are evenly spaced on that scale.
Result<Mel> MakeMel(int64_t bands, int64_t length, int64_t rate, double low, double high) {
  constexpr int64_t kMost = int64_t{1} << 30;
  if (bands < 0 || bands > kMost || length < 0 || length > kMost || rate < 1) {
    return InvalidArgument("MelWeightMatrix of ", bands, " bands, DFT length ", length,
                           " and sample rate ", rate,
                           ": sizes must not be negative, the rate must be positive");
  }
  if (!(low >= 0 && low <= high && std::isfinite(high))) {
    return InvalidArgument(
        "MelWeightMatrix needs 0 <= lower_edge_hertz <= upper_edge_hertz, given ", low, " and ",
        high);
  }
  Mel mel{bands, length / 2 + 1, {}};
  const double low_mel = 2595 * std::log10(1 + low / 700),
               high_mel = 2595 * std::log10(1 + high / 700);
  const double step = (high_mel - low_mel) / static_cast<double>(bands + 2);
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double hertz =
        700 * (std::pow(10.0, (low_mel + static_cast<double>(i) * step) / 2595) - 1);
    const double bin =
        std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
    if (bin >= static_cast<double>(mel.bins)) {
      return InvalidArgument("MelWeightMatrix upper_edge_hertz ", high,
                             " lies above the spectrum, which ends at half the sample rate, ",
                             static_cast<double>(rate) / 2);
    }
    mel.edges.push_back(static_cast<int64_t>(bin));
  }
  return mel;
}

Status InferMel(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const DataType dtype,
                       OutputTypeAttribute(context, "output_datatype", DataType::kFloat32, 0));
  for (size_t i = 0; i < 5; ++i) {
    if (context.shape(i).is_static() && !context.shape(i).ElementCount().IsConstant(1)) {
      return ShapeError("MelWeightMatrix input '", context.schema().inputs[i].name,
                        "' must be a scalar, given shape ", context.shape(i));
    }
  }
  const auto bands = context.Dims(0), length = context.Dims(1);
  for (const auto& size : {bands, length}) {
    if (size && (*size)[0].is_constant() && (*size)[0].value() < 0) {
      return InvalidArgument("MelWeightMatrix sizes must not be negative, given ", (*size)[0]);
    }
  }
  context.SetOutput(0, dtype,
                    Shape({length ? Dim::FloorDiv((*length)[0], Dim(2)) + Dim(1) : Dim::Unknown(),
                           bands ? (*bands)[0] : Dim::Unknown()}));
  return CheckSize(context, 0);
}

Status MelWeightMatrix(KernelContext& context) {
  const auto integer = [&](size_t i) {
    return ReadAsInt64(context.input(i).dtype(), context.input(i).raw(), 0);
  };
  const auto real = [&](size_t i) {
    return ReadAsDouble(context.input(i).dtype(), context.input(i).raw(), 0);
  };
  ASC_ASSIGN_OR_RETURN(const Mel mel,
                       MakeMel(integer(0), integer(1), integer(2), real(3), real(4)));
  Tensor& out = context.output(0);
  VisitNumeric(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* const weights = out.data<T>();
    std::fill_n(weights, out.size(), T(0));
    for (int64_t band = 0; band < mel.bands; ++band) {
      const auto edge = [&](int64_t k) { return mel.edges[static_cast<size_t>(band + k)]; };
      const auto set = [&](int64_t bin, double weight) {
        weights[bin * mel.bands + band] = Element<T>(weight);
      };
      const int64_t left = edge(0), center = edge(1), right = edge(2);
      for (int64_t bin = left; bin < center; ++bin)
        set(bin, static_cast<double>(bin - left) / static_cast<double>(center - left));
      set(center, 1);
      for (int64_t bin = center + 1; bin < right; ++bin)
        set(bin, static_cast<double>(right - bin) / static_cast<double>(right - center));
    }
  });
  return Ok();
}
}  // namespace

void AddSpectralWindowOps(OpTable& table) {
  const auto window = [&](std::string_view name, std::string_view doc, ReferenceKernel kernel) {
    table.Add(name, 17)
        .Doc(doc)
        .Input("size", "T1")
        .Output("output", "T2")
        .Types("T1", types::kIndex)
        .Types("T2", types::kNumeric)
        .Attr("periodic", int64_t{1}, "", "1: for periodic use; 0: symmetric")
        .Attr("output_datatype", int64_t{1})
        .Infer(InferWindow)
        .Kernel(kernel);
  };
  window("HannWindow", "0.5 - 0.5 cos(2 pi n / N)", HannWindow);
  window("HammingWindow", "25/46 - 21/46 cos(2 pi n / N)", HammingWindow);
  window("BlackmanWindow", "0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)", BlackmanWindow);
  table.Add("MelWeightMatrix", 17)
      .Doc(
          "triangular filters [dft_length / 2 + 1, num_mel_bins] from a linear spectrum to mel "
          "bands")
      .Input("num_mel_bins", "T1")
      .Input("dft_length", "T1")
      .Input("sample_rate", "T1")
      .Input("lower_edge_hertz", "T2")
      .Input("upper_edge_hertz", "T2")
      .Output("output", "T3")
      .Types("T1", types::kIndex)
      .Types("T2", types::kFloats)
      .Types("T3", types::kNumeric)
      .Attr("output_datatype", int64_t{1})
      .Infer(InferMel)
      .Kernel(MelWeightMatrix);
}

}  // namespace asc
