// Dropout: the identity, or in training random zeros and the rest scaled up.
#include <cstring>
#include <random>

#include "core/ops/cast_elements.h"
#include "core/ops/elementwise_map.h"
#include "core/ops/families.h"
#include "core/ops/philox.h"

namespace asc {
namespace {
Status InferDropout(InferContext& context) {
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (!context.HasInput(i) || !context.shape(i).has_rank()) continue;
    const Dim count = context.shape(i).ElementCount();
    if (count.is_constant() && count.value() != 1) {
      return ShapeError("Dropout's '", context.schema().inputs[i].name,
                        "' must be a scalar, given shape ", context.shape(i));
    }
  }
  context.SetOutput(0, context.type(0));
  if (context.output_count() > 1) context.SetOutput(1, DataType::kBool, context.shape(0));
  return Ok();
}

// Element i depends on the generator and on i alone, so that threads do not matter.
void DrawMask(const Philox& generator, float ratio, bool* mask, int64_t count) {
  ParallelFor((count + 3) / 4, kElementGrain / 4, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const Philox::Block words = generator(static_cast<uint64_t>(block));
      for (int64_t k = 0; k < std::min<int64_t>(4, count - block * 4); ++k) {
        mask[block * 4 + k] = UniformFloat(words[static_cast<size_t>(k)]) >= ratio;
      }
    }
  });
}

// With a seed the mask is the one that ONNX's reference implementation draws by NumPy's RandomState:
// Matsumoto and Nishimura, "Mersenne twister", 1998, seeded with 32 bits, 53 bits a number. One
// number follows from the other, so that this runs in one thread.
void DrawSeededMask(uint32_t seed, float ratio, bool* mask, int64_t count) {
  std::mt19937 generator(seed);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t high = generator() >> 5, low = generator() >> 6;
    mask[i] = static_cast<double>((high << 26) | low) * 0x1p-53 >= static_cast<double>(ratio);
  }
}

Status Dropout(KernelContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  const bool training = context.HasInput(2) && context.input(2).data<bool>()[0];
  const float ratio =
      context.HasInput(1)
          ? static_cast<float>(ReadAsDouble(context.input(1).dtype(), context.input(1).raw(), 0))
          : 0.5f;
  if (training && !(ratio >= 0 && ratio < 1)) {
    return InvalidArgument("Dropout needs a ratio from 0 to below 1, given ", ratio);
  }
  if (!training || ratio == 0) {
    if (x.bytes() > 0) std::memcpy(y.raw(), x.raw(), x.bytes());
    if (context.HasOutput(1)) std::fill_n(context.output(1).data<bool>(), x.size(), true);
    return Ok();
  }
  ASC_ASSIGN_OR_RETURN(const auto mask_buffer, context.Scratch(static_cast<size_t>(x.size())));
  bool* mask = context.HasOutput(1) ? context.output(1).data<bool>()
                                    : reinterpret_cast<bool*>(mask_buffer->data());
  const auto* seed = context.attributes().Get<int64_t>("seed");
  if (seed != nullptr && *seed >= 0 && *seed <= UINT32_MAX) {
    DrawSeededMask(static_cast<uint32_t>(*seed), ratio, mask, x.size());
  } else {
    const Philox generator =
        seed != nullptr ? Philox(static_cast<uint64_t>(*seed)) : Philox::Of(context);
    DrawMask(generator, ratio, mask, x.size());
  }
  ASC_ASSIGN_OR_RETURN(const auto values,
                       context.Scratch(static_cast<size_t>(x.size()) * sizeof(double)));
  double* kept = reinterpret_cast<double*>(values->data());
  CastElements(x.dtype(), x.raw(), DataType::kFloat64, kept, x.size());
  const double scale = 1 / (1 - static_cast<double>(ratio));
  for (int64_t i = 0; i < x.size(); ++i) kept[i] = mask[i] ? kept[i] * scale : 0;
  CastElements(DataType::kFloat64, kept, y.dtype(), y.raw(), x.size());
  return Ok();
}
}  // namespace

void AddDropoutOps(OpTable& table) {
  constexpr TypeSet kTypes =
      types::kFloats | TypeSet{DataType::kFloat8E4M3FN, DataType::kFloat8E4M3FNUZ,
                               DataType::kFloat8E5M2, DataType::kFloat8E5M2FNUZ};
  table.Add("Dropout", 22)
      .Doc(
          "x; in training, elements are 0 with probability `ratio`, the others are divided by 1 - "
          "ratio")
      .Input("data", "T")
      .OptionalInput("ratio", "T1")
      .OptionalInput("training_mode", "T2")
      .Output("output", "T")
      .OptionalOutput("mask", "T2")
      .Types("T", kTypes)
      .Types("T1", kTypes)
      .Types("T2", types::kBool)
      .OptionalAttr("seed", AttributeType::kInt, "", "default: the run's seed")
      .Random()
      .Infer(InferDropout)
      .Kernel(Dropout);
}

}  // namespace asc
