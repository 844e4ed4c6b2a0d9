// Reductions of float32 over neighbouring axes, global pooling (blocked too), and ArgMax and ArgMin
// over the last axis.
#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/reduce.h"

namespace asc {
namespace {
using simd::ReduceOp;

constexpr int64_t kGrain = 1 << 14;
constexpr int64_t kColumns = 64;  // that one piece takes

// The input as [outer, length, inner], reduced over the middle.
struct Extents {
  int64_t outer = 1, length = 1, inner = 1;
};

class ReduceKernel : public Kernel {
 public:
  ReduceKernel(ReduceOp op, const Extents& extents) : op_(op), e_(extents) {}

  Status Run(KernelContext& context) const override {
    const float* x = context.input(0).data<float>();
    float* y = context.output(0).data<float>();
    if (e_.inner == 1) {
      ParallelFor(e_.outer, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, e_.length)),
                  [&](int64_t begin, int64_t end) {
                    simd::ReduceRows(op_, x + begin * e_.length, y + begin, end - begin, e_.length);
                  });
      return Ok();
    }
    const int64_t groups = (e_.inner + kColumns - 1) / kColumns;
    const int64_t work = std::max<int64_t>(1, e_.length * std::min(e_.inner, kColumns));
    ParallelFor(e_.outer * groups, std::max<int64_t>(1, kGrain / work),
                [&](int64_t begin, int64_t end) {
                  for (int64_t unit = begin; unit < end; ++unit) {
                    const int64_t outer = unit / groups, first = unit % groups * kColumns;
                    simd::ReduceColumns(op_, x + outer * e_.length * e_.inner + first,
                                        y + outer * e_.inner + first, e_.length, e_.inner,
                                        std::min(kColumns, e_.inner - first));
                  }
                });
    return Ok();
  }
  std::string_view name() const override { return "vector:reduce"; }

 private:
  ReduceOp op_;
  Extents e_;
};

constexpr std::pair<std::string_view, ReduceOp> kReductions[] = {
    {"ReduceL1", ReduceOp::kL1},
    {"ReduceL2", ReduceOp::kL2},
    {"ReduceMax", ReduceOp::kMax},
    {"ReduceMean", ReduceOp::kMean},
    {"ReduceMin", ReduceOp::kMin},
    {"ReduceSum", ReduceOp::kSum},
    {"ReduceSumSquare", ReduceOp::kSumSquare}};
ReduceOp OpOf(const Node& node) {
  for (const auto& [name, op] : kReductions) {
    if (name == node.schema->name) return op;
  }
  return node.schema->name == "GlobalMaxPool" ? ReduceOp::kMax : ReduceOp::kMean;
}

// nullopt where the axes are not known or do not lie side by side.
std::optional<Extents> ExtentsOf(const KernelRequest& request) {
  const Dims& dims = request.inputs[0].dims;
  std::vector<bool> reduced(dims.size(), false);
  std::vector<int64_t> axes;
  if (request.inputs.size() > 1 && request.inputs[1].present) {
    if (request.inputs[1].constant == nullptr) return std::nullopt;
    const auto values = ToInt64Vector(*request.inputs[1].constant);
    if (!values.ok()) return std::nullopt;
    axes = *values;
  }
  if (axes.empty())
    reduced.assign(dims.size(), request.node.attributes.Int("noop_with_empty_axes", 0) == 0);
  for (const int64_t axis : axes) {
    const Result<int64_t> normal = NormalizeAxis(axis, static_cast<int64_t>(dims.size()));
    if (!normal.ok()) return std::nullopt;
    reduced[static_cast<size_t>(*normal)] = true;
  }
  Extents e;
  bool inside = false, after = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (reduced[i] && after) return std::nullopt;
    inside = inside || reduced[i];
    after = inside && !reduced[i];
    (reduced[i] ? e.length : inside ? e.inner : e.outer) *= dims[i];
  }
  return e;
}

