// The discrete Fourier transform of any length, in double precision.
#ifndef ASC_CORE_OPS_FFT_H_
#define ASC_CORE_OPS_FFT_H_

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace asc {

// Cooley and Tukey, "An algorithm for the machine calculation of complex Fourier series", 1965, for
// lengths whose prime factors are small; Bluestein, "A linear filtering approach to the computation
// of the discrete Fourier transform", 1970, for others. Both take O(n log n). Immutable after
// construction; a Workspace serves one thread.
class Fft {
 public:
  using Complex = std::complex<double>;
  using Workspace = std::vector<Complex>;

  explicit Fft(int64_t length);  // at least 1

  int64_t length() const { return length_; }
  // x[k] = sum(x[n] * exp(-2 pi i k n / length)) in place; the inverse has the other sign and is
  // divided by the length.
  void Transform(Complex* x, bool inverse, Workspace& work) const;

 private:
  void Forward(Complex* x, Workspace& work) const;
  void Step(const Complex* in, int64_t stride, Complex* out, int64_t count, size_t factor) const;
  void ForwardBluestein(Complex* x, Workspace& work) const;

  int64_t length_;
  std::vector<int64_t> factors_;    // empty where Bluestein's way is taken
  std::vector<Complex> roots_;      // exp(-2 pi i k / length)
  std::vector<Complex> chirp_;      // exp(-pi i k^2 / length)
  std::vector<Complex> chirp_fft_;  // transform of the padded conjugate chirp
  std::unique_ptr<const Fft> padded_;
};

}  // namespace asc

#endif  // ASC_CORE_OPS_FFT_H_
