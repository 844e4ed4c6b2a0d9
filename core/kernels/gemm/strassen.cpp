#include "core/kernels/gemm/strassen.h"

#include <algorithm>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/gemm/strassen.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/gemm/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::gemm::HWY_NAMESPACE {
// The factors of the seven products, in the order in which they are made. With A = [[a, b], [c, d]] on the left,
// s = c + d and t = s - a, and B = [[e, f], [g, h]] on the right, u = f - e and v = h - u:
//   1  a        e        first = 1
//   2  b        g        top left = first + 2
//   3  t        v        second = first + 3
//   4  s        u        third = second + 4
//   5  b - t    h        top right = third + 5
//   6  a - c    h - f    bottom right = third + 6
//   7  d        g - v    bottom left = second + 6 + 7
constexpr int kProducts = 7;
// Floats between rows of the halves beyond their length, and between halves that are written together: at a distance of
// a multiple of 4 KiB they would fall on each other's cache lines.
constexpr int64_t kGap = 16, kApart = 144;
constexpr int64_t kPage = 1024;  // floats

int64_t Apart(int64_t count) { return (count + kPage - 1) / kPage * kPage + kApart; }
int64_t LeftHalf(int64_t m, int64_t k) { return Apart(m / 2 * (k / 2 + kGap)); }
int64_t RightHalf(int64_t k) { return Apart(k / 2 * kWidth); }

// Whether all elements of four vectors are small enough together.
HWY_INLINE auto Small(Vec a, Vec b, Vec c, Vec d) {
  const Vec sum = hn::Add(hn::Add(hn::Abs(a), hn::Abs(b)), hn::Add(hn::Abs(c), hn::Abs(d)));
  return hn::Le(sum, hn::Set(Floats(), 4 * kLargestHalved));
}

// Whether rows with these sums of magnitudes may be multiplied together: each gets rounding errors of the larger one.
HWY_INLINE bool Alike(Vec top, Vec bottom) {
  const Floats f;
  const float a = hn::GetLane(hn::SumOfLanes(f, top)), b = hn::GetLane(hn::SumOfLanes(f, bottom));
  return a <= b * kUnlikeRows && b <= a * kUnlikeRows;
}

// Rows at a distance of a multiple of a page would fall on the same cache lines: then quarters are copied as well.
bool Copies(int64_t a_row) { return a_row % kPage == 0; }
// Where the factors of the left operand stand among those that HalveLeft makes: sums, then quarters, which are
// otherwise read as they lie.
constexpr int kLeftSums = 4;
constexpr int kLeftPlace[kProducts] = {4, 5, 0, 1, 2, 3, 6};

template <bool kCopies>
HWY_INLINE bool HalveRows(const float* a, int64_t a_row, int64_t m, int64_t k, float* halves) {
  const Floats f;
  const int64_t half = LeftHalf(m, k), stride = k / 2 + kGap;
  auto small = Small(hn::Zero(f), hn::Zero(f), hn::Zero(f), hn::Zero(f));
  for (int64_t i = 0; i < m / 2; ++i) {
    const float *top = a + i * a_row, *bottom = top + m / 2 * a_row;
    float* to = halves + i * stride;
    Vec top_size = hn::Zero(f), bottom_size = hn::Zero(f);
    for (int64_t j = 0; j < k / 2; j += kLanes) {
      const Vec va = hn::LoadU(f, top + j), vb = hn::LoadU(f, top + k / 2 + j);
      const Vec vc = hn::LoadU(f, bottom + j), vd = hn::LoadU(f, bottom + k / 2 + j);
      top_size = hn::Add(top_size, hn::Add(hn::Abs(va), hn::Abs(vb)));
      bottom_size = hn::Add(bottom_size, hn::Add(hn::Abs(vc), hn::Abs(vd)));
      const Vec s = hn::Add(vc, vd), t = hn::Sub(s, va);
      small = hn::And(small, Small(va, vb, vc, vd));
      const Vec factors[kProducts] = {t, s, hn::Sub(vb, t), hn::Sub(va, vc), va, vb, vd};
      Repeat<kCopies ? kProducts : kLeftSums>(
          [&](auto i) ASC_INLINE_LAMBDA { hn::StoreU(factors[i], f, to + i * half + j); });
    }
    if (!Alike(top_size, bottom_size)) return false;
  }
  return hn::AllTrue(f, small);
}
bool HalveLeftHere(const float* a, int64_t a_row, int64_t m, int64_t k, float* halves) {
  return Copies(a_row) ? HalveRows<true>(a, a_row, m, k, halves)
                       : HalveRows<false>(a, a_row, m, k, halves);
}

