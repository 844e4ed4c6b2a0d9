// DynamicQuantizeLSTM with constant weights and the default activations, in products of bytes.
#include <algorithm>
#include <cstring>

#include "core/base/parallel.h"
#include "core/base/strings.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/integer_product.h"
#include "core/kernels/vector/quantize.h"
#include "core/kernels/vector/recurrent.h"
#include "core/kernels/vector/recurrent_kernel.h"
#include "core/ops/dynamic_quantization.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
// Inputs: of W and R in this order.
constexpr size_t kWeights[] = {1, 2}, kScales[] = {8, 10}, kZeros[] = {9, 11};
constexpr size_t kLengths = 4;
constexpr int64_t kGrain = 1 << 17;      // products that a thread should get at least,
constexpr int64_t kStepGrain = 1 << 19;  // in each step, whose team has just met

int64_t Panels(int64_t columns) {
  return (columns + simd::kProductColumns - 1) / simd::kProductColumns;
}

// [directions, depth, columns] as panels, direction by direction.
struct PackedInteger {
  std::shared_ptr<Buffer> panels;
  int64_t depth = 0, columns = 0;
  std::vector<float> scales;  // [directions] or [directions, columns]
  bool by_column = false;

  const int16_t* Panel(int64_t direction, int64_t i) const {
    return reinterpret_cast<const int16_t*>(panels->data()) +
           (direction * Panels(columns) + i) * simd::PanelSize(depth);
  }
  const float* Scales(int64_t direction) const {
    return scales.data() + direction * (by_column ? columns : 1);
  }
};

std::vector<int32_t> ZerosOf(const Tensor& zero) {
  std::vector<int32_t> zeros;
  for (int64_t i = 0; i < zero.size(); ++i)
    zeros.push_back(static_cast<int32_t>(ReadAsInt64(zero.dtype(), zero.raw(), i)));
  return zeros;
}

Result<PackedInteger> Pack(const KernelRequest& request, size_t which) {
  const Tensor& weight = *request.inputs[kWeights[which]].constant;
  const Tensor& scale = *request.inputs[kScales[which]].constant;
  PackedInteger packed;
  packed.depth = weight.dim(1);
  packed.columns = weight.dim(2);
  packed.by_column = scale.dims().size() == 2;
  packed.scales.assign(scale.data<float>(), scale.data<float>() + scale.size());
  const Tensor& zero = *request.inputs[kZeros[which]].constant;
  const std::vector<int32_t> zeros = ZerosOf(zero);
  const int64_t directions = weight.dim(0), panels = Panels(packed.columns);
  const size_t bytes =
      static_cast<size_t>(directions * panels * simd::PanelSize(packed.depth)) * sizeof(int16_t);
  ASC_ASSIGN_OR_RETURN(
      packed.panels,
      request.constants.GetOrMake(
          weight, Cat("quantized_lstm:", weight.dims(), zeros), bytes,
          [&](const std::shared_ptr<Allocator>& allocator) -> Result<std::shared_ptr<Buffer>> {
            ASC_ASSIGN_OR_RETURN(auto buffer,
                                 Buffer::Allocate(allocator, MemoryUse::kPackedWeight, bytes));
            auto* to = reinterpret_cast<int16_t*>(buffer->data());
            const auto* from = static_cast<const std::byte*>(weight.raw());
            const bool is_signed = weight.dtype() == DataType::kInt8;
            const bool by_column = zero.dims().size() == 2;
            ParallelFor(directions * panels, 1, [&](int64_t begin, int64_t end) {
              for (int64_t unit = begin; unit < end; ++unit) {
                const int64_t d = unit / panels, column = unit % panels * simd::kProductColumns;
                const simd::IntegerOperand operand{
                    from + d * packed.depth * packed.columns, is_signed,
                    zeros.data() + d * (by_column ? packed.columns : 1), by_column ? 1 : 0};
                simd::PackPanel(operand, packed.columns, packed.depth, column,
                                std::min(simd::kProductColumns, packed.columns - column),
                                to + unit * simd::PanelSize(packed.depth));
              }
            });
            return buffer;
          }));
  return packed;
}

// The elements as packed rows of bytes; gives their scale. `bytes`: room for m * k.
float PackRows(const float* x, int64_t m, int64_t k, std::byte* bytes, int16_t* packed) {
  const simd::Extremes extremes = simd::ExtremesOf(x, m * k);
  const DynamicQuantization fitted = FitRange(extremes.low, extremes.high);
  simd::QuantizeRow(x, fitted.scale, fitted.zero, m * k, DataType::kUInt8, bytes);
  const int32_t zero = fitted.zero;
  simd::PackLeft({bytes, false, &zero, 0}, m, k, packed);
  return fitted.scale;
}

class QuantizedLstmKernel : public simd::RecurrentKernel {
 public:
  QuantizedLstmKernel(const simd::RecurrentSizes& sizes, PackedInteger w, PackedInteger r)
      : RecurrentKernel(simd::RecurrentCell::kLstm, sizes), w_(std::move(w)), r_(std::move(r)) {}

