// Sessions from the text form of graphs, for tests of running.
#ifndef ASC_TESTS_CORE_RUNTIME_GRAPH_TEXT_H_
#define ASC_TESTS_CORE_RUNTIME_GRAPH_TEXT_H_

#include <gtest/gtest.h>

#include <string_view>

#include "core/graph/text.h"
#include "core/kernels/registry.h"
#include "core/ops/registry.h"
#include "core/runtime/session.h"

namespace asc::testing {

inline std::unique_ptr<Graph> ReadGraph(std::string_view text) {
  ParseOptions options;
  options.find_op = [](std::string_view domain, std::string_view name) { return OpRegistry::Global().Find(domain, name); };
  Result<std::unique_ptr<Graph>> graph = ParseText(text, options);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return graph.ok() ? std::move(graph).value() : std::make_unique<Graph>();
}

inline Result<std::shared_ptr<Executable>> CompileText(std::string_view text, CompileOptions options = {},
                                                       std::string_view device = "cpu") {
  InstallHostKernels();
  return Executable::Compile(ReadGraph(text), **FindDevice(device), options);
}

inline std::shared_ptr<Session> MakeSession(std::string_view text, CompileOptions options = {}) {
  Result<std::shared_ptr<Executable>> executable = CompileText(text, options);
  EXPECT_TRUE(executable.ok()) << executable.status().ToString();
  return executable.ok() ? Session::Create(*executable).value() : nullptr;
}

inline Tensor F32(const Dims& dims, std::initializer_list<float> values) { return Tensor::FromValues<float>(dims, values); }
inline Tensor I64(const Dims& dims, std::initializer_list<int64_t> values) { return Tensor::FromValues<int64_t>(dims, values); }

inline void ExpectFloats(const AnyValue& value, const Dims& dims, const std::vector<float>& want) {
  ASSERT_TRUE(value.is_tensor());
  EXPECT_EQ(value.tensor().dims(), dims);
  const auto got = value.tensor().values<float>();
  EXPECT_EQ(std::vector<float>(got.begin(), got.end()), want);
}

}  // namespace asc::testing

#endif  // ASC_TESTS_CORE_RUNTIME_GRAPH_TEXT_H_
