// DFT and STFT of all floating types: lines of numbers, transformed on the team. Shorter and longer
// transforms than are worth it here are left to the reference kernel.
#include <mutex>
#include <type_traits>

#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/fourier.h"
#include "core/ops/fourier.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
constexpr int64_t kShortest = 32, kLongest = int64_t{1} << 24;
constexpr int64_t kGrain = 1 << 13;  // numbers that are worth a thread

// What elements of type T are computed in.
template <typename T>
using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;

// How all lines of a call are read, transformed and written. Steps count elements.
struct LineForm {
  int64_t length;  // of the transform
  int64_t in_width, in_step,
      read;  // parts of a number, from number to number, numbers that are there
  int64_t out_width, out_step, written;
  bool inverse, mirrored;  // mirrored: the other half of the input is the conjugate of what is read
  bool real() const { return in_width == 1 && !inverse && length % 2 == 0; }
};

// The tables for one length; immutable.
template <typename R>
struct Plan {
  Plan(int64_t transform_length, bool is_real) : length(transform_length), real(is_real) {
    if (real) {
      halves = std::make_unique<const simd::RealFourier<R>>(length);
    } else {
      whole = std::make_unique<const simd::Fourier<R>>(length);
    }
  }
  // Of arrays that hold any line on its way.
  int64_t size() const { return std::max(length + 1, real ? halves->size() : whole->size()); }

  int64_t length;
  bool real;
  std::unique_ptr<const simd::RealFourier<R>> halves;
  std::unique_ptr<const simd::Fourier<R>> whole;
};

// Keeps the plan of the length that came last: mostly there is one only.
template <typename R>
class PlanCache {
 public:
  std::shared_ptr<const Plan<R>> Get(int64_t length, bool real) {
    const std::lock_guard lock(mutex_);
    if (plan_ == nullptr || plan_->length != length || plan_->real != real)
      plan_ = std::make_shared<const Plan<R>>(length, real);
    return plan_;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const Plan<R>> plan_;
};

template <typename R>
simd::ComplexArray<const R> Const(simd::ComplexArray<R> x) {
  return {x.re, x.im};
}

// The lines of one thread, one after the other.
template <typename T>
class LineTransformer {
 public:
  using R = Real<T>;

  LineTransformer(const LineForm& form, const Plan<R>& plan, const T* window)
      : form_(form),
        plan_(plan),
        window_(window),
        x_(plan.size()),
        work_(plan.size()),
        spectrum_(plan.real ? plan.size() : 0) {}

  void Run(const T* x, T* y) {
    if (plan_.real) {
      ReadReal(x);
      plan_.halves->Transform(x_.view(), work_.view(), spectrum_.view());
      Mirror(spectrum_.view(), form_.length / 2 + 1, form_.written);
      Write(spectrum_.view(), 1, y);
      return;
    }
    ReadComplex(x);
    simd::ComplexArray<R> in = x_.view(), work = work_.view();
    if (form_.inverse) {
      std::swap(in.re, in.im);
      std::swap(work.re, work.im);
    }
    simd::ComplexArray<R> out = plan_.whole->Transform(in, work);
    if (form_.inverse) std::swap(out.re, out.im);
    // The transform of real numbers has real values where a number is its own mirror image.
    if (form_.in_width == 1) RealAtMirrors(out);
    Write(out, form_.inverse ? static_cast<R>(1.0 / static_cast<double>(form_.length)) : R(1), y);
  }

 private:
  // Even elements to the real parts, odd ones to the imaginary parts.
  void ReadReal(const T* x) {
    const simd::ComplexArray<R> z = x_.view();
    if constexpr (std::is_same_v<T, R>) {
      if (form_.in_step == 1 && form_.read == form_.length)
        return simd::SplitPairs(x, window_, form_.length / 2, z);
    }
    for (int64_t k = 0; k < form_.length; ++k) {
      R value = k < form_.read ? static_cast<R>(x[k * form_.in_step]) : R(0);
      if (window_ != nullptr) value *= static_cast<R>(window_[k]);
      (k % 2 == 0 ? z.re : z.im)[k / 2] = value;
    }
  }

  void ReadComplex(const T* x) {
    const simd::ComplexArray<R> z = x_.view();
    const int64_t n = form_.length, width = form_.in_width;
    bool done = false;
    if constexpr (std::is_same_v<T, R>) {
      if (width == 2 && form_.in_step == 2) {
        simd::SplitPairs(x, nullptr, form_.read, z);
        done = true;
      }
    }
    for (int64_t k = 0; !done && k < form_.read; ++k) {
      z.re[k] = static_cast<R>(x[k * form_.in_step]);
      z.im[k] = width == 2 ? static_cast<R>(x[k * form_.in_step + 1]) : R(0);
    }
    std::fill(z.re + form_.read, z.re + n, R(0));
    std::fill(z.im + form_.read, z.im + n, R(0));
    for (int64_t k = 0; window_ != nullptr && k < n; ++k) {
      z.re[k] *= static_cast<R>(window_[k]);
      z.im[k] *= static_cast<R>(window_[k]);
    }
    if (form_.mirrored) {
      Mirror(z, n / 2 + 1, n);
      RealAtMirrors(z);
    }
  }

