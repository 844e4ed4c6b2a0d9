// The loops without vector operations are plain on purpose: the compiler makes vector code of them for each instruction set.
#include <algorithm>
#include <cstring>

#include "core/kernels/vector/integer_product.h"
#include "core/kernels/vector/integer_product_vnni.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/integer_product_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/vector/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
bool HasAvx512() { return HWY_TARGET == HWY_AVX3; }

template <typename T>
void PackLeftLoop(const T* a, const IntegerOperand& operand, int64_t m, int64_t k,
                  int16_t* packed) {
  const int64_t pairs = PairCount(k), tile = kProductRows * 2 * pairs;
  for (int64_t i = 0; i < m; ++i) {
    const auto zero = static_cast<int16_t>(operand.zeros[i * operand.zero_step]);
    int16_t* to = packed + i / kProductRows * tile + i % kProductRows * 2;
    for (int64_t p = 0; p < k; ++p)
      to[p / 2 * 2 * kProductRows + p % 2] = static_cast<int16_t>(a[i * k + p] - zero);
    if (k % 2 != 0) to[k / 2 * 2 * kProductRows + 1] = 0;
  }
  for (int64_t i = m; i % kProductRows != 0; ++i) {
    int16_t* to = packed + i / kProductRows * tile + i % kProductRows * 2;
    for (int64_t p = 0; p < pairs; ++p) to[p * 2 * kProductRows] = to[p * 2 * kProductRows + 1] = 0;
  }
}

void PackLeftAny(const IntegerOperand& a, int64_t m, int64_t k, int16_t* packed) {
  if (a.is_signed) return PackLeftLoop(static_cast<const int8_t*>(a.data), a, m, k, packed);
  PackLeftLoop(static_cast<const uint8_t*>(a.data), a, m, k, packed);
}

template <typename T>
void PackPanelLoop(const T* b, const IntegerOperand& operand, int64_t n, int64_t k, int64_t first,
                   int64_t columns, int16_t* panel) {
  int16_t zeros[kProductColumns] = {}, rows[2][kProductColumns] = {};
  for (int64_t j = 0; j < columns; ++j)
    zeros[j] = static_cast<int16_t>(operand.zeros[(first + j) * operand.zero_step]);
  for (int64_t p = 0; p < k; p += 2) {
    for (int64_t half = 0; half < 2; ++half) {
      if (p + half == k) {
        std::fill_n(rows[half], kProductColumns, int16_t{0});
        continue;
      }
      const T* from = b + (p + half) * n + first;
      if (columns == kProductColumns) {
        for (int64_t j = 0; j < kProductColumns; ++j)
          rows[half][j] = static_cast<int16_t>(from[j] - zeros[j]);
      } else {
        for (int64_t j = 0; j < columns; ++j)
          rows[half][j] = static_cast<int16_t>(from[j] - zeros[j]);
      }
    }
    int16_t* to = panel + p * kProductColumns;
    for (int64_t j = 0; j < kProductColumns; ++j) {
      to[2 * j] = rows[0][j];
      to[2 * j + 1] = rows[1][j];
    }
  }
}

void PackPanelAny(const IntegerOperand& b, int64_t n, int64_t k, int64_t first, int64_t columns,
                  int16_t* panel) {
  if (b.is_signed)
    return PackPanelLoop(static_cast<const int8_t*>(b.data), b, n, k, first, columns, panel);
  PackPanelLoop(static_cast<const uint8_t*>(b.data), b, n, k, first, columns, panel);
}

void FillImageAny(const IntegerOperand&, int64_t count, int16_t* image) {
  std::fill_n(image, count, int16_t{0});
}

template <typename T>
void CenterLoop(const T* x, int32_t zero, int64_t count, int16_t* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<int16_t>(x[i] - zero);
}

void StoreImageAny(const IntegerOperand& x, int64_t count, int16_t* image, int64_t offset) {
  int16_t* out = image + offset;
  if (x.is_signed) return CenterLoop(static_cast<const int8_t*>(x.data), x.zeros[0], count, out);
  CenterLoop(static_cast<const uint8_t*>(x.data), x.zeros[0], count, out);
}

