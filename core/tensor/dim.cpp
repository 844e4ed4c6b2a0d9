#include "core/tensor/dim.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>

#include "core/base/strings.h"

namespace asc {

struct Dim::Atom {
  enum class Kind { kSymbol, kFloorDiv, kMax, kMin };
  Kind kind;
  std::string name;  // symbols
  Dim a, b;          // the others
  std::string key;   // what it prints as; orders and compares atoms
};

struct Dim::Term {
  int64_t coefficient;
  std::vector<std::shared_ptr<const Atom>> atoms;  // sorted by key; empty for the constant term
  std::string key;                                 // joined keys of the atoms
};

struct Dim::Expr {
  std::vector<Term> terms;  // sorted by key, no zero coefficients
  std::string text;
};

namespace {
int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return a > 0 ? INT64_MAX : INT64_MIN;
  return out;
}
int64_t SaturatingMul(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
  return out;
}
int64_t FloorDivide(int64_t a, int64_t b) {
  if (a == INT64_MIN && b == -1) return INT64_MAX;
  const int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)));
}
std::atomic<int64_t> next_unknown{0};
// Products of sums grow exponentially; an expression that would have more terms than this becomes an unknown.
constexpr size_t kMostTerms = 256;
}  // namespace

std::vector<Dim::Term> Dim::Terms() const {
  if (expr_) return expr_->terms;
  if (value_ == 0) return {};
  return {Term{value_, {}, ""}};
}

Dim Dim::FromTerms(std::vector<Term> terms) {
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.key < b.key; });
  std::vector<Term> merged;
  for (Term& term : terms) {
    if (!merged.empty() && merged.back().key == term.key) {
      merged.back().coefficient = SaturatingAdd(merged.back().coefficient, term.coefficient);
    } else {
      merged.push_back(std::move(term));
    }
  }
  std::erase_if(merged, [](const Term& term) { return term.coefficient == 0; });
  if (merged.empty()) return Dim(0);
  if (merged.size() == 1 && merged[0].atoms.empty()) return Dim(merged[0].coefficient);
  auto expr = std::make_shared<Expr>();
  // The constant term (empty key, sorted first) reads better at the end.
  if (merged[0].atoms.empty()) std::rotate(merged.begin(), merged.begin() + 1, merged.end());
  for (const Term& term : merged) {
    const int64_t c = term.coefficient;
    if (expr->text.empty()) {
      if (c < 0) expr->text += '-';
    } else {
      expr->text += c < 0 ? " - " : " + ";
    }
    const uint64_t magnitude = c < 0 ? 0 - static_cast<uint64_t>(c) : static_cast<uint64_t>(c);
    if (term.atoms.empty()) {
      expr->text += std::to_string(magnitude);
    } else {
      if (magnitude != 1) expr->text += std::to_string(magnitude) + "*";
      expr->text += term.key;
    }
  }
  expr->terms = std::move(merged);
  Dim out;
  out.expr_ = std::move(expr);
  return out;
}

Dim Dim::FromAtom(std::shared_ptr<const Atom> atom) {
  std::string key = atom->key;
  return FromTerms({Term{1, {std::move(atom)}, std::move(key)}});
}

Dim Dim::Symbol(std::string_view name) {
  return FromAtom(std::make_shared<Atom>(Atom{Atom::Kind::kSymbol, std::string(name), 0, 0, std::string(name)}));
}

Dim Dim::Unknown() { return Symbol(Cat("?", next_unknown.fetch_add(1, std::memory_order_relaxed))); }

bool Dim::is_symbol() const {
  return expr_ && expr_->terms.size() == 1 && expr_->terms[0].coefficient == 1 && expr_->terms[0].atoms.size() == 1 &&
         expr_->terms[0].atoms[0]->kind == Atom::Kind::kSymbol;
}

bool Dim::is_unknown() const { return expr_ && expr_->text.find('?') != std::string::npos; }

bool Dim::IsNonNegative() const {
  if (!expr_) return value_ >= 0;
  const auto atom_is = [](const std::shared_ptr<const Atom>& atom) {
    switch (atom->kind) {
      case Atom::Kind::kSymbol: return atom->name[0] != '?';
      case Atom::Kind::kFloorDiv:
      case Atom::Kind::kMin: return atom->a.IsNonNegative() && atom->b.IsNonNegative();
      case Atom::Kind::kMax: return atom->a.IsNonNegative() || atom->b.IsNonNegative();
    }
    return false;
  };
  return std::all_of(expr_->terms.begin(), expr_->terms.end(), [&](const Term& term) {
    return term.coefficient >= 0 && std::all_of(term.atoms.begin(), term.atoms.end(), atom_is);
  });
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return Dim(SaturatingAdd(a.value_, b.value_));
  std::vector<Dim::Term> terms = a.Terms();
  for (Dim::Term& term : b.Terms()) terms.push_back(std::move(term));
  return Dim::FromTerms(std::move(terms));
}

