// Random tensors: RandomUniform, RandomNormal, their Like forms, Bernoulli, Multinomial. Element i
// depends on the key and on i alone (philox.h).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/parallel.h"
#include "core/ops/compute_buffer.h"
#include "core/ops/families.h"
#include "core/ops/philox.h"
#include "core/ops/shape_facts.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
constexpr int64_t kGrain = 1 << 12;  // blocks a thread

// Calls write(i, value) for each element, with values of `draw`: four floats of a block, or two
// doubles.
template <typename T, typename Draw>
void FillRandom(const Philox& philox, Tensor& out, Draw draw) {
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
  constexpr int64_t kPerBlock = std::is_same_v<T, double> ? 2 : 4;
  T* y = out.data<T>();
  const int64_t count = out.size();
  ParallelFor((count + kPerBlock - 1) / kPerBlock, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const std::array<Wide, kPerBlock> values = draw(philox(static_cast<uint64_t>(block)));
      const int64_t first = block * kPerBlock, some = std::min(kPerBlock, count - first);
      for (int64_t i = 0; i < some; ++i) y[first + i] = T(values[static_cast<size_t>(i)]);
    }
  });
}

template <typename Wide>
auto UniformsOf(const Philox::Block& words) {
  if constexpr (std::is_same_v<Wide, double>) {
    return std::array<double, 2>{UniformDouble(words[0], words[1]),
                                 UniformDouble(words[2], words[3])};
  } else {
    return std::array<float, 4>{UniformFloat(words[0]), UniformFloat(words[1]),
                                UniformFloat(words[2]), UniformFloat(words[3])};
  }
}

// ---- shapes ----

Status InferFromAttribute(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const DataType dtype,
                       OutputTypeAttribute(context, "dtype", DataType::kFloat32, 0));
  std::vector<Dim> dims;
  for (const int64_t extent : context.attributes().Ints("shape")) {
    if (extent < 0) {
      return InvalidArgument(context.schema().FullName(), " attribute 'shape' ",
                             context.attributes().Ints("shape"), " must not have negative extents");
    }
    dims.emplace_back(extent);
  }
  context.SetOutput(0, dtype, Shape(std::move(dims)));
  return CheckSize(context, 0);
}

Status InferLike(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const DataType dtype,
                       OutputTypeAttribute(context, "dtype", context.dtype(0), 0));
  context.SetOutput(0, dtype, context.shape(0));
  return Ok();
}

// ---- uniform and normal ----

Status RandomUniform(KernelContext& context) {
  const float low = context.attributes().Float("low", 0.0f),
              high = context.attributes().Float("high", 1.0f);
  Tensor& out = context.output(0);
  VisitFloats(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
    FillRandom<T>(Philox::Of(context), out, [&](const Philox::Block& words) {
      auto values = UniformsOf<Wide>(words);
      for (Wide& value : values)
        value = static_cast<Wide>(low) + value * (static_cast<Wide>(high) - static_cast<Wide>(low));
      return values;
    });
  });
  return Ok();
}

// Box and Muller, "A note on the generation of random normal deviates", 1958: two uniform numbers
// give two normal ones.
Status RandomNormal(KernelContext& context) {
  const float mean = context.attributes().Float("mean", 0.0f),
              scale = context.attributes().Float("scale", 1.0f);
  Tensor& out = context.output(0);
  VisitFloats(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
    FillRandom<T>(Philox::Of(context), out, [&](const Philox::Block& words) {
      auto values = UniformsOf<Wide>(words);
      for (size_t i = 0; i < values.size(); i += 2) {
        const Wide radius =
            std::sqrt(Wide(-2) * std::log(Wide(1) - values[i]));  // 1 - u is never zero
        const Wide angle = Wide(2) * std::numbers::pi_v<Wide> * values[i + 1];
        values[i] = static_cast<Wide>(mean) + static_cast<Wide>(scale) * radius * std::cos(angle);
        values[i + 1] =
            static_cast<Wide>(mean) + static_cast<Wide>(scale) * radius * std::sin(angle);
      }
      return values;
    });
  });
  return Ok();
}

// ---- Bernoulli ----

Status Bernoulli(KernelContext& context) {
  const Tensor& in = context.input(0);
  Tensor& out = context.output(0);
  ASC_ASSIGN_OR_RETURN(const auto probabilities, ComputeInput<double>::Make(context, in));
  const double* p = probabilities.data();
  for (int64_t i = 0; i < in.size(); ++i) {
    if (!(p[i] >= 0 && p[i] <= 1)) {
      return Error(Code::kOutOfRange, "Bernoulli probability ", p[i], " at element ", i,
                   ": expected 0 to 1");
    }
  }
  const Philox philox = Philox::Of(context);
  VisitType<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
            uint32_t, uint64_t, bool>(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* y = out.data<T>();
    // A branch would be mispredicted half the time.
    const T outcomes[] = {T(0), T(1)};
    ParallelFor((out.size() + 3) / 4, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        const auto words = philox(static_cast<uint64_t>(block));
        for (int64_t i = 4 * block, k = 0; k < std::min<int64_t>(4, out.size() - 4 * block); ++k) {
          const double uniform =
              static_cast<double>(words[static_cast<size_t>(k)]) * 0x1p-32;  // from 0 to below 1
          y[i + k] = outcomes[uniform < p[i + k]];
        }
      }
    });
  });
  return Ok();
}

// ---- Multinomial ----