void PackPixelsAny(const IntegerOperand&, const int16_t* whole, const int64_t* taps, int64_t k,
                   int64_t start, const int64_t* starts, int16_t* panel) {
  static constexpr int16_t kNothing[kProductColumns] = {};
  const int16_t* image = whole + start;
  for (int64_t p = 0; p < k; p += 2) {
    int16_t* to = panel + p * kProductColumns;
    const bool both = p + 1 < k;
    if (starts == nullptr) {
      const int16_t* first = image + taps[p];
      const int16_t* second = both ? image + taps[p + 1] : kNothing;
      const hn::CappedTag<int16_t, 8> d;
      for (size_t j = 0; j < kProductColumns; j += hn::Lanes(d))
        hn::StoreInterleaved2(hn::LoadU(d, first + j), hn::LoadU(d, second + j), d, to + 2 * j);
      continue;
    }
    const int16_t* first = image + taps[p];
    const int16_t* second = image + (both ? taps[p + 1] : 0);
    for (int64_t j = 0; j < kProductColumns; ++j) {
      to[2 * j] = first[starts[j]];
      to[2 * j + 1] = both ? second[starts[j]] : int16_t{0};
    }
  }
}

// One tile: sums of kProductRows rows in registers.
HWY_INLINE void MultiplyTile(const int16_t* left, int64_t pairs, const int16_t* panel,
                             int32_t (*sums)[kProductColumns]) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t i = 0; i < kProductRows; ++i) std::fill_n(sums[i], kProductColumns, 0);
  for (int64_t p = 0; p < pairs; ++p) {
    for (int64_t i = 0; i < kProductRows; ++i) {
      const int16_t* a = left + (p * kProductRows + i) * 2;
      const int16_t* b = panel + p * 2 * kProductColumns;
      for (int64_t j = 0; j < kProductColumns; ++j)
        sums[i][j] =
            static_cast<int32_t>(static_cast<uint32_t>(sums[i][j]) +
                                 static_cast<uint32_t>(a[0] * b[2 * j] + a[1] * b[2 * j + 1]));
    }
  }
#else
  const hn::CappedTag<int32_t, kProductColumns> d32;
  const hn::Repartition<int16_t, decltype(d32)> d16;
  using V = hn::Vec<decltype(d32)>;
  constexpr size_t kLanes = hn::MaxLanes(d32), kVectors = kProductColumns / kLanes;
  // Some instruction sets spread the products of a pair over two sums, which are added at the end. The loops are unrolled, so
  // that the sums stay in registers.
  V even[kProductRows][kVectors], odd[kProductRows][kVectors];
#pragma GCC unroll 4
  for (int64_t i = 0; i < kProductRows; ++i) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) even[i][v] = odd[i][v] = hn::Zero(d32);
  }
  for (int64_t p = 0; p < pairs; ++p) {
#pragma GCC unroll 4
    for (int64_t i = 0; i < kProductRows; ++i) {
      int32_t pair;
      std::memcpy(&pair, left + (p * kProductRows + i) * 2, sizeof pair);
      const auto a = hn::BitCast(d16, hn::Set(d32, pair));
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v) {
        const auto b =
            hn::LoadU(d16, panel + static_cast<size_t>(p) * 2 * kProductColumns + v * 2 * kLanes);
        even[i][v] = hn::ReorderWidenMulAccumulate(d32, a, b, even[i][v], odd[i][v]);
      }
    }
  }
#pragma GCC unroll 4
  for (int64_t i = 0; i < kProductRows; ++i) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v)
      hn::StoreU(hn::RearrangeToOddPlusEven(even[i][v], odd[i][v]), d32, sums[i] + v * kLanes);
  }
#endif
}

