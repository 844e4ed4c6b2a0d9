// Conv and asc.FusedConv by oneDNN: direct convolution in blocked layouts. Operands in other layouts are reordered on the way,
// so that a plain graph runs too; layout assignment makes those reorders rare.
#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "core/kernels/convolution_cost.h"
#include "core/kernels/families.h"
#include "core/kernels/onednn/common.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/winograd/weights.h"
#include "core/ops/window.h"

namespace asc {
namespace {
using dnnl::memory;
using onednn::Engine;

constexpr int64_t kSmallestPlane = 64;  // pixels

enum Operand : size_t { kX = 0, kW = 1, kBias = 2, kResidual = 3 };

bool Present(const KernelRequest& request, size_t i) { return i < request.inputs.size() && request.inputs[i].present; }

bool Supports(const KernelRequest& request) {
  const OperandDesc &x = request.inputs[kX], &w = request.inputs[kW], &y = request.outputs[0];
  if (x.dims.size() < 3 || x.dims.size() > 5 || ElementCount(y.dims) == 0 || ElementCount(x.dims) == 0) return false;
  if (ElementCount(w.dims) == 0 || w.layout.is_blocked()) return false;
  for (const OperandDesc* operand : {&x, &w, &y}) {
    if (!onednn::StorageDesc(*operand)) return false;
  }
  if (Present(request, kResidual)) {
    const OperandDesc& residual = request.inputs[kResidual];
    if (residual.dims != y.dims || residual.layout != y.layout) return false;
  }
  return true;
}

// (O, I/g, k...) as oneDNN wants grouped weights: (g, O/g, I/g, k...).
Dims WeightDims(const Dims& dims, int64_t groups) {
  if (groups == 1) return dims;
  Dims grouped = dims;
  grouped[0] /= groups;
  grouped.insert(grouped.begin(), groups);
  return grouped;
}

bool HasAvx512() { return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core; }

// The blocked form of an image that oneDNN's kernels for this CPU work on.
memory::desc BlockedLike(const memory::desc& desc) {
  return {desc.get_dims(), desc.get_data_type(), HasAvx512() ? memory::format_tag::nChw16c : memory::format_tag::nChw8c};
}

class Convolution : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> Create(const KernelRequest& request) {
    auto kernel = std::make_unique<Convolution>();
    ASC_RETURN_IF_ERROR(kernel->Prepare(request));
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  Status Run(KernelContext& context) const override {
    return onednn::WithCalls(context, "convolution", [&](onednn::PrimitiveCalls& calls) {
      auto* scratch = static_cast<std::byte*>(context.planned_scratch());
      const auto data = [&](size_t i) { return const_cast<void*>(context.input(i).raw()); };
      void* result = context.output(0).raw();
      source_.Run(calls, data(kX), scratch);
      if (!packed_) weight_.Run(calls, data(kW), scratch);
      const onednn::Argument destination = destination_.Working(DNNL_ARG_DST, result, scratch);
      absl::InlinedVector<onednn::Argument, 6> arguments = {
          source_.Working(DNNL_ARG_SRC, data(kX), scratch),
          packed_ ? onednn::Argument{DNNL_ARG_WEIGHTS, &weight_desc_, packed_->data()}
                  : weight_.Working(DNNL_ARG_WEIGHTS, data(kW), scratch),
          destination,
          {DNNL_ARG_SCRATCHPAD, &scratchpad_desc_, scratch + scratchpad_offset_},
      };
      if (has_bias_ && !late_bias_) arguments.push_back({DNNL_ARG_BIAS, &bias_desc_, data(kBias)});
      if (has_residual_) {
        residual_.Run(calls, data(kResidual), scratch);
        arguments.push_back(
            residual_.Working(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, data(kResidual), scratch));
      }
      calls.Execute(primitive_, arguments);
      if (!late_bias_ && late_activation_.kind != ActivationKind::kNone) {
        onednn::ApplyActivationOnTeam(late_activation_, static_cast<float*>(destination.data),
                                      static_cast<int64_t>(destination.desc->get_size() / sizeof(float)));
      }
      destination_.Run(calls, result, scratch);
      if (late_bias_) {
        onednn::ApplyBiasAndActivationOnTeam(late_activation_, context.input(kBias).data<float>(), *late_bias_,
                                             static_cast<float*>(result));
      }
      if (padded_result_) simd::ClearPadding(static_cast<float*>(result), *padded_result_);
    });
  }

