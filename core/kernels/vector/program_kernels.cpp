// asc.VectorProgram on the host: the program is made ready for the extents at hand, and its rows
// are run group by group.
#include <atomic>

#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/program_runner.h"
#include "core/ops/broadcast_iterator.h"
#include "core/ops/cast_elements.h"

namespace asc {
namespace {
using simd::ReadyProgram;

// Larger constants of other types are not kept as float32.
constexpr int64_t kMostReady = 1 << 16;
// What a thread should get at least, in cheap instructions on one element.
constexpr double kGrain = 1 << 17;

bool IsScalarOperand(const OperandDesc& operand) {
  return simd::IsPlain(operand) && ElementCount(operand.dims) == 1;
}

// The storage extents of an operand of a blocked node, or of a plain one.
Dims StorageOf(const OperandDesc& operand) {
  if (IsScalarOperand(operand)) return {};
  if (!simd::IsBlockedImage(operand)) return operand.dims;
  const int64_t c0 = operand.layout.c0;
  return {operand.dims[0], (operand.dims[1] + c0 - 1) / c0, operand.dims[2], operand.dims[3], c0};
}

struct Plan {
  VectorProgram program;
  std::vector<bool> channels;  // by input
  bool blocked = false;
  Dims space;  // of storage
};

// nullopt where this kernel cannot run the node.
std::optional<Plan> PlanOf(const KernelRequest& request) {
  Result<VectorProgram> program =
      VectorProgram::Parse(request.node.attributes.String("program", ""));
  const size_t count = request.inputs.size();
  if (!program.ok() || !program->Verify(count, request.outputs.size()).ok()) return std::nullopt;
  Plan plan{std::move(*program), {}, false, {}};
  plan.channels = plan.program.ChannelInputs(count);
  const Layout layout = request.outputs[0].layout;
  plan.blocked = layout != Layout{};
  for (const OperandDesc& out : request.outputs) {
    if (!out.present || out.layout != layout) return std::nullopt;
    if (plan.blocked && !simd::IsBlockedImage(out)) return std::nullopt;
  }
  if (plan.blocked && plan.program.HasReductions()) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    const OperandDesc& in = request.inputs[i];
    if (!in.present) return std::nullopt;
    if (plan.channels[i]) {
      // They stand along an axis of their own, whether or not any other operand has more than one element.
      const size_t rank = plan.blocked ? 5 : request.outputs[0].dims.size();
      Result<Dims> space = BroadcastDims(plan.space, Dims(rank, 1));
      if (!space.ok()) return std::nullopt;
      plan.space = std::move(*space);
      // Channels that fill up the last block are read, so that only constants can be given them.
      const bool padded = plan.blocked && simd::IsPaddedImage(request.outputs[0]);
      if (!simd::IsPlain(in) || (padded && in.constant == nullptr)) return std::nullopt;
      continue;
    }
    const bool fits =
        in.layout == layout &&
        (!plan.blocked || (simd::IsBlockedImage(in) && in.dims[1] == request.outputs[0].dims[1]));
    if (!fits && !IsScalarOperand(in)) return std::nullopt;
    Result<Dims> space = BroadcastDims(plan.space, StorageOf(in));
    if (!space.ok()) return std::nullopt;
    plan.space = std::move(*space);
  }
  return plan;
}

class ProgramKernel : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> Make(const KernelRequest& request, Plan plan) {
    auto kernel = std::unique_ptr<ProgramKernel>(new ProgramKernel);
    ASC_RETURN_IF_ERROR(kernel->Prepare(request, plan));
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  Status Run(KernelContext& context) const override {
    const int64_t rows = ready_.space.rows(), count = ready_.space.count;
    if (rows == 0 || (count == 0 && !keeps_rows_)) return Ok();
    // A few long rows are cut, at whole blocks.
    const double row_cost = static_cast<double>(count) * ready_.code.cost;
    const int64_t cuts = keeps_rows_ || rows >= 16
                             ? 1
                             : std::max<int64_t>(1, static_cast<int64_t>(row_cost / kGrain));
    std::atomic<int> part = 0;
    const auto runner = [&] {
      simd::ProgramRunner::Memory memory;
      for (size_t i = 0; i < inputs_.size(); ++i) {
        const Input& input = inputs_[i];
        memory.push_back(input.ready
                             ? input.ready->data()
                             : static_cast<std::byte*>(const_cast<void*>(context.input(i).raw())));
      }
      for (size_t i = 0; i < outputs_; ++i)
        memory.push_back(static_cast<std::byte*>(context.output(i).raw()));
      auto* scratch = static_cast<float*>(context.planned_scratch());
      if (scratch != nullptr) scratch += ready_.scratch_floats * static_cast<size_t>(part++);
      return simd::ProgramRunner(ready_, std::move(memory), scratch);
    };
    if (cuts > 1) {
      const int64_t unit = ready_.cut(), units = (count + unit - 1) / unit;
      ParallelFor(rows * cuts, 1, [&](int64_t begin, int64_t end) {
        simd::ProgramRunner run = runner();
        for (int64_t piece = begin; piece < end; ++piece) {
          const int64_t row = piece / cuts, cut = piece % cuts;
          const int64_t from = std::min(count, units * cut / cuts * unit),
                        to = std::min(count, units * (cut + 1) / cuts * unit);
          if (from < to) run.Rows(row, row + 1, from, to);
        }
      });
    } else {
      ParallelFor(rows,
                  std::max<int64_t>(1, static_cast<int64_t>(kGrain / std::max(1.0, row_cost))),
                  [&](int64_t begin, int64_t end) { runner().Rows(begin, end, 0, count); });
    }
    for (const auto& [output, image] : padded_)
      simd::ClearPadding(context.output(output).data<float>(), image);
    return Ok();
  }
  size_t scratch_bytes() const override { return ready_.scratch_floats * sizeof(float) * parts_; }
  bool packs(size_t i) const override { return i < inputs_.size() && inputs_[i].ready != nullptr; }
  std::string_view name() const override { return "vector:program"; }