void MultiplyPanelLoop(const int16_t* left, int64_t m, int64_t k, const int16_t* panel,
                       int64_t columns, int32_t* c, int64_t c_row) {
  const int64_t pairs = PairCount(k);
  for (int64_t i = 0; i < m; i += kProductRows) {
    int32_t sums[kProductRows][kProductColumns];
    MultiplyTile(left + i * 2 * pairs, pairs, panel, sums);
    const int64_t rows = std::min(kProductRows, m - i);
    for (int64_t r = 0; r < rows; ++r)
      std::memcpy(c + (i + r) * c_row, sums[r], static_cast<size_t>(columns) * sizeof(int32_t));
  }
}

template <typename Y, typename Scaled>
HWY_INLINE void RequantizeInto(const Requantize& how, const int32_t* sums, int64_t count, Y* y,
                               Scaled scaled) {
  // To clamp before rounding gives the same, as the ends are whole. What is added leaves no room for a fraction.
  constexpr float kWhole = 0x1.8p23f;
  const float low = (how.is_signed ? -128.0f : 0.0f) - how.zero, high = low + 255.0f,
              zero = how.zero;
  const auto bias = static_cast<uint32_t>(how.bias);
  for (int64_t j = 0; j < count; ++j) {
    float v =
        scaled(static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(sums[j]) + bias)), j);
    v = !(v > low) ? low : v;
    v = v > high ? high : v;
    v = (v + kWhole) - kWhole;
    y[j] = static_cast<Y>(static_cast<int32_t>(v + zero));
  }
}

template <typename Y>
void RequantizeAs(const Requantize& how, const int32_t* sums, int64_t count, Y* y) {
  const float scale = how.scale, divisor = how.divisor;
  const float* columns = how.column_scales;
  if (columns == nullptr) {
    RequantizeInto(how, sums, count, y, [=](float v, int64_t) { return v * scale; });
  } else if (how.column_step == 0) {
    const float column = *columns;
    RequantizeInto(how, sums, count, y,
                   [=](float v, int64_t) { return v * scale * column / divisor; });
  } else {
    RequantizeInto(how, sums, count, y,
                   [=](float v, int64_t j) { return v * scale * columns[j] / divisor; });
  }
}

void RequantizeAny(const Requantize& how, const int32_t* sums, int64_t count, void* y) {
  if (how.is_signed) return RequantizeAs(how, sums, count, static_cast<int8_t*>(y));
  RequantizeAs(how, sums, count, static_cast<uint8_t*>(y));
}

template <typename T>
void WidenRowLoop(const T* x, float zero, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(x[i]) - zero;
}
void WidenRowAny(const IntegerOperand& x, int64_t count, float* to) {
  const auto zero = static_cast<float>(x.zeros[0]);
  if (x.is_signed) return WidenRowLoop(static_cast<const int8_t*>(x.data), zero, count, to);
  WidenRowLoop(static_cast<const uint8_t*>(x.data), zero, count, to);
}

void ConvolveRowLoop(const float* image, const int64_t* taps, const float* weights,
                     int64_t tap_count, int64_t count, int32_t* sums) {
  const Floats d;
  const hn::RebindToSigned<Floats> integers;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr int kVectors = 4;
  int64_t j = 0;
  for (; j + kVectors * lanes <= count; j += kVectors * lanes) {
    Vec sum[kVectors] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (int64_t t = 0; t < tap_count; ++t) {
      const Vec weight = hn::Set(d, weights[t]);
      const float* from = image + taps[t] + j;
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        sum[v] = hn::MulAdd(weight, hn::LoadU(d, from + v * lanes), sum[v]);
    }
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      hn::StoreU(hn::ConvertTo(integers, sum[v]), integers, sums + j + v * lanes);
  }
  ForVectors(d, static_cast<size_t>(count - j), [&](auto at) ASC_INLINE_LAMBDA {
    Vec sum = hn::Zero(d);
    for (int64_t t = 0; t < tap_count; ++t)
      sum = hn::MulAdd(hn::Set(d, weights[t]), at.Load(image + taps[t] + j), sum);
    at.Store(hn::BitCast(d, hn::ConvertTo(integers, sum)), reinterpret_cast<float*>(sums + j));
  });
}
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#if defined(__x86_64__)
#define ASC_ON_VNNI(call) \
  if (HWY_DYNAMIC_DISPATCH(HasAvx512)() && vnni::IsUsed()) return vnni::call
