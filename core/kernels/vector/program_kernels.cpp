// asc.VectorProgram on the host: the program is made ready for the extents at hand, and its rows
// are run group by group.
#include <atomic>
#include <cstring>

#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/program.h"
#include "core/kernels/vector/program_space.h"
#include "core/ops/broadcast_iterator.h"
#include "core/ops/cast_elements.h"

namespace asc {
namespace {
using simd::ProgramCode;
using simd::ProgramOperand;
using simd::ProgramSpace;
using Within = ProgramSpace::Within;

// Rows of a group: results of reductions stand in arrays of so many.
constexpr int64_t kMostRows = 64;
// Elements of a group of rows, so that it stays in the first cache.
constexpr int64_t kGroup = 4096;
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
    const int64_t rows = space_.rows();
    if (rows == 0 || (space_.count == 0 && !keeps_rows_)) return Ok();
    // A few long rows are cut, at whole blocks.
    const int64_t most_cuts =
        static_cast<int64_t>(static_cast<double>(space_.count) * cost_ / kGrain);
    const int64_t cuts = keeps_rows_ || rows >= 16 ? 1 : std::max<int64_t>(1, most_cuts);
    std::atomic<int> part = 0;
    if (cuts > 1) {
      const int64_t blocks = (space_.count + block_ - 1) / block_;
      ParallelFor(rows * cuts, 1, [&](int64_t begin, int64_t end) {
        Runner runner(*this, context, part++);
        for (int64_t piece = begin; piece < end; ++piece) {
          const int64_t row = piece / cuts, cut = piece % cuts;
          const int64_t from = std::min(space_.count, blocks * cut / cuts * block_),
                        to = std::min(space_.count, blocks * (cut + 1) / cuts * block_);
          runner.Rows(row, row + 1, from, to);
        }
      });
    } else {
      const double row_cost = std::max(1.0, static_cast<double>(space_.count) * cost_);
      ParallelFor(rows, std::max<int64_t>(1, static_cast<int64_t>(kGrain / row_cost)),
                  [&](int64_t begin, int64_t end) {
                    Runner(*this, context, part++).Rows(begin, end, 0, space_.count);
                  });
    }
    for (const auto& [output, image] : padded_)
      simd::ClearPadding(context.output(output).data<float>(), image);
    return Ok();
  }
  size_t scratch_bytes() const override { return scratch_floats_ * sizeof(float) * parts_; }
  bool packs(size_t i) const override { return i < inputs_.size() && inputs_[i].ready != nullptr; }
  std::string_view name() const override { return "vector:program"; }

 private:
  // One thread's part of a run.
  class Runner {
   public:
    Runner(const ProgramKernel& kernel, KernelContext& context, int part)
        : kernel_(kernel), code_(kernel.code_), space_(kernel.space_) {
      scratch_ = static_cast<float*>(context.planned_scratch());
      if (scratch_ != nullptr) scratch_ += kernel.scratch_floats_ * static_cast<size_t>(part);
      for (size_t i = 0; i < kernel.inputs_.size(); ++i) {
        const Input& input = kernel.inputs_[i];
        memory_.push_back(input.ready
                              ? input.ready->data()
                              : static_cast<std::byte*>(const_cast<void*>(context.input(i).raw())));
      }
      for (size_t i = 0; i < kernel.output_types_.size(); ++i)
        memory_.push_back(static_cast<std::byte*>(context.output(i).raw()));
      Place();
    }

    // Elements [from, to) of the rows [begin, end).
    void Rows(int64_t begin, int64_t end, int64_t from, int64_t to) {
      const int64_t last = space_.outer.back();
      for (int64_t row = begin; row < end;) {
        const int64_t within = row % last;
        int64_t some = std::min(end - row, last - within);
        for (size_t k = 0; k < space_.operands.size(); ++k) {
          int64_t rest = row / last, offset = within * space_.operands[k].strides.back();
          for (size_t axis = space_.outer.size() - 1; axis-- > 0;) {
            offset += rest % space_.outer[axis] * space_.operands[k].strides[axis];
            rest /= space_.outer[axis];
          }
          offsets_[k] = offset + (space_.operands[k].within == Within::kMoving ? from : 0);
        }
        const int64_t run = some;
        for (int64_t done = 0; done < run; done += some) {
          some = std::min(kernel_.group_, run - done);
          Group(row + done, some, to - from);
          for (size_t k = 0; k < space_.operands.size(); ++k)
            offsets_[k] += some * space_.operands[k].strides.back();
        }
        row += run;
      }
    }

   private:
    float* RowsOf(int index) { return rows_ + index * kMostRows; }

