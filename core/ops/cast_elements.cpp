#include "core/ops/cast_elements.h"

#include <algorithm>
#include <bit>

#include "core/base/parallel.h"
#include "core/ops/number_cast.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
// Conversions go through blocks of one of four types that hold every source exactly: float, double,
// int64, uint64.
constexpr int64_t kBlock = 512;  // a multiple of the elements in a byte

// Half::ToFloat and Half::FromFloat without branches, which the compiler makes vector code of.
float WidenHalf(uint16_t half) {
  const int32_t magnitude = half & 0x7fff;
  const int32_t subnormal = std::bit_cast<int32_t>(static_cast<float>(magnitude) * 0x1p-24f);
  const int32_t rebias = magnitude >= 0x7c00 ? 224 << 23 : 112 << 23;  // infinity and NaN stay so
  const int32_t bits = magnitude < 0x400 ? subnormal : (magnitude << 13) + rebias;
  return std::bit_cast<float>(bits | static_cast<int32_t>((half & 0x8000u) << 16));
}

uint16_t NarrowToHalf(float value) {
  const auto all = std::bit_cast<uint32_t>(value);
  const auto magnitude = static_cast<int32_t>(all & 0x7fffffffu);
  // Adding 0.5 aligns a subnormal's bits with the float's last place and rounds them.
  const int32_t subnormal =
      std::bit_cast<int32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  const int32_t normal = (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  int32_t bits = magnitude < 0x38800000 ? subnormal : normal;
  bits = magnitude >= 0x477ff000 ? 0x7c00 : bits;
  bits = magnitude > 0x7f800000 ? 0x7e00 : bits;
  return static_cast<uint16_t>(bits | static_cast<int32_t>((all >> 16) & 0x8000u));
}

uint16_t NarrowToBFloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
  const bool nan = static_cast<int32_t>(bits & 0x7fffffffu) > 0x7f800000;
  return static_cast<uint16_t>(nan ? (bits >> 16) | 0x40u : rounded);
}

template <typename M, typename S>
void LoadAs(const void* src, int64_t first, int64_t count, M* block) {
  const S* from = static_cast<const S*>(src) + first;
  if constexpr (std::is_same_v<S, Half>) {
    for (int64_t i = 0; i < count; ++i) block[i] = WidenHalf(from[i].bits);
  } else {
    for (int64_t i = 0; i < count; ++i) block[i] = static_cast<M>(from[i]);
  }
}

// Calls use(block) with elements [first, first + count) as the type that holds them exactly.
template <typename Use>
void Load(DataType type, const void* src, int64_t first, int64_t count, Use&& use) {
  const auto as = [&](auto middle, auto source) {
    decltype(middle) block[kBlock];
    LoadAs<decltype(middle), decltype(source)>(src, first, count, block);
    use(block);
  };
  switch (type) {
    case DataType::kFloat32:
      return as(float{}, float{});
    case DataType::kFloat16:
      return as(float{}, Half{});
    case DataType::kBFloat16:
      return as(float{}, BFloat16{});
    case DataType::kFloat64:
      return as(double{}, double{});
    case DataType::kInt8:
      return as(int64_t{}, int8_t{});
    case DataType::kInt16:
      return as(int64_t{}, int16_t{});
    case DataType::kInt32:
      return as(int64_t{}, int32_t{});
    case DataType::kInt64:
      return as(int64_t{}, int64_t{});
    case DataType::kUInt8:
      return as(int64_t{}, uint8_t{});
    case DataType::kUInt16:
      return as(int64_t{}, uint16_t{});
    case DataType::kUInt32:
      return as(int64_t{}, uint32_t{});
    case DataType::kUInt64:
      return as(uint64_t{}, uint64_t{});
    default:
      break;
  }
  if (types::kNarrowFloats.Contains(type)) {
    float block[kBlock];
    for (int64_t i = 0; i < count; ++i)
      block[i] = NarrowToFloat(type, ReadPacked(type, src, first + i));
    return use(block);
  }
  int64_t block[kBlock];
  for (int64_t i = 0; i < count; ++i) block[i] = ReadAsInt64(type, src, first + i);
  use(block);
}

template <typename D, typename M>
D ConvertTo(M value) {
  if constexpr (std::is_same_v<D, Half> || std::is_same_v<D, BFloat16>) {
    if constexpr (std::is_same_v<M, float>) return D(value);
    // Integers too large for an exact double are far beyond the last place of these types.
    return D(RoundToOdd(static_cast<double>(value)));
  } else if constexpr (std::is_same_v<D, int32_t> && std::is_same_v<M, float>) {
    // TruncateTo, with bounds that float holds.
    return value >= -0x1p31f && value < 0x1p31f ? static_cast<int32_t>(value) : INT32_MIN;
  } else if constexpr (std::is_integral_v<D> && std::is_floating_point_v<M>) {
    return TruncateTo<D>(static_cast<double>(value));
  } else if constexpr (std::is_same_v<D, bool>) {
    return value != 0;
  } else {
    return static_cast<D>(value);
  }
}

template <typename M>
void StoreNarrow(DataType type, const M* block, int64_t count, void* dst, int64_t first,
                 const CastOptions& options) {
  for (int64_t i = 0; i < count; ++i) {
    uint8_t bits = 0;
    if (types::kNarrowFloats.Contains(type)) {
      const float value = std::is_same_v<M, float> ? static_cast<float>(block[i])
                                                   : RoundToOdd(static_cast<double>(block[i]));
      bits = type == DataType::kFloat8E8M0
                 ? FloatToE8M0(value, options.saturate, options.power_rounding)
                 : FloatToNarrow(type, value, options.saturate);
    } else {
      bits = static_cast<uint8_t>(ConvertTo<int8_t>(block[i]));
    }
    WritePacked(type, dst, first + i, bits);
  }
}

template <typename M>
void Store(DataType type, const M* block, int64_t count, void* dst, int64_t first,
           const CastOptions& options) {
  const auto store = [&](auto zero) {
    using D = decltype(zero);
    D* to = static_cast<D*>(dst) + first;
    if constexpr (std::is_same_v<D, Half> && std::is_same_v<M, float>) {
      for (int64_t i = 0; i < count; ++i) to[i].bits = NarrowToHalf(block[i]);
    } else if constexpr (std::is_same_v<D, BFloat16> && std::is_same_v<M, float>) {
      for (int64_t i = 0; i < count; ++i) to[i].bits = NarrowToBFloat16(block[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = ConvertTo<D>(block[i]);
    }
  };
  if (type == DataType::kBool) {
    store(bool{});
  } else if (!VisitNumeric(type, store)) {
    StoreNarrow(type, block, count, dst, first, options);
  }
}
}  // namespace

void CastElements(DataType from, const void* src, DataType to, void* dst, int64_t count,
                  const CastOptions& options) {
  // Threads take whole blocks, so that no two write into one byte.
  const int64_t blocks = (count + kBlock - 1) / kBlock;
  ParallelFor(blocks, 32, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * kBlock, size = std::min(kBlock, count - first);
      Load(from, src, first, size,
           [&](const auto* block) { Store(to, block, size, dst, first, options); });
    }
  });
}

}  // namespace asc
