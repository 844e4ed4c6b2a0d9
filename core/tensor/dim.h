// Symbolic dimensions: integer expressions over named symbols, kept in a canonical form so that equal expressions compare
// equal: a sum of products of atoms, an atom being a symbol, floordiv(a, b), max(a, b) or min(a, b).
#ifndef ASC_CORE_TENSOR_DIM_H_
#define ASC_CORE_TENSOR_DIM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace asc {

class Dim;
using DimBindings = std::map<std::string, int64_t, std::less<>>;
using DimSubstitution = std::map<std::string, Dim, std::less<>>;

// Immutable value type; cheap to copy. Thread-safe.
class Dim {
 public:
  Dim() : Dim(0) {}
  Dim(int64_t value) : value_(value) {}  // NOLINT: integers are dimensions
  static Dim Symbol(std::string_view name);
  // A fresh symbol, equal to itself only: an extent that nothing is known of (yet). Prints as "?<number>".
  static Dim Unknown();
  // Reads what ToString writes; "?" alone gives a fresh unknown. nullopt on bad syntax.
  static std::optional<Dim> Parse(std::string_view text);

  bool is_constant() const { return expr_ == nullptr; }
  // Only when is_constant().
  int64_t value() const { return value_; }
  bool IsConstant(int64_t value) const { return is_constant() && value_ == value; }
  // A lone symbol (named or unknown).
  bool is_symbol() const;
  // True where an unknown takes part.
  bool is_unknown() const;
  // Sure to be at least 0, given that named symbols are extents (unknowns may stand for any integer).
  bool IsNonNegative() const;

  // Arithmetic saturates at the ends of int64. A product of more than 256 terms becomes an unknown.
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  // Rounds to minus infinity. Common factors cancel: they are assumed not to be zero. A constant zero divisor gives an unknown.
  static Dim FloorDiv(const Dim& a, const Dim& b);
  static Dim CeilDiv(const Dim& a, const Dim& b);
  static Dim Max(const Dim& a, const Dim& b);
  static Dim Min(const Dim& a, const Dim& b);
  friend bool operator==(const Dim& a, const Dim& b);

  // nullopt when a symbol is not bound (or on division by zero).
  std::optional<int64_t> Evaluate(const DimBindings& bindings) const;
  Dim Substitute(const DimSubstitution& replacements) const;
  void CollectSymbols(std::set<std::string>& out) const;
  std::string ToString() const;

 private:
  struct Atom;
  struct Term;
  struct Expr;
  static Dim FromTerms(std::vector<Term> terms);
  static Dim FromAtom(std::shared_ptr<const Atom> atom);
  std::vector<Term> Terms() const;
  static Dim MinMax(bool is_max, const Dim& a, const Dim& b);
  friend class DimParser;

  int64_t value_ = 0;
  std::shared_ptr<const Expr> expr_;
};

}  // namespace asc

#endif  // ASC_CORE_TENSOR_DIM_H_
