#include "core/ops/fft.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace asc {
namespace {
constexpr int64_t kLargestFactor = 31;

// A two first, then fours: few passes. Empty when a factor is too large.
std::vector<int64_t> SmallFactors(int64_t n) {
  std::vector<int64_t> factors;
  while (n % 4 == 0) factors.push_back(4), n /= 4;
  if (n % 2 == 0) factors.insert(factors.begin(), 2), n /= 2;
  for (const int64_t factor : {3, 5, 7, 11, 13, 17, 19, 23, 29, 31}) {
    while (n % factor == 0) factors.push_back(factor), n /= factor;
  }
  return n == 1 ? factors : std::vector<int64_t>();
}

// The operator of std::complex asks for NaN.
template <typename T>
std::complex<T> Times(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
}  // namespace

template <typename T>
std::complex<T> UnitRoot(int64_t k, int64_t n) {
  const bool upper = k > n - k;
  const double angle =
      -2 * std::numbers::pi * static_cast<double>(upper ? n - k : k) / static_cast<double>(n);
  return {static_cast<T>(std::cos(angle)),
          static_cast<T>(upper ? -std::sin(angle) : std::sin(angle))};
}
template std::complex<double> UnitRoot<double>(int64_t, int64_t);
template std::complex<float> UnitRoot<float>(int64_t, int64_t);

int64_t ChirpIndex(int64_t k, int64_t n) {
  return static_cast<int64_t>(static_cast<unsigned __int128>(k) * static_cast<uint64_t>(k) %
                              static_cast<uint64_t>(2 * n));
}

template <typename T>
BasicFft<T>::BasicFft(int64_t length) : length_(length), factors_(SmallFactors(length)) {
  if (length == 1) return;
  if (!factors_.empty()) {
    roots_.reserve(static_cast<size_t>(length));
    for (int64_t k = 0; k < length; ++k) roots_.push_back(UnitRoot<T>(k, length));
    return;
  }
  int64_t padded = 1;
  while (padded < 2 * length - 1) padded *= 2;
  padded_ = std::make_unique<const BasicFft>(padded);
  for (int64_t k = 0; k < length; ++k)
    chirp_.push_back(UnitRoot<T>(ChirpIndex(k, length), 2 * length));
  chirp_fft_.assign(static_cast<size_t>(padded), Complex());
  for (int64_t k = 0; k < length; ++k) {
    chirp_fft_[static_cast<size_t>(k)] = std::conj(chirp_[static_cast<size_t>(k)]);
    if (k > 0)
      chirp_fft_[static_cast<size_t>(padded - k)] = std::conj(chirp_[static_cast<size_t>(k)]);
  }
  Workspace work;
  padded_->Transform(chirp_fft_.data(), false, work);
}

template <typename T>
void BasicFft<T>::Transform(Complex* x, bool inverse, Workspace& work) const {
  if (length_ == 1) return;
  if (factors_.empty()) {
    ForwardBluestein(x);
    // The inverse is the forward transform read backwards.
    if (inverse) std::reverse(x + 1, x + length_);
  } else if (inverse) {
    Run<true>(x, work);
  } else {
    Run<false>(x, work);
  }
  if (!inverse) return;
  const T scale = static_cast<T>(1.0 / static_cast<double>(length_));
  for (int64_t k = 0; k < length_; ++k) x[k] *= scale;
}

template <typename T>
template <bool kInverse>
void BasicFft<T>::Run(Complex* x, Workspace& work) const {
  if (work.size() < static_cast<size_t>(length_)) work.resize(static_cast<size_t>(length_));
  Complex *in = x, *out = work.data();
  int64_t done = 1;
  for (const int64_t factor : factors_) {
    Pass<kInverse>(in, out, factor, done);
    done *= factor;
    std::swap(in, out);
  }
  if (in != x) std::copy_n(in, length_, x);
}

// From [done, factor, rest] to [factor, done, rest]: transforms over `factor`, then turns by the
// roots that join them with what is left.
template <typename T>
template <bool kInverse>
void BasicFft<T>::Pass(const Complex* in, Complex* out, int64_t factor, int64_t done) const {
  const int64_t rest = length_ / (done * factor);
  for (int64_t k = 0; k < done; ++k) {
    for (int64_t i = 0; i < rest; ++i) {
      std::array<Complex, kLargestFactor> t;
      for (int64_t q = 0; q < factor; ++q)
        t[static_cast<size_t>(q)] = in[i + rest * (q + factor * k)];
      Butterfly<kInverse>(t.data(), factor);
      out[i + rest * k] = t[0];
      for (int64_t q = 1; q < factor; ++q) {
        const Complex root = roots_[static_cast<size_t>(done * q * i)];
        const Complex value = t[static_cast<size_t>(q)];
        out[i + rest * (k + done * q)] =
            i == 0 ? value : Times(value, kInverse ? std::conj(root) : root);
      }
    }
  }
}

template <typename T>
template <bool kInverse>
void BasicFft<T>::Butterfly(Complex* t, int64_t factor) const {
  if (factor == 2) {
    const Complex a = t[0], b = t[1];
    t[0] = a + b;
    t[1] = a - b;
    return;
  }
  if (factor == 4) {
    const Complex a = t[0] + t[2], b = t[0] - t[2], c = t[1] + t[3], d = t[1] - t[3];
    const Complex turned = kInverse ? Complex(-d.imag(), d.real()) : Complex(d.imag(), -d.real());
    t[0] = a + c;
    t[1] = b + turned;
    t[2] = a - c;
    t[3] = b - turned;
    return;
  }
  // Elements q and p - q meet conjugate roots: sums take the cosines, differences the sines.
  const int64_t half = factor / 2;
  std::array<Complex, kLargestFactor / 2> sums, differences;
  const Complex first = t[0];
  Complex total = first;
  for (int64_t q = 1; q <= half; ++q) {
    const auto at = static_cast<size_t>(q - 1);
    sums[at] = t[q] + t[factor - q];
    differences[at] = t[q] - t[factor - q];
    total += sums[at];
  }
  t[0] = total;
  for (int64_t r = 1; r <= half; ++r) {
    Complex even = first, odd;
    for (int64_t q = 1; q <= half; ++q) {
      const Complex root = roots_[static_cast<size_t>(q * r % factor * (length_ / factor))];
      const auto at = static_cast<size_t>(q - 1);
      even += root.real() * sums[at];
      odd += root.imag() * differences[at];
    }
    const Complex turned =
        kInverse ? Complex(odd.imag(), -odd.real()) : Complex(-odd.imag(), odd.real());
    t[r] = even + turned;
    t[factor - r] = even - turned;
  }
}

// k n = (k^2 + n^2 - (k - n)^2) / 2 makes the transform a convolution with a chirp, done by a
// longer transform of length 2^m.
template <typename T>
void BasicFft<T>::ForwardBluestein(Complex* x) const {
  const auto padded = static_cast<size_t>(padded_->length());
  std::vector<Complex> buffer(padded);
  Workspace work;
  for (int64_t k = 0; k < length_; ++k)
    buffer[static_cast<size_t>(k)] = Times(x[k], chirp_[static_cast<size_t>(k)]);
  padded_->Transform(buffer.data(), false, work);
  for (size_t k = 0; k < padded; ++k) buffer[k] = Times(buffer[k], chirp_fft_[k]);
  padded_->Transform(buffer.data(), true, work);
  for (int64_t k = 0; k < length_; ++k)
    x[k] = Times(buffer[static_cast<size_t>(k)], chirp_[static_cast<size_t>(k)]);
}

template class BasicFft<double>;
template class BasicFft<float>;

}  // namespace asc
