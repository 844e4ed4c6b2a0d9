// Fourier transforms of lines of numbers, vectorised.
#ifndef ASC_CORE_KERNELS_VECTOR_FOURIER_H_
#define ASC_CORE_KERNELS_VECTOR_FOURIER_H_

#include <memory>
#include <vector>

#include "core/kernels/vector/fourier_loops.h"

namespace asc::simd {

// An array of complex numbers that is padded with zeros.
template <typename R>
class ComplexVector {
 public:
  ComplexVector() = default;
  explicit ComplexVector(int64_t size)
      : stride_((size + kFourierPadding - 1) / kFourierPadding * kFourierPadding),
        parts_(static_cast<size_t>(2 * stride_)) {}
  ComplexArray<R> view() { return {parts_.data(), parts_.data() + stride_}; }
  ComplexArray<const R> view() const { return {parts_.data(), parts_.data() + stride_}; }

 private:
  int64_t stride_ = 0;
  std::vector<R> parts_;
};

// The transform of one length: x[k] = sum(x[n] * exp(-2 pi i k n / length)). Stockham's passes over
// factors up to kLargestFourierFactor, and Bluestein's way for other lengths; see core/ops/fft.h. Immutable after construction.
template <typename R>
class Fourier {
 public:
  explicit Fourier(int64_t length);  // at least 1

  // Numbers that the arrays of Transform must hold, rounded up to kFourierPadding.
  int64_t size() const { return padded_ ? padded_->length_ : length_; }
  // Where the result is: x or work, of which both change. The inverse, `length` times too large, is
  // the transform with real and imaginary parts swapped, in the result as well.
  ComplexArray<R> Transform(ComplexArray<R> x, ComplexArray<R> work) const;

 private:
  void MakePasses();
  void MakeChirp();

  int64_t length_;
  std::vector<FourierPass<R>> passes_;    // empty for length 1 and where Bluestein's way is taken
  std::vector<ComplexVector<R>> tables_;  // of the passes
  ComplexVector<R> chirp_;                // exp(-pi i k^2 / length)
  ComplexVector<R> chirp_fft_;            // transform of the padded conjugate chirp
  std::unique_ptr<const Fourier> padded_;
};

// The transform of n real numbers, n even, by way of n / 2 complex ones.
template <typename R>
class RealFourier {
 public:
  explicit RealFourier(int64_t length);
  int64_t size() const { return half_.size(); }
  // From the even elements as real parts and the odd ones as imaginary parts, in x [length / 2], to
  // the first length / 2 + 1 elements of the transform in y. x and work change.
  void Transform(ComplexArray<R> x, ComplexArray<R> work, ComplexArray<R> y) const;

 private:
  int64_t half_length_;
  Fourier<R> half_;
  ComplexVector<R> turns_;  // exp(-2 pi i k / length)
};

extern template class Fourier<float>;
extern template class Fourier<double>;
extern template class RealFourier<float>;
extern template class RealFourier<double>;

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_FOURIER_H_
