// Arithmetic on constants that belong to the channels of a convolution.
#ifndef ASC_CORE_PASSES_CHANNELS_H_
#define ASC_CORE_PASSES_CHANNELS_H_

#include <optional>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace asc {

// What convolutions have in common, with the pieces that folding needs.
struct ConvParts {
  const Node* node;
  const Tensor* weight;  // Conv [M, C/g, k...], ConvTranspose [C, M/g, k...]; null: not a constant
  const Tensor* bias;    // null: none
  bool transposed;
  int64_t groups;
  int64_t channels;  // M: of the result
  size_t rank;       // of data, weight and result
  DataType dtype;
};

// nullopt unless the node is a Conv or ConvTranspose of a floating type with a known number of
// channels, whose bias, if it has one, is constant.
std::optional<ConvParts> ConvPartsOf(const Graph& graph, const Node& node);

// The values of a constant that is the same for all of a rank-`rank` value but for its axis 1,
// which has `channels` extents: one each, or one for all. nullopt for other constants, and for ones
// that would make the value larger.
std::optional<std::vector<double>> PerChannel(const Tensor& constant, size_t rank,
                                              int64_t channels);

// The elements of a floating vector of this length as double; nullopt when it is another.
std::optional<std::vector<double>> VectorValues(const Tensor* constant, int64_t length);

// y = x * scale + shift for each channel.
struct ChannelAffine {
  std::vector<double> scale, shift;
  bool scales = false;  // some scale is not 1
};
// A BatchNormalization with given statistics that are constants of this many channels; nullopt for
// others.
std::optional<ChannelAffine> BatchNormAffine(const Graph& graph, const Node& norm,
                                             int64_t channels);

// The weight with each filter multiplied by its channel's scale; nullopt when memory is short or a
// finite weight does not stay finite.
std::optional<Tensor> ScaledWeight(const ConvParts& conv, std::span<const double> scale);

// A vector of the floating type; nullopt when a finite value does not stay finite in it.
std::optional<Tensor> MakeVector(DataType dtype, std::span<const double> values);

}  // namespace asc

#endif  // ASC_CORE_PASSES_CHANNELS_H_
