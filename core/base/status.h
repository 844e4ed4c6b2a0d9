// Status and Result: how every fallible function of the core reports failure.
//
// A Status is one pointer wide; success is the null pointer, so that the hot path pays one compare. A failure carries what
// a user needs to mend it: a code of docs/errors.md, a message (what was given, what was expected), the user's node, a hint.
#ifndef ASC_CORE_BASE_STATUS_H_
#define ASC_CORE_BASE_STATUS_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/strings.h"

namespace asc {

// Numbers are public (docs/errors.md, the C ABI, Python's `.code`): they are never reused or renumbered.
enum class Code : int {
  kOk = 0,
  kShapeMismatch = 5001,
  kTypeMismatch = 5002,
  kInvalidArgument = 5003,
  kNotFound = 5004,
  kInvalidGraph = 5005,
  kInvalidModel = 5006,
  kOutOfRange = 5007,
  kLayout = 5008,
  kUnavailable = 5009,  // a documented option that this build or version does not have
  kIo = 5010,
  kDestroyed = 5011,
  kOutOfMemory = 5012,
  kCancelled = 5013,
  kArithmetic = 5014,  // integer division by zero
  kDevice = 5020,
  kUnsupportedOperator = 5033,
  kInternal = 5099,
};

// "E5001" and the like.
std::string CodeName(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message);
  Status(Status&&) = default;
  Status& operator=(Status&&) = default;
  Status(const Status& other);
  Status& operator=(const Status& other);

  bool ok() const { return rep_ == nullptr; }
  Code code() const { return rep_ ? rep_->code : Code::kOk; }
  const std::string& message() const;
  const std::string& node() const;
  const std::string& hint() const;

  // Builders, for `return ShapeError(...).WithHint("...")`. The first node named wins: it is the innermost one.
  Status&& WithNode(std::string_view node) &&;
  Status&& WithHint(std::string_view hint) &&;
  // Puts `prefix: ` in front of the message.
  Status&& WithContext(std::string_view prefix) &&;

  // One line for people: `E5001 at node 'conv1': message (hint: ...)`; "OK" for success.
  std::string ToString() const;

 private:
  struct Rep {
    Code code;
    std::string message, node, hint;
  };
  std::unique_ptr<Rep> rep_;
};

inline Status Ok() { return Status(); }

template <typename... Args>
Status Error(Code code, const Args&... args) {
  return Status(code, Cat(args...));
}
template <typename... Args>
Status ShapeError(const Args&... args) {
  return Error(Code::kShapeMismatch, args...);
}
template <typename... Args>
Status TypeError(const Args&... args) {
  return Error(Code::kTypeMismatch, args...);
}
template <typename... Args>
Status InvalidArgument(const Args&... args) {
  return Error(Code::kInvalidArgument, args...);
}
template <typename... Args>
Status InternalError(const Args&... args) {
  return Error(Code::kInternal, args...);
}

// A value or the Status that explains its absence.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT: implicit, for `return value;`
  Result(Status status) : status_(std::move(status)) {  // NOLINT: implicit, for `return error;`
    if (status_.ok()) status_ = Status(Code::kInternal, "Result made from an OK status");
  }
  bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

#define ASC_CONCAT_INNER(a, b) a##b
#define ASC_CONCAT(a, b) ASC_CONCAT_INNER(a, b)
#define ASC_RETURN_IF_ERROR(expr)                        \
  do {                                                   \
    if (::asc::Status asc_status_ = (expr); !asc_status_.ok()) return asc_status_; \
  } while (false)
#define ASC_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                              \
  if (!tmp.ok()) return std::move(tmp).status();  \
  lhs = std::move(tmp).value()
// ASC_ASSIGN_OR_RETURN(auto x, MakeX());
#define ASC_ASSIGN_OR_RETURN(lhs, ...) \
  ASC_ASSIGN_OR_RETURN_IMPL(ASC_CONCAT(asc_result_, __LINE__), lhs, (__VA_ARGS__))

}  // namespace asc

#endif  // ASC_CORE_BASE_STATUS_H_
