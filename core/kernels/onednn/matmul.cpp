// MatMul, Gemm and asc.FusedMatMul by oneDNN, with constant right operands packed once.
#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "core/kernels/families.h"
#include "core/kernels/matmul_form.h"
#include "core/kernels/onednn/common.h"

namespace asc {
namespace {
using dnnl::memory;
using onednn::Engine;

bool Supports(const KernelRequest& request) {
  const auto few_axes = [](const OperandDesc& operand) { return operand.dims.size() <= 6; };
  return IsPlainMatMul(request) && std::ranges::all_of(request.inputs, few_axes) && few_axes(request.outputs[0]);
}

// Everything about the extents, with vectors as matrices and batches of equal rank.
struct Extents {
  Dims a, b, y;  // of op(A), op(B) and the result
};

Extents ExtentsOf(const KernelRequest& request, const MatMulForm& form) {
  Extents e{request.inputs[0].dims, request.inputs[1].dims, {}};
  if (e.a.size() == 1) e.a.insert(e.a.begin(), 1);
  if (e.b.size() == 1) e.b.push_back(1);
  if (form.transpose_a) std::swap(e.a[e.a.size() - 1], e.a[e.a.size() - 2]);
  if (form.transpose_b) std::swap(e.b[e.b.size() - 1], e.b[e.b.size() - 2]);
  // One matrix on the right: the batch of the left is just more rows.
  if (e.b.size() == 2 && e.a.size() > 2 && !form.transpose_a) {
    e.a = {ElementCount(e.a, 0, e.a.size() - 1), e.a.back()};
  }
  const size_t rank = std::max(e.a.size(), e.b.size());
  while (e.a.size() < rank) e.a.insert(e.a.begin(), 1);
  while (e.b.size() < rank) e.b.insert(e.b.begin(), 1);
  for (size_t i = 0; i + 2 < rank; ++i) e.y.push_back(e.a[i] == 1 ? e.b[i] : e.a[i]);
  e.y.push_back(e.a[rank - 2]);
  e.y.push_back(e.b[rank - 1]);
  return e;
}

// The extents of an addend as they broadcast against the result `y`, whose own extents may have been merged (rows of all
// batches in one): nullopt where that is not possible.
std::optional<Dims> AddendDims(const Dims& addend, const Dims& original, const Dims& y) {
  if (addend == original) return y;
  Dims padded = addend;
  if (y.size() == original.size()) {
    while (padded.size() < y.size()) padded.insert(padded.begin(), 1);
    return padded;
  }
  // Merged rows: only what is the same for all rows still fits.
  if (!padded.empty() && ElementCount(padded) == padded.back()) return Dims{1, padded.back()};
  if (padded.empty() || ElementCount(padded) == 1) return Dims{1, 1};
  return std::nullopt;
}

class MatMul : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> Create(const KernelRequest& request) {
    auto kernel = std::make_unique<MatMul>();
    ASC_RETURN_IF_ERROR(kernel->Prepare(request));
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  Status Run(KernelContext& context) const override {
    return onednn::WithCalls(context, "matrix product", [&](onednn::PrimitiveCalls& calls) {
      const auto data = [&](size_t i) { return const_cast<void*>(context.input(i).raw()); };
      void* result = context.output(0).raw();
      absl::InlinedVector<onednn::Argument, 6> arguments = {
          {DNNL_ARG_SRC, &a_desc_, data(0)},
          {DNNL_ARG_WEIGHTS, &b_desc_, packed_ ? packed_->data() : data(1)},
          {DNNL_ARG_DST, &y_desc_, result},
          {DNNL_ARG_SCRATCHPAD, &scratchpad_desc_, context.planned_scratch()},
      };
      for (const Addend& addend : addends_) arguments.push_back({addend.argument, &addend.desc, data(addend.input)});
      calls.Execute(primitive_, arguments);
      if (late_activation_.kind != ActivationKind::kNone) {
        onednn::ApplyActivationOnTeam(late_activation_, static_cast<float*>(result),
                                      static_cast<int64_t>(y_desc_.get_size() / sizeof(float)));
      }
    });
  }

  std::unique_ptr<KernelState> MakeState() const override { return std::make_unique<onednn::PrimitiveCalls>(); }
  size_t scratch_bytes() const override { return scratchpad_desc_.get_size(); }
  bool packs(size_t i) const override { return i == 1 && packed_ != nullptr; }
  std::string_view name() const override { return name_; }

 private:
  struct Addend {
    size_t input;
    int argument;
    memory::desc desc;
  };

