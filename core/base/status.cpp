#include "core/base/status.h"

namespace asc {
namespace {
const std::string& EmptyString() {
  static const std::string* empty = new std::string;
  return *empty;
}

// What usually helps with failures of this kind: the hint of a Status that was given none of its own.
std::string_view DefaultHint(Code code) {
  switch (code) {
    case Code::kOk: return "";
    case Code::kShapeMismatch: return "compare the shapes of the operands with what the operator expects";
    case Code::kTypeMismatch: return "convert the value to the expected type, or insert a Cast";
    case Code::kInvalidArgument: return "compare the arguments and attributes with the operator's documentation";
    case Code::kNotFound: return "check the spelling of the name";
    case Code::kInvalidGraph: return "check the model with a model checker, or export it again";
    case Code::kInvalidModel: return "the file is damaged or no valid model: fetch or export it again";
    case Code::kOutOfRange: return "compare the indices with the extent of the axis";
    case Code::kLayout: return "insert a transpose, or leave the layout to the compiler";
    case Code::kUnavailable: return "leave the option at its default";
    case Code::kIo: return "check the path, its permissions and free space";
    case Code::kDestroyed: return "make a new one";
    case Code::kOutOfMemory: return "use smaller inputs or a smaller batch, or raise the memory limit";
    case Code::kCancelled: return "run it again without cancelling";
    case Code::kArithmetic: return "keep zeros out of integer divisors";
    case Code::kDevice: return "choose a device that exists";
    case Code::kUnsupportedOperator: return "replace the operator, or register one of that name";
    case Code::kInternal: return "this is a fault of the engine: please report it with the model";
  }
  return "";
}
}  // namespace

std::string CodeName(Code code) { return Cat("E", static_cast<int>(code)); }

Status::Status(Code code, std::string message) {
  if (code != Code::kOk) rep_ = std::make_unique<Rep>(Rep{code, std::move(message), {}, std::string(DefaultHint(code))});
}

Status::Status(const Status& other) : rep_(other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) rep_ = other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr;
  return *this;
}

const std::string& Status::message() const { return rep_ ? rep_->message : EmptyString(); }
const std::string& Status::node() const { return rep_ ? rep_->node : EmptyString(); }
const std::string& Status::hint() const { return rep_ ? rep_->hint : EmptyString(); }

Status&& Status::WithNode(std::string_view node) && {
  if (rep_ && rep_->node.empty()) rep_->node.assign(node.data(), node.size());
  return std::move(*this);
}

Status&& Status::WithHint(std::string_view hint) && {
  if (rep_ && rep_->hint == DefaultHint(rep_->code)) rep_->hint.assign(hint.data(), hint.size());
  return std::move(*this);
}

Status&& Status::WithContext(std::string_view prefix) && {
  if (rep_) rep_->message.insert(0, std::string(prefix) + ": ");
  return std::move(*this);
}

std::string Status::ToString() const {
  if (!rep_) return "OK";
  std::string text = CodeName(rep_->code);
  if (!rep_->node.empty()) text += Cat(" at node '", rep_->node, "'");
  text += Cat(": ", rep_->message);
  if (!rep_->hint.empty()) text += Cat(" (hint: ", rep_->hint, ")");
  return text;
}

}  // namespace asc