Dim operator-(const Dim& a, const Dim& b) { return a + b * Dim(-1); }

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return Dim(SaturatingMul(a.value_, b.value_));
  std::vector<Dim::Term> terms;
  const std::vector<Dim::Term> left = a.Terms(), right = b.Terms();
  if (left.size() * right.size() > kMostTerms) return Dim::Unknown();
  for (const Dim::Term& x : left) {
    for (const Dim::Term& y : right) {
      Dim::Term term{SaturatingMul(x.coefficient, y.coefficient), x.atoms, ""};
      term.atoms.insert(term.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(term.atoms.begin(), term.atoms.end(), [](const auto& p, const auto& q) { return p->key < q->key; });
      for (const auto& atom : term.atoms) term.key += (term.key.empty() ? "" : "*") + atom->key;
      terms.push_back(std::move(term));
    }
  }
  return Dim::FromTerms(std::move(terms));
}

Dim Dim::FloorDiv(const Dim& a, const Dim& b) {
  if (b.IsConstant(0)) return Unknown();
  if (b.IsConstant(1)) return a;
  if (a.is_constant() && b.is_constant()) return Dim(FloorDivide(a.value_, b.value_));
  if (a.IsConstant(0)) return a;
  if (a == b) return Dim(1);
  const std::vector<Term> divisor = b.Terms();
  if (divisor.size() == 1) {
    // Divide each term exactly by the one divisor term where that works for all of them.
    std::vector<Term> quotient;
    bool exact = true;
    for (const Term& term : a.Terms()) {
      if (term.coefficient % divisor[0].coefficient != 0) {
        exact = false;
        break;
      }
      Term left{term.coefficient / divisor[0].coefficient, term.atoms, ""};
      for (const auto& atom : divisor[0].atoms) {
        const auto it = std::find_if(left.atoms.begin(), left.atoms.end(), [&](const auto& p) { return p->key == atom->key; });
        if (it == left.atoms.end()) {
          exact = false;
          break;
        }
        left.atoms.erase(it);
      }
      if (!exact) break;
      for (const auto& atom : left.atoms) left.key += (left.key.empty() ? "" : "*") + atom->key;
      quotient.push_back(std::move(left));
    }
    if (exact) return FromTerms(std::move(quotient));
  }
  return FromAtom(std::make_shared<Atom>(
      Atom{Atom::Kind::kFloorDiv, "", a, b, Cat("floordiv(", a.ToString(), ", ", b.ToString(), ")")}));
}

Dim Dim::CeilDiv(const Dim& a, const Dim& b) { return Dim(0) - FloorDiv(Dim(0) - a, b); }

Dim Dim::MinMax(bool is_max, const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  if (difference.is_constant()) return (difference.value_ >= 0) == is_max ? a : b;
  std::string first = a.ToString(), second = b.ToString();
  const bool swap = second < first;
  if (swap) std::swap(first, second);
  return FromAtom(std::make_shared<Atom>(Atom{is_max ? Atom::Kind::kMax : Atom::Kind::kMin, "", swap ? b : a,
                                              swap ? a : b, Cat(is_max ? "max(" : "min(", first, ", ", second, ")")}));
}

Dim Dim::Max(const Dim& a, const Dim& b) { return MinMax(true, a, b); }
Dim Dim::Min(const Dim& a, const Dim& b) { return MinMax(false, a, b); }

bool operator==(const Dim& a, const Dim& b) {
  if (a.is_constant() || b.is_constant()) return a.is_constant() && b.is_constant() && a.value_ == b.value_;
  return a.expr_ == b.expr_ || a.expr_->text == b.expr_->text;
}