    // Pointers that hold for all rows.
    void Place() {
      float* at = scratch_;
      spills_ = at;
      at += static_cast<int64_t>(code_.spills) * kernel_.group_ * space_.count;
      rows_ = at;
      at += code_.rows * kMostRows;
      temps_ = at;
      at += static_cast<int64_t>(code_.temps) * kernel_.block_;
      blocks_ = at;  // patterns and converted operands
      for (size_t i = 0; i < code_.operands.size(); ++i) {
        const ProgramOperand& operand = code_.operands[i];
        frame_.moves[i] = ~size_t{0};
        switch (operand.kind) {
          case ProgramOperand::Kind::kNumber:
            frame_.base[i] = const_cast<float*>(&operand.number);
            break;
          case ProgramOperand::Kind::kTemp:
            frame_.base[i] = temps_ + operand.index * kernel_.block_;
            frame_.moves[i] = 0;
            break;
          default:
            if (kernel_.block_of_[i] >= 0) {
              frame_.base[i] = blocks_ + kernel_.block_of_[i] * kernel_.block_;
              frame_.moves[i] = 0;
            }
        }
      }
    }

    void Group(int64_t row, int64_t rows, int64_t count) {
      for (size_t s = 0; s < code_.segments.size(); ++s) {
        if (!code_.segments[s].wide) {
          RowValues(s, row, rows);
          continue;
        }
        // Row after row at once, where moving on is all there is to do between them.
        const int64_t some = WideRows(s, 0, rows, count);
        for (int64_t g = some; g < rows; ++g) WideRows(s, g, 1, count);
      }
    }

    // The rows from g on, at most so many; gives how many it did.
    int64_t WideRows(size_t s, int64_t g, int64_t rows, int64_t count) {
      conversions_.clear();
      moves_.clear();
      one_row_ = false;
      for (const int i : kernel_.used_[s]) {
        const auto at = static_cast<size_t>(i);
        const ProgramOperand& operand = code_.operands[at];
        frame_.strides[at] = 0;
        switch (operand.kind) {
          case ProgramOperand::Kind::kRow:
            frame_.base[at] = RowsOf(operand.index) + g;
            Move(i, 1);
            break;
          case ProgramOperand::Kind::kSpill:
            frame_.base[at] = spills_ + (operand.index * kernel_.group_ + g) * space_.count;
            Move(i, space_.count);
            break;
          case ProgramOperand::Kind::kInput:
            Bring(i, static_cast<size_t>(operand.index), false, g, count);
            break;
          case ProgramOperand::Kind::kOutput:
            Bring(i, kernel_.inputs_.size() + static_cast<size_t>(operand.index), true, g, count);
            break;
          default:
            break;
        }
      }
      if (one_row_) rows = 1;
      float* to[simd::kMostReductions];
      for (const int r : kernel_.bound_[s].reductions)
        to[r] = RowsOf(code_.reductions[static_cast<size_t>(r)].row) + g;
      simd::RunSegment(code_, kernel_.bound_[s], frame_, static_cast<size_t>(count), rows, moves_,
                       conversions_, to);
      return rows;
    }

    void Move(int i, int64_t stride) {
      frame_.strides[static_cast<size_t>(i)] = stride;
      moves_.push_back(i);
    }

    // Input or output k for row g of the group.
    void Bring(int i, size_t k, bool store, int64_t g, int64_t count) {
      const ProgramSpace::Operand& operand = space_.operands[k];
      const DataType type = kernel_.type_of_[k];
      const int64_t stride = operand.strides.back(), offset = offsets_[k] + g * stride;
      std::byte* from = memory_[k] + static_cast<size_t>(offset) * ElementSize(type);
      float*& base = frame_.base[i];
      if (operand.within == Within::kPattern) {
        const int64_t most =
            std::min(kernel_.block_, (count + space_.period - 1) / space_.period * space_.period);
        for (int64_t at = 0; at < most; at += space_.period)
          std::memcpy(base + at, from, static_cast<size_t>(space_.period) * sizeof(float));
        one_row_ = one_row_ || stride != 0;
      } else if (type == DataType::kFloat32) {
        base = reinterpret_cast<float*>(from);
        if (stride != 0) Move(i, stride);
      } else if (operand.within == Within::kScalar) {
        CastElements(type, from, DataType::kFloat32, base, 1);
        one_row_ = one_row_ || stride != 0;
      } else {
        conversions_.push_back({i, store, type, from});
        one_row_ = true;
      }
    }

    void RowValues(size_t s, int64_t row, int64_t rows) {
      conversions_.clear();
      for (const int i : kernel_.used_[s]) {
        const auto at = static_cast<size_t>(i);
        const ProgramOperand& operand = code_.operands[at];
        if (operand.kind == ProgramOperand::Kind::kRow) {
          frame_.base[at] = RowsOf(operand.index);
        } else if (operand.kind == ProgramOperand::Kind::kOutput) {
          // One element for each row, in their order.
          const size_t k = kernel_.inputs_.size() + static_cast<size_t>(operand.index);
          const DataType type = kernel_.type_of_[k];
          std::byte* to = memory_[k] + static_cast<size_t>(row) * ElementSize(type);
          if (type == DataType::kFloat32) {
            frame_.base[at] = reinterpret_cast<float*>(to);
          } else {
            conversions_.push_back({i, true, type, to});
          }
        }
      }
      simd::RunSegment(code_, kernel_.bound_[s], frame_, static_cast<size_t>(rows), 1, {},
                       conversions_, nullptr);
    }

