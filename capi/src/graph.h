#ifndef ASC_CAPI_SRC_GRAPH_H_
#define ASC_CAPI_SRC_GRAPH_H_

#include <memory>
#include <vector>

#include "asc/graph.h"
#include "capi/src/handle.h"
#include "core/graph/graph.h"

namespace asc::capi {

// A graph under construction. Ids of its values carry `serial`, so that another graph's are told.
struct GraphState {
  explicit GraphState(std::unique_ptr<Graph> built,
                      std::vector<std::string> inputs_with_default = {});
  GraphState(std::unique_ptr<Graph> copy, const GraphState& of)
      : graph(std::move(copy)), serial(of.serial), source(of.source), scope(of.scope),
        inputs_with_default(of.inputs_with_default) {}

  asc_value_id IdOf(ValueId value) const {
    return (serial << 32) | static_cast<int64_t>(value.index);
  }
  // E5003 for ids that are no value of this graph.
  Result<ValueId> ValueOf(asc_value_id id, std::string_view argument) const;
  Result<std::vector<ValueId>> ValuesOf(const asc_value_id* ids, size_t count,
                                        std::string_view argument, bool may_be_absent) const;

  std::unique_ptr<Graph> graph;
  int64_t serial;  // from 1 on
  std::string source;
  int scope = 0;
  // Constants that are inputs with a default in a model file.
  std::vector<std::string> inputs_with_default;
};

struct RegionSpec {
  std::string name;
  std::unique_ptr<Graph> body;
  std::vector<asc_value_id> captures;
};

}  // namespace asc::capi

struct asc_graph : asc::capi::Handle<asc_graph, asc::capi::GraphState> {
  static constexpr std::string_view kName = "graph";
};

struct asc_regions : asc::capi::Handle<asc_regions, std::vector<asc::capi::RegionSpec>> {
  static constexpr std::string_view kName = "region list";
};

#endif  // ASC_CAPI_SRC_GRAPH_H_
