#include "core/ops/bordered_copy.h"

#include <algorithm>
#include <string>
#include <type_traits>

#include "core/base/parallel.h"
#include "core/ops/short_rows.h"
#include "core/ops/strided_copy.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
constexpr int64_t kParallelBytes = 1 << 16;  // that a thread should write at least
constexpr int64_t kPiece = 1 << 14;          // elements of a row that are one piece of work
constexpr int64_t kFewColumns = 16;          // of borders, which are filled column by column

// An axis of the result and where its elements come from.
struct Axis {
  int64_t extent;       // of the result
  int64_t before;       // elements in front of what is kept: all, where the other end cuts into them
  int64_t kept, first;  // how many are kept of the input, from which on
  BorderMode mode;

  Axis(int64_t input, const AxisBorder& border, BorderMode border_mode)
      : extent(input + border.begin + border.end),
        before(std::clamp<int64_t>(border.begin, 0, std::max<int64_t>(0, extent))),
        first(std::max<int64_t>(0, -border.begin)),
        mode(border_mode) {
    // Cut from both ends, more than all may go where the other end grows.
    kept = std::max<int64_t>(0, input - first - std::max<int64_t>(0, -border.end));
  }

  // The input's element for element i; -1: the value.
  int64_t Source(int64_t i) const {
    const int64_t at = i - before;
    if (at >= 0 && at < kept) return first + at;
    switch (mode) {
      case BorderMode::kEdge:
        return first + (at < 0 ? 0 : kept - 1);
      case BorderMode::kReflect:
        return first + (at < 0 ? -at : 2 * (kept - 1) - at);
      case BorderMode::kWrap:
        return first + (at % kept + kept) % kept;
      default:
        return -1;
    }
  }
};

// Arrays of elements that are moved as words, or of strings.
template <typename T>
class Elements {
 public:
  Elements(const Tensor& in, const Tensor* value, Tensor& out)
      : in_(static_cast<const T*>(in.raw())), out_(static_cast<T*>(out.raw())) {
    if (value != nullptr) value_ = *static_cast<const T*>(value->raw());
  }
  static constexpr bool kHasColumns = true;

  void Move(int64_t to, int64_t from) const { out_[to] = in_[from]; }
  void Copy(int64_t to, int64_t from, int64_t count) const {
    std::copy_n(in_ + from, count, out_ + to);
  }
  void Fill(int64_t to, int64_t count) const { std::fill_n(out_ + to, count, value_); }
  // The first `count` elements of rows.
  void CopyRows(int64_t rows, int64_t to, int64_t to_row, int64_t from, int64_t from_row,
                int64_t count) const {
    if constexpr (std::is_same_v<T, std::string>) {
      for (int64_t row = 0; row < rows; ++row)
        Copy(to + row * to_row, from + row * from_row, count);
    } else {
      constexpr int64_t kBytes = sizeof(T);
      CopyRowBytes(rows, count * kBytes, reinterpret_cast<const char*>(in_ + from),
                   from_row * kBytes, reinterpret_cast<char*>(out_ + to), to_row * kBytes);
    }
  }
  // One element of each row.
  void CopyColumn(int64_t rows, int64_t to, int64_t to_row, int64_t from, int64_t from_row) const {
    for (int64_t row = 0; row < rows; ++row) out_[to + row * to_row] = in_[from + row * from_row];
  }
  void FillColumn(int64_t rows, int64_t to, int64_t to_row) const {
    for (int64_t row = 0; row < rows; ++row) out_[to + row * to_row] = value_;
  }

 private:
  const T* in_;
  T* out_;
  T value_{};
};

// Arrays whose elements share bytes.
class PackedElements {
 public:
  static constexpr bool kHasColumns = false;

  PackedElements(const Tensor& in, const Tensor* value, Tensor& out)
      : type_(in.dtype()),
        in_(in.raw()),
        out_(out.raw()),
        value_(value != nullptr ? ReadPacked(type_, value->raw(), 0) : uint8_t{0}) {}
  void Move(int64_t to, int64_t from) const {
    WritePacked(type_, out_, to, ReadPacked(type_, in_, from));
  }
  void Copy(int64_t to, int64_t from, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) Move(to + i, from + i);
  }
  void Fill(int64_t to, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) WritePacked(type_, out_, to + i, value_);
  }

 private:
  DataType type_;
  const void* in_;
  void* out_;
  uint8_t value_;
};