bool CanBeHalvedHere(const float* x, int64_t count) {
  const Floats f;
  auto small = Small(hn::Zero(f), hn::Zero(f), hn::Zero(f), hn::Zero(f));
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Vec v = hn::LoadU(f, x + i);
    small = hn::And(small, Small(v, v, v, v));
  }
  const Vec v = simd::HWY_NAMESPACE::LoadTail(f, x + i, static_cast<size_t>(count - i));
  return hn::AllTrue(f, hn::And(small, Small(v, v, v, v)));
}

// What is made of each product: sums that begin with those of a slot go on to another, and may be a quarter of
// the result then, together with those of one more.
constexpr int kSlots = 4;
struct Step {
  int start, to;  // slots; -1 for zeros
  bool finishes = false, lower = false, right = false;
  int more = -1;
};
constexpr Step kSteps[kProducts] = {
    {-1, 0},
    {0, 3, true},
    {0, 1},
    {1, 2},
    {2, 3, true, false, true},
    {-1, 0, true, true, true, 2},
    {0, 3, true, true, false, 1},
};

// Where the operands of one product stand, and what is read ahead while it grows.
struct Operands {
  const float* left;
  int64_t left_row;
  const float* right[3];
  float* made;
  int64_t k;
  const char* near;
  int64_t near_step;  // bytes for kUnroll steps of the sum
};

// Sums of kCount rows and a panel's columns: those at `start`, or zeros, and a product. Sums stand as
// [vector][row]. The right factor is right[0]; with two terms right[0] - right[1], with three right[0] -
// (right[1] - right[2]), and is stored for the rows that follow: that costs little while sums grow.
template <int kCount, int kTerms>
HWY_NOINLINE void Grow(const Operands& from, const float* start, float* to) {
  const Floats d;
  Vec sums[kVectors][kCount];
  Repeat<kVectors>([&](auto v) ASC_INLINE_LAMBDA {
    Repeat<kCount>([&](auto r) ASC_INLINE_LAMBDA {
      sums[v][r] = start == nullptr ? hn::Zero(d) : hn::Load(d, start + (v * kCount + r) * kLanes);
    });
  });
  Rows x = RowsAt(from.left, from.left_row);
  const char* near = from.near;
  const float* first = from.right[0];
  const int64_t second = from.right[1] - first, third = from.right[2] - first,
                made = from.made - first;
  for (int64_t k = from.k; k > 0; k -= kUnroll) {
    __builtin_prefetch(near, 0, 2);
    near += from.near_step;
    Repeat<kUnroll>([&](auto at) ASC_INLINE_LAMBDA {
      Vec right[kVectors];
      Repeat<kVectors>([&](auto v) ASC_INLINE_LAMBDA {
        const float* place = first + at * kWidth + v * kLanes;
        right[v] = hn::LoadU(d, place);
        if constexpr (kTerms == 2) right[v] = hn::Sub(right[v], hn::LoadU(d, place + second));
        if constexpr (kTerms == 3)
          right[v] =
              hn::Sub(right[v], hn::Sub(hn::LoadU(d, place + second), hn::LoadU(d, place + third)));
        if constexpr (kTerms > 1) hn::StoreU(right[v], d, const_cast<float*>(place) + made);
      });
      Repeat<kCount>([&](auto row)
                         ASC_INLINE_LAMBDA { MultiplyRow<row, at, false>(x, right, sums); });
    });
    x.first += kUnroll;
    x.eighth += kUnroll;
    first += kUnroll * kWidth;
  }
  Repeat<kVectors>([&](auto v) ASC_INLINE_LAMBDA {
    Repeat<kCount>([&](auto r) ASC_INLINE_LAMBDA {
      hn::Store(sums[v][r], d, to + (v * kCount + r) * kLanes);
    });
  });
}
template <int kCount>
void GrowBy(int terms, const Operands& from, const float* start, float* to) {
  if (terms == 1) return Grow<kCount, 1>(from, start, to);
  if (terms == 2) return Grow<kCount, 2>(from, start, to);
  Grow<kCount, 3>(from, start, to);
}

