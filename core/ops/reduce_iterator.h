// Loops over a tensor that keep some axes and fold the others.
#ifndef ASC_CORE_OPS_REDUCE_ITERATOR_H_
#define ASC_CORE_OPS_REDUCE_ITERATOR_H_

#include <algorithm>
#include <vector>

#include "core/base/parallel.h"
#include "core/ops/broadcast_iterator.h"

namespace asc {

// The kept axes of a tensor of shape `dims` and the reduced ones, each walked with the tensor's
// strides.
class ReduceWalk {
 public:
  ReduceWalk(const Dims& dims, const std::vector<bool>& reduced)
      : kept_(Part(dims, reduced, false)), folded_(Part(dims, reduced, true)) {}

  int64_t outputs() const { return kept_.size(); }
  int64_t folded() const { return folded_.size(); }

  // For each output i in row-major order of the kept axes, on several threads: state = op.Start();
  // op.Step(state, x[k]) for the elements that fold into it, in row-major order; store(i, state).
  template <typename T, typename Op, typename Store>
  void Run(const T* x, const Op& op, Store&& store) const {
    const int64_t grain = std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, folded()));
    ParallelFor(outputs(), grain, [&](int64_t begin, int64_t end) {
      kept_.Rows(begin, end, [&](int64_t index, const auto& offsets, int64_t count) {
        for (int64_t lane = 0; lane < count; lane += kLanes) {
          const int64_t lanes = std::min(kLanes, count - lane);
          FoldLanes(x + offsets[0] + lane * kept_.inner_stride(0), lanes, op,
                    [&](int64_t l, auto& state) { store(index + lane + l, state); });
        }
      });
    });
  }

 private:
  static constexpr int64_t kLanes = 64;  // outputs whose states stay in the first-level cache

  static StridedWalk<1> Part(const Dims& dims, const std::vector<bool>& reduced, bool want) {
    const Dims strides = ContiguousStrides(dims);
    Dims part_dims, part_strides;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (reduced[i] != want) continue;
      part_dims.push_back(dims[i]);
      part_strides.push_back(strides[i]);
    }
    return StridedWalk<1>(part_dims, {part_strides});
  }

  template <typename T, typename Op, typename Store>
  void FoldLanes(const T* x, int64_t lanes, const Op& op, Store&& store) const {
    const int64_t lane_step = kept_.inner_stride(0), step = folded_.inner_stride(0);
    decltype(op.Start()) states[kLanes];
    for (int64_t l = 0; l < lanes; ++l) states[l] = op.Start();
    folded_.Rows(0, folded_.size(), [&](int64_t, const auto& offsets, int64_t count) {
      const T* row = x + offsets[0];
      if (step == 1 || lanes == 1) {
        for (int64_t l = 0; l < lanes; ++l) {
          auto state = states[l];
          for (int64_t i = 0; i < count; ++i) op.Step(state, row[l * lane_step + i * step]);
          states[l] = state;
        }
      } else {
        for (int64_t i = 0; i < count; ++i) {
          for (int64_t l = 0; l < lanes; ++l) op.Step(states[l], row[l * lane_step + i * step]);
        }
      }
    });
    for (int64_t l = 0; l < lanes; ++l) store(l, states[l]);
  }

  StridedWalk<1> kept_, folded_;
};

}  // namespace asc

#endif  // ASC_CORE_OPS_REDUCE_ITERATOR_H_
