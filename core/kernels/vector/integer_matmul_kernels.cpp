// MatMulInteger and QLinearMatMul of 8-bit integers. Matrices on the right are packed once where they are constant.
#include <optional>

#include "core/base/hash.h"
#include "core/base/parallel.h"
#include "core/base/strings.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/integer_product.h"
#include "core/ops/broadcast_iterator.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
constexpr int64_t kGrain = 1 << 17;  // products that a thread should get at least

// The numbers of the inputs of both operators.
struct Places {
  size_t a, a_zero, b, b_zero;
};
constexpr Places kInteger{0, 2, 1, 3}, kLinear{0, 2, 3, 5};
enum LinearInput : size_t { kAScale = 1, kBScale = 4, kYScale = 6, kYZero = 7 };

bool IsLinear(const Node& node) { return node.schema->name == "QLinearMatMul"; }
bool IsByte(const OperandDesc& x) {
  return (x.dtype == DataType::kInt8 || x.dtype == DataType::kUInt8) && simd::IsPlain(x);
}

// A scalar, or for the right operand one value a column.
bool FitsParameter(const OperandDesc& x, int64_t columns) {
  const int64_t count = ElementCount(x.dims);
  return !x.present || count == 1 || (count == columns && x.dims.size() == 1);
}

bool Supports(const KernelRequest& request) {
  const bool linear = IsLinear(request.node);
  const Places at = linear ? kLinear : kInteger;
  const auto& in = request.inputs;
  const auto operand = [&](size_t i) { return i < in.size() ? in[i] : OperandDesc(); };
  const Dims &a = in[at.a].dims, &b = in[at.b].dims;
  if (!IsByte(in[at.a]) || !IsByte(in[at.b]) || b.size() < 2 || a.empty()) return false;
  if (b.size() > 2 && a.size() < 2) return false;
  const int64_t n = b.back();
  if (ElementCount(a) == 0 || ElementCount(b) == 0) return false;
  if (!FitsParameter(operand(at.a_zero), 1) || !FitsParameter(operand(at.b_zero), n)) return false;
  if (!linear) return true;
  return IsByte(request.outputs[0]) && simd::IsPlainFloat(in[kAScale]) &&
         simd::IsPlainFloat(in[kBScale]) && simd::IsPlainFloat(in[kYScale]) &&
         FitsParameter(in[kAScale], 1) && FitsParameter(in[kBScale], n) &&
         FitsParameter(in[kYScale], 1) && FitsParameter(in[kYZero], 1);
}

// The zero points of an operand, 0 where there are none.
std::vector<int32_t> Zeros(const Tensor* zero) {
  if (zero == nullptr) return {0};
  std::vector<int32_t> out;
  for (int64_t i = 0; i < zero->size(); ++i)
    out.push_back(static_cast<int32_t>(ReadAsInt64(zero->dtype(), zero->raw(), i)));
  return out;
}

simd::IntegerOperand Operand(const Tensor& x, const std::vector<int32_t>& zeros) {
  return {x.raw(), x.dtype() == DataType::kInt8, zeros.data(), zeros.size() == 1 ? 0 : 1};
}

// Which matrices of two stacks that broadcast are multiplied, for each product in turn.
struct Pair {
  int64_t a, b;
};
Result<std::vector<Pair>> PairsOf(const Dims& a, const Dims& b) {
  const Dims a_batch(a.begin(), a.end() - 2), b_batch(b.begin(), b.end() - 2);
  ASC_ASSIGN_OR_RETURN(const Dims batch, BroadcastDims(a_batch, b_batch));
  std::vector<Pair> pairs(static_cast<size_t>(ElementCount(batch)));
  const auto index = [&](const Dims& own, int64_t product) {
    int64_t at = 0, stride = 1;
    for (size_t i = batch.size(), k = own.size(); k > 0; --i, --k) {
      const int64_t place = product % batch[i - 1];
      product /= batch[i - 1];
      if (own[k - 1] != 1) at += place * stride;
      stride *= own[k - 1];
    }
    return at;
  };
  for (size_t i = 0; i < pairs.size(); ++i)
    pairs[i] = {index(a_batch, static_cast<int64_t>(i)), index(b_batch, static_cast<int64_t>(i))};
  return pairs;
}

