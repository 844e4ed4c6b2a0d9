// Executable: an optimised graph with its kernels, packed constants and plans. Immutable to its users and shareable between
// threads; plans for new input shapes are made on first need and kept in a capped cache.
#ifndef ASC_CORE_COMPILE_EXECUTABLE_H_
#define ASC_CORE_COMPILE_EXECUTABLE_H_

#include <memory>
#include <string>
#include <vector>

#include "core/compile/constants.h"
#include "core/compile/options.h"
#include "core/compile/plan.h"
#include "core/compile/plan_cache.h"
#include "core/device/device.h"
#include "core/graph/graph.h"

namespace asc {

// An input or output as users see it.
struct Port {
  std::string name;
  ValueType type;
};

class Executable {
 public:
  // Optimises and prepares `graph` for the device. Nothing is left half-made on failure.
  static Result<std::shared_ptr<Executable>> Compile(std::unique_ptr<Graph> graph, Device& device, CompileOptions options);

  // Prepares a graph that is optimised already (a saved one): no passes run.
  static Result<std::shared_ptr<Executable>> FromOptimized(std::unique_ptr<Graph> graph, Device& device, CompileOptions options);

  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  const Graph& graph() const { return *graph_; }  // optimised
  const CompileOptions& options() const { return options_; }
  Device& device() const { return device_; }
  int threads() const { return threads_; }
  // What the passes did, as the JSON of fusion_result.json.
  const std::string& pass_report() const { return pass_report_; }

  // Checks values against the ports: count, kind, element type, rank, fixed extents, and that dimensions that share a name
  // have one extent. E5001, E5002, E5003 name the input.
  Status CheckInputs(const std::vector<const AnyValue*>& values) const;
  // For bodies: count, kinds and element types only. What models declare of the extents inside bodies is often stale.
  Status CheckInputTypes(const std::vector<const AnyValue*>& values) const;
  // The plan for inputs of these extents, if it is in the cache; null otherwise.
  std::shared_ptr<const Plan> CachedPlan(const std::vector<const AnyValue*>& values) const;
  // The same, made when it is not there. Inputs must have passed CheckInputs. With threads() > 1 call it on the device's driver
  // thread only: packing runs in parallel, and the team belongs to that thread.
  Result<std::shared_ptr<const Plan>> PlanFor(const std::vector<const AnyValue*>& values) const;
  // The plan for fixed shapes of the ports, where all are static; otherwise E5003 naming the input that is not.
  Result<std::shared_ptr<const Plan>> StaticPlan() const;

  ConstantStore& constants() const { return *constants_; }
  ArenaPool& arenas() const { return *arenas_; }
  int64_t packed_bytes() const { return constants_->packed_bytes(); }
  // Counts for tests: plans made, packed forms made.
  int64_t plans_made() const { return plan_cache_->made(); }
  int64_t forms_made() const { return constants_->forms_made(); }

  // The compiled body of a region: the node's `region`-th one.
  const std::shared_ptr<Executable>& Body(NodeId node, size_t region) const;

 private:
  friend class Planner;
  Executable(std::unique_ptr<Graph> graph, Device& device, CompileOptions options);
  static Result<std::shared_ptr<Executable>> Prepare(std::unique_ptr<Graph> graph, Device& device,
                                                     const CompileOptions& options,
                                                     std::shared_ptr<ConstantStore> constants);

  std::unique_ptr<Graph> graph_;
  Device& device_;
  CompileOptions options_;
  int threads_;
  std::vector<Port> inputs_, outputs_;
  std::vector<NodeId> order_;
  std::string pass_report_;
  std::shared_ptr<ConstantStore> constants_;  // shared with the bodies
  std::unique_ptr<PlanCache> plan_cache_;
  std::unique_ptr<ArenaPool> arenas_;
  std::vector<std::vector<std::shared_ptr<Executable>>> bodies_;  // by node index, by region
};

}  // namespace asc

#endif  // ASC_CORE_COMPILE_EXECUTABLE_H_
