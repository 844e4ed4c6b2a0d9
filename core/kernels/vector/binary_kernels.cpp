// Kernels of element-wise operators with two or more float32 operands, and of Where. Plain operands
// broadcast; blocked ones must all have the result's channels.
#include <cmath>

#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/binary.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/row_walk.h"
#include "core/kernels/vector/unary.h"

namespace asc {
namespace {
using simd::BinaryOp;

constexpr int64_t kGrain = 1 << 15;

struct Row {
  std::string_view op;
  BinaryOp code;
};
constexpr Row kBinary[] = {
    {"Add", BinaryOp::kAdd},     {"Div", BinaryOp::kDiv}, {"Max", BinaryOp::kMax},
    {"Mean", BinaryOp::kAdd},    {"Min", BinaryOp::kMin}, {"Mul", BinaryOp::kMul},
    {"PRelu", BinaryOp::kPRelu}, {"Sub", BinaryOp::kSub}, {"Sum", BinaryOp::kAdd}};
BinaryOp CodeOf(const Node& node) {
  for (const Row& row : kBinary) {
    if (row.op == node.schema->name) return row.code;
  }
  return BinaryOp::kAdd;
}

// The extents that kernels work on: those of the storage. Plain scalars lose their axes of
// extent 1.
Dims WorkDims(const OperandDesc& operand) {
  if (!simd::IsBlockedImage(operand))
    return ElementCount(operand.dims) == 1 ? Dims{} : operand.dims;
  const int64_t c0 = operand.layout.c0;
  return {operand.dims[0], (operand.dims[1] + c0 - 1) / c0, operand.dims[2], operand.dims[3], c0};
}

// Whether op(0, scalar) is 0 in every such kernel, for the padding of blocks.
bool KeepsZero(BinaryOp op, const OperandDesc& scalar, size_t place) {
  const auto value = simd::ConstantScalar(scalar);
  if (!value || !std::isfinite(*value)) return false;
  return op == BinaryOp::kMul || (op == BinaryOp::kDiv && place == 1 && *value != 0);
}

// Plain operands broadcast freely. Blocked ones have the result's channels and broadcast over the
// other axes; a plain scalar may stand with them. Zeros in the padding must give zeros.
bool FitsLayouts(const KernelRequest& request, BinaryOp op) {
  const OperandDesc& out = request.outputs[0];
  if (!simd::IsFloat(out)) return false;
  if (simd::IsPlain(out)) return simd::AllPlainFloat(request.inputs);
  if (!simd::IsBlockedImage(out)) return false;
  bool scalar = false;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const OperandDesc& in = request.inputs[i];
    if (!simd::IsFloat(in)) return false;
    if (simd::IsPlain(in) && ElementCount(in.dims) == 1) {
      if (simd::IsPaddedImage(out) && !KeepsZero(op, in, i)) return false;
      scalar = true;
    } else if (in.layout != out.layout || in.dims.size() != 4 || in.dims[1] != out.dims[1]) {
      return false;
    }
  }
  return scalar || op != BinaryOp::kDiv || !simd::IsPaddedImage(out);
}

class BinaryKernel : public Kernel {
 public:
  explicit BinaryKernel(const KernelRequest& request)
      : op_(CodeOf(request.node)),
        mean_(request.node.schema->name == "Mean"),
        walk_(BroadcastWalk(WorkDims(request.outputs[0]), WorkDims(request.inputs[0]),
                            WorkDims(request.inputs[1]))) {}

  Status Run(KernelContext& context) const override {
    const float* x = context.input(0).data<float>();
    const float* y = context.input(1).data<float>();
    float* z = context.output(0).data<float>();
    walk_.ForGroups(kGrain, [&](int64_t index, const auto& offsets, int64_t rows, int64_t count) {
      simd::ApplyBinary(op_, {{x + offsets[0], walk_.row(0), walk_.step(0)},
                              {y + offsets[1], walk_.row(1), walk_.step(1)},
                              z + index,
                              rows,
                              count});
      if (mean_)
        simd::ApplyUnary({simd::UnaryOp::kAffine, 0.5f, 0}, z + index, z + index, rows * count);
    });
    return Ok();
  }
  std::string_view name() const override { return "vector:binary"; }