// The storage [N, C1, rows * columns, C0] of a blocked image.
Extents BlockedExtents(const OperandDesc& image) {
  const int64_t c0 = image.layout.c0;
  return {image.dims[0] * ((image.dims[1] + c0 - 1) / c0), image.dims[2] * image.dims[3], c0};
}

bool SupportsReduce(const KernelRequest& request) {
  const OperandDesc &x = request.inputs[0], &y = request.outputs[0];
  if (!simd::IsFloat(x) || !simd::IsFloat(y) || x.layout != y.layout) return false;
  const auto e = ExtentsOf(request);
  if (simd::IsPlain(x)) return e && e->outer * e->length * e->inner > 0;
  // Rows and columns of blocked images; not where nothing tells them from other axes.
  const bool planes = y.dims.size() == 4 && y.dims[0] == x.dims[0] && y.dims[1] == x.dims[1] &&
                      y.dims[2] == 1 && y.dims[3] == 1;
  return simd::IsBlockedImage(x) && planes && e;
}
Result<std::unique_ptr<Kernel>> MakeReduce(const KernelRequest& request) {
  const OperandDesc& x = request.inputs[0];
  return simd::Make<ReduceKernel>(OpOf(request.node),
                                  simd::IsPlain(x) ? *ExtentsOf(request) : BlockedExtents(x));
}

bool SupportsGlobalPool(const KernelRequest& request) {
  const OperandDesc &x = request.inputs[0], &y = request.outputs[0];
  if (!simd::IsFloat(x) || !simd::IsFloat(y) || x.dims.size() < 3) return false;
  return x.layout == y.layout && (simd::IsPlain(x) || simd::IsBlockedImage(x));
}
Result<std::unique_ptr<Kernel>> MakeGlobalPool(const KernelRequest& request) {
  const OperandDesc& x = request.inputs[0];
  const Extents plain{x.dims[0] * x.dims[1], ElementCount(x.dims, 2, x.dims.size()), 1};
  return simd::Make<ReduceKernel>(OpOf(request.node), simd::IsPlain(x) ? plain : BlockedExtents(x));
}

class ArgKernel : public Kernel {
 public:
  ArgKernel(bool largest, int64_t rows, int64_t length)
      : largest_(largest), rows_(rows), length_(length) {}
  Status Run(KernelContext& context) const override {
    const float* x = context.input(0).data<float>();
    int64_t* y = context.output(0).data<int64_t>();
    ParallelFor(rows_, std::max<int64_t>(1, kGrain / length_), [&](int64_t begin, int64_t end) {
      simd::ArgRows(largest_, x + begin * length_, y + begin, end - begin, length_);
    });
    return Ok();
  }
  std::string_view name() const override { return "vector:arg_reduce"; }

 private:
  bool largest_;
  int64_t rows_, length_;
};

bool SupportsArg(const KernelRequest& request) {
  const Dims& dims = request.inputs[0].dims;
  if (!simd::IsPlainFloat(request.inputs[0]) || dims.empty() || dims.back() == 0) return false;
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t axis = request.node.attributes.Int("axis", 0);
  return (axis == -1 || axis == rank - 1) &&
         request.node.attributes.Int("select_last_index", 0) == 0;
}
Result<std::unique_ptr<Kernel>> MakeArg(const KernelRequest& request) {
  const Dims& dims = request.inputs[0].dims;
  return simd::Make<ArgKernel>(request.node.schema->name == "ArgMax",
                               ElementCount(dims, 0, dims.size() - 1), dims.back());
}
}  // namespace

void AddVectorReduce(KernelTable& table) {
  for (const auto& [name, op] : kReductions) {
    table.push_back({name, "", "vector.reduce", SupportsReduce, nullptr, MakeReduce});
  }
  for (const std::string_view op : {"GlobalAveragePool", "GlobalMaxPool"}) {
    table.push_back({op, "", "vector.global_pool", SupportsGlobalPool, nullptr, MakeGlobalPool});
  }
  for (const std::string_view op : {"ArgMax", "ArgMin"}) {
    table.push_back({op, "", "vector.arg_reduce", SupportsArg, nullptr, MakeArg});
  }
}

}  // namespace asc