  std::string_view name() const override { return "vector:quantized_lstm"; }

 protected:
  Status Project(KernelContext& context, const std::vector<Direction>& directions) const override {
    const simd::RecurrentSizes& s = sizes();
    const Tensor& x = context.input(0);
    const int64_t rows = s.steps * s.batch, gates = Gates();
    // Rows that no sequence reaches have no part in the scale.
    const int64_t m =
        (context.HasInput(kLengths) ? context.input(kLengths).data<int32_t>()[0] : s.steps) *
        s.batch;
    if (m == 0) return Ok();
    ASC_ASSIGN_OR_RETURN(const auto bytes, context.Scratch(static_cast<size_t>(rows * s.input)));
    ASC_ASSIGN_OR_RETURN(
        const auto packed,
        context.Scratch(static_cast<size_t>(simd::LeftSize(rows, s.input)) * sizeof(int16_t)));
    auto* left = reinterpret_cast<int16_t*>(packed->data());
    const float scale = PackRows(x.data<float>(), m, s.input, bytes->data(), left);
    const int64_t panels = Panels(gates), units = s.directions * panels;
    const int64_t grain = std::max<int64_t>(1, kGrain / (m * s.input * simd::kProductColumns));
    ParallelFor(units, grain, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t d = unit / panels, column = unit % panels * simd::kProductColumns,
                      columns = std::min(simd::kProductColumns, gates - column);
        const Direction& to = directions[static_cast<size_t>(d)];
        auto* sums = reinterpret_cast<int32_t*>(to.sums) + column;
        simd::MultiplyPanel(left, m, s.input, w_.Panel(d, unit % panels), columns, sums, gates);
        const int64_t step = w_.by_column ? 1 : 0;
        for (int64_t row = 0; row < m; ++row) {
          simd::AddScaledSums(
              {sums + row * gates, scale, w_.Scales(d) + column * step, step, to.bias + column},
              to.sums + row * gates + column, columns);
        }
      }
    });
    return Ok();
  }

  void Multiply(KernelContext& /*context*/, const Direction& at,
                const StateProduct& p) const override {
    const int64_t batch = sizes().batch, hidden = sizes().hidden, gates = Gates();
    std::byte* bytes =
        at.own + static_cast<size_t>(simd::LeftSize(batch, hidden)) * sizeof(int16_t);
    auto* left = reinterpret_cast<int16_t*>(at.own);
    auto* sums = reinterpret_cast<int32_t*>(at.products);
    const float scale = PackRows(p.x, batch, hidden, bytes, left);
    const int64_t grain =
        std::max<int64_t>(1, kStepGrain / (batch * hidden * simd::kProductColumns));
    ParallelFor(Panels(gates), grain, [&](int64_t begin, int64_t end) {
      const int64_t first = begin * simd::kProductColumns,
                    last = std::min(end * simd::kProductColumns, gates);
      simd::MultiplyPanels(left, batch, hidden, r_.Panel(at.number, begin), last - first,
                           sums + first, gates);
      const int64_t step = r_.by_column ? 1 : 0;
      for (int64_t b = 0; b < batch; ++b) {
        simd::AddScaledSums({sums + b * gates + first, scale, r_.Scales(at.number) + first * step,
                             step, p.start + b * p.start_row + first},
                            p.y + b * p.y_row + first, last - first);
      }
    });
  }

  size_t OwnBytes() const override {
    const int64_t batch = sizes().batch, hidden = sizes().hidden;
    const auto bytes = static_cast<size_t>(simd::LeftSize(batch, hidden)) * sizeof(int16_t) +
                       static_cast<size_t>(batch * hidden);
    return (bytes + 63) / 64 * 64;
  }

 private:
  PackedInteger w_, r_;
};

bool Supports(const KernelRequest& request) {
  for (size_t which = 0; which < 2; ++which) {
    for (const size_t i : {kWeights[which], kScales[which], kZeros[which]}) {
      const OperandDesc& operand = request.inputs[i];
      if (operand.constant == nullptr || operand.constant->is_lazy() || !simd::IsPlain(operand))
        return false;
    }
  }
  // The states of all sequences share a scale: backwards, they must begin together, as the operator's
  // definition has it, and not each at its own end.
  if (request.inputs[kLengths].present && request.inputs[0].dims[1] != 1) return false;
  return simd::HasPlainRecurrentForm(request);
}

Result<std::unique_ptr<Kernel>> MakeQuantizedLstm(const KernelRequest& request) {
  ASC_ASSIGN_OR_RETURN(PackedInteger w, Pack(request, 0));
  ASC_ASSIGN_OR_RETURN(PackedInteger r, Pack(request, 1));
  const int64_t hidden = r.depth;
  return simd::Make<QuantizedLstmKernel>(simd::SizesOfRecurrent(request, hidden), std::move(w),
                                         std::move(r));
}
}  // namespace

void AddVectorQuantizedLstm(KernelTable& table) {
  table.push_back({"DynamicQuantizeLSTM", "com.microsoft", "vector.quantized_lstm", Supports,
                   nullptr, MakeQuantizedLstm});
}

}  // namespace asc
