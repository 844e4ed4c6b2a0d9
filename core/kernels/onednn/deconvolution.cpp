// ConvTranspose by oneDNN, for plain images; operands are reordered to its layouts on the way.
#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "core/kernels/families.h"
#include "core/kernels/onednn/common.h"
#include "core/kernels/vector/common.h"
#include "core/ops/window.h"

namespace asc {
namespace {
using dnnl::memory;
using onednn::Engine;

enum Operand : size_t { kX = 0, kW = 1, kBias = 2 };

bool HasBias(const KernelRequest& request) {
  return request.inputs.size() > kBias && request.inputs[kBias].present;
}

// The axes with what is cut off at their ends, where oneDNN takes them: it pads the result with nothing.
Result<std::vector<WindowAxis>> AxesOf(const KernelRequest& request) {
  const Dims &x = request.inputs[kX].dims, &w = request.inputs[kW].dims,
             &y = request.outputs[0].dims;
  const std::vector<int64_t> kernel(w.begin() + 2, w.end());
  ASC_ASSIGN_OR_RETURN(const WindowSpec spec, ReadWindow("ConvTranspose", request.node.attributes,
                                                         kernel, kernel.size(), PadRule::kAny));
  std::vector<WindowAxis> axes(kernel.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    WindowAxis& axis = axes[i];
    axis.input = x[i + 2];
    axis.output = y[i + 2];
    axis.kernel = kernel[i];
    axis.stride = spec.strides[i];
    axis.dilation = spec.dilations[i];
    axis.pad_begin = spec.pads_begin[i];
    axis.pad_end = (axis.input - 1) * axis.stride + spec.Span(i) - axis.output - axis.pad_begin;
    if (axis.pad_begin < 0 || axis.pad_end < 0)
      return Error(Code::kUnavailable, "oneDNN does not enlarge results");
  }
  return axes;
}

bool Supports(const KernelRequest& request) {
  const AttributeMap& attributes = request.node.attributes;
  const OperandDesc &x = request.inputs[kX], &w = request.inputs[kW], &y = request.outputs[0];
  if (!simd::AllPlainFloat(request.inputs) || !simd::IsPlainFloat(y)) return false;
  if (x.dims.size() < 3 || x.dims.size() > 5 || w.dims.size() != x.dims.size()) return false;
  if (ElementCount(x.dims) == 0 || ElementCount(w.dims) == 0 || ElementCount(y.dims) == 0)
    return false;
  if (attributes.String("auto_pad", "NOTSET") != "NOTSET" ||
      !attributes.Ints("output_shape").empty())
    return false;
  return AxesOf(request).ok();
}

// A weight [groups * I, O, k...] as oneDNN sees it: ([groups,] O, I, k...).
memory::desc WeightDesc(const Dims& w, int64_t groups) {
  const Dims own = ContiguousStrides(w);
  Dims dims = {w[1], w[0] / groups}, strides = {own[1], own[0]};
  dims.insert(dims.end(), w.begin() + 2, w.end());
  strides.insert(strides.end(), own.begin() + 2, own.end());
  if (groups > 1) {
    dims.insert(dims.begin(), groups);
    strides.insert(strides.begin(), w[0] / groups * own[0]);
  }
  return {onednn::ToDnnl(dims), memory::data_type::f32, onednn::ToDnnl(strides)};
}

class Deconvolution : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> Create(const KernelRequest& request) {
    auto kernel = std::make_unique<Deconvolution>();
    ASC_RETURN_IF_ERROR(kernel->Prepare(request));
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  Status Run(KernelContext& context) const override {
    return onednn::WithCalls(context, "transposed convolution", [&](onednn::PrimitiveCalls& calls) {
      auto* scratch = static_cast<std::byte*>(context.planned_scratch());
      const auto data = [&](size_t i) { return const_cast<void*>(context.input(i).raw()); };
      void* result = context.output(0).raw();
      source_.Run(calls, data(kX), scratch);
      if (!packed_) weight_.Run(calls, data(kW), scratch);
      absl::InlinedVector<onednn::Argument, 5> arguments = {
          source_.Working(DNNL_ARG_SRC, data(kX), scratch),
          packed_ ? onednn::Argument{DNNL_ARG_WEIGHTS, &weight_desc_, packed_->data()}
                  : weight_.Working(DNNL_ARG_WEIGHTS, data(kW), scratch),
          destination_.Working(DNNL_ARG_DST, result, scratch),
          {DNNL_ARG_SCRATCHPAD, &scratchpad_desc_, scratch + scratchpad_offset_},
      };
      if (has_bias_) arguments.push_back({DNNL_ARG_BIAS, &bias_desc_, data(kBias)});
      calls.Execute(primitive_, arguments);
      destination_.Run(calls, result, scratch);
    });
  }