 private:
  struct Input {
    std::shared_ptr<Buffer> ready;  // a constant as float32, with what fills up blocks
  };

  ProgramKernel() = default;

  Status Prepare(const KernelRequest& request, const Plan& plan) {
    const std::vector<bool> row_values = plan.program.RowValues();
    keeps_rows_ = std::find(row_values.begin(), row_values.end(), true) != row_values.end();
    std::vector<Dims> strides;
    std::vector<bool> repeats;  // which may be
    inputs_.resize(request.inputs.size());
    for (size_t i = 0; i < request.inputs.size(); ++i) {
      const OperandDesc& in = request.inputs[i];
      type_of_.push_back(in.dtype);
      strides.push_back(plan.channels[i] ? ChannelStrides(plan, request)
                                         : BroadcastStrides(StorageOf(in), plan.space));
      const bool convert = in.dtype != DataType::kFloat32 && ElementCount(in.dims) <= kMostReady;
      if (in.constant != nullptr && (plan.channels[i] || convert)) {
        ASC_RETURN_IF_ERROR(MakeReady(request, plan, i));
      }
      repeats.push_back(true);
    }
    for (size_t i = 0; i < request.outputs.size(); ++i) {
      const OperandDesc& out = request.outputs[i];
      type_of_.push_back(out.dtype);
      const bool row_value = row_values[static_cast<size_t>(plan.program.outputs[i].value)];
      strides.push_back(row_value ? Dims(plan.space.size(), 0) : ContiguousStrides(plan.space));
      repeats.push_back(false);
      if (plan.blocked && simd::IsPaddedImage(out)) padded_.emplace_back(i, out);
    }
    outputs_ = request.outputs.size();
    simd::ProgramSpace space =
        simd::MakeProgramSpace(plan.space, strides, keeps_rows_, repeats, ReadyProgram::kTile);
    ASC_ASSIGN_OR_RETURN(ready_, ReadyProgram::Make(plan.program, std::move(space),
                                                    std::move(type_of_), inputs_.size()));
    parts_ = static_cast<size_t>(std::max(1, request.threads));
    return Ok();
  }

  static Dims ChannelStrides(const Plan& plan, const KernelRequest& request) {
    Dims strides(plan.space.size(), 0);
    if (plan.blocked) {
      strides[1] = request.outputs[0].layout.c0;
      strides[4] = 1;
    } else {
      strides[1] = 1;
    }
    return strides;
  }

  Status MakeReady(const KernelRequest& request, const Plan& plan, size_t i) {
    const OperandDesc& in = request.inputs[i];
    const int64_t count = in.constant->size();
    int64_t padded = count;
    if (plan.channels[i] && plan.blocked) padded = plan.space[1] * plan.space[4];
    ASC_ASSIGN_OR_RETURN(inputs_[i].ready,
                         Buffer::Allocate(request.allocator, MemoryUse::kPackedWeight,
                                          static_cast<size_t>(padded) * sizeof(float)));
    auto* to = reinterpret_cast<float*>(inputs_[i].ready->data());
    std::fill_n(to, padded, 0.0f);
    CastElements(in.dtype, in.constant->raw(), DataType::kFloat32, to, count);
    type_of_[i] = DataType::kFloat32;
    return Ok();
  }

  bool keeps_rows_ = false;
  ReadyProgram ready_;
  std::vector<Input> inputs_;
  std::vector<DataType> type_of_;  // until the program is ready
  size_t outputs_ = 0, parts_ = 1;
  std::vector<std::pair<size_t, OperandDesc>> padded_;
};

bool Supports(const KernelRequest& request) { return PlanOf(request).has_value(); }

Result<std::unique_ptr<Kernel>> MakeProgram(const KernelRequest& request) {
  auto plan = PlanOf(request);
  if (!plan) return InternalError("the vector program changed while it was planned");
  return ProgramKernel::Make(request, std::move(*plan));
}
}  // namespace

void AddVectorPrograms(KernelTable& table) {
  table.push_back({"VectorProgram", "asc", "vector.program", Supports, nullptr, MakeProgram});
}

}  // namespace asc
