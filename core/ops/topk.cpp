// TopK: the k largest or smallest elements along an axis, with their indices. NaN counts as larger
// than every number; equal elements come in order of their indices.
#include <algorithm>
#include <functional>
#include <limits>

#include "core/base/parallel.h"
#include "core/ops/cost.h"
#include "core/ops/families.h"
#include "core/ops/shape_facts.h"
#include "core/tensor/element.h"

namespace asc {
namespace {

Status InferTopK(InferContext& context) {
  const Shape& in = context.shape(0);
  Shape out = in;
  const auto k = context.Dims(1);
  if (k && k->size() != 1) return ShapeError("TopK needs one number k, given ", *k);
  if (in.has_rank()) {
    if (in.rank() == 0) return ShapeError("TopK needs an input of rank 1 or more, given a scalar");
    ASC_ASSIGN_OR_RETURN(const int64_t axis,
                         AxisAttribute(context, "axis", static_cast<int64_t>(in.rank())));
    Dim& extent = out[static_cast<size_t>(axis)];
    if (k && (*k)[0].is_constant()) {
      const int64_t wanted = (*k)[0].value();
      if (wanted < 0 || (extent.is_constant() && wanted > extent.value())) {
        return ShapeError("TopK of ", wanted, " elements along axis ", axis, " of shape ", in,
                          ": expected 0 to ", extent);
      }
    }
    extent = k ? (*k)[0] : Dim::Unknown();
  }
  context.SetOutput(1, DataType::kInt64, out);
  context.SetOutput(0, context.dtype(0), std::move(out));
  return Ok();
}

template <typename T>
bool IsNaN(T value) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return value != value;
  }
}

// Whether a comes before b; for narrow floats T is float.
template <typename T>
bool Before(T a, T b, bool largest) {
  if (IsNaN(a) || IsNaN(b)) return largest ? IsNaN(a) && !IsNaN(b) : !IsNaN(a) && IsNaN(b);
  return largest ? a > b : a < b;
}

// The k first elements of rows, for k far below their length: candidates that come before the k-th
// of those seen so far, thinned out whenever there are twice as many; few are kept in order.
template <typename Wide, typename Item, typename Before>
class Selection {
 public:
  Selection(int64_t k, bool largest, Before before)
      : k_(static_cast<size_t>(k)), largest_(largest), before_(before) {}

  // The k first of the row, in order. `load(i)` is element i of `extent` > k.
  template <typename Load>
  const std::vector<Item>& Run(int64_t extent, Load load) {
    if (k_ <= kFew && extent >= kForeseen && RunForeseen(extent, load)) return items_;
    items_.clear();
    int64_t i = 0;
    while (items_.size() < k_) Push(load(i), i), ++i;
    Thin();
    for (; i + kBlock <= extent; i += kBlock) {
      // Nearly all blocks have no candidate.
      Wide block[kBlock];
      for (int64_t j = 0; j < kBlock; ++j) block[j] = load(i + j);
      if (!Any(block)) continue;
      for (int64_t j = 0; j < kBlock; ++j) Offer(block[j], i + j);
    }
    for (; i < extent; ++i) Offer(load(i), i);
    if (k_ > kFew) {
      Thin();
      std::sort(items_.begin(), items_.end(), before_);
    }
    return items_;
  }

 private:
  static constexpr int64_t kBlock = 16;
  static constexpr size_t kFew = 32;
  static constexpr int64_t kForeseen = 256;  // elements of a row for which a bound is worth finding
  static constexpr size_t kMost = 128;       // candidates that are sorted