// The axes as groups of rows: a row is the last axis that changes, with those after it as units that
// move as a whole; a group the axis before.
class Rows {
 public:
  Rows(const Tensor& in, const AxisBorders& borders, BorderMode mode) {
    size_t last = in.rank();
    while (last > 1 && borders[last - 1].begin == 0 && borders[last - 1].end == 0) --last;
    if (last == 1) axes_.emplace_back(1, AxisBorder(), mode);
    for (size_t i = 0; i < last; ++i) axes_.emplace_back(in.dim(i), borders[i], mode);
    unit_ = ElementCount(in.dims(), last, in.rank());
    const size_t rank = axes_.size();
    strides_.assign(rank, unit_);
    for (size_t i = rank - 1; i-- > 0;) strides_[i] = strides_[i + 1] * in.dim(i + 1 + last - rank);
    for (size_t i = 0; i + 2 < rank; ++i) groups_ *= axes_[i].extent;
  }

  int64_t unit() const { return unit_; }
  const Axis& axis() const { return axes_.back(); }              // of a row
  const Axis& group() const { return axes_[axes_.size() - 2]; }  // of the rows of a group
  int64_t group_stride() const { return strides_[strides_.size() - 2]; }
  int64_t count() const { return groups_ * group().extent; }
  // Where group `index` starts in the input; -1: it has nothing of the input.
  int64_t GroupSource(int64_t index) const {
    int64_t sum = 0;
    for (size_t i = axes_.size() - 2; i-- > 0; index /= axes_[i].extent) {
      const int64_t source = axes_[i].Source(index % axes_[i].extent);
      if (source < 0) return -1;
      sum += source * strides_[i];
    }
    return sum;
  }

 private:
  absl::InlinedVector<Axis, 6> axes_;  // at least two
  Dims strides_;
  int64_t unit_ = 1, groups_ = 1;
};

// Units [begin, end) of a border of a row.
template <typename E>
void CopyBorder(const E& elements, const Axis& axis, int64_t unit, int64_t to, int64_t from,
                int64_t begin, int64_t end) {
  if (begin >= end) return;
  if (axis.mode == BorderMode::kConstant)
    return elements.Fill(to + begin * unit, (end - begin) * unit);
  if (axis.mode == BorderMode::kWrap) {
    while (begin < end) {
      const int64_t source = axis.Source(begin),
                    count = std::min(end - begin, axis.first + axis.kept - source);
      elements.Copy(to + begin * unit, from + source * unit, count * unit);
      begin += count;
    }
    return;
  }
  int64_t source = from + axis.Source(begin) * unit;
  const int64_t step = axis.mode == BorderMode::kReflect ? -unit : 0;
  for (int64_t i = begin; i < end; ++i, source += step) {
    unit == 1 ? elements.Move(to + i, source) : elements.Copy(to + i * unit, source, unit);
  }
}

// Units [begin, end) of a row that the input's row at `from` gives; -1: nothing but the value.
template <typename E>
void CopyUnits(const E& elements, const Axis& axis, int64_t unit, int64_t to, int64_t from,
               int64_t begin, int64_t end) {
  if (from < 0) return elements.Fill(to + begin * unit, (end - begin) * unit);
  const int64_t after = axis.before + axis.kept;
  CopyBorder(elements, axis, unit, to, from, begin, std::min(end, axis.before));
  const int64_t low = std::max(begin, axis.before), high = std::min(end, after);
  if (low < high) {
    elements.Copy(to + low * unit, from + (axis.first + low - axis.before) * unit,
                  (high - low) * unit);
  }
  CopyBorder(elements, axis, unit, to, from, std::max(begin, after), end);
}

