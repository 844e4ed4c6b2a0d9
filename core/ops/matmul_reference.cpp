#include <algorithm>

#include "core/base/parallel.h"
#include "core/ops/broadcast_iterator.h"
#include "core/ops/matmul.h"

namespace asc {
namespace {
constexpr int64_t kColumns =
    32;  // of a panel of b: sums of four rows stay in registers and the first-level cache
constexpr int64_t kDepth = 128;  // rows of a panel
constexpr int64_t kRows = 4;     // rows of a that share each read of the panel

// The two innermost axes and the stack before them; vectors get the axis that they lack.
struct Stack {
  Dims batch;
  int64_t rows, columns, row_stride, column_stride;
};

Stack StackOf(const Dims& dims, bool transpose, bool left) {
  Stack stack;
  Dims full = dims;
  if (full.size() == 1) full.insert(left ? full.begin() : full.end(), 1);
  stack.batch.assign(full.begin(), full.end() - 2);
  stack.rows = full[full.size() - 2];
  stack.columns = full[full.size() - 1];
  stack.row_stride = stack.columns;
  stack.column_stride = 1;
  if (transpose && dims.size() > 1) {
    std::swap(stack.rows, stack.columns);
    std::swap(stack.row_stride, stack.column_stride);
  }
  return stack;
}

// sums[r][j] += a(r, k) * panel[k][j] over `depth` values of k, for all kColumns columns.
template <typename T>
void MultiplyPanel(int64_t rows, int64_t depth, MatrixView<T> a, const T (*panel)[kColumns],
                   T (*sums)[kColumns]) {
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t r = 0; r < rows; ++r) {
      const T factor = a.data[r * a.row + k * a.column];
      for (int64_t j = 0; j < kColumns; ++j) sums[r][j] += factor * panel[k][j];
    }
  }
}

// Partial sums side by side, for vectors that lie densely.
template <typename T>
T Dot(const T* a, const T* b, int64_t count) {
  constexpr int64_t kParts = 8;
  T parts[kParts] = {};
  int64_t i = 0;
  for (; i + kParts <= count; i += kParts) {
    for (int64_t p = 0; p < kParts; ++p) parts[p] += a[i + p] * b[i + p];
  }
  T sum = 0;
  for (; i < count; ++i) sum += a[i] * b[i];
  for (int64_t p = 0; p < kParts; ++p) sum += parts[p];
  return sum;
}

// Few rows or columns do not pay for packing panels of b.
template <typename T>
void MultiplyThin(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c) {
  for (int64_t i = 0; i < m; ++i) {
    const T* row = a.data + i * a.row;
    T* out = c + i * n;
    if (b.column == 1 && n > 1) {
      std::fill_n(out, n, T(0));
      for (int64_t p = 0; p < k; ++p) {
        const T factor = row[p * a.column];
        const T* from = b.data + p * b.row;
        for (int64_t j = 0; j < n; ++j) out[j] += factor * from[j];
      }
      continue;
    }
    for (int64_t j = 0; j < n; ++j) {
      const T* column = b.data + j * b.column;
      if (a.column == 1 && b.row == 1) {
        out[j] = Dot(row, column, k);
        continue;
      }
      T sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += row[p * a.column] * column[p * b.row];
      out[j] = sum;
    }
  }
}
}  // namespace

template <typename T>
void MultiplyMatrices(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c) {
  if (n == 1 || m < kRows) return MultiplyThin(m, n, k, a, b, c);
  T panel[kDepth][kColumns];
  T sums[kRows][kColumns];
  for (int64_t column = 0; column < n; column += kColumns) {
    const int64_t columns = std::min(kColumns, n - column);
    for (int64_t start = 0; start == 0 || start < k; start += kDepth) {
      const int64_t depth = std::min(kDepth, k - start);
      for (int64_t p = 0; p < depth; ++p) {
        const T* from = b.data + (start + p) * b.row + column * b.column;
        for (int64_t j = 0; j < columns; ++j) panel[p][j] = from[j * b.column];
        std::fill(panel[p] + columns, panel[p] + kColumns, T(0));
      }
      for (int64_t i = 0; i < m; i += kRows) {
        const int64_t rows = std::min(kRows, m - i);
        for (int64_t r = 0; r < rows; ++r) {
          std::fill_n(sums[r], kColumns, T(0));
          if (start > 0) std::copy_n(c + (i + r) * n + column, columns, sums[r]);
        }
        MultiplyPanel(rows, depth, {a.data + i * a.row + start * a.column, a.row, a.column}, panel,
                      sums);
        for (int64_t r = 0; r < rows; ++r) std::copy_n(sums[r], columns, c + (i + r) * n + column);
      }
    }
  }
}

template <typename T>
void MultiplyStacks(const Dims& a_dims, const Dims& b_dims, bool transpose_a, bool transpose_b,
                    const T* a, const T* b, T* out) {
  const Stack x = StackOf(a_dims, transpose_a, true), y = StackOf(b_dims, transpose_b, false);
  const Dims batch = BroadcastDims(x.batch, y.batch).value();
  // Offsets of matrices: a walk over the stack whose elements are whole matrices.
  Dims x_strides = BroadcastStrides(x.batch, batch), y_strides = BroadcastStrides(y.batch, batch);
  for (int64_t& stride : x_strides) stride *= x.rows * x.columns;
  for (int64_t& stride : y_strides) stride *= y.rows * y.columns;
  const StridedWalk<2> walk(batch, {x_strides, y_strides});
  const int64_t m = x.rows, n = y.columns, k = x.columns;
  if (m == 0 || n == 0) return;
  // Threads take whole matrices, or bands of rows where there are few matrices.
  const int64_t band =
      std::clamp<int64_t>((1 << 18) / std::max<int64_t>(1, n * k), 16, m < 16 ? 16 : m);
  const int64_t bands = (m + band - 1) / band;
  const int64_t grain =
      std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, std::min(band, m) * n * k));
  ParallelFor(walk.size() * bands, grain, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t matrix = unit / bands, first = unit % bands * band;
      walk.Rows(matrix, matrix + 1, [&](int64_t, const auto& offsets, int64_t) {
        MultiplyMatrices<T>(std::min(band, m - first), n, k,
                            {a + offsets[0] + first * x.row_stride, x.row_stride, x.column_stride},
                            {b + offsets[1], y.row_stride, y.column_stride},
                            out + (matrix * m + first) * n);
      });
    }
  });
}

#define ASC_INSTANTIATE(T)                                                                        \
  template void MultiplyMatrices<T>(int64_t, int64_t, int64_t, MatrixView<T>, MatrixView<T>, T*); \
  template void MultiplyStacks<T>(const Dims&, const Dims&, bool, bool, const T*, const T*, T*);
ASC_INSTANTIATE(float)
ASC_INSTANTIATE(double)
ASC_INSTANTIATE(uint32_t)
ASC_INSTANTIATE(uint64_t)
#undef ASC_INSTANTIATE

}  // namespace asc
