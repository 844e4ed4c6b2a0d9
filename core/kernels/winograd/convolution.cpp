// Conv and asc.FusedConv with 3x3 windows by Winograd's algorithm, on blocked images and constant
// weights.
#include <algorithm>

#include "core/base/parallel.h"
#include "core/kernels/convolution_cost.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/winograd/loops.h"
#include "core/kernels/winograd/redo.h"
#include "core/kernels/winograd/schedule.h"
#include "core/kernels/winograd/weights.h"
#include "core/ops/window.h"

namespace asc {
namespace {
using winograd::Epilogue;
using winograd::Problem;
using winograd::Schedule;
using winograd::TileRange;

enum Operand : size_t { kX = 0, kW = 1, kBias = 2, kResidual = 3 };
bool Present(const KernelRequest& request, size_t i) {
  return i < request.inputs.size() && request.inputs[i].present;
}

// nullopt where the convolution is of another kind.
std::optional<Problem> ProblemOf(const KernelRequest& request, int64_t tile) {
  const OperandDesc &x = request.inputs[kX], &w = request.inputs[kW], &y = request.outputs[0];
  if (w.constant == nullptr || !simd::IsPlainFloat(w) || w.dims.size() != 4 || w.dims[2] != 3 ||
      w.dims[3] != 3)
    return std::nullopt;
  for (const OperandDesc* image : {&x, &y}) {
    if (!simd::IsFloat(*image) || !simd::IsBlockedImage(*image) || ElementCount(image->dims) == 0)
      return std::nullopt;
  }
  if (x.layout != y.layout || (x.layout.c0 != 8 && x.layout.c0 != 16)) return std::nullopt;
  if (Present(request, kBias) && !simd::IsPlainFloat(request.inputs[kBias])) return std::nullopt;
  if (Present(request, kResidual)) {
    const OperandDesc& residual = request.inputs[kResidual];
    if (!simd::IsFloat(residual) || residual.dims != y.dims || residual.layout != y.layout)
      return std::nullopt;
  }
  const AttributeMap& attributes = request.node.attributes;
  if (attributes.Int("group", 1) != 1) return std::nullopt;
  const Result<WindowSpec> spec = ReadWindow("Conv", attributes, std::vector<int64_t>{3, 3}, 2);
  if (!spec.ok()) return std::nullopt;
  const Result<std::vector<WindowAxis>> axes =
      ResolveWindow("Conv", *spec, Dims(x.dims.begin() + 2, x.dims.end()));
  if (!axes.ok()) return std::nullopt;
  for (const WindowAxis& axis : *axes) {
    if (axis.stride != 1 || axis.dilation != 1) return std::nullopt;
  }
  Problem p;
  p.images = x.dims[0];
  p.channels = x.dims[1];
  p.outputs = y.dims[1];
  p.rows = x.dims[2];
  p.columns = x.dims[3];
  p.out_rows = y.dims[2];
  p.out_columns = y.dims[3];
  p.pad_top = (*axes)[0].pad_begin;
  p.pad_left = (*axes)[1].pad_begin;
  p.c0 = x.layout.c0;
  p.tile = tile;
  return p;
}

class WinogradConvolution : public Kernel {
 public:
  WinogradConvolution(const Problem& p, int threads, const Tensor& weight,
                      std::shared_ptr<Buffer> packed, simd::UnaryCall f)
      : p_(p), schedule_(p, threads), weight_(weight), packed_(std::move(packed)), f_(f) {}