// Rows whose borders are few elements, in blocks that stay in the cache: what is kept first, then
// the borders by columns. `to` and `from`: the first elements of the first rows.
template <typename E>
void CopyKeptRows(const Rows& rows, const E& elements, int64_t to, int64_t from, int64_t count) {
  constexpr int64_t kBlock = 1 << 11;  // elements
  const Axis& axis = rows.axis();
  const int64_t unit = rows.unit(), row = axis.extent * unit, stride = rows.group_stride();
  const int64_t before = axis.before * unit, kept = axis.kept * unit;
  const int64_t some = std::max<int64_t>(1, kBlock / row);
  for (; count > 0; count -= some, to += some * row, from += some * stride) {
    const int64_t n = std::min(some, count);
    if (kept > 0) elements.CopyRows(n, to + before, row, from + axis.first * unit, stride, kept);
    const auto fill_column = [&](int64_t i) {
      const int64_t source = axis.Source(i / unit);
      if (source < 0) {
        elements.FillColumn(n, to + i, row);
      } else {
        elements.CopyColumn(n, to + i, row, from + source * unit + i % unit, stride);
      }
    };
    for (int64_t i = 0; i < before; ++i) fill_column(i);
    for (int64_t i = before + kept; i < row; ++i) fill_column(i);
  }
}

// Rows [begin, end) of a group, which starts at `to` and at `from`, or has nothing of the input.
template <typename E>
void CopyGroup(const Rows& rows, const E& elements, int64_t to, int64_t from, int64_t begin,
               int64_t end) {
  const Axis &axis = rows.axis(), &group = rows.group();
  const int64_t unit = rows.unit(), row_elements = axis.extent * unit, stride = rows.group_stride();
  const bool columns = E::kHasColumns && (axis.extent - axis.kept) * unit <= kFewColumns;
  for (int64_t row = begin; row < end;) {
    const int64_t kept_end = std::min(end, group.before + group.kept);
    const int64_t source = from < 0 ? -1 : group.Source(row);
    const int64_t out = to + row * row_elements, in = from + source * stride;
    if (source < 0) {
      // Rows of nothing but the value, up to those that are kept.
      const int64_t last = from >= 0 && row < group.before ? std::min(end, group.before) : end;
      elements.Fill(out, (last - row) * row_elements);
      row = last;
    } else if (columns && row >= group.before && row < kept_end) {
      if constexpr (E::kHasColumns) CopyKeptRows(rows, elements, out, in, kept_end - row);
      row = kept_end;
    } else {
      CopyUnits(elements, axis, unit, out, in, 0, axis.extent);
      ++row;
    }
  }
}

template <typename E>
void CopyRows(const Rows& rows, const E& elements, int64_t grain_elements) {
  const Axis &axis = rows.axis(), &group = rows.group();
  const int64_t unit = rows.unit(), row_elements = axis.extent * unit;
  const int64_t piece = std::max<int64_t>(1, kPiece / unit);
  if (axis.extent <= piece) {
    ParallelFor(rows.count(), std::max<int64_t>(1, grain_elements / row_elements),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end;) {
                    const int64_t index = row / group.extent, first = row - index * group.extent,
                                  last = std::min(group.extent, first + end - row);
                    CopyGroup(rows, elements, index * group.extent * row_elements,
                              rows.GroupSource(index), first, last);
                    row += last - first;
                  }
                });
    return;
  }
  // Long rows go by pieces, so that a few of them share out evenly.
  const int64_t pieces = (axis.extent + piece - 1) / piece;
  ParallelFor(rows.count() * pieces, std::max<int64_t>(1, grain_elements / (piece * unit)),
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  const int64_t row = i / pieces, first = i % pieces * piece;
                  int64_t from = rows.GroupSource(row / group.extent);
                  const int64_t source = from < 0 ? -1 : group.Source(row % group.extent);
                  from = source < 0 ? -1 : from + source * rows.group_stride();
                  CopyUnits(elements, axis, unit, row * row_elements, from, first,
                            std::min(axis.extent, first + piece));
                }
              });
}
}  // namespace

void BorderedCopy(const Tensor& in, const AxisBorders& borders, BorderMode mode,
                  const Tensor* value, Tensor& out) {
  if (out.size() == 0) return;
  if (in.rank() == 0) return CopyElements(in, out);
  const Rows rows(in, borders, mode);
  const bool words = VisitBySize(in.dtype(), [&](auto zero) {
    using T = decltype(zero);
    CopyRows(rows, Elements<T>(in, value, out), kParallelBytes / static_cast<int64_t>(sizeof(T)));
  });
  // Neighbours share bytes, so one thread writes them all.
  if (!words) CopyRows(rows, PackedElements(in, value, out), INT64_MAX);
}

}  // namespace asc
