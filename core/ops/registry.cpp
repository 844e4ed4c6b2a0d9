#include "core/ops/registry.h"

#include <algorithm>

#include "core/ops/families.h"

namespace asc {
namespace {
std::string Key(std::string_view domain, std::string_view name) {
  std::string key(domain == "ai.onnx" ? std::string_view() : domain);
  key += '\0';
  key += name;
  return key;
}
}  // namespace

OpBuilder OpTable::Add(std::string_view name, int since_version, std::string_view domain) {
  OpSchema& row = rows_.emplace_back();
  row.domain = domain;
  row.name = name;
  row.method = SnakeCase(name);
  row.fusion = name;
  row.since_version = since_version;
  return OpBuilder(row);
}

OpRegistry& OpRegistry::Global() {
  static OpRegistry* registry = new OpRegistry;  // never destroyed: graphs may outlive static destruction
  return *registry;
}

namespace {
// Names that follow from others where the row does not give them.
void FillInNames(OpSchema& schema) {
  if (schema.method.empty()) schema.method = SnakeCase(schema.name);
  if (schema.fusion.empty()) schema.fusion = schema.name;
  for (std::vector<Parameter>* parameters : {&schema.inputs, &schema.outputs}) {
    for (Parameter& parameter : *parameters) {
      if (parameter.python_name.empty()) parameter.python_name = SnakeCase(parameter.name);
    }
  }
  for (AttributeSpec& attribute : schema.attributes) {
    if (attribute.python_name.empty()) attribute.python_name = attribute.name;
  }
}
}  // namespace

OpRegistry::OpRegistry() {
  AddAllOps(table_);
  for (OpSchema& row : table_.rows()) {
    FillInNames(row);
    Index(&row);
  }
}

void OpRegistry::Index(const OpSchema* schema) {
  by_name_.emplace(Key(schema->domain, schema->name), schema);
  by_method_.emplace(schema->method, schema);
}

const OpSchema* OpRegistry::Find(std::string_view domain, std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const auto it = by_name_.find(Key(domain, name));
  return it == by_name_.end() ? nullptr : it->second;
}

const OpSchema* OpRegistry::FindMethod(std::string_view method) const {
  const std::shared_lock lock(mutex_);
  const auto it = by_method_.find(std::string(method));
  return it == by_method_.end() ? nullptr : it->second;
}

std::vector<const OpSchema*> OpRegistry::All() const {
  const std::shared_lock lock(mutex_);
  std::vector<const OpSchema*> out;
  out.reserve(by_name_.size());
  for (const auto& [key, schema] : by_name_) out.push_back(schema);
  std::sort(out.begin(), out.end(), [](const OpSchema* a, const OpSchema* b) {
    return std::tie(a->domain, a->name) < std::tie(b->domain, b->name);
  });
  return out;
}

std::string OpRegistry::Nearest(std::string_view name) const {
  std::vector<std::string> names;
  for (const OpSchema* schema : All()) {
    names.push_back(schema->name);
    names.push_back(schema->method);
  }
  return NearestMatch(name, names);
}

Status OpRegistry::Register(OpSchema schema) {
  if (schema.name.empty()) return InvalidArgument("an operator needs a name");
  if (schema.reference == nullptr && schema.regions.empty()) {
    return InvalidArgument("operator '", schema.FullName(), "' needs a kernel");
  }
  FillInNames(schema);
  const std::unique_lock lock(mutex_);
  if (by_name_.contains(Key(schema.domain, schema.name))) {
    return InvalidArgument("operator '", schema.FullName(), "' exists already").WithHint("choose another name or domain");
  }
  if (by_method_.contains(schema.method)) {
    return InvalidArgument("method '", schema.method, "' exists already").WithHint("choose another method name");
  }
  overlay_.push_back(std::make_unique<const OpSchema>(std::move(schema)));
  Index(overlay_.back().get());
  return Ok();
}

}  // namespace asc
