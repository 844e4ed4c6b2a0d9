#include "core/kernels/vector/fourier.h"

#include <algorithm>
#include <utility>

#include "core/ops/fft.h"

namespace asc::simd {
namespace {
// Odd factors first, fours last: the first passes run along many numbers, whatever their factor, and
// the last one along what its loads can take apart. Empty when a factor is too large.
std::vector<int64_t> FactorsOf(int64_t n) {
  std::vector<int64_t> factors;
  for (int64_t factor = kLargestFourierFactor; factor >= 3; factor -= 2) {
    bool prime = true;
    for (int64_t d = 3; d * d <= factor; d += 2) prime = prime && factor % d != 0;
    while (prime && n % factor == 0) factors.push_back(factor), n /= factor;
  }
  size_t fours = 0;
  while (n % 4 == 0) ++fours, n /= 4;
  if (n % 2 == 0) factors.push_back(2), n /= 2;
  factors.insert(factors.end(), fours, 4);
  return n == 1 ? factors : std::vector<int64_t>();
}

template <typename R>
void SetRoot(ComplexArray<R> x, int64_t i, std::complex<R> root) {
  x.re[i] = root.real();
  x.im[i] = root.imag();
}

template <typename R>
ComplexArray<const R> Const(ComplexArray<R> x) {
  return {x.re, x.im};
}
}  // namespace

template <typename R>
Fourier<R>::Fourier(int64_t length) : length_(length) {
  if (length == 1) return;
  MakePasses();
  if (passes_.empty()) MakeChirp();
}

template <typename R>
void Fourier<R>::MakePasses() {
  int64_t done = 1;
  for (const int64_t factor : FactorsOf(length_)) {
    const int64_t rest = length_ / (done * factor);
    ComplexVector<R> twiddles((factor - 1) * rest), roots(factor);
    for (int64_t q = 1; q < factor; ++q) {
      for (int64_t i = 0; i < rest; ++i)
        SetRoot(twiddles.view(), (q - 1) * rest + i, UnitRoot<R>(done * q * i, length_));
    }
    for (int64_t k = 0; k < factor; ++k) SetRoot(roots.view(), k, UnitRoot<R>(k, factor));
    tables_.push_back(std::move(twiddles));
    tables_.push_back(std::move(roots));
    const size_t last = tables_.size() - 1;
    passes_.push_back({factor, done, rest, std::as_const(tables_[last - 1]).view(),
                       std::as_const(tables_[last]).view()});
    done *= factor;
  }
}

template <typename R>
void Fourier<R>::MakeChirp() {
  int64_t padded = 1;
  while (padded < 2 * length_ - 1) padded *= 2;
  padded_ = std::make_unique<const Fourier>(padded);
  chirp_ = ComplexVector<R>(length_);
  ComplexVector<R> around(padded), work(padded);
  for (int64_t k = 0; k < length_; ++k) {
    const std::complex<R> root = UnitRoot<R>(ChirpIndex(k, length_), 2 * length_);
    SetRoot(chirp_.view(), k, root);
    SetRoot(around.view(), k, std::conj(root));
    if (k > 0) SetRoot(around.view(), padded - k, std::conj(root));
  }
  const ComplexArray<R> result = padded_->Transform(around.view(), work.view());
  chirp_fft_ = result.re == around.view().re ? std::move(around) : std::move(work);
}

template <typename R>
ComplexArray<R> Fourier<R>::Transform(ComplexArray<R> x, ComplexArray<R> work) const {
  if (!padded_) {
    for (const FourierPass<R>& pass : passes_) {
      RunPass(pass, Const(x), work);
      std::swap(x, work);
    }
    return x;
  }
  // k n = (k^2 + n^2 - (k - n)^2) / 2 makes the transform a convolution with a chirp, done by a
  // longer transform of length 2^m.
  const int64_t padded = padded_->length_;
  MultiplyComplex(x, chirp_.view(), 1, length_);
  std::fill(x.re + length_, x.re + padded, R(0));
  std::fill(x.im + length_, x.im + padded, R(0));
  ComplexArray<R> y = padded_->Transform(x, work);
  MultiplyComplex(y, chirp_fft_.view(), 1, padded);
  ComplexArray<R> other = y.re == x.re ? work : x;
  std::swap(y.re, y.im);
  std::swap(other.re, other.im);
  y = padded_->Transform(y, other);
  std::swap(y.re, y.im);
  MultiplyComplex(y, chirp_.view(), static_cast<R>(1.0 / static_cast<double>(padded)), length_);
  return y;
}

template <typename R>
RealFourier<R>::RealFourier(int64_t length)
    : half_length_(length / 2), half_(length / 2), turns_(length / 2) {
  for (int64_t k = 0; k < half_length_; ++k) SetRoot(turns_.view(), k, UnitRoot<R>(k, length));
}

template <typename R>
void RealFourier<R>::Transform(ComplexArray<R> x, ComplexArray<R> work, ComplexArray<R> y) const {
  JoinReal(Const(half_.Transform(x, work)), turns_.view(), half_length_, y);
}

template class Fourier<float>;
template class Fourier<double>;
template class RealFourier<float>;
template class RealFourier<double>;

}  // namespace asc::simd
