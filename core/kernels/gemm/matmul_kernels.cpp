// MatMul, Gemm and asc.FusedMatMul with a constant matrix on the right, packed once. What is added
// and applied to the product is done while its tiles are in registers or in the cache.
#include <optional>

#include "core/kernels/families.h"
#include "core/kernels/gemm/blocked.h"
#include "core/kernels/gemm/strassen.h"
#include "core/kernels/gemm/weights.h"
#include "core/kernels/matmul_form.h"

namespace asc {
namespace {
// Extents with the rows of all batches of the left operand in one.
struct Extents {
  int64_t m, n, k;
};

// nullopt where the right operand is no single matrix, or the rows of the left one do not lie evenly.
std::optional<Extents> ExtentsOf(const KernelRequest& request, const MatMulForm& form) {
  const Dims &a = request.inputs[0].dims, &b = request.inputs[1].dims;
  const int64_t b_count = ElementCount(b);
  const bool column = b.size() == 1;  // a vector on the right
  const int64_t k = column || form.transpose_b ? b.back() : b[b.size() - 2];
  const int64_t n = column ? 1 : form.transpose_b ? b[b.size() - 2] : b.back();
  if (k * n != b_count) return std::nullopt;
  if (form.transpose_a && (a.size() < 2 || ElementCount(a, 0, a.size() - 2) != 1))
    return std::nullopt;
  return Extents{ElementCount(a) / k, n, k};
}

// How the operands 2 and 3 are added: as a row to all rows, and as a matrix of the result's extents.
struct Addends {
  size_t bias = 0, residual = 0;  // inputs; 0 for none
};
std::optional<Addends> AddendsOf(const KernelRequest& request, int64_t n) {
  Addends out;
  for (size_t i = 2; i < request.inputs.size(); ++i) {
    if (!request.inputs[i].present) continue;
    const Dims& dims = request.inputs[i].dims;
    const bool row = !dims.empty() && dims.back() == n && ElementCount(dims) == n;
    if (row && out.bias == 0) {
      out.bias = i;
    } else if (dims == request.outputs[0].dims && out.residual == 0) {
      out.residual = i;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

bool Supports(const KernelRequest& request) {
  if (!IsPlainMatMul(request) || request.inputs[1].constant == nullptr) return false;
  // Without vectors the reference kernel is as good.
  if (gemm::Tiles().lanes < 4) return false;
  const Result<MatMulForm> form = MatMulFormOf(request.node);
  if (!form.ok()) return false;
  const auto extents = ExtentsOf(request, *form);
  return extents && AddendsOf(request, extents->n);
}

class MatMul : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> Create(const KernelRequest& request) {
    auto kernel = std::make_unique<MatMul>();
    ASC_RETURN_IF_ERROR(kernel->Prepare(request));
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  Status Run(KernelContext& context) const override {
    gemm::Product product = product_;
    product.a = context.input(0).data<float>();
    product.c = context.output(0).data<float>();
    if (addends_.bias != 0) product.bias = context.input(addends_.bias).data<float>();
    if (addends_.residual != 0) product.residual = context.input(addends_.residual).data<float>();
    gemm::MultiplyOnTeam(product, a_column_, cutting_, activation_, context.planned_scratch());
    return Ok();
  }

  size_t scratch_bytes() const override { return cutting_.scratch_bytes; }
  bool packs(size_t i) const override { return i == 1; }
  std::string_view name() const override {
    return cutting_.halved ? "gemm:strassen" : "gemm:matmul";
  }

 private:
  Status Prepare(const KernelRequest& request) {
    ASC_ASSIGN_OR_RETURN(const MatMulForm form, MatMulFormOf(request.node));
    const Extents extents = *ExtentsOf(request, form);
    addends_ = *AddendsOf(request, extents.n);
    ASC_ASSIGN_OR_RETURN(packed_, gemm::PackWeight(request.constants, *request.inputs[1].constant,
                                                   extents.k, extents.n, form.transpose_b));
    product_.m = extents.m;
    product_.n = extents.n;
    product_.k = extents.k;
    product_.a_row = form.transpose_a ? 1 : extents.k;
    a_column_ = form.transpose_a ? extents.m : 1;
    product_.b = reinterpret_cast<const float*>(packed_->data());
    product_.b_panel = extents.k * gemm::Tiles().width;
    product_.c_row = product_.residual_row = extents.n;
    product_.alpha = form.alpha;
    activation_ = gemm::Clamped(form.activation, product_);
    const int64_t packed = gemm::PackedCount(extents.k, extents.n);
    cutting_ = gemm::Cut(product_, a_column_, request.threads, request.winograd);
    if (cutting_.halved && !gemm::CanBeHalved(product_.b, packed))
      cutting_ = gemm::Cut(product_, a_column_, request.threads);
    return Ok();
  }

  gemm::Product product_;
  int64_t a_column_ = 1;
  gemm::Cutting cutting_;
  Addends addends_;
  std::optional<simd::UnaryCall> activation_;  // what is no clamping
  std::shared_ptr<Buffer> packed_;
};
}  // namespace

void AddGemmMatMuls(KernelTable& table) {
  table.push_back({"MatMul", "", "gemm.matmul", Supports, nullptr, MatMul::Create});
  table.push_back({"Gemm", "", "gemm.matmul", Supports, nullptr, MatMul::Create});
  table.push_back({"FusedMatMul", "asc", "gemm.matmul", Supports, nullptr, MatMul::Create});
}

}  // namespace asc
