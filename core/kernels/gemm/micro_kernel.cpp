#include "core/kernels/gemm/micro_kernel.h"

#include <algorithm>
#include <utility>

#include "core/base/prefetch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/gemm/micro_kernel.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/gemm/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::gemm::HWY_NAMESPACE {
// What is brought into the second-level cache while sums grow: the next panel, a line at a time. The
// processor's own prefetching begins only with the first rows that read a panel, and then lags.
struct Ahead {
  const char* at;
  int64_t step;  // bytes for kUnroll steps of the sum
};

// Sums that grow side by side: an addition waits for the one before it in its sum.
constexpr int ChainsOf(int sums) { return sums <= 2 ? 4 : sums <= 4 ? 2 : 1; }

// Asks for the lines of a tile whose first row starts at `first`, to be written or only read.
template <bool kWrite>
HWY_INLINE void Near(const float* at) {
  if constexpr (kWrite) {
    PrefetchToWrite(at);
  } else {
    __builtin_prefetch(at, 0, 2);
  }
}
template <int kCount, int kColumns, bool kWrite>
HWY_INLINE void NearRows(const Product& p, const float* first, int64_t step, int64_t column) {
  constexpr int64_t kLine = 16;  // floats
  const int64_t start = PlaceOf(p, column).offset;
  const int64_t next = kColumns * kLanes > kLine ? PlaceOf(p, column + kLine).offset : start;
  Repeat<kCount>([&](auto r) ASC_INLINE_LAMBDA {
    Near<kWrite>(first + r * step + start);
    if constexpr (kColumns * kLanes > kLine) Near<kWrite>(first + r * step + next);
  });
}

// The rows [row, row + kCount) and the columns [column, column + kColumns * kLanes) of the result.
template <int kCount, int kColumns, bool kHalf>
HWY_NOINLINE void Tile(const Product& p, int64_t row, int64_t column, Ahead& ahead) {
  const char* near = ahead.at;
  constexpr int kChains = ChainsOf(kCount * kColumns);
  const Floats d;
  Vec sums[kChains][kColumns][kCount];
  Repeat<kChains>([&](auto chain) ASC_INLINE_LAMBDA {
    Repeat<kCount>([&](auto r) ASC_INLINE_LAMBDA {
      Repeat<kColumns>([&](auto v) ASC_INLINE_LAMBDA { sums[chain][v][r] = hn::Zero(d); });
    });
  });
  // The result, and what is added to it, come near while the sums grow: stores and loads that wait for memory
  // hold up the next tile.
  NearRows<kCount, kColumns, true>(p, p.c + row * p.c_row, p.c_row, column);
  if (p.residual != nullptr) {
    NearRows<kCount, kColumns, false>(p, p.residual + row * p.residual_row, p.residual_row, column);
  }
  const float* a = p.a + row * p.a_row;
  const float* b = p.b + column / kWidth * p.b_panel;
  // Panels end with the columns; what fills the last block of channels may go on.
  const int64_t blocks = column < p.n ? p.blocks + (p.rest > 0 ? 1 : 0) : 0;
  for (int64_t block = 0; block < blocks; ++block, a += p.a_block, b += p.b_block) {
    Rows x = RowsAt(a, p.a_row);
    const float* right = b;
    int64_t k = block < p.blocks ? p.k : p.rest;
    for (; k >= kUnroll; k -= kUnroll) {
      __builtin_prefetch(near, 0, 2);
      near += ahead.step;
      MultiplySteps<kUnroll, kHalf>(x, right, sums);
      x.first += kUnroll;
      x.eighth += kUnroll;
      right += kUnroll * kWidth;
    }
    for (; k > 0; --k) {
      MultiplySteps<1, kHalf>(x, right, sums);
      ++x.first;
      ++x.eighth;
      right += kWidth;
    }
  }
  ahead.at = near;
  Repeat<kChains - 1>([&](auto chain) ASC_INLINE_LAMBDA {
    Repeat<kCount>([&](auto r) ASC_INLINE_LAMBDA {
      Repeat<kColumns>([&](auto v) ASC_INLINE_LAMBDA {
        sums[0][v][r] = hn::Add(sums[0][v][r], sums[chain + 1][v][r]);
      });
    });
  });

  Repeat<kColumns>(
      [&](auto v) ASC_INLINE_LAMBDA { Finish<kCount>(p, row, column + v * kLanes, sums[0][v]); });
}

using TileFunction = void (*)(const Product&, int64_t, int64_t, Ahead&);
struct TileTable {
  TileFunction of[kHalves][kVectors][kRows];  // whole, half
};
constexpr TileTable MakeTable() {
  TileTable table{};
  [&]<int... I>(std::integer_sequence<int, I...>) {
    constexpr int kTiles = kVectors * kRows;
    ((table.of[I / kTiles][I / kRows % kVectors][I % kRows] =
          Tile<I % kRows + 1, I / kRows % kVectors + 1, I / kTiles == 1>),
     ...);
  }
  (std::make_integer_sequence<int, kHalves * kVectors * kRows>());
  return table;
}

void MultiplyTiles(const Product& p) {
  static constexpr TileTable kTable = MakeTable();
  const int64_t columns = p.c_width == 0 ? p.n : (p.n + p.c_width - 1) / p.c_width * p.c_width;
  const int64_t panels = (columns + kWidth - 1) / kWidth, cuts = (p.m + kRows - 1) / kRows;
  // So that all tiles of a panel bring the whole next one; where there are few tiles, the beginning of it.
  constexpr int64_t kLineBytes = 64,
                    kStepBytes = kUnroll * kWidth * static_cast<int64_t>(sizeof(float));
  const int64_t step = cuts == 1 ? 0 : std::min(kLineBytes, (kStepBytes + cuts - 1) / cuts);
  for (int64_t panel = 0; panel < panels; ++panel) {
    const int64_t column = panel * kWidth;
    // The panel after the last one is what callers come to next, or nothing that could be read: asking does no harm.
    const auto next = reinterpret_cast<uintptr_t>(p.b) +
                      static_cast<uintptr_t>((panel + 1) * p.b_panel) * sizeof(float);
    Ahead ahead{reinterpret_cast<const char*>(next), step};
    const int64_t vectors = std::min<int64_t>((columns - column + kLanes - 1) / kLanes, kVectors);
    const int64_t half = kHalves == 2 && p.n - column <= vectors * kLanes - kLanes / 2 ? 1 : 0;
    // Rows in even parts: a short one at the end would leave the multipliers waiting.
    for (int64_t cut = 0; cut < cuts; ++cut) {
      const int64_t row = p.m * cut / cuts, rows = p.m * (cut + 1) / cuts - row;
      kTable.of[half][vectors - 1][rows - 1](p, row, column, ahead);
    }
  }
}

TileShape TilesHere() { return {kRows, kWidth, kLanes}; }
}  // namespace asc::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::gemm {
HWY_EXPORT(MultiplyTiles);
HWY_EXPORT(TilesHere);

TileShape Tiles() { return HWY_DYNAMIC_DISPATCH(TilesHere)(); }
void Multiply(const Product& product) {
  if (product.m <= 0 || product.n <= 0) return;
  HWY_DYNAMIC_DISPATCH(MultiplyTiles)(product);
}

int64_t PackedCount(int64_t k, int64_t n) {
  const int64_t width = Tiles().width;
  return k * ((n + width - 1) / width * width);
}
}  // namespace asc::gemm
#endif  // HWY_ONCE
