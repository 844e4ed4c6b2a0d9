// LSTM, GRU and RNN of float32 with constant weights and the default activations.
#include <algorithm>

#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/lazy_weight.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/recurrent.h"
#include "core/kernels/vector/recurrent_kernel.h"
#include "core/ops/strided_copy.h"

namespace asc {
namespace {
using simd::RecurrentCell;
using simd::RecurrentSizes;

constexpr size_t kLengths = 4;                 // input
constexpr int64_t kRowTile = 4;                // rows that the product of all steps takes at a time
constexpr int64_t kProjectionGrain = 1 << 18;  // multiplications that are worth a thread

// [directions, rows, columns] with rows and columns swapped, in groups of rows: each group's
// transpose is a matrix of its own.
Result<std::shared_ptr<Buffer>> Transposed(const Tensor& weight, const std::vector<int64_t>& groups,
                                           const std::shared_ptr<Allocator>& allocator) {
  ASC_ASSIGN_OR_RETURN(auto buffer,
                       Buffer::Allocate(allocator, MemoryUse::kPackedWeight, weight.bytes()));
  auto* to = reinterpret_cast<float*>(buffer->data());
  const int64_t columns = weight.dim(2);
  // Of a lazy weight one group is in memory plain at a time.
  std::shared_ptr<Buffer> slice;
  if (weight.is_lazy()) {
    const int64_t most = *std::max_element(groups.begin(), groups.end());
    ASC_ASSIGN_OR_RETURN(
        slice, AllocateSlice(allocator, static_cast<size_t>(most * columns) * sizeof(float)));
  }
  size_t offset = 0;
  for (int64_t d = 0; d < weight.dim(0); ++d) {
    for (const int64_t rows : groups) {
      const size_t bytes = static_cast<size_t>(rows * columns) * sizeof(float);
      const float* from = nullptr;
      if (slice) {
        CopyOnTeam(weight, offset, bytes, slice->data());
        from = reinterpret_cast<const float*>(slice->data());
      } else {
        from = weight.data<float>() + offset / sizeof(float);
      }
      StridedCopy(DataType::kFloat32, {columns, rows}, {from, 0, {1, columns}}, {to, 0, {rows, 1}});
      offset += bytes;
      to += rows * columns;
    }
  }
  return buffer;
}

class FloatRecurrentKernel : public simd::RecurrentKernel {
 public:
  FloatRecurrentKernel(RecurrentCell cell, const RecurrentSizes& sizes, std::shared_ptr<Buffer> w,
                       std::shared_ptr<Buffer> r)
      : RecurrentKernel(cell, sizes), w_(std::move(w)), r_(std::move(r)) {}

  std::string_view name() const override {
    if (cell() == RecurrentCell::kRnn) return "vector:rnn";
    return cell() == RecurrentCell::kLstm ? "vector:lstm" : "vector:gru";
  }

 protected:
  Status Project(KernelContext& context, const std::vector<Direction>& directions) const override {
    const RecurrentSizes& s = sizes();
    const int64_t gates = Gates(), rows = s.steps * s.batch;
    const int64_t tiles = (rows + kRowTile - 1) / kRowTile;
    const int64_t grain = std::max<int64_t>(1, kProjectionGrain / (kRowTile * gates * s.input));
    ParallelFor(s.directions * tiles, grain, [&](int64_t begin, int64_t end) {
      for (int64_t d = begin / tiles; d * tiles < end; ++d) {
        const int64_t first = std::max(begin - d * tiles, int64_t{0}) * kRowTile,
                      last = std::min(std::min(end - d * tiles, tiles) * kRowTile, rows);
        const Direction& to = directions[static_cast<size_t>(d)];
        const float* w = reinterpret_cast<const float*>(w_->data()) + d * gates * s.input;
        simd::MultiplySmall({context.input(0).data<float>() + first * s.input, s.input, w, to.bias,
                             0, to.sums + first * gates, gates, last - first, gates, s.input});
      }
    });
    return Ok();
  }

  void Multiply(KernelContext& /*context*/, const Direction& at,
                const StateProduct& p) const override {
    const int64_t hidden = sizes().hidden;
    const float* r = reinterpret_cast<const float*>(r_->data()) + at.number * Gates() * hidden;
    // The matrices of the groups of columns stand one after the other.
    simd::MultiplySmall({p.x, hidden, r + p.first * hidden, p.start, p.start_row, p.y, p.y_row,
                         sizes().batch, p.columns, hidden});
  }

 private:
  std::shared_ptr<Buffer> w_, r_;  // [directions, input or hidden, gates]
};

bool Supports(const KernelRequest& request) {
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (request.inputs[i].present && i != kLengths && !simd::IsPlainFloat(request.inputs[i]))
      return false;
  }
  return simd::HasPlainRecurrentForm(request) && request.inputs[1].constant != nullptr &&
         request.inputs[2].constant != nullptr;
}

Result<std::unique_ptr<Kernel>> MakeRecurrent(const KernelRequest& request) {
  RecurrentCell cell = request.node.Is("RNN") ? RecurrentCell::kRnn : RecurrentCell::kLstm;
  if (request.node.Is("GRU")) {
    const bool linear = request.node.attributes.Int("linear_before_reset", 0) != 0;
    cell = linear ? RecurrentCell::kGruLinear : RecurrentCell::kGru;
  }
  std::shared_ptr<Buffer> packed[2];
  for (size_t i = 0; i < 2; ++i) {
    const Tensor& weight = *request.inputs[i + 1].constant;
    std::vector<int64_t> groups = {weight.dim(1)};
    if (cell == RecurrentCell::kGru && i == 1) groups = {2 * weight.dim(2), weight.dim(2)};
    ASC_ASSIGN_OR_RETURN(packed[i], request.constants.GetOrMake(
                                        weight, Cat("vector:transposed", weight.dims(), groups),
                                        weight.bytes(), [&](const auto& allocator) {
                                          return Transposed(weight, groups, allocator);
                                        }));
  }
  return simd::Make<FloatRecurrentKernel>(
      cell, simd::SizesOfRecurrent(request, request.inputs[2].dims[2]), std::move(packed[0]),
      std::move(packed[1]));
}
}  // namespace

void AddVectorRecurrent(KernelTable& table) {
  table.push_back({"GRU", "", "vector.gru", Supports, nullptr, MakeRecurrent});
  table.push_back({"LSTM", "", "vector.lstm", Supports, nullptr, MakeRecurrent});
  table.push_back({"RNN", "", "vector.rnn", Supports, nullptr, MakeRecurrent});
}

}  // namespace asc
