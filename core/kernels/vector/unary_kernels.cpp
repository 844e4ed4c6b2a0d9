// Kernels of element-wise operators with one float32 operand: plain, and blocked where padding
// stays zero.
#include <cmath>

#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/unary.h"

namespace asc {
namespace {
using simd::UnaryCall;
using simd::UnaryOp;

void RunUnary(const UnaryCall& f, const Tensor& in, Tensor& out) {
  const float* x = in.data<float>();
  float* y = out.data<float>();
  ParallelFor(in.size(), simd::UnaryGrain(f.op), [&](int64_t begin, int64_t end) {
    simd::ApplyUnary(f, x + begin, y + begin, end - begin);
  });
}

class UnaryKernel : public Kernel {
 public:
  explicit UnaryKernel(const UnaryCall& f) : f_(f) {}
  Status Run(KernelContext& context) const override {
    RunUnary(f_, context.input(0), context.output(0));
    return Ok();
  }
  std::string_view name() const override { return "vector:unary"; }

 private:
  UnaryCall f_;
};

class ClipKernel : public Kernel {
 public:
  Status Run(KernelContext& context) const override {
    UnaryCall f{UnaryOp::kClip, -INFINITY, INFINITY};
    if (context.HasInput(1)) f.a = context.input(1).data<float>()[0];
    if (context.HasInput(2)) f.b = context.input(2).data<float>()[0];
    // A bound that is NaN makes everything NaN.
    if (std::isnan(f.a) || std::isnan(f.b)) f = {UnaryOp::kAffine, 0, std::isnan(f.a) ? f.a : f.b};
    RunUnary(f, context.input(0), context.output(0));
    return Ok();
  }
  std::string_view name() const override { return "vector:clip"; }
};

struct Row {
  std::string_view op;
  UnaryOp code;
  const char* a = nullptr;  // the attributes that are the parameters
  const char* b = nullptr;
};
constexpr Row kRows[] = {
    {"Abs", UnaryOp::kAbs},
    {"Acos", UnaryOp::kAcos},
    {"Asin", UnaryOp::kAsin},
    {"Atan", UnaryOp::kAtan},
    {"Ceil", UnaryOp::kCeil},
    {"Celu", UnaryOp::kCelu, "alpha"},
    {"Cos", UnaryOp::kCos},
    {"Elu", UnaryOp::kElu, "alpha"},
    {"Erf", UnaryOp::kErf},
    {"Exp", UnaryOp::kExp},
    {"Floor", UnaryOp::kFloor},
    {"Gelu", UnaryOp::kGelu},
    {"HardSigmoid", UnaryOp::kHardSigmoid, "alpha", "beta"},
    {"HardSwish", UnaryOp::kHardSwish},
    {"LeakyRelu", UnaryOp::kLeakyRelu, "alpha"},
    {"Log", UnaryOp::kLog},
    {"Mish", UnaryOp::kMish},
    {"Neg", UnaryOp::kNeg},
    {"Reciprocal", UnaryOp::kReciprocal},
    {"Relu", UnaryOp::kRelu},
    {"Round", UnaryOp::kRound},
    {"Selu", UnaryOp::kSelu, "alpha", "gamma"},
    {"Sigmoid", UnaryOp::kSigmoid},
    {"Sign", UnaryOp::kSign},
    {"Sin", UnaryOp::kSin},
    {"Softplus", UnaryOp::kSoftplus},
    {"Softsign", UnaryOp::kSoftsign},
    {"Sqrt", UnaryOp::kSqrt},
    {"Swish", UnaryOp::kSwish, "alpha"},
    {"Tanh", UnaryOp::kTanh},
    {"ThresholdedRelu", UnaryOp::kThresholdedRelu, "alpha"},
};

// The function of the node; nullopt where there is none.
std::optional<UnaryCall> CallOf(const Node& node) {
  for (const Row& row : kRows) {
    if (row.op != node.schema->name) continue;
    UnaryCall f{row.code};
    if (row.a != nullptr) f.a = node.attributes.Float(row.a, 0);
    if (row.b != nullptr) f.b = node.attributes.Float(row.b, 0);
    if (row.op == "Gelu" && node.attributes.String("approximate", "none") == "tanh")
      f.op = UnaryOp::kGeluTanh;
    if (row.op == "Celu" && !(f.a > 0)) return std::nullopt;
    return f;
  }
  return std::nullopt;
}

// The layouts that an element-wise pass over the storage is right for.
bool FitsLayout(const KernelRequest& request, bool keeps_zero) {
  const OperandDesc &x = request.inputs[0], &y = request.outputs[0];
  if (!simd::IsFloat(x) || !simd::IsFloat(y) || x.layout != y.layout) return false;
  if (simd::IsPlain(x)) return true;
  return simd::IsBlockedImage(x) && (keeps_zero || !simd::IsPaddedImage(x));
}

bool SupportsUnary(const KernelRequest& request) {
  const auto f = CallOf(request.node);
  return f && FitsLayout(request, simd::KeepsZero(*f));
}
Result<std::unique_ptr<Kernel>> MakeUnary(const KernelRequest& request) {
  return simd::Make<UnaryKernel>(*CallOf(request.node));
}

bool SupportsClip(const KernelRequest& request) {
  UnaryCall f{UnaryOp::kClip, -INFINITY, INFINITY};
  bool known = true;
  for (size_t i = 1; i < request.inputs.size(); ++i) {
    const OperandDesc& bound = request.inputs[i];
    if (!bound.present) continue;
    if (!simd::IsPlainFloat(bound)) return false;
    const auto value = simd::ConstantScalar(bound);
    known = known && value.has_value();
    if (value) (i == 1 ? f.a : f.b) = *value;
  }
  return FitsLayout(request, known && simd::KeepsZero(f));
}
Result<std::unique_ptr<Kernel>> MakeClip(const KernelRequest&) { return simd::Make<ClipKernel>(); }

// Powers with a constant exponent that have a simpler form.
std::optional<UnaryCall> PowerCall(const KernelRequest& request) {
  const auto exponent = simd::ConstantScalar(request.inputs[1]);
  if (!exponent) return std::nullopt;
  constexpr std::pair<float, UnaryOp> kPowers[] = {{1.0f, UnaryOp::kIdentity},
                                                   {2.0f, UnaryOp::kSquare},
                                                   {3.0f, UnaryOp::kCube},
                                                   {0.5f, UnaryOp::kSquareRoot},
                                                   {-0.5f, UnaryOp::kReciprocalSqrt},
                                                   {-1.0f, UnaryOp::kReciprocal}};
  for (const auto& [value, op] : kPowers) {
    if (value == *exponent) return UnaryCall{op};
  }
  return std::nullopt;
}
bool SupportsPow(const KernelRequest& request) {
  const auto f = PowerCall(request);
  return f && FitsLayout(request, simd::KeepsZero(*f));
}
Result<std::unique_ptr<Kernel>> MakePow(const KernelRequest& request) {
  return simd::Make<UnaryKernel>(*PowerCall(request));
}
}  // namespace

bool simd::KeepsZero(const Node& node) {
  const auto f = CallOf(node);
  return f && KeepsZero(*f);
}

void AddVectorUnary(KernelTable& table) {
  for (const Row& row : kRows)
    table.push_back({row.op, "", "vector.unary", SupportsUnary, nullptr, MakeUnary});
  table.push_back({"Clip", "", "vector.clip", SupportsClip, nullptr, MakeClip});
  table.push_back({"Pow", "", "vector.power", SupportsPow, nullptr, MakePow});
}

}  // namespace asc
