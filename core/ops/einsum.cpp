// Einsum: operands are contracted pair by pair, each pair as a stack of matrix products.
#include <algorithm>
#include <map>

#include "core/ops/cast_elements.h"
#include "core/ops/compute_buffer.h"
#include "core/ops/einsum_equation.h"
#include "core/ops/families.h"
#include "core/ops/matmul.h"

namespace asc {
namespace {
using Labels = std::vector<EinsumLabel>;

bool Has(const Labels& labels, EinsumLabel label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

std::string LabelName(EinsumLabel label) {
  return label > 0 ? Cat("'", static_cast<char>(label), "'") : "an ellipsis axis";
}

// Axes that ellipses stand for: the same number in every operand that has one.
Result<size_t> HiddenRank(const EinsumEquation& equation,
                          const std::vector<std::optional<size_t>>& ranks) {
  std::optional<size_t> hidden;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (!ranks[i]) continue;
    ASC_ASSIGN_OR_RETURN(const size_t own, EllipsisRank(equation.inputs[i], *ranks[i], i));
    if (!equation.inputs[i].ellipsis) continue;
    if (hidden && *hidden != own) {
      return ShapeError("Einsum needs ellipses of one size, given ", *hidden, " and ", own,
                        " axes");
    }
    hidden = own;
  }
  return hidden.value_or(0);
}

Status InferEinsum(InferContext& context) {
  const std::string text = context.attributes().String("equation", "");
  ASC_ASSIGN_OR_RETURN(const EinsumEquation equation, ParseEinsum(text, context.input_count()));
  std::vector<std::optional<size_t>> ranks;
  bool hidden_known = true;
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (!context.HasInput(i)) return InvalidArgument("Einsum needs its input number ", i);
    const Shape& shape = context.shape(i);
    ranks.push_back(shape.has_rank() ? std::optional<size_t>(shape.rank()) : std::nullopt);
    hidden_known &= shape.has_rank() || !equation.inputs[i].ellipsis;
  }
  ASC_ASSIGN_OR_RETURN(const size_t hidden, HiddenRank(equation, ranks));
  context.SetOutput(0, context.dtype(0));
  if (!hidden_known && equation.output.ellipsis) return Ok();
  std::map<EinsumLabel, Dim> extents;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (!ranks[i]) continue;
    const Labels labels = equation.inputs[i].Labels(hidden);
    for (size_t axis = 0; axis < labels.size(); ++axis) {
      const Dim& extent = context.shape(i)[axis];
      const auto [it, fresh] = extents.emplace(labels[axis], extent);
      if (fresh || it->second == extent || extent == Dim(1)) continue;
      if (it->second == Dim(1) || (extent.is_constant() && !it->second.is_constant())) {
        it->second = extent;
      } else if (extent.is_constant()) {
        return ShapeError("Einsum '", text, "' has extents ", it->second, " and ", extent, " for ",
                          LabelName(labels[axis]));
      } else if (!it->second.is_constant()) {
        it->second = Dim::Unknown();
      }
    }
  }
  std::vector<Dim> out;
  for (const EinsumLabel label : equation.output.Labels(hidden)) {
    const auto it = extents.find(label);
    out.push_back(it == extents.end() ? Dim::Unknown() : it->second);
  }
  context.SetOutput(0, context.dtype(0), Shape(std::move(out)));
  return Ok();
}

// A dense operand or intermediate result.
template <typename A>
struct Operand {
  Labels labels;  // may repeat: a diagonal
  Dims dims;
  const A* data = nullptr;
  std::shared_ptr<Buffer> buffer;
};

using Extents = std::map<EinsumLabel, int64_t>;

// The operand with its axes as `wanted` (each once, at full extent), summed over its other labels.
template <typename A>
Result<Operand<A>> Arrange(KernelContext& context, const Operand<A>& in, const Labels& wanted,
                           const Extents& extents) {
  std::map<EinsumLabel, int64_t> strides;
  const Dims own = ContiguousStrides(in.dims);
  Labels summed;
  std::map<EinsumLabel, int64_t> lengths;
  for (size_t i = 0; i < in.labels.size(); ++i) {
    strides[in.labels[i]] += in.dims[i] == 1 ? 0 : own[i];
    lengths[in.labels[i]] = std::max(lengths[in.labels[i]], in.dims[i]);
    if (!Has(wanted, in.labels[i]) && !Has(summed, in.labels[i])) summed.push_back(in.labels[i]);
  }
  Operand<A> out;
  out.labels = wanted;
  Dims walk_strides, sum_dims, sum_strides;
  for (const EinsumLabel label : wanted) {
    out.dims.push_back(extents.at(label));
    walk_strides.push_back(strides.contains(label) ? strides[label] : 0);
  }
  // A label that only this operand has is summed over its own extent; one of extent 1 that others
  // have longer stands for all.
  for (const EinsumLabel label : summed) {
    sum_dims.push_back(lengths[label]);
    sum_strides.push_back(strides[label]);
  }
  const int64_t count = ElementCount(out.dims);
  ASC_ASSIGN_OR_RETURN(out.buffer, context.Scratch(static_cast<size_t>(count) * sizeof(A)));
  A* to = reinterpret_cast<A*>(out.buffer->data());
  const StridedWalk<1> walk(out.dims, {walk_strides}), sums(sum_dims, {sum_strides});
  const int64_t step = walk.inner_stride(0), sum_step = sums.inner_stride(0);
  ParallelFor(count, std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, sums.size())),
              [&](int64_t begin, int64_t end) {
                walk.Rows(begin, end, [&](int64_t index, const auto& offsets, int64_t length) {
                  for (int64_t i = 0; i < length; ++i) {
                    const A* from = in.data + offsets[0] + i * step;
                    A sum = 0;
                    sums.Rows(0, sums.size(),
                              [&](int64_t, const auto& inner, int64_t inner_length) {
                                for (int64_t k = 0; k < inner_length; ++k)
                                  sum += from[inner[0] + k * sum_step];
                              });
                    to[index + i] = sum;
                  }
                });
              });
  out.data = to;
  return out;
}

