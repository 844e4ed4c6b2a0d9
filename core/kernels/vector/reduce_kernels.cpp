// Reductions of float32 over neighbouring axes, global pooling (blocked too), and ArgMax, ArgMin
// and Hardmax along an axis.
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

// Calls visit(outer, first, count) for all pieces of columns of [outer, length, inner], inner > 1.
template <typename Visit>
void ForColumns(const Extents& e, Visit visit) {
  const int64_t groups = (e.inner + kColumns - 1) / kColumns;
  const int64_t work = std::max<int64_t>(1, e.length * std::min(e.inner, kColumns));
  ParallelFor(e.outer * groups, std::max<int64_t>(1, kGrain / work),
              [&](int64_t begin, int64_t end) {
                for (int64_t unit = begin; unit < end; ++unit) {
                  const int64_t first = unit % groups * kColumns;
                  visit(unit / groups, first, std::min(kColumns, e.inner - first));
                }
              });
}

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
    ForColumns(e_, [&](int64_t outer, int64_t first, int64_t count) {
      simd::ReduceColumns(op_, x + outer * e_.length * e_.inner + first,
                          y + outer * e_.inner + first, e_.length, e_.inner, count);
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
  ArgKernel(bool largest, const Extents& extents) : largest_(largest), e_(extents) {}
  Status Run(KernelContext& context) const override {
    const float* x = context.input(0).data<float>();
    int64_t* y = context.output(0).data<int64_t>();
    if (e_.inner == 1) {
      ParallelFor(
          e_.outer, std::max<int64_t>(1, kGrain / e_.length), [&](int64_t begin, int64_t end) {
            simd::ArgRows(largest_, x + begin * e_.length, y + begin, end - begin, e_.length);
          });
      return Ok();
    }
    ForColumns(e_, [&](int64_t outer, int64_t first, int64_t count) {
      simd::ArgColumns(largest_, x + outer * e_.length * e_.inner + first,
                       y + outer * e_.inner + first, e_.length, e_.inner, count);
    });
    return Ok();
  }
  std::string_view name() const override { return "vector:arg_reduce"; }

 private:
  bool largest_;
  Extents e_;
};

// 1 at the first largest element along the axis, 0 elsewhere.
class HardmaxKernel : public Kernel {
 public:
  explicit HardmaxKernel(const Extents& extents) : e_(extents) {}
  Status Run(KernelContext& context) const override {
    const float* x = context.input(0).data<float>();
    float* y = context.output(0).data<float>();
    if (e_.inner == 1) {
      ParallelFor(e_.outer, std::max<int64_t>(1, kGrain / e_.length),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t row = begin; row < end; ++row) {
                      int64_t place = 0;
                      simd::ArgRows(true, x + row * e_.length, &place, 1, e_.length);
                      std::fill_n(y + row * e_.length, e_.length, 0.0f);
                      y[row * e_.length + place] = 1;
                    }
                  });
      return Ok();
    }
    ForColumns(e_, [&](int64_t outer, int64_t first, int64_t count) {
      const int64_t at = outer * e_.length * e_.inner + first;
      int64_t places[kColumns];
      simd::ArgColumns(true, x + at, places, e_.length, e_.inner, count);
      for (int64_t i = 0; i < e_.length; ++i) std::fill_n(y + at + i * e_.inner, count, 0.0f);
      for (int64_t i = 0; i < count; ++i) y[at + places[i] * e_.inner + i] = 1;
    });
    return Ok();
  }
  std::string_view name() const override { return "vector:hardmax"; }

 private:
  Extents e_;
};

// Along the one axis of the node; nullopt where there is none.
std::optional<Extents> AxisExtents(const KernelRequest& request, int64_t default_axis) {
  const Dims& dims = request.inputs[0].dims;
  const Result<int64_t> axis = NormalizeAxis(request.node.attributes.Int("axis", default_axis),
                                             static_cast<int64_t>(dims.size()));
  if (!axis.ok()) return std::nullopt;
  const auto at = static_cast<size_t>(*axis);
  return Extents{ElementCount(dims, 0, at), dims[at], ElementCount(dims, at + 1, dims.size())};
}
bool FitsAxis(const KernelRequest& request, const std::optional<Extents>& e) {
  constexpr int64_t kMost = INT32_MAX;  // what columns count in
  return simd::IsPlainFloat(request.inputs[0]) && simd::IsPlain(request.outputs[0]) && e &&
         e->length > 0 && e->length <= kMost && e->outer * e->inner > 0;
}

bool SupportsArg(const KernelRequest& request) {
  return FitsAxis(request, AxisExtents(request, 0)) &&
         request.node.attributes.Int("select_last_index", 0) == 0;
}
Result<std::unique_ptr<Kernel>> MakeArg(const KernelRequest& request) {
  return simd::Make<ArgKernel>(request.node.schema->name == "ArgMax", *AxisExtents(request, 0));
}
bool SupportsHardmax(const KernelRequest& request) {
  return FitsAxis(request, AxisExtents(request, -1));
}
Result<std::unique_ptr<Kernel>> MakeHardmax(const KernelRequest& request) {
  return simd::Make<HardmaxKernel>(*AxisExtents(request, -1));
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
  table.push_back({"Hardmax", "", "vector.hardmax", SupportsHardmax, nullptr, MakeHardmax});
}

}  // namespace asc
