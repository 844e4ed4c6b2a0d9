#include "core/passes/channels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/tensor/element.h"

namespace asc {

std::optional<ConvParts> ConvPartsOf(const Graph& graph, const Node& node) {
  const bool transposed = node.Is("ConvTranspose");
  if (!transposed && !node.Is("Conv")) return std::nullopt;
  const ValueType& type = graph.value(node.inputs[1]).type;
  const Shape& shape = type.shape;
  if (!types::kFloats.Contains(type.dtype) || !shape.has_rank() || shape.rank() < 3)
    return std::nullopt;
  const bool has_bias = node.input(2).valid();
  const Tensor* bias = has_bias ? graph.Constant(node.input(2)) : nullptr;
  if (has_bias && bias == nullptr) return std::nullopt;
  const int64_t groups = node.attributes.Int("group", 1);
  const Dim channels = transposed ? shape[1] * Dim(groups) : shape[0];
  if (groups < 1 || !channels.is_constant()) return std::nullopt;
  if (bias != nullptr && (bias->size() != channels.value() || bias->dtype() != type.dtype))
    return std::nullopt;
  return ConvParts{&node,        graph.Constant(node.inputs[1]),
                   bias,         transposed,
                   groups,       channels.value(),
                   shape.rank(), type.dtype};
}

std::optional<std::vector<double>> PerChannel(const Tensor& constant, size_t rank,
                                              int64_t channels) {
  if (!types::kFloats.Contains(constant.dtype()) || constant.rank() > rank || rank < 2)
    return std::nullopt;
  for (size_t i = 0; i < constant.rank(); ++i) {
    const bool channel_axis = rank - constant.rank() + i == 1;
    if (constant.dim(i) != 1 && !(channel_axis && constant.dim(i) == channels)) return std::nullopt;
  }
  std::vector<double> values(static_cast<size_t>(channels));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = ReadAsDouble(constant.dtype(), constant.raw(),
                             constant.size() == 1 ? 0 : static_cast<int64_t>(i));
  }
  return values;
}

std::optional<std::vector<double>> VectorValues(const Tensor* constant, int64_t length) {
  if (constant == nullptr || constant->rank() != 1 || constant->size() != length)
    return std::nullopt;
  if (!types::kFloats.Contains(constant->dtype())) return std::nullopt;
  std::vector<double> values(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i)
    values[static_cast<size_t>(i)] = ReadAsDouble(constant->dtype(), constant->raw(), i);
  return values;
}

namespace {
// False when rounding to T makes an infinity or NaN of a finite number.
template <typename T>
bool Store(T& to, double value, bool was_finite) {
  to = T(static_cast<float>(value));
  if constexpr (std::is_same_v<T, double>) to = value;
  return !was_finite || std::isfinite(static_cast<double>(to));
}

// values *= factor, each rounded once.
template <typename T>
bool Scale(T* values, int64_t count, double factor) {
  bool fine = true;
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(values[i]);
    fine &= Store(values[i], value * factor, std::isfinite(value));
  }
  return fine;
}

// The same for most weights, in parts whose length compilers know: they make vectors of them.
bool Scale(float* values, int64_t count, double factor) {
  constexpr int64_t kPart = 16;
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t wrong = 0;
  int64_t i = 0;
  for (; i + kPart <= count; i += kPart) {
    float scaled[kPart];
    uint32_t before[kPart], after[kPart];
    for (int64_t k = 0; k < kPart; ++k)
      scaled[k] = static_cast<float>(static_cast<double>(values[i + k]) * factor);
    std::memcpy(before, values + i, sizeof before);
    std::memcpy(after, scaled, sizeof after);
    std::memcpy(values + i, scaled, sizeof scaled);
    for (int64_t k = 0; k < kPart; ++k) {
      wrong |= static_cast<uint32_t>((after[k] & kExponent) == kExponent) &
               static_cast<uint32_t>((before[k] & kExponent) != kExponent);
    }
  }
  bool fine = wrong == 0;
  for (; i < count; ++i) {
    const auto value = static_cast<double>(values[i]);
    fine &= Store(values[i], value * factor, std::isfinite(value));
  }
  return fine;
}

// The weights of a convolution times a factor per filter, made part by part.
struct Scaling {
  Tensor weight;
  std::vector<double> scale;
  bool transposed;
  int64_t rows_per_group;  // transposed: of input channels

  // Calls f(first, last, factor) for stretches of elements [first, last) of [begin, end) that share a factor.
  template <typename F>
  void ForStretches(int64_t begin, int64_t end, F f) const {
    const int64_t window = ElementCount(weight.dims(), 2, weight.rank()), columns = weight.dim(1);
    // Filters of a plain convolution are rows; those of a transposed one columns.
    const int64_t stretch = transposed ? window : window * columns;
    for (int64_t i = begin; i < end;) {
      const int64_t row = i / (window * columns), last = std::min(end, (i / stretch + 1) * stretch);
      const int64_t channel =
          transposed ? row / rows_per_group * columns + i / window % columns : row;
      f(i, last, scale[static_cast<size_t>(channel)]);
      i = last;
    }
  }

