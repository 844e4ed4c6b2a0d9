#include "core/kernels/convolution_cost.h"

#include <algorithm>

#include "core/kernels/winograd/loops.h"
#include "core/kernels/winograd/schedule.h"

namespace asc {
namespace {
constexpr double kMultiplyAdds = 58e9;  // of a core in a second
// Of that, in oneDNN's loops, and in those with a window for each channel and a pass that keeps NaN.
constexpr double kDirectShare = 0.95, kDirectDepthwiseShare = 0.5;
// In the vector engine's loops made for one window, and in those for any.
constexpr double kUnrolledShare = 0.65, kDepthwiseShare = 0.4;
constexpr double kProductShare = 0.93;       // in products between transforms
constexpr double kWeightBytes = 30e9;        // that reach a core in a second beside the arithmetic
constexpr double kTransformElement = 2e-10;  // seconds for each element of a transformed image
constexpr double kFork = 4e-6;               // seconds for work that starts and ends on a team
constexpr double kCoarse = 1.1;              // F(4x4) has to be that much faster
constexpr double kNoVectors = 8;             // times slower, where oneDNN has vectors
// Products of fewer tiles take as long: additions wait for each other.
constexpr int64_t kFewestTiles = 8;

// `share` of the multiplications and additions that a core can do.
double SumsSeconds(const KernelRequest& request, double share) {
  const Dims &w = request.inputs[1].dims, &y = request.outputs[0].dims;
  const auto taps = static_cast<double>(ElementCount(w, 1, w.size()));
  const double bytes = taps * static_cast<double>(w[0] * int64_t{sizeof(float)});
  const double sums = static_cast<double>(ElementCount(y)) * taps / (share * kMultiplyAdds);
  return (sums + bytes / kWeightBytes) / request.threads + kFork;
}
}  // namespace

double DirectConvolutionSeconds(const KernelRequest& request) {
  const bool one_channel = request.inputs[1].dims[1] == 1 && request.inputs[0].dims[1] != 1;
  return SumsSeconds(request, one_channel ? kDirectDepthwiseShare : kDirectShare);
}

double DepthwiseSeconds(const KernelRequest& request, bool unrolled) {
  return SumsSeconds(request, unrolled ? kUnrolledShare : kDepthwiseShare);
}

double WinogradSeconds(const winograd::Problem& p, int threads) {
  const auto points = static_cast<double>(p.points());
  const auto channels = static_cast<double>(p.channel_blocks() * winograd::kChannelBlock);
  const auto outputs = static_cast<double>(winograd::CeilDiv(p.outputs, winograd::kChannelBlock) *
                                           winograd::kChannelBlock);
  const winograd::Schedule schedule(p, threads);
  const int64_t rows = std::max(kFewestTiles, winograd::CeilDiv(p.tiles(), schedule.blocks()));
  const double products =
      points * static_cast<double>(schedule.blocks() * rows) * channels * outputs;
  const double elements = points * static_cast<double>(p.tiles()) * (channels + outputs);
  const double bytes = points * channels * outputs * double{sizeof(float)};
  // Threads that share tiles out all read all weights.
  const double shared = schedule.by_tiles() ? 1 : static_cast<double>(schedule.workers());
  const double slower = winograd::VectorLanes() == 1 ? kNoVectors : 1;
  const double work = products / (kProductShare * kMultiplyAdds) + elements * kTransformElement;
  const double seconds = slower * work / static_cast<double>(schedule.workers()) +
                         bytes / kWeightBytes / shared + (schedule.by_tiles() ? 1 : 2) * kFork;
  return p.tile == 4 ? seconds * kCoarse : seconds;
}

}  // namespace asc