  Status Run(KernelContext& context) const override {
    auto* scratch = static_cast<std::byte*>(context.planned_scratch());
    const float* x = context.input(kX).data<float>();
    float* y = context.output(0).data<float>();
    Epilogue epilogue{nullptr, nullptr, f_};
    if (context.HasInput(kBias)) epilogue.bias = context.input(kBias).data<float>();
    if (context.HasInput(kResidual)) epilogue.residual = context.input(kResidual).data<float>();
    const auto finish = [&](TileRange tiles, int64_t first, int64_t last, const float* v,
                            float* m) {
      for (int64_t stripe = first; stripe < last; ++stripe) {
        const auto* u =
            reinterpret_cast<const float*>(packed_->data()) + stripe * p_.weight_stripe();
        winograd::Multiply(p_, stripe, tiles.count, v, u, m);
        winograd::TransformOutput(
            p_, tiles, stripe, m, epilogue, y, [&](int64_t tile, int64_t channel, int64_t count) {
              winograd::ConvolveTile(p_, x, weight_, epilogue, tile, channel, count, y);
            });
      }
    };
    const int64_t workers = schedule_.workers(), blocks = schedule_.blocks();
    const auto for_workers = [&](absl::FunctionRef<void(int64_t)> work) {
      ParallelFor(workers, 1, [&](int64_t begin, int64_t end) {
        for (int64_t worker = begin; worker < end; ++worker) work(worker);
      });
    };
    if (schedule_.by_tiles()) {
      for_workers([&](int64_t worker) {
        float *v = schedule_.Inputs(scratch, worker), *m = schedule_.Products(scratch, worker);
        for (int64_t i = worker * blocks / workers; i < (worker + 1) * blocks / workers; ++i) {
          const TileRange tiles = schedule_.Block(i);
          winograd::TransformInput(p_, x, tiles, 0, p_.channel_blocks(), v);
          finish(tiles, 0, p_.stripes(), v, m);
        }
      });
      return Ok();
    }
    ParallelFor(p_.channel_blocks(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < blocks; ++i) {
        winograd::TransformInput(p_, x, schedule_.Block(i), begin, end,
                                 schedule_.Inputs(scratch, i));
      }
    });
    for_workers([&](int64_t worker) {
      for (int64_t stripe = worker * p_.stripes() / workers;
           stripe < (worker + 1) * p_.stripes() / workers; ++stripe) {
        for (int64_t i = 0; i < blocks; ++i) {
          finish(schedule_.Block(i), stripe, stripe + 1, schedule_.Inputs(scratch, i),
                 schedule_.Products(scratch, worker));
        }
      }
    });
    return Ok();
  }

  size_t scratch_bytes() const override { return schedule_.scratch_bytes(); }
  bool packs(size_t i) const override { return i == kW; }
  std::string_view name() const override {
    return p_.tile == 4 ? "winograd:f4x4" : "winograd:f2x2";
  }

 private:
  Problem p_;
  Schedule schedule_;
  Tensor weight_;  // for tiles that have to be done directly
  std::shared_ptr<Buffer> packed_;
  simd::UnaryCall f_;
};

template <int64_t kTile>
bool Supports(const KernelRequest& request) {
  return request.winograd && ProblemOf(request, kTile).has_value();
}

template <int64_t kTile>
double Cost(const KernelRequest& request) {
  return WinogradSeconds(*ProblemOf(request, kTile), request.threads);
}

template <int64_t kTile>
Result<std::unique_ptr<Kernel>> Create(const KernelRequest& request) {
  const Problem p = *ProblemOf(request, kTile);
  ASC_ASSIGN_OR_RETURN(const Activation activation, simd::ActivationOf(request.node.attributes));
  const Tensor& weight = *request.inputs[kW].constant;
  Result<std::shared_ptr<Buffer>> packed = winograd::PackWeights(p, request.constants, weight);
  // These forms are larger than the weight: a direct kernel may do with the memory that there is.
  if (packed.status().code() == Code::kOutOfMemory)
    return Error(Code::kUnavailable, packed.status().message());
  ASC_RETURN_IF_ERROR(packed.status());
  return simd::Make<WinogradConvolution>(p, request.threads, weight, std::move(packed).value(),
                                         simd::FromActivation(activation));
}
}  // namespace

void AddWinogradConvolutions(KernelTable& table) {
  for (const auto& [op, domain] : {std::pair("Conv", ""), std::pair("FusedConv", "asc")}) {
    table.push_back({op, domain, "winograd.f4x4", Supports<4>, Cost<4>, Create<4>});
    table.push_back({op, domain, "winograd.f2x2", Supports<2>, Cost<2>, Create<2>});
  }
}

}  // namespace asc