std::optional<int64_t> Dim::Evaluate(const DimBindings& bindings) const {
  if (!expr_) return value_;
  int64_t sum = 0;
  for (const Term& term : expr_->terms) {
    int64_t product = term.coefficient;
    for (const auto& atom : term.atoms) {
      int64_t value = 0;
      if (atom->kind == Atom::Kind::kSymbol) {
        const auto it = bindings.find(atom->name);
        if (it == bindings.end()) return std::nullopt;
        value = it->second;
      } else {
        const auto a = atom->a.Evaluate(bindings), b = atom->b.Evaluate(bindings);
        if (!a || !b) return std::nullopt;
        if (atom->kind == Atom::Kind::kFloorDiv) {
          if (*b == 0) return std::nullopt;
          value = FloorDivide(*a, *b);
        } else {
          value = atom->kind == Atom::Kind::kMax ? std::max(*a, *b) : std::min(*a, *b);
        }
      }
      product = SaturatingMul(product, value);
    }
    sum = SaturatingAdd(sum, product);
  }
  return sum;
}

Dim Dim::Substitute(const DimSubstitution& replacements) const {
  if (!expr_) return *this;
  Dim sum(0);
  for (const Term& term : expr_->terms) {
    Dim product(term.coefficient);
    for (const auto& atom : term.atoms) {
      switch (atom->kind) {
        case Atom::Kind::kSymbol: {
          const auto it = replacements.find(atom->name);
          product = product * (it == replacements.end() ? FromAtom(atom) : it->second);
          break;
        }
        case Atom::Kind::kFloorDiv:
          product = product * FloorDiv(atom->a.Substitute(replacements), atom->b.Substitute(replacements));
          break;
        case Atom::Kind::kMax:
        case Atom::Kind::kMin:
          product = product * MinMax(atom->kind == Atom::Kind::kMax, atom->a.Substitute(replacements),
                                     atom->b.Substitute(replacements));
          break;
      }
    }
    sum = sum + product;
  }
  return sum;
}

void Dim::CollectSymbols(std::set<std::string>& out) const {
  if (!expr_) return;
  for (const Term& term : expr_->terms) {
    for (const auto& atom : term.atoms) {
      if (atom->kind == Atom::Kind::kSymbol) {
        out.insert(atom->name);
      } else {
        atom->a.CollectSymbols(out);
        atom->b.CollectSymbols(out);
      }
    }
  }
}

std::string Dim::ToString() const { return expr_ ? expr_->text : std::to_string(value_); }

// Recursive descent over: sum := ['-'] product (('+'|'-') product)*; product := factor ('*' factor)*;
// factor := integer | symbol | name '(' sum ',' sum ')' | '(' sum ')'.
class DimParser {
 public:
  explicit DimParser(std::string_view text) : text_(text) {}

  std::optional<Dim> ParseAll() {
    auto out = Sum(0);
    Skip();
    return at_ == text_.size() ? out : std::nullopt;
  }

 private:
  static constexpr int kDeepest = 64;

  void Skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool Take(char c) {
    Skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::optional<Dim> Sum(int depth) {
    if (depth > kDeepest) return std::nullopt;
    const bool negative = Take('-');
    auto total = Product(depth);
    if (total && negative) total = Dim(0) - *total;
    while (total) {
      const bool plus = Take('+');
      if (!plus && !Take('-')) break;
      const auto next = Product(depth);
      if (!next) return std::nullopt;
      total = plus ? *total + *next : *total - *next;
    }
    return total;
  }
  std::optional<Dim> Product(int depth) {
    auto product = Factor(depth);
    while (product && Take('*')) {
      const auto next = Factor(depth);
      if (!next) return std::nullopt;
      product = *product * *next;
    }
    return product;
  }
  std::optional<Dim> Factor(int depth) {
    if (Take('(')) {
      auto inner = Sum(depth + 1);
      return inner && Take(')') ? inner : std::nullopt;
    }
    Skip();
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' ||
                                  text_[at_] == '?' || text_[at_] == '.' || text_[at_] == ':')) {
      ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) return std::nullopt;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && end == word.data() + word.size()) return Dim(number);
    if (word == "?") return Dim::Unknown();
    if (word == "floordiv" || word == "max" || word == "min") {
      if (!Take('(')) return std::nullopt;
      const auto a = Sum(depth + 1);
      if (!a || !Take(',')) return std::nullopt;
      const auto b = Sum(depth + 1);
      if (!b || !Take(')')) return std::nullopt;
      return word == "floordiv" ? Dim::FloorDiv(*a, *b) : word == "max" ? Dim::Max(*a, *b) : Dim::Min(*a, *b);
    }
    return Dim::Symbol(word);
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::optional<Dim> Dim::Parse(std::string_view text) { return DimParser(text).ParseAll(); }

}  // namespace asc
