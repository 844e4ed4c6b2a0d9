// Fast kernels: how a device offers code for a node beyond the reference kernel of the operator's schema.
//
// Each operator has a priority list of entries. Planning asks them in order, for the concrete shapes at hand: `supports`, then
// `cost` where several do; the cheapest is created. The reference kernel stands at the end of every list.
#ifndef ASC_CORE_DEVICE_KERNEL_H_
#define ASC_CORE_DEVICE_KERNEL_H_

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace asc {

// What planning knows of one operand.
struct OperandDesc {
  DataType dtype = DataType::kUndefined;
  Dims dims;                         // origin extents
  Layout layout;                     // storage; ND for plain row-major
  const Tensor* constant = nullptr;  // the elements where they never change; plain row-major
  bool present = false;              // false: absent optional operand
};

// Packed forms of constants, shared by all plans of an executable: at most two per constant, each made once, counted as
// MemoryUse::kPackedWeight. Thread-safe.
class PackedConstants {
 public:
  virtual ~PackedConstants() = default;
  // The packed form of `constant` called `form` ("winograd:f4x4", "gemm:768x3072:32"), of `bytes` bytes; `make` runs at most once per
  // constant and form, while other callers wait. When two other forms exist already the Status says so (kUnavailable) and the
  // kernel must take one of Forms() or pack per plan.
  virtual Result<std::shared_ptr<Buffer>> GetOrMake(
      const Tensor& constant, std::string_view form, size_t bytes,
      const std::function<Result<std::shared_ptr<Buffer>>(const std::shared_ptr<Allocator>&)>& make) = 0;
  // Those that GetOrMake gave.
  virtual std::vector<std::string> Forms(const Tensor& constant) const = 0;
};

struct KernelRequest {
  const Node& node;
  std::vector<OperandDesc> inputs, outputs;
  PackedConstants& constants;
  std::shared_ptr<Allocator> allocator;
  int threads = 1;             // the team that the kernel will run with
  bool assume_finite = false;  // NaN and infinity need not be handled
  bool fast_math = false;      // results may differ beyond rounding order (never by default)
  bool winograd = false;       // convolutions may be computed by Winograd's algorithm, products by Strassen's
};

// Code for one step of one plan: immutable, shared by concurrent runs. State of a run lives in the context's scratch, and what
// is worth keeping from one run to the next in its state.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Called on a thread whose CurrentThreads() is the request's. Inputs and outputs have the request's extents (in storage
  // form for blocked layouts).
  virtual Status Run(KernelContext& context) const = 0;
  // Bytes that each run needs in the plan's arena while this step runs, given as KernelContext::planned_scratch().
  virtual size_t scratch_bytes() const { return 0; }
  // The state that KernelContext::state() gives to each run; null when the kernel needs none. Runs may come without one.
  virtual std::unique_ptr<KernelState> MakeState() const { return nullptr; }
  // Whether the kernel holds constant input `i` in a form of its own, and does not read the input when it runs.
  virtual bool packs(size_t /*i*/) const { return false; }
  // For summaries and profiles: "onednn:brgconv_avx512".
  virtual std::string_view name() const = 0;
};

struct KernelEntry {
  std::string_view op;      // OpSchema::name
  std::string_view domain;  // OpSchema::domain
  std::string_view name;    // "onednn.conv"
  bool (*supports)(const KernelRequest& request);
  // Estimated seconds; null counts as zero: first supported in the list wins.
  double (*cost)(const KernelRequest& request);
  Result<std::unique_ptr<Kernel>> (*create)(const KernelRequest& request);
};

}  // namespace asc

#endif  // ASC_CORE_DEVICE_KERNEL_H_