Status InferMultinomial(InferContext& context) {
  ASC_RETURN_IF_ERROR(CheckRank(context, 0, 2));
  ASC_ASSIGN_OR_RETURN(const DataType dtype,
                       OutputTypeAttribute(context, "dtype", DataType::kInt32, 0));
  const int64_t samples = context.attributes().Int("sample_size", 1);
  if (samples < 0)
    return InvalidArgument("Multinomial sample_size must not be negative, given ", samples);
  const Shape& in = context.shape(0);
  context.SetOutput(0, dtype, Shape({in.has_rank() ? in[0] : Dim::Unknown(), Dim(samples)}));
  return CheckSize(context, 0);
}

// Inverts the cumulated probabilities exp(x); the input holds logarithms, not normalised.
Status Multinomial(KernelContext& context) {
  const Tensor& in = context.input(0);
  Tensor& out = context.output(0);
  const int64_t classes = in.dim(1), samples = out.dim(1);
  const Philox philox = Philox::Of(context);
  std::vector<double> cumulated(static_cast<size_t>(classes));
  for (int64_t row = 0; row < in.dim(0); ++row) {
    double largest = -INFINITY, sum = 0;
    for (int64_t c = 0; c < classes; ++c)
      largest = std::max(largest, ReadAsDouble(in.dtype(), in.raw(), row * classes + c));
    for (int64_t c = 0; c < classes; ++c) {
      sum += std::exp(ReadAsDouble(in.dtype(), in.raw(), row * classes + c) - largest);
      cumulated[static_cast<size_t>(c)] = sum;
    }
    if (samples > 0 && !(sum > 0 && std::isfinite(sum))) {
      return Error(Code::kOutOfRange, "Multinomial row ", row,
                   " has no finite probabilities to choose from");
    }
    for (int64_t s = 0; s < samples; ++s) {
      const Philox::Block words = philox(static_cast<uint64_t>(row * samples + s));
      const double target = UniformDouble(words[0], words[1]) * sum;
      const auto it = std::upper_bound(cumulated.begin(), cumulated.end(), target);
      const int64_t chosen = std::min<int64_t>(it - cumulated.begin(), classes - 1);
      if (out.dtype() == DataType::kInt32) {
        out.data<int32_t>()[row * samples + s] = static_cast<int32_t>(chosen);
      } else {
        out.data<int64_t>()[row * samples + s] = chosen;
      }
    }
  }
  return Ok();
}
}  // namespace

void AddRandomOps(OpTable& table) {
  constexpr TypeSet kAny = types::kNumeric | types::kBool | types::kString | types::kComplex;
  const auto seeded = [](OpBuilder builder) {
    return builder
        .OptionalAttr("seed", AttributeType::kFloat, "", "makes every run give the same numbers")
        .Random();
  };
  seeded(table.Add("RandomUniform", 22)
             .Doc("independent numbers from [low, high)")
             .Output("output", "T")
             .Types("T", types::kFloats)
             .RequiredAttr("shape", AttributeType::kInts)
             .Attr("dtype", int64_t{1})
             .Attr("low", 0.0f)
             .Attr("high", 1.0f)
             .Infer(InferFromAttribute)
             .Kernel(RandomUniform));
  seeded(table.Add("RandomNormal", 22)
             .Doc("independent numbers from a normal distribution")
             .Output("output", "T")
             .Types("T", types::kFloats)
             .RequiredAttr("shape", AttributeType::kInts)
             .Attr("dtype", int64_t{1})
             .Attr("mean", 0.0f)
             .Attr("scale", 1.0f, "scale", "the standard deviation")
             .Infer(InferFromAttribute)
             .Kernel(RandomNormal));
  seeded(table.Add("RandomUniformLike", 22)
             .Doc("independent numbers from [low, high), in the input's shape")
             .Input("input", "T1")
             .Output("output", "T2")
             .Types("T1", kAny)
             .Types("T2", types::kFloats)
             .OptionalAttr("dtype", AttributeType::kInt)
             .Attr("low", 0.0f)
             .Attr("high", 1.0f)
             .Infer(InferLike)
             .Kernel(RandomUniform));
  seeded(table.Add("RandomNormalLike", 22)
             .Doc("independent numbers from a normal distribution, in the input's shape")
             .Input("input", "T1")
             .Output("output", "T2")
             .Types("T1", kAny)
             .Types("T2", types::kFloats)
             .OptionalAttr("dtype", AttributeType::kInt)
             .Attr("mean", 0.0f)
             .Attr("scale", 1.0f, "scale", "the standard deviation")
             .Infer(InferLike)
             .Kernel(RandomNormal));
  seeded(table.Add("Bernoulli", 22)
             .Doc("1 with the probability that each element gives, else 0")
             .Input("input", "T1")
             .Output("output", "T2")
             .Types("T1", types::kFloats)
             .Types("T2", types::kNumeric | types::kBool)
             .OptionalAttr("dtype", AttributeType::kInt)
             .Infer(InferLike)
             .Kernel(Bernoulli));
  seeded(table.Add("Multinomial", 22)
             .Doc("class indices drawn by unnormalised log-probabilities [batch, classes]")
             .Input("input", "T1")
             .Output("output", "T2")
             .Types("T1", types::kFloats)
             .Types("T2", types::kIndex)
             .Attr("dtype", int64_t{6})
             .Attr("sample_size", int64_t{1})
             .Infer(InferMultinomial)
             .Kernel(Multinomial));
}

}  // namespace asc