 private:
  BinaryOp op_;
  bool mean_;
  simd::RowWalk<2> walk_;
};

bool SupportsBinary(const KernelRequest& request) {
  return request.inputs.size() == 2 && FitsLayouts(request, CodeOf(request.node));
}
Result<std::unique_ptr<Kernel>> MakeBinary(const KernelRequest& request) {
  return simd::Make<BinaryKernel>(request);
}

// Three operands or more of equal extents, folded piece by piece in a tile: the result may take the
// place of any of them.
class FoldKernel : public Kernel {
 public:
  explicit FoldKernel(const KernelRequest& request)
      : op_(CodeOf(request.node)),
        scale_(request.node.schema->name == "Mean"
                   ? 1.0f / static_cast<float>(request.inputs.size())
                   : 1.0f) {}

  Status Run(KernelContext& context) const override {
    constexpr int64_t kTile = 2048;
    float* out = context.output(0).data<float>();
    ParallelFor(context.output(0).size(), kGrain / 2, [&](int64_t begin, int64_t end) {
      float tile[kTile];
      for (int64_t at = begin; at < end; at += kTile) {
        const int64_t count = std::min(kTile, end - at);
        const float* total = context.input(0).data<float>() + at;
        for (size_t k = 1; k < context.input_count(); ++k) {
          simd::ApplyBinary(
              op_, {{total, 0, 1}, {context.input(k).data<float>() + at, 0, 1}, tile, 1, count});
          total = tile;
        }
        simd::ApplyUnary(
            {scale_ == 1.0f ? simd::UnaryOp::kIdentity : simd::UnaryOp::kAffine, scale_, 0}, tile,
            out + at, count);
      }
    });
    return Ok();
  }
  std::string_view name() const override { return "vector:fold"; }

 private:
  BinaryOp op_;
  float scale_;
};

bool SupportsFold(const KernelRequest& request) {
  const OperandDesc& out = request.outputs[0];
  return request.inputs.size() > 2 && FitsLayouts(request, CodeOf(request.node)) &&
         std::all_of(request.inputs.begin(), request.inputs.end(),
                     [&](const OperandDesc& in) { return in.dims == out.dims; });
}
Result<std::unique_ptr<Kernel>> MakeFold(const KernelRequest& request) {
  return simd::Make<FoldKernel>(request);
}

class WhereKernel : public Kernel {
 public:
  explicit WhereKernel(const KernelRequest& request)
      : walk_(BroadcastWalk(request.outputs[0].dims, request.inputs[0].dims, request.inputs[1].dims,
                            request.inputs[2].dims)) {}

  Status Run(KernelContext& context) const override {
    const bool* condition = context.input(0).data<bool>();
    const float* x = context.input(1).data<float>();
    const float* y = context.input(2).data<float>();
    float* z = context.output(0).data<float>();
    walk_.ForGroups(kGrain, [&](int64_t index, const auto& offsets, int64_t rows, int64_t count) {
      simd::ApplySelect({{condition + offsets[0], walk_.row(0), walk_.step(0)},
                         {x + offsets[1], walk_.row(1), walk_.step(1)},
                         {y + offsets[2], walk_.row(2), walk_.step(2)},
                         z + index,
                         rows,
                         count});
    });
    return Ok();
  }
  std::string_view name() const override { return "vector:where"; }

 private:
  simd::RowWalk<3> walk_;
};

bool SupportsWhere(const KernelRequest& request) {
  return request.inputs[0].dtype == DataType::kBool && simd::IsPlain(request.inputs[0]) &&
         simd::IsPlainFloat(request.inputs[1]) && simd::IsPlainFloat(request.inputs[2]) &&
         simd::IsPlainFloat(request.outputs[0]);
}
Result<std::unique_ptr<Kernel>> MakeWhere(const KernelRequest& request) {
  return simd::Make<WhereKernel>(request);
}
}  // namespace

void AddVectorBinary(KernelTable& table) {
  for (const Row& row : kBinary) {
    table.push_back({row.op, "", "vector.binary", SupportsBinary, nullptr, MakeBinary});
    if (row.op == "Max" || row.op == "Mean" || row.op == "Min" || row.op == "Sum") {
      table.push_back({row.op, "", "vector.fold", SupportsFold, nullptr, MakeFold});
    }
  }
  table.push_back({"Where", "", "vector.where", SupportsWhere, nullptr, MakeWhere});
}

}  // namespace asc
