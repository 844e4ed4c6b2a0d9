// The discrete Fourier transform of any length, in double or single precision.
#ifndef ASC_CORE_OPS_FFT_H_
#define ASC_CORE_OPS_FFT_H_

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace asc {

// exp(-2 pi i k / n) for 0 <= k < n, rounded once; roots k and n - k are conjugate to the last bit.
template <typename T>
std::complex<T> UnitRoot(int64_t k, int64_t n);
extern template std::complex<double> UnitRoot<double>(int64_t, int64_t);
extern template std::complex<float> UnitRoot<float>(int64_t, int64_t);

// k^2 modulo 2 n, which keeps the angle of exp(-pi i k^2 / n) exact for large k.
int64_t ChirpIndex(int64_t k, int64_t n);

// Cooley and Tukey, "An algorithm for the machine calculation of complex Fourier series", 1965, for
// lengths whose prime factors are small, in the self-sorting order of Stockham, "High-speed
// convolution and correlation", 1966; Bluestein, "A linear filtering approach to the computation of
// the discrete Fourier transform", 1970, for others. Both take O(n log n). Immutable after
// construction; a Workspace serves one thread.
template <typename T>
class BasicFft {
 public:
  using Complex = std::complex<T>;
  using Workspace = std::vector<Complex>;

  explicit BasicFft(int64_t length);  // at least 1

  int64_t length() const { return length_; }
  // x[k] = sum(x[n] * exp(-2 pi i k n / length)) in place; the inverse has the other sign and is
  // divided by the length.
  void Transform(Complex* x, bool inverse, Workspace& work) const;

 private:
  template <bool kInverse>
  void Run(Complex* x, Workspace& work) const;
  template <bool kInverse>
  void Pass(const Complex* in, Complex* out, int64_t factor, int64_t done) const;
  template <bool kInverse>
  void Butterfly(Complex* t, int64_t factor) const;
  void ForwardBluestein(Complex* x) const;

  int64_t length_;
  std::vector<int64_t> factors_;    // empty where Bluestein's way is taken
  std::vector<Complex> roots_;      // exp(-2 pi i k / length)
  std::vector<Complex> chirp_;      // exp(-pi i k^2 / length)
  std::vector<Complex> chirp_fft_;  // transform of the padded conjugate chirp
  std::unique_ptr<const BasicFft> padded_;
};

extern template class BasicFft<double>;
extern template class BasicFft<float>;

using Fft = BasicFft<double>;

}  // namespace asc

#endif  // ASC_CORE_OPS_FFT_H_
