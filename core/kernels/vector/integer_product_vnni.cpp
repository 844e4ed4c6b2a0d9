#include "core/kernels/vector/integer_product_vnni.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <atomic>
#include <cstring>

#include "hwy/base.h"

namespace asc::simd::vnni {
namespace {
std::atomic<bool> forbidden_for_test = false;
}  // namespace

bool IsUsed() {
  static const bool has = __builtin_cpu_supports("avx512vnni") != 0;
  return has && !forbidden_for_test.load(std::memory_order_relaxed);
}
void ForbidForTest(bool forbidden) { forbidden_for_test = forbidden; }
}  // namespace asc::simd::vnni

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")
namespace asc::simd::vnni {
namespace {
// a * b of bytes: the left operand as uint8, the right one as int8, each with its zero point moved along. With row zeros z, column
// zeros w: sum (a - z)(b - w) = sum ab - z (sum b - k w) - w sum a. A packed tile begins with the z and the sums of its rows, a
// panel with the w and the (sum b - k w) of its columns; then follow groups of four along k.
constexpr int64_t kHead = 2 * sizeof(int32_t);  // bytes a row or column

inline int64_t TileBytes(int64_t k) { return kProductRows * (kHead + 4 * QuadCount(k)); }

// The head of a panel whose bytes are there.
inline void FinishPanel(__m512i zeros, int64_t k, int16_t* panel) {
  const int16_t* quads = panel + kProductColumns * kHead / 2;
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i sums = _mm512_setzero_si512();
  for (int64_t p = 0; p < QuadCount(k); ++p)
    sums = _mm512_dpbusd_epi32(sums, ones, _mm512_loadu_si512(quads + p * 2 * kProductColumns));
  const __m512i extra = _mm512_mullo_epi32(_mm512_set1_epi32(static_cast<int32_t>(k)), zeros);
  _mm512_storeu_si512(panel, zeros);
  _mm512_storeu_si512(panel + 2 * kProductColumns, _mm512_sub_epi32(sums, extra));
}

// Four rows of a panel side by side.
inline void StoreQuads(__m128i a, __m128i b, __m128i c, __m128i d, uint8_t* to) {
  const __m128i low_ab = _mm_unpacklo_epi8(a, b), high_ab = _mm_unpackhi_epi8(a, b),
                low_cd = _mm_unpacklo_epi8(c, d), high_cd = _mm_unpackhi_epi8(c, d);
  auto* out = reinterpret_cast<__m128i*>(to);
  _mm_storeu_si128(out, _mm_unpacklo_epi16(low_ab, low_cd));
  _mm_storeu_si128(out + 1, _mm_unpackhi_epi16(low_ab, low_cd));
  _mm_storeu_si128(out + 2, _mm_unpacklo_epi16(high_ab, high_cd));
  _mm_storeu_si128(out + 3, _mm_unpackhi_epi16(high_ab, high_cd));
}

// c of the sums of one row of a tile.
inline void StoreSums(__m512i sums, const uint8_t* head, const int16_t* panel, __mmask16 columns,
                      int32_t* c) {
  const __m512i zeros = _mm512_loadu_si512(panel),
                extra = _mm512_loadu_si512(panel + 2 * kProductColumns);
  int32_t row[2];
  std::memcpy(&row[0], head, sizeof row[0]);
  std::memcpy(&row[1], head + kProductRows * 4, sizeof row[1]);
  const __m512i off = _mm512_add_epi32(_mm512_mullo_epi32(_mm512_set1_epi32(row[0]), extra),
                                       _mm512_mullo_epi32(_mm512_set1_epi32(row[1]), zeros));
  _mm512_mask_storeu_epi32(c, columns, _mm512_sub_epi32(sums, off));
}

// One row: as many sums along k at a time as an instruction takes cycles, so that it is the panel's way from
// memory that counts.
inline void MultiplyRow(const uint8_t* tile, int64_t k, const int16_t* panel, __mmask16 columns,
                        int32_t* c) {
  constexpr int64_t kChains = 4;
  const int16_t* quads = panel + kProductColumns * kHead / 2;
  const uint8_t* a = tile + kProductRows * kHead;
  __m512i sums[kChains] = {};
  const auto add = [&](int64_t p, __m512i sum) {
    int32_t quad;
    std::memcpy(&quad, a + p * 4 * kProductRows, sizeof quad);
    return _mm512_dpbusd_epi32(sum, _mm512_set1_epi32(quad),
                               _mm512_loadu_si512(quads + p * 2 * kProductColumns));
  };
  int64_t p = 0;
  for (; p + kChains <= QuadCount(k); p += kChains) {
#pragma GCC unroll 4
    for (int64_t i = 0; i < kChains; ++i) sums[i] = add(p + i, sums[i]);
  }
  for (; p < QuadCount(k); ++p) sums[0] = add(p, sums[0]);
  const __m512i all =
      _mm512_add_epi32(_mm512_add_epi32(sums[0], sums[1]), _mm512_add_epi32(sums[2], sums[3]));
  StoreSums(all, tile, panel, columns, c);
}

// `count` tiles next to each other, their sums in registers; the first `rows` rows are stored.
template <int64_t count>
inline void MultiplyTiles(const uint8_t* left, int64_t rows, int64_t k, const int16_t* panel,
                          __mmask16 columns, int32_t* c, int64_t c_row) {
  constexpr int64_t kAll = count * kProductRows;
  const int64_t tile = TileBytes(k);
  const int16_t* quads = panel + kProductColumns * kHead / 2;
  __m512i sums[kAll];
#pragma GCC unroll 16
  for (int64_t i = 0; i < kAll; ++i) sums[i] = _mm512_setzero_si512();
  const uint8_t* a = left + kProductRows * kHead;
  for (int64_t p = 0; p < QuadCount(k); ++p, a += 4 * kProductRows) {
    const __m512i b = _mm512_loadu_si512(quads + p * 2 * kProductColumns);
#pragma GCC unroll 16
    for (int64_t i = 0; i < kAll; ++i) {
      int32_t quad;
      std::memcpy(&quad, a + i / kProductRows * tile + i % kProductRows * 4, sizeof quad);
      sums[i] = _mm512_dpbusd_epi32(sums[i], _mm512_set1_epi32(quad), b);
    }
  }
#pragma GCC unroll 16
  for (int64_t i = 0; i < kAll; ++i) {
    if (i >= rows) continue;
    StoreSums(sums[i], left + i / kProductRows * tile + i % kProductRows * 4, panel, columns,
              c + i * c_row);
  }
}
}  // namespace

void PackLeft(const IntegerOperand& a, int64_t m, int64_t k, int16_t* packed) {
  const auto* from = static_cast<const uint8_t*>(a.data);
  const uint8_t flip = a.is_signed ? 0x80 : 0;
  const uint32_t flips = flip * 0x01010101u;
  auto* tiles = reinterpret_cast<uint8_t*>(packed);
  if (m % kProductRows != 0)
    std::memset(tiles + m / kProductRows * TileBytes(k), 0, static_cast<size_t>(TileBytes(k)));
  for (int64_t i = 0; i < m; ++i) {
    const uint8_t* row = from + i * k;
    uint8_t* tile = tiles + i / kProductRows * TileBytes(k);
    int32_t sum = 0;
    for (int64_t p = 0; p < k; ++p) sum += static_cast<uint8_t>(row[p] ^ flip);
    auto* head = reinterpret_cast<int32_t*>(tile) + i % kProductRows;
    head[0] = a.zeros[i * a.zero_step] + flip;
    head[kProductRows] = sum;
    uint8_t* to = tile + kProductRows * kHead + i % kProductRows * 4;
    int64_t p = 0;
    for (; p + 4 <= k; p += 4, to += 4 * kProductRows) {
      uint32_t quad;
      std::memcpy(&quad, row + p, sizeof quad);
      quad ^= flips;
      std::memcpy(to, &quad, sizeof quad);
    }
    if (p == k) continue;
    for (int64_t q = 0; q < 4; ++q)
      to[q] = p + q < k ? static_cast<uint8_t>(row[p + q] ^ flip) : uint8_t{0};
  }
}

void PackPanel(const IntegerOperand& b, int64_t n, int64_t k, int64_t first, int64_t columns,
               int16_t* panel) {
  const uint8_t flip = b.is_signed ? 0 : 0x80;
  const auto flips = _mm_set1_epi8(static_cast<char>(flip));
  int32_t zeros[kProductColumns] = {};
  for (int64_t j = 0; j < columns; ++j) zeros[j] = b.zeros[(first + j) * b.zero_step] - flip;
  auto* to = reinterpret_cast<uint8_t*>(panel) + kProductColumns * kHead;
  const auto* from = static_cast<const uint8_t*>(b.data) + first;
  const auto mask = static_cast<__mmask16>((1u << columns) - 1);
  const auto row = [&](int64_t p) {
    if (p >= k) return _mm_setzero_si128();
    return _mm_xor_si128(_mm_maskz_loadu_epi8(mask, from + p * n), flips);
  };
  for (int64_t p = 0; p < k; p += 4, to += 4 * kProductColumns)
    StoreQuads(row(p), row(p + 1), row(p + 2), row(p + 3), to);
  FinishPanel(_mm512_loadu_si512(zeros), k, panel);
}

void FillImage(const IntegerOperand& x, int64_t count, int16_t* image) {
  std::memset(image, x.zeros[0] - (x.is_signed ? 0 : 0x80), static_cast<size_t>(count));
}

void StoreImage(const IntegerOperand& x, int64_t count, int16_t* image, int64_t offset) {
  auto* to = reinterpret_cast<uint8_t*>(image) + offset;
  const auto* from = static_cast<const uint8_t*>(x.data);
  const uint8_t flip = x.is_signed ? 0 : 0x80;
  for (int64_t i = 0; i < count; ++i) to[i] = from[i] ^ flip;
}

void PackPixels(const IntegerOperand& x, const int16_t* whole, const int64_t* taps, int64_t k,
                int64_t start, const int64_t* starts, int16_t* panel) {
  const uint8_t* image = reinterpret_cast<const uint8_t*>(whole) + start;
  auto* to = reinterpret_cast<uint8_t*>(panel) + kProductColumns * kHead;
  const auto row = [&](int64_t p) {
    return p < k ? _mm_loadu_si128(reinterpret_cast<const __m128i*>(image + taps[p]))
                 : _mm_setzero_si128();
  };
  for (int64_t p = 0; p < k; p += 4, to += 4 * kProductColumns) {
    if (starts == nullptr) {
      StoreQuads(row(p), row(p + 1), row(p + 2), row(p + 3), to);
      continue;
    }
    for (int64_t q = 0; q < 4; ++q) {
      const uint8_t* from = p + q < k ? image + taps[p + q] : nullptr;
      for (int64_t j = 0; j < kProductColumns; ++j)
        to[4 * j + q] = from == nullptr ? uint8_t{0} : from[starts[j]];
    }
  }
  FinishPanel(_mm512_set1_epi32(x.zeros[0] - (x.is_signed ? 0 : 0x80)), k, panel);
}

void MultiplyPanel(const int16_t* left, int64_t m, int64_t k, const int16_t* panel, int64_t columns,
                   int32_t* c, int64_t c_row) {
  const auto* tiles = reinterpret_cast<const uint8_t*>(left);
  const auto mask = static_cast<__mmask16>((1u << columns) - 1);
  if (m == 1) return MultiplyRow(tiles, k, panel, mask, c);
  int64_t i = 0;
  for (; m - i > 2 * kProductRows; i += 4 * kProductRows, tiles += 4 * TileBytes(k)) {
    if (m - i <= 3 * kProductRows)
      return MultiplyTiles<3>(tiles, m - i, k, panel, mask, c + i * c_row, c_row);
    MultiplyTiles<4>(tiles, m - i, k, panel, mask, c + i * c_row, c_row);
  }
  if (m - i > kProductRows)
    return MultiplyTiles<2>(tiles, m - i, k, panel, mask, c + i * c_row, c_row);
  if (m > i) MultiplyTiles<1>(tiles, m - i, k, panel, mask, c + i * c_row, c_row);
}

void MultiplyPanels(const int16_t* left, int64_t m, int64_t k, const int16_t* panels,
                    int64_t columns, int32_t* c, int64_t c_row) {
  for (int64_t j = 0; j < columns; j += kProductColumns, panels += PanelSize(k))
    MultiplyPanel(left, m, k, panels, std::min(kProductColumns, columns - j), c + j, c_row);
}
}  // namespace asc::simd::vnni
HWY_POP_ATTRIBUTES
#endif
