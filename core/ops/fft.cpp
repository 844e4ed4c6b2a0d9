#include "core/ops/fft.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace asc {
namespace {
constexpr int64_t kLargestFactor = 31;

// exp(-2 pi i k / n).
Fft::Complex Root(int64_t k, int64_t n) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

// Fours before twos: fewer passes. Empty when a factor is too large.
std::vector<int64_t> SmallFactors(int64_t n) {
  std::vector<int64_t> factors;
  for (const int64_t factor : {4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31}) {
    while (n % factor == 0) {
      factors.push_back(factor);
      n /= factor;
    }
  }
  return n == 1 ? factors : std::vector<int64_t>();
}
}  // namespace

Fft::Fft(int64_t length) : length_(length), factors_(SmallFactors(length)) {
  if (length == 1) return;
  if (!factors_.empty()) {
    roots_.reserve(static_cast<size_t>(length));
    for (int64_t k = 0; k < length; ++k) roots_.push_back(Root(k, length));
    return;
  }
  int64_t padded = 1;
  while (padded < 2 * length - 1) padded *= 2;
  padded_ = std::make_unique<const Fft>(padded);
  // k^2 modulo 2n keeps the angle exact for large k.
  for (int64_t k = 0; k < length; ++k) {
    const auto square =
        static_cast<int64_t>(static_cast<unsigned __int128>(k) * static_cast<uint64_t>(k) %
                             static_cast<uint64_t>(2 * length));
    chirp_.push_back(Root(square, 2 * length));
  }
  chirp_fft_.assign(static_cast<size_t>(padded), Complex());
  for (int64_t k = 0; k < length; ++k) {
    chirp_fft_[static_cast<size_t>(k)] = std::conj(chirp_[static_cast<size_t>(k)]);
    if (k > 0)
      chirp_fft_[static_cast<size_t>(padded - k)] = std::conj(chirp_[static_cast<size_t>(k)]);
  }
  Workspace work;
  padded_->Transform(chirp_fft_.data(), false, work);
}

void Fft::Transform(Complex* x, bool inverse, Workspace& work) const {
  if (length_ == 1) return;
  if (!inverse) return Forward(x, work);
  // The inverse is the forward transform read backwards.
  Forward(x, work);
  std::reverse(x + 1, x + length_);
  const double scale = 1.0 / static_cast<double>(length_);
  for (int64_t k = 0; k < length_; ++k) x[k] *= scale;
}

void Fft::Forward(Complex* x, Workspace& work) const {
  if (factors_.empty()) return ForwardBluestein(x, work);
  if (work.size() < static_cast<size_t>(length_)) work.resize(static_cast<size_t>(length_));
  std::copy_n(x, length_, work.begin());
  Step(work.data(), 1, x, length_, 0);
}

// Transforms the `count` elements in[0], in[stride]... into out: by parts of every p-th element,
// joined by p-point transforms.
void Fft::Step(const Complex* in, int64_t stride, Complex* out, int64_t count,
               size_t factor) const {
  const int64_t p = factors_[factor], part = count / p;
  for (int64_t q = 0; q < p; ++q) {
    if (part == 1) {
      out[q] = in[q * stride];
    } else {
      Step(in + q * stride, stride * p, out + q * part, part, factor + 1);
    }
  }
  const int64_t step = length_ / count;  // between the roots of order `count`
  for (int64_t k = 0; k < part; ++k) {
    std::array<Complex, kLargestFactor> t;
    t[0] = out[k];
    for (int64_t q = 1; q < p; ++q)
      t[static_cast<size_t>(q)] = out[q * part + k] * roots_[static_cast<size_t>(q * k * step)];
    if (p == 2) {
      out[k] = t[0] + t[1];
      out[part + k] = t[0] - t[1];
    } else if (p == 4) {
      const Complex a = t[0] + t[2], b = t[0] - t[2], c = t[1] + t[3], d = t[1] - t[3];
      const Complex turned(d.imag(), -d.real());  // -i d
      out[k] = a + c;
      out[part + k] = b + turned;
      out[2 * part + k] = a - c;
      out[3 * part + k] = b - turned;
    } else {
      for (int64_t r = 0; r < p; ++r) {
        Complex sum = t[0];
        for (int64_t q = 1; q < p; ++q) {
          sum += t[static_cast<size_t>(q)] * roots_[static_cast<size_t>(q * r % p * (length_ / p))];
        }
        out[r * part + k] = sum;
      }
    }
  }
}

// k n = (k^2 + n^2 - (k - n)^2) / 2 makes the transform a convolution with a chirp, done by a
// longer transform of length 2^m.
void Fft::ForwardBluestein(Complex* x, Workspace& work) const {
  const auto padded = static_cast<size_t>(padded_->length());
  std::vector<Complex> buffer(padded);
  for (int64_t k = 0; k < length_; ++k)
    buffer[static_cast<size_t>(k)] = x[k] * chirp_[static_cast<size_t>(k)];
  padded_->Transform(buffer.data(), false, work);
  for (size_t k = 0; k < padded; ++k) buffer[k] *= chirp_fft_[k];
  padded_->Transform(buffer.data(), true, work);
  for (int64_t k = 0; k < length_; ++k)
    x[k] = buffer[static_cast<size_t>(k)] * chirp_[static_cast<size_t>(k)];
}

}  // namespace asc