template <int kCount>
HWY_NOINLINE void FinishQuarter(const Product& p, int64_t row, int64_t column, const float* sums,
                                const float* more) {
  const Floats d;
  for (int64_t v = 0; v < kVectors; ++v) {
    Vec all[kCount];
    Repeat<kCount>(
        [&](auto r) ASC_INLINE_LAMBDA { all[r] = hn::Load(d, sums + (v * kCount + r) * kLanes); });
    if (more != nullptr) {
      Repeat<kCount>([&](auto r) ASC_INLINE_LAMBDA {
        all[r] = hn::Add(all[r], hn::Load(d, more + (v * kCount + r) * kLanes));
      });
    }
    Finish<kCount>(p, row, column + v * kLanes, all);
  }
}

// Asks for the lines of a tile in the result or in what is laid out like it: it is written, or read, after a product.
template <int kCount>
HWY_INLINE void NearRows(const Product& p, const float* start, int64_t step, int64_t row,
                         int64_t column) {
  constexpr int64_t kLine = 16;  // floats
  for (int64_t j = column; j < column + kWidth; j += kLine) {
    const float* at = start + row * step + PlaceOf(p, j).offset;
    for (int64_t r = 0; r < kCount; ++r) __builtin_prefetch(at + r * step, 1, 3);
  }
}

// A factor of the right operand: a part of a panel, or the difference of such; `sum` is where that is kept.
struct Right {
  int terms;
  const float* of[3];
  float* sum;
};

// A pair of panels and what is read for it.
struct Pair {
  const Product& product;
  int64_t away;  // columns between the panels
  const float* left[kProducts];
  int64_t left_row[kProducts];
  Right right[kProducts];
  const char* next[2];  // what comes after them; advances
  int64_t next_step;
};

// kCount rows of both halves of the result's rows. Sums of the right operand are made for the first ones.
template <int kCount>
void HalvedTile(Pair& pair, int64_t row) {
  constexpr int kSums = kVectors * kCount * kLanes;
  const Product& p = pair.product;
  HWY_ALIGN float slots[kSlots][kSums];
  for (int product = 0; product < kProducts; ++product) {
    const Step& step = kSteps[product];
    Right& right = pair.right[product];
    const char*& next = pair.next[product & 1];
    const int64_t to_row = step.lower ? row + p.m / 2 : row, to_column = step.right ? pair.away : 0;
    if (step.finishes) {
      NearRows<kCount>(p, p.c, p.c_row, to_row, to_column);
      if (p.residual != nullptr) NearRows<kCount>(p, p.residual, p.residual_row, to_row, to_column);
    }
    const Operands operands = {pair.left[product] + row * pair.left_row[product],
                               pair.left_row[product],
                               {right.of[0], right.of[1], right.of[2]},
                               right.sum,
                               p.k / 2,
                               next,
                               pair.next_step};
    GrowBy<kCount>(right.terms, operands, step.start < 0 ? nullptr : slots[step.start],
                   slots[step.to]);
    if (right.terms > 1) right = {1, {right.sum}, nullptr};
    next += p.k / 2 / kUnroll * pair.next_step;
    if (!step.finishes) continue;
    FinishQuarter<kCount>(p, to_row, to_column, slots[step.to],
                          step.more < 0 ? nullptr : slots[step.more]);
  }
}

