// For tests of passes: graphs as text, compared with reference graphs, and run before and after.
#ifndef ASC_TESTS_CORE_PASSES_PASS_TEST_H_
#define ASC_TESTS_CORE_PASSES_PASS_TEST_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/passes/driver.h"
#include "core/passes/passes.h"

namespace asc::testing {

using MakePass = std::unique_ptr<Pass> (*)();

// Reads the statements of a graph's body, infers and verifies it; a test failure and null when that
// fails.
std::unique_ptr<Graph> ReadGraph(std::string_view body);

// The graph without names: nodes numbered in order of use from the outputs, with operators,
// operands, attributes and types.
std::string Canonical(const Graph& graph);

// Runs the passes with the verifier on; gives the report.
PassReport RunPasses(Graph& graph, const std::vector<MakePass>& passes, PassOptions options = {});

struct Expectation {
  double tolerance =
      0;  // of the comparison of results, relative to the largest element; 0: bit by bit
  PassOptions options = {};
  DimBindings bindings = {};  // extents for symbols; 3 where there is none
};
// The passes make `after` of `before`, and both give the same results for random inputs.
void ExpectRewrite(std::string_view before, std::string_view after,
                   const std::vector<MakePass>& passes, const Expectation& expectation = {});
// The passes leave the graph as it is.
void ExpectUnchanged(std::string_view body, const std::vector<MakePass>& passes,
                     const PassOptions& options = {});

// Runs a graph without regions with reference kernels.
Result<std::vector<AnyValue>> Interpret(const Graph& graph, const std::vector<Tensor>& inputs);

// A float32 constant statement with pseudo-random elements in [low, high): `constant %name:
// float32[...] = [...]`.
std::string RandomConstant(std::string_view name, const Dims& dims, float low = -1, float high = 1);

}  // namespace asc::testing

#endif  // ASC_TESTS_CORE_PASSES_PASS_TEST_H_
