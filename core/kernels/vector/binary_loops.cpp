#include <algorithm>

#include "core/kernels/vector/binary.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/binary_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/vector/binary-inl.h"
#include "core/kernels/vector/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
// Rows shorter than this are spread out and joined, so that vectors are full.
constexpr int64_t kShortRow = 32;
constexpr int64_t kTile = 1024;

template <class Op>
HWY_INLINE void BinaryRow(Op op, const float* x, bool x_moves, const float* y, bool y_moves,
                          float* z, size_t n) {
  const Floats d;
  if (x_moves && y_moves) {
    ForVectors(d, n,
               [&](auto at) ASC_INLINE_LAMBDA { at.Store(op(d, at.Load(x), at.Load(y)), z); });
  } else if (x_moves) {
    const Vec right = hn::Set(d, *y);
    ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA { at.Store(op(d, at.Load(x), right), z); });
  } else {
    const Vec left = hn::Set(d, *x);
    ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA { at.Store(op(d, left, at.Load(y)), z); });
  }
}

// `rows` rows of an operand, one after the other, in `tile` unless they lie so already. What does
// not change is kept from tile to tile: `filled` is how many rows stand there.
template <typename T>
const T* Spread(const RowOperand<const T>& from, int64_t count, int64_t rows, T* tile,
                int64_t* filled) {
  if (from.step == 1 && from.row == count) return from.data;
  int64_t done = from.row == 0 ? *filled : 0;
  for (const int64_t own = from.row == 0 ? 1 : rows; done < own; ++done) {
    const T* data = from.data + done * from.row;
    for (int64_t i = 0; i < count; ++i) tile[done * count + i] = data[i * from.step];
  }
  while (done < rows) {  // copies of the one row, twice as many each time
    const int64_t more = std::min(done, rows - done);
    std::copy_n(tile, more * count, tile + done * count);
    done += more;
  }
  *filled = done;
  return tile;
}

void BinaryLoop(BinaryOp op, const BinaryRows& r) {
  VisitBinary(op, [&](auto f) HWY_ATTR {
    if (r.count >= kShortRow || r.rows == 1) {
      for (int64_t row = 0; row < r.rows; ++row) {
        BinaryRow(f, r.x.data + row * r.x.row, r.x.step != 0, r.y.data + row * r.y.row,
                  r.y.step != 0, r.z + row * r.count, static_cast<size_t>(r.count));
      }
      return;
    }
    float tile_x[kTile], tile_y[kTile];
    int64_t filled_x = 0, filled_y = 0;
    BinaryRows rest = r;
    while (rest.rows > 0) {
      const int64_t rows = std::min(rest.rows, kTile / r.count);
      const float* x = Spread(rest.x, r.count, rows, tile_x, &filled_x);
      const float* y = Spread(rest.y, r.count, rows, tile_y, &filled_y);
      BinaryRow(f, x, true, y, true, rest.z, static_cast<size_t>(rows * r.count));
      rest.x.data += rows * r.x.row;
      rest.y.data += rows * r.y.row;
      rest.z += rows * r.count;
      rest.rows -= rows;
    }
  });
}

// The lanes where bytes are not 0.
template <class D>
HWY_INLINE hn::Mask<D> LoadCondition(D d, const bool* p, size_t count) {
  const hn::Rebind<uint8_t, D> d8;
  const hn::Rebind<int32_t, D> d32;
  const auto* bytes = reinterpret_cast<const uint8_t*>(p);
  HWY_ALIGN uint8_t buffer[hn::MaxLanes(d8)] = {};
  if (count < hn::Lanes(d)) {
    for (size_t i = 0; i < count; ++i) buffer[i] = bytes[i];
    bytes = buffer;
  }
  return hn::RebindMask(d, hn::Ne(hn::PromoteTo(d32, hn::LoadU(d8, bytes)), hn::Zero(d32)));
}

HWY_INLINE void SelectRow(const bool* condition, const float* x, bool x_moves, const float* y,
                          bool y_moves, float* z, size_t n) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < n; i += lanes) {
    const size_t count = std::min(lanes, n - i);
    const auto chosen = LoadCondition(d, condition + i, count);
    if (count == lanes) {
      const Vec a = x_moves ? hn::LoadU(d, x + i) : hn::Set(d, *x);
      const Vec b = y_moves ? hn::LoadU(d, y + i) : hn::Set(d, *y);
      hn::StoreU(hn::IfThenElse(chosen, a, b), d, z + i);
    } else {
      const Vec a = x_moves ? LoadTail(d, x + i, count) : hn::Set(d, *x);
      const Vec b = y_moves ? LoadTail(d, y + i, count) : hn::Set(d, *y);
      StoreTail(d, hn::IfThenElse(chosen, a, b), z + i, count);
    }
  }
}

void SelectLoop(const SelectRows& r) {
  const auto row_of = [](const auto& operand, int64_t row) {
    return operand.data + row * operand.row;
  };
  const auto n = static_cast<size_t>(r.count);
  if (r.condition.step != 0 && (r.count >= kShortRow || r.rows == 1)) {
    for (int64_t row = 0; row < r.rows; ++row) {
      SelectRow(row_of(r.condition, row), row_of(r.x, row), r.x.step != 0, row_of(r.y, row),
                r.y.step != 0, r.z + row * r.count, n);
    }
    return;
  }
  for (int64_t row = 0; row < r.rows; ++row) {
    const bool* condition = row_of(r.condition, row);
    const float* x = row_of(r.x, row);
    const float* y = row_of(r.y, row);
    float* z = r.z + row * r.count;
    for (int64_t i = 0; i < r.count; ++i) {
      z[i] = condition[i * r.condition.step] ? x[i * r.x.step] : y[i * r.y.step];
    }
  }
}
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
HWY_EXPORT(BinaryLoop);
HWY_EXPORT(SelectLoop);

void ApplyBinary(BinaryOp op, const BinaryRows& rows) {
  HWY_DYNAMIC_DISPATCH(BinaryLoop)(op, rows);
}
void ApplySelect(const SelectRows& rows) { HWY_DYNAMIC_DISPATCH(SelectLoop)(rows); }
}  // namespace asc::simd
#endif  // HWY_ONCE