  // Elements [begin, end) are the conjugates of those on the other side of the middle.
  void Mirror(simd::ComplexArray<R> z, int64_t begin, int64_t end) const {
    for (int64_t k = begin; k < end; ++k) {
      z.re[k] = z.re[form_.length - k];
      z.im[k] = -z.im[form_.length - k];
    }
  }

  void RealAtMirrors(simd::ComplexArray<R> z) const {
    z.im[0] = 0;
    if (form_.length % 2 == 0) z.im[form_.length / 2] = 0;
  }

  void Write(simd::ComplexArray<R> z, R scale, T* y) const {
    if constexpr (std::is_same_v<T, R>) {
      if (form_.out_width == 2 && form_.out_step == 2)
        return simd::JoinPairs(Const(z), scale, form_.written, y);
    }
    for (int64_t k = 0; k < form_.written; ++k, y += form_.out_step) {
      y[0] = T(z.re[k] * scale);
      if (form_.out_width == 2) y[1] = T(z.im[k] * scale);
    }
  }

  const LineForm& form_;
  const Plan<R>& plan_;
  const T* window_;
  simd::ComplexVector<R> x_, work_, spectrum_;
};

// Both operators: the cached tables, and the lines.
class FourierKernel : public Kernel {
 protected:
  // `place(i)` gives the first elements of line i in the input and in the output.
  template <typename T, typename Place>
  void TransformLines(const LineForm& form, const Tensor& in, const T* window, Tensor& out,
                      int64_t lines, Place place) const {
    std::shared_ptr<const Plan<Real<T>>> plan;
    if constexpr (std::is_same_v<T, double>) {
      plan = doubles_.Get(form.length, form.real());
    } else {
      plan = floats_.Get(form.length, form.real());
    }
    ParallelFor(lines, std::max<int64_t>(1, kGrain / form.length), [&](int64_t begin, int64_t end) {
      LineTransformer<T> transformer(form, *plan, window);
      for (int64_t i = begin; i < end; ++i) {
        const auto [from, to] = place(i);
        transformer.Run(in.data<T>() + from, out.data<T>() + to);
      }
    });
  }
  static bool WorthIt(int64_t length) { return length >= kShortest && length <= kLongest; }

 private:
  mutable PlanCache<float> floats_;
  mutable PlanCache<double> doubles_;
};

class DftKernel : public FourierKernel {
 public:
  Status Run(KernelContext& context) const override {
    ASC_ASSIGN_OR_RETURN(const DftCall call, ReadDft(context));
    if (!WorthIt(call.length)) return context.schema().reference(context);
    const Tensor& in = context.input(0);
    Tensor& out = context.output(0);
    if (out.size() == 0) return Ok();
    const int64_t extent = in.dim(call.axis), out_extent = out.dim(call.axis),
                  inner = ElementCount(in.dims(), call.axis + 1, in.rank() - 1);
    LineForm form{};
    form.length = call.length;
    form.inverse = call.inverse;
    form.mirrored = call.inverse && call.onesided;
    form.in_width = in.dim(in.rank() - 1);
    form.in_step = inner * form.in_width;
    form.read = std::min(extent, form.mirrored ? call.length / 2 + 1 : call.length);
    form.out_width = out.dim(out.rank() - 1);
    form.out_step = inner * form.out_width;
    form.written = out_extent;
    const int64_t lines = ElementCount(in.dims(), 0, call.axis) * inner;
    VisitFloats(in.dtype(), [&](auto zero) {
      TransformLines<decltype(zero)>(form, in, nullptr, out, lines, [&](int64_t i) {
        return std::pair((i / inner * extent * inner + i % inner) * form.in_width,
                         (i / inner * out_extent * inner + i % inner) * form.out_width);
      });
    });
    return Ok();
  }
  std::string_view name() const override { return "vector:dft"; }
};

class StftKernel : public FourierKernel {
 public:
  Status Run(KernelContext& context) const override {
    ASC_ASSIGN_OR_RETURN(const StftCall call, ReadStft(context));
    if (!WorthIt(call.frame)) return context.schema().reference(context);
    const Tensor& signal = context.input(0);
    Tensor& out = context.output(0);
    if (out.size() == 0) return Ok();
    const int64_t length = signal.dim(1), width = signal.dim(2), frames = out.dim(1),
                  bins = out.dim(2);
    LineForm form{};
    form.length = form.read = call.frame;
    form.in_width = form.in_step = width;
    form.out_width = form.out_step = 2;
    form.written = bins;
    VisitFloats(signal.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const T* window = call.window != nullptr ? call.window->data<T>() : nullptr;
      TransformLines<T>(form, signal, window, out, out.dim(0) * frames, [&](int64_t i) {
        return std::pair((i / frames * length + i % frames * call.step) * width, i * bins * 2);
      });
    });
    return Ok();
  }
  std::string_view name() const override { return "vector:stft"; }
};

bool Supports(const KernelRequest& request) {
  const OperandDesc& x = request.inputs[0];
  return x.present && types::kFloats.Contains(x.dtype) && simd::IsPlain(x) &&
         simd::IsPlain(request.outputs[0]);
}
}  // namespace

void AddVectorFourier(KernelTable& table) {
  table.push_back({"DFT", "", "vector.dft", Supports, nullptr,
                   [](const KernelRequest&) { return simd::Make<DftKernel>(); }});
  table.push_back({"STFT", "", "vector.stft", Supports, nullptr,
                   [](const KernelRequest&) { return simd::Make<StftKernel>(); }});
}

}  // namespace asc