class IntegerMatMul : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> Create(const KernelRequest& request) {
    auto kernel = std::make_unique<IntegerMatMul>();
    kernel->linear_ = IsLinear(request.node);
    const Places at = kernel->at_ = kernel->linear_ ? kLinear : kInteger;
    const Dims &a_dims = request.inputs[at.a].dims, &b_dims = request.inputs[at.b].dims;
    kernel->n_ = b_dims.back();
    kernel->k_ = b_dims[b_dims.size() - 2];
    kernel->m_ = ElementCount(request.outputs[0].dims) / kernel->n_;
    kernel->threads_ = request.threads;
    if (b_dims.size() > 2) {
      ASC_ASSIGN_OR_RETURN(kernel->pairs_, PairsOf(a_dims, b_dims));
      kernel->matrices_ = ElementCount(b_dims) / (kernel->n_ * kernel->k_);
    }
    const int64_t all_panels = kernel->matrices_ * kernel->panels();
    const Tensor* b = request.inputs[at.b].constant;
    const OperandDesc zero =
        at.b_zero < request.inputs.size() ? request.inputs[at.b_zero] : OperandDesc();
    if (b != nullptr && !b->is_lazy() && (!zero.present || zero.constant != nullptr)) {
      const std::vector<int32_t> zeros = Zeros(zero.present ? zero.constant : nullptr);
      const uint64_t key = HashBytes(zeros.data(), zeros.size() * sizeof(int32_t));
      const size_t bytes =
          static_cast<size_t>(all_panels * simd::PanelSize(kernel->k_)) * sizeof(int16_t);
      auto packed = request.constants.GetOrMake(
          *b, Cat("integer_product:", kernel->k_, "x", kernel->n_, ":", key), bytes,
          [&](const std::shared_ptr<Allocator>& allocator) -> Result<std::shared_ptr<Buffer>> {
            ASC_ASSIGN_OR_RETURN(auto buffer,
                                 Buffer::Allocate(allocator, MemoryUse::kPackedWeight, bytes));
            auto* to = reinterpret_cast<int16_t*>(buffer->data());
            ParallelFor(all_panels, 1, [&](int64_t begin, int64_t end) {
              for (int64_t i = begin; i < end; ++i)
                kernel->Pack(Operand(*b, zeros), i, to + i * simd::PanelSize(kernel->k_));
            });
            return buffer;
          });
      if (!packed.ok() && packed.status().code() != Code::kUnavailable) return packed.status();
      if (packed.ok()) kernel->packed_ = std::move(packed).value();
    }
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  Status Run(KernelContext& context) const override {
    const auto optional = [&](size_t i) {
      return context.HasInput(i) ? &context.input(i) : nullptr;
    };
    const std::vector<int32_t> a_zeros = Zeros(optional(at_.a_zero)),
                               b_zeros = Zeros(optional(at_.b_zero));
    auto* scratch = static_cast<int16_t*>(context.planned_scratch());
    if (!pairs_.empty()) {
      int32_t* sums =
          linear_ ? reinterpret_cast<int32_t*>(scratch) : context.output(0).data<int32_t>();
      MultiplyPairs(Operand(context.input(at_.a), a_zeros), Operand(context.input(at_.b), b_zeros),
                    sums, scratch + (linear_ ? 2 * m_ * n_ : 0));
      if (linear_) Round(context, sums);
      return Ok();
    }
    simd::PackLeft(Operand(context.input(at_.a), a_zeros), m_, k_, scratch);
    auto* sums = linear_ ? reinterpret_cast<int32_t*>(scratch + simd::LeftSize(m_, k_))
                         : context.output(0).data<int32_t>();
    int16_t* own = scratch + simd::LeftSize(m_, k_) + (linear_ ? 2 * m_ * n_ : 0);
    const int64_t parts =
        std::clamp<int64_t>(m_ * n_ * k_ / kGrain, 1, std::min<int64_t>(threads_, panels()));
    ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        int16_t* room = own + part * simd::PanelSize(k_);
        for (int64_t i = panels() * part / parts; i < panels() * (part + 1) / parts; ++i) {
          const int16_t* panel = room;
          if (packed_) {
            panel = reinterpret_cast<const int16_t*>(packed_->data()) + i * simd::PanelSize(k_);
          } else {
            Pack(Operand(context.input(at_.b), b_zeros), i, room);
          }
          const int64_t column = i * simd::kProductColumns;
          simd::MultiplyPanel(scratch, m_, k_, panel, std::min(simd::kProductColumns, n_ - column),
                              sums + column, n_);
        }
      }
    });
    if (linear_) Round(context, sums);
    return Ok();
  }

  size_t scratch_bytes() const override {
    if (!pairs_.empty()) {
      return static_cast<size_t>((linear_ ? 2 * m_ * n_ : 0) + threads_ * RoomOfPair()) *
             sizeof(int16_t);
    }
    const int64_t rooms = packed_ ? 0 : threads_ * simd::PanelSize(k_);
    return static_cast<size_t>(simd::LeftSize(m_, k_) + (linear_ ? 2 * m_ * n_ : 0) + rooms) *
           sizeof(int16_t);
  }
  bool packs(size_t i) const override { return i == at_.b && packed_ != nullptr; }
  std::string_view name() const override { return "vector:integer_product"; }

 private:
  int64_t panels() const { return (n_ + simd::kProductColumns - 1) / simd::kProductColumns; }
  // Panel i of all matrices on the right, counted through.
  void Pack(simd::IntegerOperand b, int64_t i, int16_t* panel) const {
    const int64_t column = i % panels() * simd::kProductColumns;
    b.data = static_cast<const std::byte*>(b.data) + i / panels() * k_ * n_;
    simd::PackPanel(b, n_, k_, column, std::min(simd::kProductColumns, n_ - column), panel);
  }
  // What a thread needs: a matrix on the left, packed, and a panel.
  int64_t RoomOfPair() const {
    return simd::LeftSize(m_ / static_cast<int64_t>(pairs_.size()), k_) + simd::PanelSize(k_);
  }
  void MultiplyPairs(const simd::IntegerOperand& a, const simd::IntegerOperand& b, int32_t* sums,
                     int16_t* own) const {
    const auto count = static_cast<int64_t>(pairs_.size());
    const int64_t rows = m_ / count;
    const int64_t parts =
        std::clamp<int64_t>(m_ * n_ * k_ / kGrain, 1, std::min<int64_t>(threads_, count));
    ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        int16_t* left = own + part * RoomOfPair();
        int16_t* room = left + simd::LeftSize(rows, k_);
        for (int64_t i = count * part / parts; i < count * (part + 1) / parts; ++i) {
          const Pair& pair = pairs_[static_cast<size_t>(i)];
          simd::IntegerOperand matrix = a;
          matrix.data = static_cast<const std::byte*>(a.data) + pair.a * rows * k_;
          simd::PackLeft(matrix, rows, k_, left);
          for (int64_t j = 0; j < panels(); ++j) {
            const int64_t number = pair.b * panels() + j, column = j * simd::kProductColumns;
            const int16_t* panel = room;
            if (packed_) {
              panel =
                  reinterpret_cast<const int16_t*>(packed_->data()) + number * simd::PanelSize(k_);
            } else {
              Pack(b, number, room);
            }
            simd::MultiplyPanel(left, rows, k_, panel, std::min(simd::kProductColumns, n_ - column),
                                sums + i * rows * n_ + column, n_);
          }
        }
      }
    });
  }
  void Round(KernelContext& context, const int32_t* sums) const {
    Tensor& y = context.output(0);
    const Tensor &b_scale = context.input(kBScale), &zero = context.input(kYZero);
    simd::Requantize how{};
    how.scale = context.input(kAScale).data<float>()[0];
    how.column_scales = b_scale.data<float>();
    how.column_step = b_scale.size() == 1 ? 0 : 1;
    how.divisor = context.input(kYScale).data<float>()[0];
    how.zero = static_cast<float>(ReadAsInt64(zero.dtype(), zero.raw(), 0));
    how.is_signed = y.dtype() == DataType::kInt8;
    auto* to = static_cast<std::byte*>(y.raw());
    ParallelFor(m_, std::max<int64_t>(1, (1 << 14) / n_), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        simd::RequantizeRow(how, sums + i * n_, n_, to + i * n_);
    });
  }

  bool linear_ = false;
  Places at_{};
  int64_t m_ = 0, n_ = 0, k_ = 0, threads_ = 1;
  int64_t matrices_ = 1;     // on the right
  std::vector<Pair> pairs_;  // of stacks; empty for one matrix on the right
  std::shared_ptr<Buffer> packed_;
};
}  // namespace

void AddIntegerMatMuls(KernelTable& table) {
  table.push_back(
      {"MatMulInteger", "", "vector.integer_product", Supports, nullptr, IntegerMatMul::Create});
  table.push_back(
      {"QLinearMatMul", "", "vector.integer_product", Supports, nullptr, IntegerMatMul::Create});
}

}  // namespace asc