  // With a bound that at least k elements reach: the k-th best of the bests of 64 parts of the row.
  // False where the bound says little, as with many equal elements, or nothing, as with many NaN.
  template <typename Load>
  bool RunForeseen(int64_t extent, Load load) {
    constexpr int64_t kParts = 64;
    using Limits = std::numeric_limits<Wide>;
    constexpr bool kInfinite = Limits::has_infinity;
    const Wide highest = kInfinite ? Limits::infinity() : Limits::max(),
               lowest = kInfinite ? -Limits::infinity() : Limits::lowest();
    Wide best[kParts];
    std::fill_n(best, kParts, largest_ ? lowest : highest);
    for (int64_t i = 0; i + kParts <= extent; i += kParts) {
      // NaN leaves the best as it is.
      if (largest_) {
        for (int64_t j = 0; j < kParts; ++j)
          best[j] = load(i + j) > best[j] ? load(i + j) : best[j];
      } else {
        for (int64_t j = 0; j < kParts; ++j)
          best[j] = load(i + j) < best[j] ? load(i + j) : best[j];
      }
    }
    const auto kth = best + k_ - 1;
    if (largest_) {
      std::nth_element(best, kth, best + kParts, std::greater<Wide>());
    } else {
      std::nth_element(best, kth, best + kParts);
    }
    const Wide bound = *kth;
    items_.resize(kMost + kBlock);
    size_t count = 0;
    const auto collect = [&](const auto& reaches) {
      int64_t i = 0;
      for (; i + kBlock <= extent; i += kBlock) {
        int any = 0;
        for (int64_t j = 0; j < kBlock; ++j) any |= reaches(load(i + j));
        if (any == 0) continue;
        for (int64_t j = 0; j < kBlock; ++j) {
          items_[count] = {load(i + j), i + j};
          count += reaches(load(i + j));
        }
        if (count > kMost) return;
      }
      for (; i < extent; ++i) {
        if (reaches(load(i))) items_[count++] = {load(i), i};
      }
    };
    // For the largest, NaN counts as more than the bound.
    if (largest_) {
      collect([bound](Wide x) { return !(x < bound); });
    } else {
      collect([bound](Wide x) { return x <= bound; });
    }
    if (count < k_ || count > kMost) return false;
    items_.resize(count);
    std::sort(items_.begin(), items_.end(), before_);
    return true;
  }

  // Whether an element may come before the bound; NaN counts as such.
  bool Any(const Wide* block) const {
    const Wide bound = bound_;
    int any = 0;
    if (largest_) {
      for (int64_t j = 0; j < kBlock; ++j) any |= !(block[j] <= bound);
    } else {
      for (int64_t j = 0; j < kBlock; ++j) any |= !(block[j] >= bound);
    }
    return any != 0;
  }
  // One that equals the bound comes after it: its index is higher.
  void Offer(Wide value, int64_t index) {
    if (!asc::Before(value, bound_, largest_)) return;
    if (k_ > kFew) {
      Push(value, index);
      if (items_.size() >= 2 * k_) Thin();
      return;
    }
    // Few stay in order, with the bound up to date.
    size_t at = k_ - 1;
    for (; at > 0 && asc::Before(value, items_[at - 1].first, largest_); --at)
      items_[at] = items_[at - 1];
    items_[at] = {value, index};
    bound_ = items_.back().first;
  }
  void Push(Wide value, int64_t index) { items_.emplace_back(value, index); }
  void Thin() {
    if (k_ <= kFew) {
      std::sort(items_.begin(), items_.end(), before_);
    } else {
      std::nth_element(items_.begin(), items_.begin() + static_cast<int64_t>(k_) - 1, items_.end(),
                       before_);
      items_.resize(k_);
    }
    bound_ = items_.back().first;
  }

  size_t k_;
  bool largest_;
  Before before_;
  Wide bound_{};  // the k-th of the candidates, when they were thinned out last
  std::vector<Item> items_;
};

// About what finding the bound and comparing with it takes.
CostEstimate TopKCost(const std::vector<ValueType>& inputs, const std::vector<ValueType>& outputs,
                      const AttributeMap& /*attributes*/) {
  return {4 * KnownElementCount(inputs[0]), DenseBytes(inputs, outputs)};
}