  std::unique_ptr<KernelState> MakeState() const override { return std::make_unique<onednn::PrimitiveCalls>(); }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  bool packs(size_t i) const override { return i == kW && packed_ != nullptr; }
  std::string_view name() const override { return name_; }

 private:
  Status Prepare(const KernelRequest& request) {
    const OperandDesc &x = request.inputs[kX], &w = request.inputs[kW];
    const AttributeMap& attributes = request.node.attributes;
    const size_t spatial = x.dims.size() - 2;
    const int64_t groups = attributes.Int("group", 1);
    const std::vector<int64_t> kernel(w.dims.begin() + 2, w.dims.end());
    ASC_ASSIGN_OR_RETURN(const WindowSpec spec, ReadWindow("Conv", attributes, kernel, spatial));
    ASC_ASSIGN_OR_RETURN(const std::vector<WindowAxis> axes,
                         ResolveWindow("Conv", spec, Dims(x.dims.begin() + 2, x.dims.end())));
    ASC_ASSIGN_OR_RETURN(Activation activation, simd::ActivationOf(attributes));
    has_bias_ = Present(request, kBias);
    has_residual_ = Present(request, kResidual);
    // Only where NaN need not be kept may oneDNN apply the activation itself.
    const auto eltwise = request.assume_finite ? onednn::ToEltwise(activation) : std::nullopt;
    if (!eltwise) late_activation_ = activation;
    // oneDNN starts its sums with the bias, which costs digits where the bias is large; the pass of the activation adds it for nothing.
    const OperandDesc& y = request.outputs[0];
    // That pass goes plane by plane over plain images, which takes longer than the convolution where planes are small; there
    // oneDNN's AVX-512 kernels add the bias last themselves.
    const bool small_planes = HasAvx512() && !y.layout.is_blocked() && ElementCount(y.dims, 2, y.dims.size()) < kSmallestPlane;
    if (has_bias_ && late_activation_.kind != ActivationKind::kNone && !simd::IsPaddedImage(y) && !small_planes) late_bias_ = y;
    // Infinity times the zeros that pad the weights, and activations with f(0) != 0, leave something there.
    if (simd::IsPaddedImage(y) && !request.assume_finite) padded_result_ = y;

    Status packing;
    const Status made = onednn::Guard(Code::kUnavailable, "convolution", [&] {
      const memory::desc x_desc = *onednn::StorageDesc(x), y_desc = *onednn::StorageDesc(y);
      const memory::desc w_desc = onednn::PlainDesc(WeightDims(w.dims, groups));
      memory::dims strides, dilations, pads_begin, pads_end;
      for (const WindowAxis& axis : axes) {
        strides.push_back(axis.stride);
        dilations.push_back(axis.dilation - 1);
        pads_begin.push_back(axis.pad_begin);
        pads_end.push_back(std::max<int64_t>(
            0, (axis.output - 1) * axis.stride + axis.dilation * (axis.kernel - 1) + 1 - axis.input - axis.pad_begin));
      }
      dnnl::primitive_attr attr;
      attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
      dnnl::post_ops post_ops;
      if (has_residual_) {
        post_ops.append_binary(dnnl::algorithm::binary_add, y.layout.is_blocked() ? y_desc : onednn::AnyLike(y_desc));
      }
      if (eltwise) post_ops.append_eltwise(eltwise->algorithm, eltwise->alpha, eltwise->beta);
      attr.set_post_ops(post_ops);
      if (has_bias_ && !late_bias_) bias_desc_ = onednn::PlainDesc(request.inputs[kBias].dims);

      // Given the choice, oneDNN takes channels-last kernels on some CPUs. They add up a whole window in one chain, which costs a
      // digit where it is long; those on blocks add up block by block.
      bool long_chain = x.dims.size() == 4 && groups == 1 && ElementCount(w.dims, 2, 4) > 1 && w.dims[1] >= 16;
      const auto working = [&](const OperandDesc& operand, const memory::desc& desc) {
        if (operand.layout.is_blocked()) return desc;
        return long_chain ? BlockedLike(desc) : onednn::AnyLike(desc);
      };
      const auto describe = [&](const memory::desc& weights) {
        return dnnl::convolution_forward::primitive_desc(Engine(), dnnl::prop_kind::forward_inference,
                                                         dnnl::algorithm::convolution_direct, working(x, x_desc), weights, bias_desc_,
                                                         working(y, y_desc), strides, dilations, pads_begin, pads_end, attr);
      };
      auto primitive_desc = describe(onednn::AnyLike(w_desc));
      if (long_chain && std::string_view(primitive_desc.impl_info_str()).find("jit") == std::string_view::npos) {
        long_chain = false;
        primitive_desc = describe(onednn::AnyLike(w_desc));
      }
      if (w.constant != nullptr) {
        Result<std::shared_ptr<Buffer>> packed =
            onednn::PackWeight(request.constants, *w.constant, w_desc, primitive_desc.weights_desc());
        if (packed.status().code() == Code::kUnavailable) {
          // Two other forms exist: use one of them rather than a third.
          for (const memory::desc& layout : onednn::PackedLayouts(request.constants, *w.constant)) {
            if (layout.get_dims() != w_desc.get_dims()) continue;
            primitive_desc = describe(layout);
            packed = onednn::PackWeight(request.constants, *w.constant, w_desc, layout);
            break;
          }
          // Both are of kernels that do without another.
          const std::vector<std::string> forms = request.constants.Forms(*w.constant);
          if (!packed.ok() && std::ranges::any_of(forms, winograd::IsPackedForm)) {
            packing = packed.status();
            return;
          }
        }
        if (packed.ok()) {
          packed_ = std::move(packed).value();
        } else if (packed.status().code() != Code::kUnavailable) {
          packing = packed.status();
          return;
        }
      }
      primitive_ = dnnl::convolution_forward(primitive_desc);
      weight_desc_ = primitive_desc.weights_desc();
      scratchpad_desc_ = primitive_desc.scratchpad_desc();
      ScratchLayout scratch;
      scratchpad_offset_ = scratch.Add(scratchpad_desc_.get_size());
      source_ = onednn::Adapter(x_desc, primitive_desc.src_desc(), false, scratch);
      destination_ = onednn::Adapter(y_desc, primitive_desc.dst_desc(), true, scratch);
      if (has_residual_) {
        residual_ = onednn::Adapter(
            y_desc, primitive_desc.query_md(dnnl::query::exec_arg_md, DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1),
            false, scratch);
      }
      if (!packed_) weight_ = onednn::Adapter(w_desc, weight_desc_, false, scratch);
      scratch_bytes_ = scratch.total();
      name_ = Cat("onednn:", primitive_desc.impl_info_str());
    });
    return packing.ok() ? made : packing;
  }

  using ScratchLayout = onednn::ScratchLayout;
  dnnl::convolution_forward primitive_;
  onednn::Adapter source_, weight_, destination_, residual_;
  memory::desc weight_desc_, bias_desc_, scratchpad_desc_;
  std::shared_ptr<Buffer> packed_;
  Activation late_activation_;
  std::optional<OperandDesc> late_bias_, padded_result_;
  bool has_bias_ = false, has_residual_ = false;
  size_t scratch_bytes_ = 0, scratchpad_offset_ = 0;
  std::string name_;
};
}  // namespace

void AddOneDnnConvolutions(KernelTable& table) {
  table.push_back({"Conv", "", "onednn.convolution", Supports, DirectConvolutionSeconds, Convolution::Create});
  table.push_back({"FusedConv", "asc", "onednn.convolution", Supports, DirectConvolutionSeconds, Convolution::Create});
}

}  // namespace asc
