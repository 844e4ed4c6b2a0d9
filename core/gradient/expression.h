// Arithmetic of graph values as it is written: `g * (1 - y * y)` adds the operators for it.
#ifndef ASC_CORE_GRADIENT_EXPRESSION_H_
#define ASC_CORE_GRADIENT_EXPRESSION_H_

#include <initializer_list>
#include <string_view>
#include <vector>

#include "core/ops/operator_writer.h"

namespace asc {

// A value and the writer that adds what is made of it. Numbers become constants of the value's element type.
class Expr {
 public:
  Expr() = default;
  Expr(OperatorWriter& writer, ValueId id) : writer_(&writer), id_(id) {}

  bool valid() const { return id_.valid(); }
  ValueId id() const { return id_; }
  OperatorWriter& writer() const { return *writer_; }
  // Only of valid ones.
  DataType dtype() const { return writer_->dtype(id_); }
  const Shape& shape() const { return writer_->shape(id_); }
  bool has_rank() const { return valid() && shape().has_rank(); }
  // The value, where it is a constant.
  const Tensor* constant() const;

 private:
  OperatorWriter* writer_ = nullptr;
  ValueId id_;
};

AttributeMap Attributes(std::initializer_list<AttributeMap::Entry> entries);

// An operator of ai.onnx; invalid expressions are absent inputs.
Expr Apply(std::string_view op, std::initializer_list<Expr> inputs, AttributeMap attributes = {});
Expr Apply(std::string_view op, const std::vector<Expr>& inputs, AttributeMap attributes = {});

Expr Number(const Expr& like, double value);
Expr Ints(const Expr& like, const std::vector<int64_t>& values);  // int64, of rank 1

inline Expr operator+(const Expr& a, const Expr& b) { return Apply("Add", {a, b}); }
inline Expr operator-(const Expr& a, const Expr& b) { return Apply("Sub", {a, b}); }
inline Expr operator*(const Expr& a, const Expr& b) { return Apply("Mul", {a, b}); }
inline Expr operator/(const Expr& a, const Expr& b) { return Apply("Div", {a, b}); }
inline Expr operator-(const Expr& a) { return Apply("Neg", {a}); }
Expr operator+(const Expr& a, double b);
Expr operator-(const Expr& a, double b);
Expr operator-(double a, const Expr& b);
Expr operator*(const Expr& a, double b);
inline Expr operator+(double a, const Expr& b) { return b + a; }
inline Expr operator*(double a, const Expr& b) { return b * a; }
Expr operator/(const Expr& a, double b);
Expr operator/(double a, const Expr& b);
inline Expr operator<(const Expr& a, const Expr& b) { return Apply("Less", {a, b}); }
inline Expr operator>(const Expr& a, const Expr& b) { return Apply("Greater", {a, b}); }
Expr operator<(const Expr& a, double b);
Expr operator>(const Expr& a, double b);

Expr Where(const Expr& condition, const Expr& a, const Expr& b);
Expr Where(const Expr& condition, const Expr& a, double b);
Expr Cast(const Expr& x, DataType type);
inline Expr CastLike(const Expr& x, const Expr& like) { return Cast(x, like.dtype()); }

// int64, of rank 1; a constant where the shape is known.
Expr ShapeOf(const Expr& x);
// Of x's shape and element type.
Expr Fill(const Expr& x, double value);
Expr Reshape(const Expr& x, const Expr& shape);
Expr ReshapeLike(const Expr& x, const Expr& like);
Expr ExpandLike(const Expr& x, const Expr& like);
// Sums over what broadcasting from `like` to x added, also where only a run knows what that was.
Expr SumTo(const Expr& x, const Expr& like);
// Over axes, as an int64 list; an invalid one: all axes.
Expr ReduceSum(const Expr& x, const Expr& axes, bool keep);
Expr ReduceSum(const Expr& x, const std::vector<int64_t>& axes, bool keep);
Expr ReduceMean(const Expr& x, const std::vector<int64_t>& axes);  // keeps the axes
// 1 over how many elements x has for each one of y, as a number of x's element type (the count itself may be too large for float16).
Expr CountShare(const Expr& x, const Expr& y);
Expr Unsqueeze(const Expr& x, const std::vector<int64_t>& axes);
Expr Transpose(const Expr& x, const std::vector<int64_t>& permutation);
Expr Concat(const std::vector<Expr>& parts, int64_t axis);

// For operators that move elements. The row-major position of each element of x, in x's shape (int64).
Expr PositionsOf(const Expr& x);
// Zeros of x's shape, with each element of `values` added at the position that `positions`, of the same shape, has for it.
Expr AddAt(const Expr& x, const Expr& positions, const Expr& values);

}  // namespace asc

#endif  // ASC_CORE_GRADIENT_EXPRESSION_H_
