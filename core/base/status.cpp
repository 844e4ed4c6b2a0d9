#include "core/base/status.h"

namespace asc {
namespace {
const std::string& EmptyString() {
  static const std::string* empty = new std::string;
  return *empty;
}
}  // namespace

std::string CodeName(Code code) { return Cat("E", static_cast<int>(code)); }

Status::Status(Code code, std::string message) {
  if (code != Code::kOk) rep_ = std::make_unique<Rep>(Rep{code, std::move(message), {}, {}});
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
  if (rep_ && rep_->hint.empty()) rep_->hint.assign(hint.data(), hint.size());
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