  Status Prepare(const KernelRequest& request) {
    ASC_ASSIGN_OR_RETURN(const MatMulForm form, MatMulFormOf(request.node));
    const Extents extents = ExtentsOf(request, form);
    const auto eltwise = request.assume_finite ? onednn::ToEltwise(form.activation) : std::nullopt;
    if (!eltwise) late_activation_ = form.activation;
    const Tensor* weight = request.inputs[1].constant;
    const bool pack = weight != nullptr && extents.b.size() == 2;

    dnnl::post_ops post_ops;
    if (form.alpha != 1) post_ops.append_eltwise(dnnl::algorithm::eltwise_linear, form.alpha, 0);
    for (size_t i = 2; i < request.inputs.size(); ++i) {
      if (!request.inputs[i].present) continue;
      const auto dims = AddendDims(request.inputs[i].dims, request.outputs[0].dims, extents.y);
      if (!dims) return Error(Code::kUnavailable, "an addend of shape ", request.inputs[i].dims, " does not fit merged rows");
      const memory::desc desc = onednn::PlainDesc(*dims);
      const bool row = ElementCount(*dims) == dims->back() && dims->back() == extents.y.back();
      if (row && form.alpha == 1 && !bias_) {
        bias_ = desc;
        addends_.push_back({i, DNNL_ARG_BIAS, desc});
      } else {
        addends_.push_back({i, DNNL_ARG_ATTR_MULTIPLE_POST_OP(post_ops.len()) | DNNL_ARG_SRC_1, desc});
        post_ops.append_binary(dnnl::algorithm::binary_add, desc);
      }
    }
    if (eltwise) post_ops.append_eltwise(eltwise->algorithm, eltwise->alpha, eltwise->beta);

    Status packing;
    const Status made = onednn::Guard(Code::kUnavailable, "matrix product", [&] {
      dnnl::primitive_attr attr;
      attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
      attr.set_post_ops(post_ops);
      a_desc_ = form.transpose_a ? onednn::TransposedDesc(extents.a) : onednn::PlainDesc(extents.a);
      const memory::desc b_user = form.transpose_b ? onednn::TransposedDesc(extents.b) : onednn::PlainDesc(extents.b);
      y_desc_ = onednn::PlainDesc(extents.y);
      const auto describe = [&](const memory::desc& b) {
        return dnnl::matmul::primitive_desc(Engine(), a_desc_, b, bias_ ? *bias_ : memory::desc(), y_desc_, attr);
      };
      auto primitive_desc =
          describe(pack ? memory::desc(b_user.get_dims(), b_user.get_data_type(), memory::format_tag::any) : b_user);
      if (pack) {
        const auto packed_as = [&](const memory::desc& layout) {
          return onednn::PackWeight(request.constants, *weight, b_user, layout);
        };
        Result<std::shared_ptr<Buffer>> packed = packed_as(primitive_desc.weights_desc());
        if (packed.status().code() == Code::kUnavailable) {
          for (const memory::desc& layout : onednn::PackedLayouts(request.constants, *weight)) {
            if (layout.get_dims() != b_user.get_dims()) continue;
            primitive_desc = describe(layout);
            packed = packed_as(layout);
            break;
          }
        }
        if (packed.ok()) {
          packed_ = std::move(packed).value();
        } else if (packed.status().code() == Code::kUnavailable) {
          primitive_desc = describe(b_user);
        } else {
          packing = packed.status();
          return;
        }
      }
      b_desc_ = primitive_desc.weights_desc();
      scratchpad_desc_ = primitive_desc.scratchpad_desc();
      primitive_ = dnnl::matmul(primitive_desc);
      name_ = Cat("onednn:", primitive_desc.impl_info_str());
    });
    return packing.ok() ? made : packing;
  }

  dnnl::matmul primitive_;
  memory::desc a_desc_, b_desc_, y_desc_, scratchpad_desc_;
  std::optional<memory::desc> bias_;
  std::vector<Addend> addends_;
  std::shared_ptr<Buffer> packed_;
  Activation late_activation_;
  std::string name_;
};
}  // namespace

void AddOneDnnMatMuls(KernelTable& table) {
  table.push_back({"MatMul", "", "onednn.matmul", Supports, nullptr, MatMul::Create});
  table.push_back({"Gemm", "", "onednn.matmul", Supports, nullptr, MatMul::Create});
  table.push_back({"FusedMatMul", "asc", "onednn.matmul", Supports, nullptr, MatMul::Create});
}

}  // namespace asc
