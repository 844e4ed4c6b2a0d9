#include "core/gradient/expression.h"

#include <algorithm>
#include <numeric>

namespace asc {
namespace {
// Which axes of `from` broadcasting of `to` made.
struct BroadcastAxes {
  size_t leading = 0;         // that `to` has not
  std::vector<int64_t> axes;  // of `from`, the leading ones among them
  bool known = true;          // false: a run decides about others too
};

BroadcastAxes CompareShapes(const Shape& from, const Shape& to) {
  BroadcastAxes found;
  found.leading = from.rank() - to.rank();
  for (size_t i = 0; i < found.leading; ++i) found.axes.push_back(static_cast<int64_t>(i));
  for (size_t i = 0; i < to.rank(); ++i) {
    const Dim &made = from[found.leading + i], &was = to[i];
    if (made == was || made.IsConstant(1)) continue;
    if (was.IsConstant(1)) {
      found.axes.push_back(static_cast<int64_t>(found.leading + i));
    } else if (!was.is_constant()) {
      found.known = false;
    }
  }
  return found;
}

// The axes on which the shapes, aligned at their ends, differ.
Expr DifferentAxes(const Expr& from, const Expr& to) {
  const Expr made = ShapeOf(from);
  Expr was = ShapeOf(to);
  const Expr missing = ShapeOf(made) - ShapeOf(was);
  const Tensor one = FromInt64Vector(std::vector<int64_t>{1});
  was = Concat({Apply("ConstantOfShape", {missing}, Attributes({{"value", one}})), was}, 0);
  const Expr differ = Apply("Not", {Apply("Equal", {made, was})});
  return Reshape(Apply("NonZero", {differ}), Ints(from, {-1}));
}
}  // namespace

const Tensor* Expr::constant() const { return valid() ? writer_->graph().Constant(id_) : nullptr; }

AttributeMap Attributes(std::initializer_list<AttributeMap::Entry> entries) {
  AttributeMap out;
  for (const auto& [name, value] : entries) out.Set(name, value);
  return out;
}

Expr Apply(std::string_view op, const std::vector<Expr>& inputs, AttributeMap attributes) {
  const auto given =
      std::find_if(inputs.begin(), inputs.end(), [](const Expr& x) { return x.valid(); });
  if (given == inputs.end()) return Expr();  // only after a failure
  OperatorWriter& writer = given->writer();
  std::vector<ValueId> ids;
  for (const Expr& input : inputs) ids.push_back(input.id());
  return Expr(writer, writer.Settle(writer.Add(op, std::move(ids), std::move(attributes))));
}

Expr Apply(std::string_view op, std::initializer_list<Expr> inputs, AttributeMap attributes) {
  return Apply(op, std::vector<Expr>(inputs), std::move(attributes));
}

Expr Number(const Expr& like, double value) {
  return like.valid() ? Expr(like.writer(), like.writer().Number(like.id(), value)) : Expr();
}

Expr Ints(const Expr& like, const std::vector<int64_t>& values) {
  return like.valid() ? Expr(like.writer(), like.writer().Ints(values)) : Expr();
}

Expr operator+(const Expr& a, double b) { return a + Number(a, b); }
Expr operator-(const Expr& a, double b) { return a - Number(a, b); }
Expr operator-(double a, const Expr& b) { return Number(b, a) - b; }
Expr operator*(const Expr& a, double b) { return b == 1 ? a : a * Number(a, b); }
Expr operator/(const Expr& a, double b) { return a / Number(a, b); }
Expr operator/(double a, const Expr& b) { return Number(b, a) / b; }
Expr operator<(const Expr& a, double b) { return a < Number(a, b); }
Expr operator>(const Expr& a, double b) { return a > Number(a, b); }

Expr Where(const Expr& condition, const Expr& a, const Expr& b) {
  return Apply("Where", {condition, a, b});
}
Expr Where(const Expr& condition, const Expr& a, double b) {
  return Where(condition, a, Number(a, b));
}

Expr Cast(const Expr& x, DataType type) {
  return x.valid() ? Expr(x.writer(), x.writer().Cast(x.id(), type)) : Expr();
}

Expr ShapeOf(const Expr& x) { return Apply("Shape", {x}); }

Expr Fill(const Expr& x, double value) {
  if (!x.valid()) return Expr();
  const Expr number = Number(x, value);
  if (x.shape().has_rank() && x.shape().rank() == 0) return number;
  return Apply("Expand", {number, ShapeOf(x)});
}

Expr Reshape(const Expr& x, const Expr& shape) { return Apply("Reshape", {x, shape}); }

Expr ReshapeLike(const Expr& x, const Expr& like) {
  if (!x.valid() || !like.valid() || (x.has_rank() && x.shape() == like.shape())) return x;
  const auto dims = like.shape().ToDims();
  // An extent of 0 means itself, where there may be one.
  const bool plain = dims && std::find(dims->begin(), dims->end(), 0) == dims->end();
  return Apply("Reshape", {x, ShapeOf(like)},
               plain ? AttributeMap() : Attributes({{"allowzero", int64_t{1}}}));
}

Expr ExpandLike(const Expr& x, const Expr& like) {
  if (!x.valid() || !like.valid() || (x.has_rank() && x.shape() == like.shape())) return x;
  return Apply("Expand", {x, ShapeOf(like)});
}

Expr SumTo(const Expr& x, const Expr& like) {
  if (!x.valid() || !like.valid()) return x;
  const bool ranked = x.has_rank() && like.has_rank();
  if (ranked && x.shape().rank() >= like.shape().rank()) {
    const BroadcastAxes found = CompareShapes(x.shape(), like.shape());
    if (found.known) {
      if (found.axes.empty()) return x;
      // Where nothing but leading axes goes, no axis of extent 1 has to stay.
      if (found.axes.size() == found.leading) return ReduceSum(x, found.axes, false);
      return ReshapeLike(ReduceSum(x, found.axes, true), like);
    }
  }
  const Expr sums =
      Apply("ReduceSum", {x, DifferentAxes(x, like)},
            Attributes({{"keepdims", int64_t{1}}, {"noop_with_empty_axes", int64_t{1}}}));
  return ReshapeLike(sums, like);
}

Expr ReduceSum(const Expr& x, const Expr& axes, bool keep) {
  return Apply("ReduceSum", {x, axes}, Attributes({{"keepdims", int64_t{keep}}}));
}

Expr ReduceSum(const Expr& x, const std::vector<int64_t>& axes, bool keep) {
  return axes.empty() ? x : ReduceSum(x, Ints(x, axes), keep);
}

Expr ReduceMean(const Expr& x, const std::vector<int64_t>& axes) {
  return axes.empty() ? x : Apply("ReduceMean", {x, Ints(x, axes)});
}

Expr CountShare(const Expr& x, const Expr& y) {
  if (!x.valid() || !y.valid()) return Expr();
  const auto many = x.shape().ToDims(), few = y.shape().ToDims();
  if (many && few && ElementCount(*few) > 0)
    return Number(
        x, static_cast<double>(ElementCount(*few)) / static_cast<double>(ElementCount(*many)));
  const auto size = [](const Expr& of) { return Cast(Apply("Size", {of}), DataType::kFloat64); };
  return CastLike(size(y) / size(x), x);
}

Expr Unsqueeze(const Expr& x, const std::vector<int64_t>& axes) {
  return axes.empty() ? x : Apply("Unsqueeze", {x, Ints(x, axes)});
}

Expr Transpose(const Expr& x, const std::vector<int64_t>& permutation) {
  return Apply("Transpose", {x}, Attributes({{"perm", permutation}}));
}

Expr Concat(const std::vector<Expr>& parts, int64_t axis) {
  return Apply("Concat", parts, Attributes({{"axis", axis}}));
}

Expr PositionsOf(const Expr& x) {
  const Expr size = Apply("Size", {x});
  return ReshapeLike(Apply("Range", {Number(size, 0), size, Number(size, 1)}), x);
}

Expr AddAt(const Expr& x, const Expr& positions, const Expr& values) {
  const Expr list = Ints(x, {-1});
  const Expr zeros = Apply("Expand", {Number(x, 0), Reshape(Apply("Size", {x}), list)});
  const Expr sums =
      Apply("ScatterElements", {zeros, Reshape(positions, list), Reshape(values, list)},
            Attributes({{"axis", int64_t{0}}, {"reduction", std::string("add")}}));
  return ReshapeLike(sums, x);
}

}  // namespace asc
