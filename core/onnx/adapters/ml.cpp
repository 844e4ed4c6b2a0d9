// Operators of ai.onnx.ml.
#include <numeric>

#include "core/onnx/adapters/adapter.h"

namespace asc::onnx {
namespace {
// One list of classes stood for keys and values: classes and their numbers, in the direction that the
// input's type asks for.
Status LabelEncoder1(Adaptation& adaptation) {
  AttributeMap& attributes = adaptation.attributes();
  const auto* given = attributes.Get<std::vector<std::string>>("classes_strings");
  if (given == nullptr || given->empty()) return adaptation.Refuse("needs 'classes_strings'");
  const std::vector<std::string> classes = *given;
  const ValueType* type = adaptation.scope.TypeOf(adaptation.input(0));
  if (type == nullptr || type->dtype == DataType::kUndefined)
    return adaptation.Refuse("needs an input of known type");
  std::vector<int64_t> numbers(classes.size());
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  const bool from_strings = type->dtype == DataType::kString;
  attributes.Erase("classes_strings");
  attributes.Set(from_strings ? "keys_strings" : "values_strings", classes);
  attributes.Set(from_strings ? "values_int64s" : "keys_int64s", numbers);
  return Ok();
}

constexpr AdapterRow kRows[] = {
    {"LabelEncoder", 1, LabelEncoder1, "ai.onnx.ml"},
};
}  // namespace

std::span<const AdapterRow> MlAdapters() { return kRows; }

}  // namespace asc::onnx
