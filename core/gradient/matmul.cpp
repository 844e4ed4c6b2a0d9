// Gradients of matrix products.
#include <numeric>

#include "core/gradient/rules.h"

namespace asc {
namespace {
// Its last two axes changed over.
Expr Transposed(const Expr& x) {
  std::vector<int64_t> permutation(x.shape().rank());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[permutation.size() - 2], permutation.back());
  return Transpose(x, permutation);
}

Expr Product(const Expr& a, const Expr& b) { return Apply("MatMul", {a, b}); }

// All axes but the last become one.
Expr Rows(const Expr& x) {
  return Apply("Flatten", {x}, Attributes({{"axis", static_cast<int64_t>(x.shape().rank()) - 1}}));
}

void MatMul(GradientStep& s) {
  const size_t a_rank = s.RankOf(0), b_rank = s.RankOf(1);
  if (!s.ok()) return;
  Expr a = s.x(0), b = s.x(1), g = s.g();
  // Vectors are matrices of one row on the left, of one column on the right.
  if (b_rank == 1) {
    b = Unsqueeze(b, {1});
    g = Unsqueeze(g, {-1});
  }
  if (a_rank == 1) {
    a = Unsqueeze(a, {0});
    g = Unsqueeze(g, {-2});
  }
  if (s.Wants(0)) s.Give(0, ReshapeLike(SumTo(Product(g, Transposed(b)), a), s.x(0)));
  if (!s.Wants(1)) return;
  // One matrix for a whole batch: its gradient is one product of all rows.
  const bool one = b_rank <= 2 && a_rank > 2 && g.has_rank();
  const Expr product = one ? Product(Transposed(Rows(a)), Rows(g)) : Product(Transposed(a), g);
  s.Give(1, ReshapeLike(SumTo(product, b), s.x(1)));
}

// y = alpha A B + beta C, where A and B may come transposed.
void Gemm(GradientStep& s) {
  const bool turn_a = s.attributes().Int("transA", 0) != 0;
  const bool turn_b = s.attributes().Int("transB", 0) != 0;
  const auto product = [&](const Expr& a, bool turn_left, const Expr& b, bool turn_right) {
    return Apply("Gemm", {a, b},
                 Attributes({{"alpha", s.attributes().Float("alpha", 1)},
                             {"transA", int64_t{turn_left}},
                             {"transB", int64_t{turn_right}}}));
  };
  const Expr a = s.x(0), b = s.x(1), g = s.g();
  if (s.Wants(0)) s.Give(0, turn_a ? product(b, turn_b, g, true) : product(g, false, b, !turn_b));
  if (s.Wants(1)) s.Give(1, turn_b ? product(g, true, a, turn_a) : product(a, !turn_a, g, false));
  if (s.Wants(2)) s.GiveSummed(2, static_cast<double>(s.attributes().Float("beta", 1)) * g);
}

constexpr GradientRow kRows[] = {{"Gemm", Gemm}, {"MatMul", MatMul}};
}  // namespace

std::span<const GradientRow> MatMulGradients() { return kRows; }

}  // namespace asc
