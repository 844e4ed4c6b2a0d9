// The planner: from an optimised graph and concrete input extents to a Plan.
#ifndef ASC_CORE_COMPILE_PLANNER_H_
#define ASC_CORE_COMPILE_PLANNER_H_

#include "core/compile/executable.h"

namespace asc {

// Phases, in order: concrete facts (shape rules, values that extents decide), slots and steps, views and in-place results,
// kernels, offsets, check. Used once.
class Planner {
 public:
  Planner(const Executable& executable, const std::vector<const AnyValue*>& inputs);
  Result<std::shared_ptr<const Plan>> Make();

 private:
  struct Fact {
    ValueType type;
    std::optional<std::vector<Dim>> dims;
    Tensor known;                // defined: the value does not depend on the data
    std::optional<Dims> extents; // origin extents, where static
  };

  Fact& FactOf(ValueId id) { return facts_[static_cast<size_t>(id.index)]; }
  Status BindInputs();
  Status InferConcrete(NodeId id);
  // Runs the reference kernel now when all inputs are known and small.
  Status TryEvaluate(const Node& node);
  void SelectLiveNodes();
  int SlotOf(ValueId id);
  Status MakeSlots();
  bool MakeViews(const Node& node);
  bool JoinInPlace(const Node& node);
  Status MakeSteps();
  Status MakeConstantsReadable(const Node& node, const Kernel* kernel) const;
  Result<std::shared_ptr<const Kernel>> ChooseKernelFor(const KernelRequest& request, const Step& step) const;
  Status MakeStep(const Node& node, Step& step);
  void CopyEarlyVersions();
  void CopyVersionsAfter(const Node& node);
  void CopyToOutput(size_t output);
  CostEstimate CostOf(const Node& node) const;
  Status PlaceOutputs();
  bool ReadsElsewhere(const Step& step, int operand) const;
  void ShareMemory();
  void FindLifetimes();
  Status AssignMemory();
  OperandDesc Describe(ValueId id) const;
  bool IsStaticStep(const Node& node) const;
  int Root(int slot) const;

  const Executable& executable_;
  const Graph& graph_;
  const std::vector<const AnyValue*>& inputs_;
  std::shared_ptr<Plan> plan_ = std::make_shared<Plan>();
  std::vector<Fact> facts_;
  DimBindings bindings_;
  std::vector<NodeId> live_;
  std::vector<int> slot_of_;  // by value index; -1: none yet
};

}  // namespace asc

#endif  // ASC_CORE_COMPILE_PLANNER_H_
