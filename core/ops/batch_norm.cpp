// BatchNormalization: per-channel normalisation, with given statistics or (training_mode) those of
// the batch.
#include <cmath>

#include "core/ops/compute_buffer.h"
#include "core/ops/families.h"

namespace asc {
namespace {
int64_t Channels(const Dims& x) { return x.size() < 2 ? 1 : x[1]; }

Status InferBatchNorm(InferContext& context) {
  const Shape& x = context.shape(0);
  const bool training = context.attributes().Int("training_mode", 0) != 0;
  if (context.output_count() > 1 && !training) {
    return InvalidArgument(
        "BatchNormalization gives running_mean and running_var with training_mode=1 only");
  }
  if (x.has_rank() && x.rank() == 0)
    return ShapeError("BatchNormalization needs data [N, C, extents...], given a scalar");
  const Dim channels = !x.has_rank() ? Dim::Unknown() : x.rank() < 2 ? Dim(1) : x[1];
  for (size_t i = 1; i < 5; ++i) {
    const Shape& statistics = context.shape(i);
    if (!statistics.has_rank()) continue;
    const bool fits =
        statistics.rank() == 1 &&
        (!statistics[0].is_constant() || !channels.is_constant() || statistics[0] == channels);
    if (fits) continue;
    return ShapeError("BatchNormalization needs '", context.schema().inputs[i].name,
                      "' of one value a channel, shape [", channels, "], given ", statistics);
  }
  context.SetOutput(0, context.type(0));
  for (size_t i = 1; i < context.output_count(); ++i) {
    context.SetOutput(i, context.dtype(3), Shape(std::vector<Dim>{channels}));
  }
  return Ok();
}

struct Statistics {
  std::vector<double> mean, variance;
};

// The mean and the (biased) variance of each channel. x: [batch, channels, size].
template <typename A>
Statistics BatchStatistics(const A* x, int64_t batch, int64_t channels, int64_t size) {
  Statistics out{std::vector<double>(static_cast<size_t>(channels)),
                 std::vector<double>(static_cast<size_t>(channels))};
  const auto count = static_cast<double>(batch * size);
  ParallelFor(channels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      double sum = 0, squares = 0;
      for (int64_t n = 0; n < batch; ++n) {
        const A* plane = x + (n * channels + c) * size;
        for (int64_t i = 0; i < size; ++i) sum += static_cast<double>(plane[i]);
      }
      const double mean = sum / count;
      for (int64_t n = 0; n < batch; ++n) {
        const A* plane = x + (n * channels + c) * size;
        for (int64_t i = 0; i < size; ++i)
          squares +=
              (static_cast<double>(plane[i]) - mean) * (static_cast<double>(plane[i]) - mean);
      }
      out.mean[static_cast<size_t>(c)] = mean;
      out.variance[static_cast<size_t>(c)] = squares / count;
    }
  });
  return out;
}

// output = momentum * input + (1 - momentum) * batch.
void UpdateRunning(const Tensor& input, const std::vector<double>& batch, double momentum,
                   Tensor& output) {
  VisitFloats(output.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t c = 0; c < output.size(); ++c) {
      const double old = ReadAsDouble(input.dtype(), input.raw(), c);
      output.data<T>()[c] = T(static_cast<ComputeType<T>>(
          momentum * old + (1 - momentum) * batch[static_cast<size_t>(c)]));
    }
  });
}

template <typename A>
Status BatchNormAs(KernelContext& context) {
  const Dims& dims = context.input(0).dims();
  const int64_t batch = dims[0], channels = Channels(dims),
                size = ElementCount(dims, std::min<size_t>(2, dims.size()), dims.size());
  ASC_ASSIGN_OR_RETURN(const auto x, ComputeInput<A>::Make(context, context.input(0)));
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
  const auto read = [&](size_t i, int64_t c) {
    return ReadAsDouble(context.input(i).dtype(), context.input(i).raw(), c);
  };
  Statistics statistics;
  if (context.attributes().Int("training_mode", 0) != 0) {
    statistics = BatchStatistics(x.data(), batch, channels, size);
    const double momentum = context.attributes().Float("momentum", 0.9f);
    if (context.HasOutput(1))
      UpdateRunning(context.input(3), statistics.mean, momentum, context.output(1));
    if (context.HasOutput(2))
      UpdateRunning(context.input(4), statistics.variance, momentum, context.output(2));
  } else {
    for (int64_t c = 0; c < channels; ++c) {
      statistics.mean.push_back(read(3, c));
      statistics.variance.push_back(read(4, c));
    }
  }
  const double epsilon = context.attributes().Float("epsilon", 1e-5f);
  ParallelFor(
      batch * channels, std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, size)),
      [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) {
          const int64_t c = plane % channels;
          const auto mean = static_cast<A>(statistics.mean[static_cast<size_t>(c)]);
          const auto scale = static_cast<A>(
              read(1, c) / std::sqrt(statistics.variance[static_cast<size_t>(c)] + epsilon));
          const auto bias = static_cast<A>(read(2, c));
          const A* from = x.data() + plane * size;
          A* to = y.data() + plane * size;
          for (int64_t i = 0; i < size; ++i) to[i] = (from[i] - mean) * scale + bias;
        }
      });
  y.Finish();
  return Ok();
}

Status BatchNorm(KernelContext& context) {
  return context.input(0).dtype() == DataType::kFloat64 ? BatchNormAs<double>(context)
                                                        : BatchNormAs<float>(context);
}
}  // namespace

void AddBatchNormOps(OpTable& table) {
  table.Add("BatchNormalization", 15)
      .Doc(
          "(x - mean) / sqrt(var + epsilon) * scale + bias for each channel of data [N, C, "
          "extents...]")
      .Method("batch_norm")
      .Fusion("BatchNorm")
      .Input("x", "T")
      .Input("scale", "T1")
      .Input("bias", "T1")
      .Input("mean", "T2")
      .Input("var", "T2")
      .Output("y", "T")
      .OptionalOutput("running_mean", "T2")
      .OptionalOutput("running_var", "T2")
      .Types("T", types::kFloats)
      .Types("T1", types::kFloats)
      .Types("T2", types::kFloats)
      .Attr("epsilon", 1e-5f, "eps")
      .Attr("momentum", 0.9f, "",
            "of the running statistics: running = momentum * running + (1 - momentum) * batch")
      .Attr("training_mode", int64_t{0}, "training", "1: normalise with the batch's own statistics")
      .Class(OpClass::kNormalization)
      .Infer(InferBatchNorm)
      .Kernel(BatchNorm);
}

}  // namespace asc
