// What the oneDNN kernels share: engine and streams, descriptors of our operands, packed weights, scratch.
#ifndef ASC_CORE_KERNELS_ONEDNN_COMMON_H_
#define ASC_CORE_KERNELS_ONEDNN_COMMON_H_

#include <dnnl.hpp>
#include <functional>
#include <optional>
#include <span>

#include "core/device/kernel.h"
#include "core/ops/activation.h"

namespace asc::onednn {

const dnnl::engine& Engine();
// A stream of the calling thread: oneDNN's streams are not to be shared.
dnnl::stream& ThreadStream();

dnnl::memory::dims ToDnnl(const Dims& dims);
// A dense float32 tensor, row-major.
dnnl::memory::desc PlainDesc(const Dims& dims);
// The same tensor in whatever form oneDNN likes best.
inline dnnl::memory::desc AnyLike(const dnnl::memory::desc& desc) {
  return {desc.get_dims(), desc.get_data_type(), dnnl::memory::format_tag::any};
}
// A dense float32 matrix batch whose last two axes are swapped in memory: `dims` are those of the swapped view.
dnnl::memory::desc TransposedDesc(const Dims& dims);
// How the operand lies in memory: plain, or NC1HWC0 with blocks of 8 or 16. nullopt for other layouts and types.
std::optional<dnnl::memory::desc> StorageDesc(const OperandDesc& operand);

// Calls `f`, which may throw dnnl::error; gives that as a Status of `code`.
Status Guard(Code code, std::string_view what, const std::function<void()>& f);

// One argument of a primitive.
struct Argument {
  int index = 0;  // DNNL_ARG_...
  const dnnl::memory::desc* desc = nullptr;
  void* data = nullptr;
};

// Executes the primitives of a kernel, and keeps oneDNN's memory objects from run to run: making them takes longer than small
// layers do. Every run executes the same primitives in the same order with arguments of the same layouts; only their memory
// may differ.
class PrimitiveCalls : public KernelState {
 public:
  // Starts a run.
  void Start() { next_ = 0; }
  void Execute(const dnnl::primitive& primitive, std::span<const Argument> arguments);

 private:
  struct Call {
    std::vector<dnnl::memory> memories;
    std::vector<dnnl_exec_arg_t> arguments;
    std::vector<void*> data;
  };
  std::vector<Call> calls_;
  size_t next_ = 0;
};

// Calls `f(calls)` with the calls that the context keeps, or with new ones where it keeps none; gives what it throws as a Status.
Status WithCalls(KernelContext& context, std::string_view what, const std::function<void(PrimitiveCalls&)>& f);

// Adds up the parts of a step's scratch memory.
class ScratchLayout {
 public:
  // The offset of a part of `bytes`; aligned.
  size_t Add(size_t bytes);
  size_t total() const { return total_; }

 private:
  size_t total_ = 0;
};

// An operand that a primitive wants in another layout than it has: reordered through scratch. `to_user` for results.
class Adapter {
 public:
  Adapter() = default;
  Adapter(const dnnl::memory::desc& user, const dnnl::memory::desc& wanted, bool to_user, ScratchLayout& scratch);
  bool needed() const { return needed_; }
  // What the primitive works on: the user's own memory where no reorder is needed.
  Argument Working(int index, void* user, std::byte* scratch) const;
  // Copies between the two, in the direction given.
  void Run(PrimitiveCalls& calls, void* user, std::byte* scratch) const;

 private:
  dnnl::memory::desc user_, wanted_;
  dnnl::reorder reorder_;
  size_t offset_ = 0;
  bool needed_ = false, to_user_ = false;
};

// The packed form of a constant weight for `wanted`, from the user's layout. kUnavailable when the constant has other forms
// already and may not have one more.
Result<std::shared_ptr<Buffer>> PackWeight(PackedConstants& constants, const Tensor& weight, const dnnl::memory::desc& user,
                                           const dnnl::memory::desc& wanted);
// The layouts of oneDNN that a constant is packed in already.
std::vector<dnnl::memory::desc> PackedLayouts(const PackedConstants& constants, const Tensor& weight);

// oneDNN's form of an activation for a post-op; nullopt where it has none that agrees with ours for finite numbers.
struct EltwiseForm {
  dnnl::algorithm algorithm;
  float alpha = 0, beta = 0;
};
std::optional<EltwiseForm> ToEltwise(const Activation& activation);

// Applies the activation to a result of `count` elements on the team: NaN stays NaN, which oneDNN's post-ops do not promise.
void ApplyActivationOnTeam(const Activation& activation, float* data, int64_t count);
// The same behind a bias by channel, for a plain image or one whose channels fill its blocks.
void ApplyBiasAndActivationOnTeam(const Activation& activation, const float* bias, const OperandDesc& image, float* data);

}  // namespace asc::onednn

#endif  // ASC_CORE_KERNELS_ONEDNN_COMMON_H_