template <typename T>
void SelectRows(const Tensor& in, Tensor* values, Tensor* indices, size_t axis, int64_t k,
                bool largest) {
  using Wide = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, T, float>;
  using Item = std::pair<Wide, int64_t>;
  const int64_t extent = in.dim(axis), inner = ElementCount(in.dims(), axis + 1, in.rank());
  const int64_t rows = ElementCount(in.dims(), 0, axis) * inner;
  if (k == 0) return;
  const T* x = in.data<T>();
  const auto before = [largest](const Item& a, const Item& b) {
    if (Before(a.first, b.first, largest)) return true;
    return !Before(b.first, a.first, largest) && a.second < b.second;
  };
  ParallelFor(rows, std::max<int64_t>(1, (1 << 12) / std::max<int64_t>(1, extent)),
              [&](int64_t begin, int64_t end) {
                std::vector<Item> items;
                Selection<Wide, Item, decltype(before)> selection(k, largest, before);
                for (int64_t row = begin; row < end; ++row) {
                  const T* from = x + row / inner * extent * inner + row % inner;
                  const std::vector<Item>* first = &items;
                  if (k > extent / 4) {
                    items.resize(static_cast<size_t>(extent));
                    for (int64_t i = 0; i < extent; ++i)
                      items[static_cast<size_t>(i)] = {static_cast<Wide>(from[i * inner]), i};
                    if (k < extent)
                      std::nth_element(items.begin(), items.begin() + k, items.end(), before);
                    std::sort(items.begin(), items.begin() + k, before);
                  } else if (inner == 1) {
                    first = &selection.Run(extent,
                                           [&](int64_t i) { return static_cast<Wide>(from[i]); });
                  } else {
                    first = &selection.Run(
                        extent, [&](int64_t i) { return static_cast<Wide>(from[i * inner]); });
                  }
                  const int64_t out = row / inner * k * inner + row % inner;
                  for (int64_t i = 0; i < k; ++i) {
                    const int64_t index = (*first)[static_cast<size_t>(i)].second;
                    if (values != nullptr) values->data<T>()[out + i * inner] = from[index * inner];
                    if (indices != nullptr) indices->data<int64_t>()[out + i * inner] = index;
                  }
                }
              });
}

Status TopK(KernelContext& context) {
  const Tensor& in = context.input(0);
  ASC_ASSIGN_OR_RETURN(const Dims wanted, ReadIntegers(context.input(1)));
  ASC_ASSIGN_OR_RETURN(const int64_t attribute,
                       AxisAttribute(context, "axis", static_cast<int64_t>(in.rank())));
  const auto axis = static_cast<size_t>(attribute);
  const int64_t k = wanted.size() == 1 ? wanted[0] : -1;
  if (k < 0 || k > in.dim(axis)) {
    return ShapeError("TopK of ", wanted, " elements along axis ", axis, " of shape ", in.dims());
  }
  Tensor* values = context.HasOutput(0) ? &context.output(0) : nullptr;
  Tensor* indices = context.HasOutput(1) ? &context.output(1) : nullptr;
  VisitNumeric(in.dtype(), [&](auto zero) {
    SelectRows<decltype(zero)>(in, values, indices, axis, k,
                               context.attributes().Int("largest", 1) != 0);
  });
  return Ok();
}
}  // namespace

void AddTopKOps(OpTable& table) {
  table.Add("TopK", 24)
      .Doc("the k largest (or smallest) elements along an axis, in order, and their indices")
      .Method("topk")
      .Input("X", "T")
      .Input("K", "tensor(int64)")
      .Output("Values", "T")
      .Output("Indices", "I")
      .Types("T", types::kNumeric)
      .Types("tensor(int64)", types::kInt64)
      .Types("I", types::kInt64)
      .Attr("axis", int64_t{-1}, "dim")
      .Attr("largest", int64_t{1})
      .Attr("sorted", int64_t{1})
      .Infer(InferTopK)
      .Cost(TopKCost)
      .Kernel(TopK);
}

}  // namespace asc
