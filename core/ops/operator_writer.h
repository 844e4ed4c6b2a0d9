// Writes operators of ai.onnx into a graph, one call each: for what stands for one node (expansions, gradients).
#ifndef ASC_CORE_OPS_OPERATOR_WRITER_H_
#define ASC_CORE_OPS_OPERATOR_WRITER_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/infer.h"

namespace asc {

// What new nodes are called after, and where they come from.
struct WrittenFor {
  std::string name;
  std::vector<Origin> origins;
  int scope = 0;
  Reached reached = Reached::kSurely;
};

// The first thing that goes wrong stays in status(); what is added afterwards is invalid and adds
// nothing. Types of what is added are inferred.
class OperatorWriter {
 public:
  OperatorWriter(Graph& graph, WrittenFor reason)
      : graph_(graph), reason_(std::move(reason)), first_(graph.mark().nodes) {}

  DataType dtype(ValueId value) const { return graph_.value(value).type.dtype; }
  const Shape& shape(ValueId value) const { return graph_.value(value).type.shape; }
  // E5003 naming `what` where it is not known.
  Result<size_t> Rank(ValueId value, std::string_view what) const;

  // Adds an operator and gives its first output.
  ValueId Add(std::string_view op, std::vector<ValueId> inputs, AttributeMap attributes = {});
  // The same with an attribute.
  template <typename T>
  ValueId Add(std::string_view op, std::vector<ValueId> inputs, std::string_view attribute,
              T value) {
    AttributeMap attributes;
    attributes.Set(attribute, std::move(value));
    return Add(op, std::move(inputs), std::move(attributes));
  }
  // The same with several outputs; invalid ones after a failure.
  std::vector<ValueId> AddMany(std::string_view op, std::vector<ValueId> inputs,
                               AttributeMap attributes, size_t output_count);
  ValueId Constant(Tensor tensor);
  // Of rank 0, in the element type of `like`.
  ValueId Number(ValueId like, double value) { return Scalar(dtype(like), value); }
  ValueId Scalar(DataType type, double value);
  ValueId Ints(const std::vector<int64_t>& values);
  ValueId Cast(ValueId value, DataType type);
  // Integers that were added here and that shape arithmetic knows already: as a constant. Other
  // values stay as they are.
  ValueId Settle(ValueId value);

  void Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  const Graph& graph() const { return graph_; }

 protected:
  Graph& mutable_graph() { return graph_; }
  const WrittenFor& reason() const { return reason_; }
  // Whether a node that was added here makes the value.
  bool Wrote(ValueId value) const;

 private:
  Graph& graph_;
  const WrittenFor reason_;
  const size_t first_;  // index of the first node that may be one of ours
  Status status_;
};

}  // namespace asc

#endif  // ASC_CORE_OPS_OPERATOR_WRITER_H_
