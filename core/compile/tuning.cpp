#include "core/compile/tuning.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/base/log.h"
#include "core/base/parallel.h"
#include "core/compile/constants.h"
#include "core/compile/kernel_choice.h"

namespace asc {
namespace {
constexpr int kLeastRuns = 3, kMostRuns = 10;
constexpr double kMostSeconds = 0.03;  // of runs of one candidate
// Another candidate must be that much faster than the first: differences below are noise.
constexpr double kGain = 0.97;

// More than the last level of cache, to push out what is there.
class CacheFlusher {
 public:
  Status Prepare() {
    int64_t cache = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    cache = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    constexpr int64_t kLeast = int64_t{16} << 20, kMost = int64_t{128} << 20;
    const auto bytes = static_cast<size_t>(std::clamp(2 * cache, kLeast, kMost));
    ASC_ASSIGN_OR_RETURN(memory_, Buffer::Allocate(HostAllocator(), MemoryUse::kPackedWeight, bytes));
    return Ok();
  }
  void Flush() {
    ++fill_;
    const auto part = static_cast<int64_t>(memory_->size()) / CurrentThreads();
    ParallelFor(CurrentThreads(), 1, [&](int64_t begin, int64_t end) {
      std::memset(memory_->data() + begin * part, fill_, static_cast<size_t>((end - begin) * part));
    });
  }

 private:
  std::shared_ptr<Buffer> memory_;
  int fill_ = 0;
};

// Operands for runs of a step: constants as they are, integers zero (a valid index, length or flag), floats small and different.
class Operands {
 public:
  Status Make(const KernelRequest& request, const StorageExtents& extents) {
    ASC_RETURN_IF_ERROR(Make(request.inputs, extents.inputs, request.allocator, input_values_, inputs_));
    std::vector<AnyValue*> made;
    ASC_RETURN_IF_ERROR(Make(request.outputs, extents.outputs, request.allocator, output_values_, made));
    outputs_ = std::move(made);
    return Ok();
  }

  // Into the caches, where a step finds what the one before has made.
  void Touch() const {
    for (size_t i = 0; i < input_values_.size(); ++i) {
      if (!made_up_[i]) continue;
      const Tensor& tensor = input_values_[i].tensor();
      const auto* bytes = static_cast<const volatile char*>(tensor.raw());
      for (size_t at = 0; at < tensor.bytes(); at += kAlignment) (void)bytes[at];
    }
  }

  const std::vector<const AnyValue*>& inputs() const { return inputs_; }
  const std::vector<AnyValue*>& outputs() const { return outputs_; }

 private:
  template <typename Pointer>
  Status Make(const std::vector<OperandDesc>& descs, const std::vector<Dims>& dims, const std::shared_ptr<Allocator>& allocator,
              std::vector<AnyValue>& values, std::vector<Pointer>& pointers) {
    values.resize(descs.size());
    for (size_t i = 0; i < descs.size(); ++i) {
      if constexpr (std::is_same_v<Pointer, const AnyValue*>) made_up_.push_back(false);
      if (!descs[i].present) {
        pointers.push_back(nullptr);
        continue;
      }
      if (descs[i].constant != nullptr) {
        values[i] = *descs[i].constant;
      } else {
        ASC_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(descs[i].dtype, dims[i], allocator));
        std::memset(tensor.raw(), 0, tensor.bytes());
        if (tensor.dtype() == DataType::kFloat32) {
          for (int64_t k = 0; k < tensor.size(); ++k) tensor.data<float>()[k] = static_cast<float>(k * 7 % 31 - 15) / 16;
        }
        values[i] = std::move(tensor);
        if constexpr (std::is_same_v<Pointer, const AnyValue*>) made_up_.back() = true;
      }
      pointers.push_back(&values[i]);
    }
    return Ok();
  }

  std::vector<AnyValue> input_values_, output_values_;
  std::vector<const AnyValue*> inputs_;
  std::vector<AnyValue*> outputs_;
  std::vector<bool> made_up_;  // by input
};

// The least seconds of a run.
Result<double> Measure(const Kernel& kernel, const KernelRequest& request, const Operands& operands, CacheFlusher& flusher) {
  const std::unique_ptr<KernelState> state = kernel.MakeState();
  std::shared_ptr<Buffer> scratch;
  if (kernel.scratch_bytes() > 0) {
    ASC_ASSIGN_OR_RETURN(scratch, Buffer::Allocate(request.allocator, MemoryUse::kScratch, kernel.scratch_bytes()));
  }
  RunState run{request.allocator};
  double best = 0, total = 0;
  for (int i = 0; i <= kMostRuns && (i <= kLeastRuns || total < kMostSeconds); ++i) {
    flusher.Flush();
    operands.Touch();
    KernelContext context(*request.node.schema, request.node.attributes, operands.inputs().data(), operands.inputs().size(),
                          operands.outputs().data(), operands.outputs().size(), run, 0);
    if (scratch) context.set_planned_scratch(scratch->data());
    context.set_state(state.get());
    const auto start = std::chrono::steady_clock::now();
    ASC_RETURN_IF_ERROR(kernel.Run(context));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (i == 0) continue;  // makes what the state keeps
    best = i == 1 ? seconds : std::min(best, seconds);
    total += seconds;
  }
  return best;
}

// The fastest of the candidates; null where none can be measured.
const KernelEntry* Fastest(const std::vector<const KernelEntry*>& candidates, const KernelRequest& request,
                           const StorageExtents& extents) {
  Operands operands;
  CacheFlusher flusher;
  if (!operands.Make(request, extents).ok() || !flusher.Prepare().ok()) return nullptr;
  const KernelEntry* fastest = nullptr;
  double best = 0;
  for (const KernelEntry* candidate : candidates) {
    // The forms of those that are not taken shall not stay, nor keep the one that is from having its own.
    ConstantStore forms(request.allocator);
    const KernelRequest trial{request.node,      request.inputs,  request.outputs,       forms,
                              request.allocator, request.threads, request.assume_finite, request.fast_math,
                              request.winograd};
    const Result<std::unique_ptr<Kernel>> kernel = candidate->create(trial);
    if (!kernel.ok()) continue;
    const Result<double> seconds = Measure(**kernel, trial, operands, flusher);
    if (!seconds.ok()) continue;
    Log(LogLevel::kInfo, "tuning: ", request.node.OriginText(), ": ", candidate->name, " takes ", 1e6 * *seconds, " us");
    if (fastest != nullptr && *seconds >= kGain * best) continue;
    fastest = candidate;
    best = *seconds;
  }
  return fastest;
}
}  // namespace

Result<std::shared_ptr<const Kernel>> ChooseTunedKernel(const Device& device, const KernelRequest& request,
                                                        const StorageExtents& extents, TuningCache& cache) {
  std::vector<const KernelEntry*> candidates = KernelCandidates(device, request);
  if (candidates.size() > 1) {
    const std::string key = TuningKey(request);
    const std::optional<std::string> known = cache.Find(key);
    const auto named = [&](std::string_view name) {
      return std::find_if(candidates.begin(), candidates.end(), [&](const KernelEntry* entry) { return entry->name == name; });
    };
    auto chosen = known ? named(*known) : candidates.end();
    if (chosen == candidates.end()) {
      if (const KernelEntry* fastest = Fastest(candidates, request, extents)) {
        cache.Keep(key, fastest->name);
        chosen = named(fastest->name);
      }
    }
    if (chosen != candidates.end()) std::rotate(candidates.begin(), chosen, chosen + 1);
  }
  return MakeFirstKernel(device, candidates, request);
}

}  // namespace asc
