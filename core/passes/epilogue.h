// What follows a convolution or a matrix product and can be done by the fused operator: bias,
// residual, activation.
#ifndef ASC_CORE_PASSES_EPILOGUE_H_
#define ASC_CORE_PASSES_EPILOGUE_H_

#include <optional>
#include <string>
#include <vector>

#include "core/passes/fusion.h"
#include "core/passes/pass.h"

namespace asc {

// As `activation` and `activation_params` of fused operators have it.
struct FusedActivation {
  std::string name;
  std::vector<float> params;
  std::string label;  // in names of fusions: "ReLU"
};

// nullopt for nodes that are no activation, and for ones with parameters that are not constant or
// not exact as float.
std::optional<FusedActivation> ActivationOf(const Graph& graph, const Node& node);

struct Epilogue {
  std::string fusion;         // "Conv2d+BiasAdd+ReLU"
  std::vector<NodeId> nodes;  // that follow, in order
  ValueId result;             // of the last one
  ValueId bias, residual;     // addends that were found; invalid: none
  std::optional<FusedActivation> activation;
};

// What follows `node`, each value having one user: activation(node + bias + residual). All
// beginnings of the chain, the longest first, none of them empty. `base` is the label of the
// operator, with "+BiasAdd" when it has a bias already; `find_bias`: an addend per column (last
// axis) is a bias. A chain that is cut short because a value has other users is reported.
std::vector<Epilogue> FindEpilogues(PassContext& context, const Node& node, const std::string& base,
                                    bool find_bias);

// The names that FindEpilogues gives for these bases, for ListFusions.
std::vector<FusionInfo> EpilogueFusions(const std::vector<std::string>& bases, bool find_bias,
                                        std::string_view pass);

}  // namespace asc

#endif  // ASC_CORE_PASSES_EPILOGUE_H_
