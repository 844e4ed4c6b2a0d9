// LSTM, GRU and RNN with the default activations, over products that come from a kernel of weights.
#ifndef ASC_CORE_KERNELS_VECTOR_RECURRENT_KERNEL_H_
#define ASC_CORE_KERNELS_VECTOR_RECURRENT_KERNEL_H_

#include <cstdint>

#include "core/device/kernel.h"

namespace asc::simd {

enum class RecurrentCell {
  kLstm,
  kGru,        // the reset gate is applied to the state, before its product
  kGruLinear,  // to the product
  kRnn,
};

struct RecurrentSizes {
  int64_t steps, batch, input, hidden, directions;
  bool batch_first, first_is_reverse;
};

RecurrentSizes SizesOfRecurrent(const KernelRequest& request, int64_t hidden);

// Whether activations, peepholes and the like are what these kernels compute, and everything but the
// weights is plain float32.
bool HasPlainRecurrentForm(const KernelRequest& request);

class RecurrentKernel : public Kernel {
 public:
  Status Run(KernelContext& context) const override;
  size_t scratch_bytes() const override;
  bool packs(size_t i) const override { return i == 1 || i == 2; }  // both weights

 protected:
  RecurrentKernel(RecurrentCell cell, const RecurrentSizes& sizes) : cell_(cell), s_(sizes) {}

  struct Direction {
    int64_t number;
    float *bias, *state_bias;  // what is added once for all steps, and to each product of the state
    float *sums, *h, *c, *products;
    std::byte* own;  // OwnBytes()
  };
  // x W + bias of all steps into the sums of all directions, on the team.
  virtual Status Project(KernelContext& context,
                         const std::vector<Direction>& directions) const = 0;
  // y = start + x R for all sequences, R's columns [first, first + columns). `start` may be y.
  struct StateProduct {
    const float* x;  // [batch, hidden]
    const float* start;
    int64_t start_row;
    float* y;
    int64_t y_row;
    int64_t first, columns;
  };
  virtual void Multiply(KernelContext& context, const Direction& at,
                        const StateProduct& product) const = 0;
  // Scratch that a kernel of weights needs for each direction.
  virtual size_t OwnBytes() const { return 0; }

  RecurrentCell cell() const { return cell_; }
  const RecurrentSizes& sizes() const { return s_; }
  int64_t Gates() const;  // rows of all gates together

 private:
  size_t BytesOfDirection() const;
  int64_t StateAt(int64_t d, int64_t b) const {
    return (s_.batch_first ? b * s_.directions + d : d * s_.batch + b) * s_.hidden;
  }
  Direction At(KernelContext& context, int64_t d) const;
  void LoadBias(KernelContext& context, const Direction& to) const;
  void RunDirection(KernelContext& context, const Direction& at) const;
  template <typename Runs>
  void Step(KernelContext& context, const Direction& at, float* sums, int64_t stride,
            const Runs& runs) const;

  RecurrentCell cell_;
  RecurrentSizes s_;
};

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_RECURRENT_KERNEL_H_