// Rows of half a product that has no fewer than a tile, in even parts.
constexpr int kFewest = (kRows + 1) / 2;
using HalvedFunction = void (*)(Pair&, int64_t);
struct HalvedTable {
  HalvedFunction of[kRows - kFewest + 1];
};
constexpr HalvedTable MakeHalvedTable() {
  HalvedTable table{};
  [&]<int... I>(std::integer_sequence<int, I...>) {
    ((table.of[I] = HalvedTile<I + kFewest>), ...);
  }
  (std::make_integer_sequence<int, kRows - kFewest + 1>());
  return table;
}

void MultiplyHalvedHere(const Product& p, int64_t away, const float* left, float* right) {
  static constexpr HalvedTable kTable = MakeHalvedTable();
  const int64_t depth = p.k / 2, cuts = (p.m / 2 + kRows - 1) / kRows;
  const float *e = p.b, *g = e + depth * kWidth;
  const float *f = e + away * p.b_panel, *h = f + depth * kWidth;
  const auto sum = [&](int64_t i) { return right + kApart + i * RightHalf(p.k); };
  // The next panels are read by the time that this pair is done: three products ask for lines of each.
  constexpr int64_t kLineBytes = 64,
                    kStepBytes = 2 * kUnroll * kWidth * static_cast<int64_t>(sizeof(float)) / 3;
  const auto next = [&](const float* panel) {
    return reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(panel) +
                                         static_cast<uintptr_t>(p.b_panel) * sizeof(float));
  };
  Pair pair{p,
            away * kWidth,
            {p.a, p.a + depth, nullptr, nullptr, nullptr, nullptr, p.a + p.m / 2 * p.a_row + depth},
            {},
            {{1, {e}, nullptr},
             {1, {g}, nullptr},
             {3, {h, f, e}, sum(0)},
             {2, {f, e}, sum(1)},
             {1, {h}, nullptr},
             {2, {h, f}, sum(2)},
             {2, {g, sum(0)}, sum(3)}},
            {next(e), next(f)},
            std::min(kLineBytes, (kStepBytes + cuts - 1) / cuts)};
  const bool copies = Copies(p.a_row);
  for (int i = 0; i < kProducts; ++i) {
    const bool made = copies || kLeftPlace[i] < kLeftSums;
    if (made) pair.left[i] = left + kLeftPlace[i] * LeftHalf(p.m, p.k);
    pair.left_row[i] = made ? depth + kGap : p.a_row;
  }
  for (int64_t cut = 0; cut < cuts; ++cut) {
    const int64_t row = p.m / 2 * cut / cuts, rows = p.m / 2 * (cut + 1) / cuts - row;
    kTable.of[rows - kFewest](pair, row);
  }
}

int64_t LeftHalvesCountHere(int64_t a_row, int64_t m, int64_t k) {
  return (Copies(a_row) ? kProducts : kLeftSums) * LeftHalf(m, k);
}
int64_t RightHalvesCountHere(int64_t k) { return 4 * RightHalf(k) + kApart; }
}  // namespace asc::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::gemm {
HWY_EXPORT(CanBeHalvedHere);
HWY_EXPORT(HalveLeftHere);
HWY_EXPORT(LeftHalvesCountHere);
HWY_EXPORT(MultiplyHalvedHere);
HWY_EXPORT(RightHalvesCountHere);

bool CanBeHalved(const float* x, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(CanBeHalvedHere)(x, count);
}
int64_t LeftHalvesCount(int64_t a_row, int64_t m, int64_t k) {
  return HWY_DYNAMIC_DISPATCH(LeftHalvesCountHere)(a_row, m, k);
}
int64_t RightHalvesCount(int64_t k) { return HWY_DYNAMIC_DISPATCH(RightHalvesCountHere)(k); }
bool HalveLeft(const float* a, int64_t a_row, int64_t m, int64_t k, float* halves) {
  return HWY_DYNAMIC_DISPATCH(HalveLeftHere)(a, a_row, m, k, halves);
}
void MultiplyHalved(const Product& product, int64_t away, const float* left, float* right) {
  HWY_DYNAMIC_DISPATCH(MultiplyHalvedHere)(product, away, left, right);
}
}  // namespace asc::gemm
#endif  // HWY_ONCE