  // The bytes [begin, begin + count) of the result, both multiples of the element size. False when rounding made something
  // infinite that was not.
  bool Read(size_t begin, size_t count, std::byte* to) const {
    weight.CopyBytes(begin, count, to);
    bool fine = true;
    VisitFloats(weight.dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* const values = reinterpret_cast<T*>(to);
      const auto first = static_cast<int64_t>(begin / sizeof(T));
      ForStretches(first, first + static_cast<int64_t>(count / sizeof(T)),
                   [&](int64_t i, int64_t last, double factor) {
                     fine &= Scale(values + (i - first), last - i, factor);
                   });
    });
    return fine;
  }

  // Whether all that Read gives is finite where the weights are.
  bool StaysFinite() const {
    bool fine = true;
    VisitFloats(weight.dtype(), [&](auto zero) {
      using T = decltype(zero);
      constexpr int64_t kPart = 4096;
      std::vector<T> part(kPart);
      ForStretches(0, weight.size(), [&](int64_t i, int64_t last, double factor) {
        // Nothing grows: nothing has to be looked at.
        if (std::abs(factor) <= 1) return;
        for (; fine && i < last; i += kPart) {
          const int64_t count = std::min(kPart, last - i);
          weight.CopyBytes(static_cast<size_t>(i) * sizeof(T),
                           static_cast<size_t>(count) * sizeof(T),
                           reinterpret_cast<std::byte*>(part.data()));
          fine = Scale(part.data(), count, factor);
        }
      });
    });
    return fine;
  }
};

// Weights from this size on are scaled when they are packed: their plain form then never is in memory as a whole.
constexpr size_t kLeastLazy = 64 << 10;
}  // namespace

std::optional<ChannelAffine> BatchNormAffine(const Graph& graph, const Node& norm,
                                             int64_t channels) {
  const auto gamma = VectorValues(graph.Constant(norm.input(1)), channels);
  const auto beta = VectorValues(graph.Constant(norm.input(2)), channels);
  const auto mean = VectorValues(graph.Constant(norm.input(3)), channels);
  const auto variance = VectorValues(graph.Constant(norm.input(4)), channels);
  if (!gamma || !beta || !mean || !variance) return std::nullopt;
  ChannelAffine affine{*gamma, *beta, true};
  const double epsilon = norm.attributes.Float("epsilon", 1e-5f);
  for (size_t i = 0; i < gamma->size(); ++i) {
    affine.scale[i] /= std::sqrt((*variance)[i] + epsilon);
    affine.shift[i] -= (*mean)[i] * affine.scale[i];
  }
  return affine;
}

std::optional<Tensor> ScaledWeight(const ConvParts& conv, std::span<const double> scale) {
  const Tensor& w = *conv.weight;
  const Scaling scaling{w,
                        {scale.begin(), scale.end()},
                        conv.transposed,
                        std::max<int64_t>(1, w.dim(0) / conv.groups)};
  if (w.bytes() < kLeastLazy) {
    Result<Tensor> scaled = Tensor::Allocate(w.dtype(), w.dims());
    if (!scaled.ok()) return std::nullopt;
    const bool fine = scaling.Read(0, w.bytes(), static_cast<std::byte*>(scaled->raw()));
    return fine ? std::optional(*std::move(scaled)) : std::nullopt;
  }
  if (!scaling.StaysFinite()) return std::nullopt;
  Result<Tensor> lazy =
      Tensor::FromBuffer(w.dtype(), w.dims(),
                         Buffer::Lazy(HostAllocator(), MemoryUse::kConstant, w.bytes(),
                                      [scaling](size_t begin, size_t count, std::byte* to) {
                                        scaling.Read(begin, count, to);
                                      }));
  return lazy.ok() ? std::optional(*std::move(lazy)) : std::nullopt;
}

std::optional<Tensor> MakeVector(DataType dtype, std::span<const double> values) {
  Result<Tensor> vector = Tensor::Allocate(dtype, {static_cast<int64_t>(values.size())});
  if (!vector.ok()) return std::nullopt;
  bool fine = true;
  VisitFloats(dtype, [&](auto zero) {
    auto* to = vector->data<decltype(zero)>();
    for (size_t i = 0; i < values.size(); ++i) fine &= Store(to[i], values[i], true);
  });
  return fine ? std::optional(*std::move(vector)) : std::nullopt;
}

}  // namespace asc