    const ProgramKernel& kernel_;
    const ProgramCode& code_;
    const ProgramSpace& space_;
    absl::InlinedVector<std::byte*, 16> memory_;  // of inputs, then outputs
    int64_t offsets_[VectorProgram::kMostInputs + VectorProgram::kMostOutputs];
    float *scratch_, *spills_, *rows_, *temps_, *blocks_;
    absl::InlinedVector<simd::ProgramConversion, 8> conversions_;
    absl::InlinedVector<int, 16> moves_;
    bool one_row_ = false;  // the next row needs more than moving on
    simd::ProgramFrame frame_;
  };

  struct Input {
    std::shared_ptr<Buffer> ready;  // a constant as float32, with what fills up blocks
  };

  ProgramKernel() = default;

  Status Prepare(const KernelRequest& request, const Plan& plan) {
    block_ = static_cast<int64_t>(simd::ProgramBlock());
    const std::vector<bool> row_values = plan.program.RowValues();
    keeps_rows_ = std::find(row_values.begin(), row_values.end(), true) != row_values.end();
    std::vector<Dims> strides;
    std::vector<bool> patterns;
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
      patterns.push_back(type_of_.back() == DataType::kFloat32);
    }
    for (size_t i = 0; i < request.outputs.size(); ++i) {
      const OperandDesc& out = request.outputs[i];
      type_of_.push_back(out.dtype);
      output_types_.push_back(out.dtype);
      const bool row_value = row_values[static_cast<size_t>(plan.program.outputs[i].value)];
      strides.push_back(row_value ? Dims(plan.space.size(), 0) : ContiguousStrides(plan.space));
      patterns.push_back(false);
      if (plan.blocked && simd::IsPaddedImage(out)) padded_.emplace_back(i, out);
    }
    space_ = simd::MakeProgramSpace(plan.space, strides, keeps_rows_, patterns, block_);
    std::vector<bool> scalars;
    for (size_t i = 0; i < inputs_.size(); ++i)
      scalars.push_back(space_.operands[i].within == Within::kScalar);
    ASC_ASSIGN_OR_RETURN(code_, simd::LowerProgram(plan.program, scalars));
    cost_ = code_.cost;
    group_ = code_.segments.size() == 1 && code_.segments[0].wide
                 ? kMostRows
                 : std::clamp<int64_t>(kGroup / std::max<int64_t>(1, space_.count), 1, kMostRows);
    FindBlocks();
    for (const simd::ProgramSegment& segment : code_.segments) {
      used_.push_back(UsedBy(segment));
      const bool whole_rows = std::all_of(used_.back().begin(), used_.back().end(), [&](int i) {
        return block_of_[static_cast<size_t>(i)] < 0;
      });
      bound_.push_back(simd::BindSegment(code_, segment, whole_rows));
    }
    parts_ = static_cast<size_t>(std::max(1, request.threads));
    scratch_floats_ =
        static_cast<size_t>(code_.spills * group_ * space_.count + code_.rows * kMostRows +
                            (code_.temps + block_count_) * block_);
    scratch_floats_ = (scratch_floats_ + 15) / 16 * 16;
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

  // Operands that need a block of their own: patterns, and those of other types.
  void FindBlocks() {
    for (const ProgramOperand& operand : code_.operands) {
      const bool input = operand.kind == ProgramOperand::Kind::kInput;
      bool wants = false;
      if (input || operand.kind == ProgramOperand::Kind::kOutput) {
        const size_t k = static_cast<size_t>(operand.index) + (input ? 0 : inputs_.size());
        wants = type_of_[k] != DataType::kFloat32 || space_.operands[k].within == Within::kPattern;
      }
      block_of_.push_back(wants ? block_count_++ : -1);
    }
  }

  std::vector<int> UsedBy(const simd::ProgramSegment& segment) const {
    std::vector<int> used;
    const auto add = [&](int i) {
      if (std::find(used.begin(), used.end(), i) == used.end()) used.push_back(i);
    };
    for (const simd::ProgramInstruction& made : segment.instructions) {
      if (simd::HasOperand(made.step)) add(made.x);
      if (simd::HasTwoOperands(made.step)) add(made.y);
    }
    return used;
  }

  int64_t block_ = 0, group_ = 1;
  bool keeps_rows_ = false;
  double cost_ = 1;
  ProgramSpace space_;  // operands: inputs, then outputs
  ProgramCode code_;
  std::vector<simd::BoundSegment> bound_;
  std::vector<std::vector<int>> used_;  // by segment: the operands that it reads or writes
  std::vector<Input> inputs_;
  std::vector<DataType> type_of_, output_types_;
  std::vector<int> block_of_;  // by operand of the code
  int block_count_ = 0;
  size_t parts_ = 1, scratch_floats_ = 0;
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
