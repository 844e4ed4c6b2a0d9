// RegexFullMatch, on RE2: linear time for any pattern.
#include <re2/re2.h>

#include "core/base/parallel.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"

namespace asc {
namespace {

std::string Pattern(const AttributeMap& attributes) { return attributes.String("pattern", ""); }

Status CheckPattern(const RE2& regex) {
  if (regex.ok()) return Ok();
  return InvalidArgument("RegexFullMatch pattern '", regex.pattern(),
                         "' is not valid: ", regex.error());
}

Status InferRegexFullMatch(InferContext& context) {
  ASC_RETURN_IF_ERROR(CheckPattern(RE2(Pattern(context.attributes()), RE2::Quiet)));
  context.SetOutput(0, DataType::kBool, context.shape(0));
  return Ok();
}

Status RegexFullMatch(KernelContext& context) {
  const RE2 regex(Pattern(context.attributes()), RE2::Quiet);
  ASC_RETURN_IF_ERROR(CheckPattern(regex));
  const std::string* x = context.input(0).data<std::string>();
  bool* y = context.output(0).data<bool>();
  ParallelFor(context.input(0).size(), 256, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = RE2::FullMatch(x[i], regex);
  });
  return Ok();
}
}  // namespace

void AddRegexOps(OpTable& table) {
  table.Add("RegexFullMatch", 20)
      .Doc("whether each string as a whole matches a pattern in RE2's syntax")
      .Input("X", "T1")
      .Output("Y", "T2")
      .Types("T1", types::kString)
      .Types("T2", types::kBool)
      .RequiredAttr("pattern", AttributeType::kString)
      .Infer(InferRegexFullMatch)
      .Kernel(RegexFullMatch);
}

}  // namespace asc