  std::unique_ptr<KernelState> MakeState() const override {
    return std::make_unique<onednn::PrimitiveCalls>();
  }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  bool packs(size_t i) const override { return i == kW && packed_ != nullptr; }
  std::string_view name() const override { return name_; }

 private:
  Status Prepare(const KernelRequest& request) {
    const OperandDesc &x = request.inputs[kX], &w = request.inputs[kW];
    ASC_ASSIGN_OR_RETURN(const std::vector<WindowAxis> axes, AxesOf(request));
    has_bias_ = HasBias(request);
    Status packing;
    const Status made = onednn::Guard(Code::kUnavailable, "transposed convolution", [&] {
      const memory::desc x_desc = onednn::PlainDesc(x.dims),
                         y_desc = onednn::PlainDesc(request.outputs[0].dims);
      const memory::desc w_desc = WeightDesc(w.dims, request.node.attributes.Int("group", 1));
      if (has_bias_) bias_desc_ = onednn::PlainDesc(request.inputs[kBias].dims);
      memory::dims strides, dilations, pads_begin, pads_end;
      for (const WindowAxis& axis : axes) {
        strides.push_back(axis.stride);
        dilations.push_back(axis.dilation - 1);
        pads_begin.push_back(axis.pad_begin);
        pads_end.push_back(axis.pad_end);
      }
      dnnl::primitive_attr attr;
      attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
      const dnnl::deconvolution_forward::primitive_desc primitive_desc(
          Engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct,
          onednn::AnyLike(x_desc), onednn::AnyLike(w_desc), bias_desc_, onednn::AnyLike(y_desc), strides, dilations,
          pads_begin, pads_end, attr);
      if (w.constant != nullptr) {
        Result<std::shared_ptr<Buffer>> packed = onednn::PackWeight(
            request.constants, *w.constant, w_desc, primitive_desc.weights_desc());
        if (packed.ok()) {
          packed_ = std::move(packed).value();
        } else if (packed.status().code() != Code::kUnavailable) {
          packing = packed.status();
          return;
        }
      }
      primitive_ = dnnl::deconvolution_forward(primitive_desc);
      weight_desc_ = primitive_desc.weights_desc();
      scratchpad_desc_ = primitive_desc.scratchpad_desc();
      onednn::ScratchLayout scratch;
      scratchpad_offset_ = scratch.Add(scratchpad_desc_.get_size());
      source_ = onednn::Adapter(x_desc, primitive_desc.src_desc(), false, scratch);
      destination_ = onednn::Adapter(y_desc, primitive_desc.dst_desc(), true, scratch);
      if (!packed_) weight_ = onednn::Adapter(w_desc, weight_desc_, false, scratch);
      scratch_bytes_ = scratch.total();
      name_ = Cat("onednn:", primitive_desc.impl_info_str());
    });
    return packing.ok() ? made : packing;
  }

  dnnl::deconvolution_forward primitive_;
  onednn::Adapter source_, weight_, destination_;
  memory::desc weight_desc_, bias_desc_, scratchpad_desc_;
  std::shared_ptr<Buffer> packed_;
  bool has_bias_ = false;
  size_t scratch_bytes_ = 0, scratchpad_offset_ = 0;
  std::string name_;
};
}  // namespace

void AddOneDnnDeconvolutions(KernelTable& table) {
  table.push_back(
      {"ConvTranspose", "", "onednn.deconvolution", Supports, nullptr, Deconvolution::Create});
}

}  // namespace asc