// Multiplies two operands and sums over the labels that neither the output nor later operands need.
template <typename A>
Result<Operand<A>> Contract(KernelContext& context, const Operand<A>& a, const Operand<A>& b,
                            const Labels& needed, const Extents& extents) {
  Labels batch, rows, columns, inner;
  for (const EinsumLabel label : a.labels) {
    Labels& kind = Has(b.labels, label) ? (Has(needed, label) ? batch : inner) : rows;
    if (!Has(kind, label) && (Has(b.labels, label) || Has(needed, label))) kind.push_back(label);
  }
  for (const EinsumLabel label : b.labels) {
    if (!Has(a.labels, label) && Has(needed, label) && !Has(columns, label))
      columns.push_back(label);
  }
  const auto join = [](std::initializer_list<const Labels*> parts) {
    Labels out;
    for (const Labels* part : parts) out.insert(out.end(), part->begin(), part->end());
    return out;
  };
  const auto size = [&](const Labels& labels) {
    int64_t count = 1;
    for (const EinsumLabel label : labels) count *= extents.at(label);
    return count;
  };
  ASC_ASSIGN_OR_RETURN(const Operand<A> left,
                       Arrange(context, a, join({&batch, &rows, &inner}), extents));
  ASC_ASSIGN_OR_RETURN(const Operand<A> right,
                       Arrange(context, b, join({&batch, &inner, &columns}), extents));
  Operand<A> out;
  out.labels = join({&batch, &rows, &columns});
  for (const EinsumLabel label : out.labels) out.dims.push_back(extents.at(label));
  if (!CheckedElementCount(out.dims))
    return InvalidArgument("Einsum makes a tensor of shape ", out.dims, " on the way: too large");
  ASC_ASSIGN_OR_RETURN(out.buffer,
                       context.Scratch(static_cast<size_t>(ElementCount(out.dims)) * sizeof(A)));
  A* to = reinterpret_cast<A*>(out.buffer->data());
  MultiplyStacks<A>({size(batch), size(rows), size(inner)},
                    {size(batch), size(inner), size(columns)}, false, false, left.data, right.data,
                    to);
  out.data = to;
  return out;
}

template <typename A>
Status EinsumAs(KernelContext& context, DataType compute) {
  ASC_ASSIGN_OR_RETURN(
      const EinsumEquation equation,
      ParseEinsum(context.attributes().String("equation", ""), context.input_count()));
  std::vector<std::optional<size_t>> ranks;
  for (size_t i = 0; i < context.input_count(); ++i) ranks.push_back(context.input(i).rank());
  ASC_ASSIGN_OR_RETURN(const size_t hidden, HiddenRank(equation, ranks));
  std::vector<Operand<A>> operands;
  Extents extents;
  for (size_t i = 0; i < context.input_count(); ++i) {
    const Tensor& tensor = context.input(i);
    Operand<A>& operand = operands.emplace_back();
    operand.labels = equation.inputs[i].Labels(hidden);
    operand.dims = tensor.dims();
    ASC_ASSIGN_OR_RETURN(operand.buffer,
                         context.Scratch(static_cast<size_t>(tensor.size()) * sizeof(A)));
    CastElements(tensor.dtype(), tensor.raw(), compute, operand.buffer->data(), tensor.size());
    operand.data = reinterpret_cast<const A*>(operand.buffer->data());
    for (size_t axis = 0; axis < operand.labels.size(); ++axis) {
      int64_t& extent = extents.emplace(operand.labels[axis], 1).first->second;
      if (operand.dims[axis] != 1) extent = operand.dims[axis];
    }
  }
  const Labels output = equation.output.Labels(hidden);
  Operand<A> result = operands[0];
  for (size_t i = 1; i < operands.size(); ++i) {
    Labels needed = output;
    for (size_t k = i + 1; k < operands.size(); ++k) {
      needed.insert(needed.end(), operands[k].labels.begin(), operands[k].labels.end());
    }
    ASC_ASSIGN_OR_RETURN(result, Contract(context, result, operands[i], needed, extents));
  }
  ASC_ASSIGN_OR_RETURN(result, Arrange(context, result, output, extents));
  Tensor& out = context.output(0);
  CastElements(compute, result.data, out.dtype(), out.raw(), out.size());
  return Ok();
}

// Integers are computed in 64 bits that wrap around, of which the output keeps the low ones.
Status Einsum(KernelContext& context) {
  const DataType type = context.input(0).dtype();
  if (type == DataType::kFloat64) return EinsumAs<double>(context, DataType::kFloat64);
  if (IsFloat(type)) return EinsumAs<float>(context, DataType::kFloat32);
  return EinsumAs<uint64_t>(context, DataType::kUInt64);
}
}  // namespace

void AddEinsumOps(OpTable& table) {
  table.Add("Einsum", 28)
      .Doc("sums of products by Einstein's convention: 'ij,jk->ik' is a matrix product")
      .Input("inputs", "T", ParameterKind::kVariadic)
      .Output("output", "T")
      .Types("T", types::kNumeric)
      .RequiredAttr("equation", AttributeType::kString)
      .Class(OpClass::kMatMul)
      .Infer(InferEinsum)
      .Kernel(Einsum);
}

}  // namespace asc