#else
#define ASC_ON_VNNI(call) static_cast<void>(0)
#endif
namespace asc::simd {
HWY_EXPORT(HasAvx512);
HWY_EXPORT(PackLeftAny);
HWY_EXPORT(PackPanelAny);
HWY_EXPORT(FillImageAny);
HWY_EXPORT(StoreImageAny);
HWY_EXPORT(PackPixelsAny);
HWY_EXPORT(MultiplyPanelLoop);
HWY_EXPORT(WidenRowAny);
HWY_EXPORT(ConvolveRowLoop);
HWY_EXPORT(RequantizeAny);

void PackLeft(const IntegerOperand& a, int64_t m, int64_t k, int16_t* packed) {
  ASC_ON_VNNI(PackLeft(a, m, k, packed));
  HWY_DYNAMIC_DISPATCH(PackLeftAny)(a, m, k, packed);
}
void PackPanel(const IntegerOperand& b, int64_t n, int64_t k, int64_t first, int64_t columns,
               int16_t* panel) {
  ASC_ON_VNNI(PackPanel(b, n, k, first, columns, panel));
  HWY_DYNAMIC_DISPATCH(PackPanelAny)(b, n, k, first, columns, panel);
}
void FillImage(const IntegerOperand& x, int64_t count, int16_t* image) {
  ASC_ON_VNNI(FillImage(x, count, image));
  HWY_DYNAMIC_DISPATCH(FillImageAny)(x, count, image);
}
void StoreImage(const IntegerOperand& x, int64_t count, int16_t* image, int64_t offset) {
  ASC_ON_VNNI(StoreImage(x, count, image, offset));
  HWY_DYNAMIC_DISPATCH(StoreImageAny)(x, count, image, offset);
}
void PackPixels(const IntegerOperand& x, const int16_t* image, const int64_t* taps, int64_t k,
                int64_t start, const int64_t* starts, int16_t* panel) {
  ASC_ON_VNNI(PackPixels(x, image, taps, k, start, starts, panel));
  HWY_DYNAMIC_DISPATCH(PackPixelsAny)(x, image, taps, k, start, starts, panel);
}
void MultiplyPanel(const int16_t* left, int64_t m, int64_t k, const int16_t* panel, int64_t columns,
                   int32_t* c, int64_t c_row) {
  ASC_ON_VNNI(MultiplyPanel(left, m, k, panel, columns, c, c_row));
  HWY_DYNAMIC_DISPATCH(MultiplyPanelLoop)(left, m, k, panel, columns, c, c_row);
}
void WidenRow(const IntegerOperand& x, int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(WidenRowAny)(x, count, to);
}
void ConvolveRow(const float* image, const int64_t* taps, const float* weights, int64_t tap_count,
                 int64_t count, int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(ConvolveRowLoop)(image, taps, weights, tap_count, count, sums);
}
void MultiplyPanels(const int16_t* left, int64_t m, int64_t k, const int16_t* panels,
                    int64_t columns, int32_t* c, int64_t c_row) {
  ASC_ON_VNNI(MultiplyPanels(left, m, k, panels, columns, c, c_row));
  for (int64_t j = 0; j < columns; j += kProductColumns, panels += PanelSize(k))
    MultiplyPanel(left, m, k, panels, std::min(kProductColumns, columns - j), c + j, c_row);
}
void RequantizeRow(const Requantize& how, const int32_t* sums, int64_t count, void* y) {
  HWY_DYNAMIC_DISPATCH(RequantizeAny)(how, sums, count, y);
}
}  // namespace asc::simd
#undef ASC_ON_VNNI
#endif  // HWY_ONCE
