// Operators on text: StringConcat, StringSplit, StringNormalizer. Strings are UTF-8.
#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <set>

#include "core/ops/broadcast_iterator.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/shape_facts.h"

namespace asc {
namespace {

// ---- StringConcat ----

Status StringConcat(KernelContext& context) {
  const Tensor &a = context.input(0), &b = context.input(1);
  Tensor& out = context.output(0);
  const auto walk = BroadcastWalk(out.dims(), a.dims(), b.dims());
  walk.Rows(0, out.size(), [&](int64_t index, const std::array<int64_t, 2>& at, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      out.data<std::string>()[index + i] = a.data<std::string>()[at[0] + i * walk.inner_stride(0)] +
                                           b.data<std::string>()[at[1] + i * walk.inner_stride(1)];
    }
  });
  return Ok();
}

// ---- StringSplit ----

Status InferStringSplit(InferContext& context) {
  const Shape& in = context.shape(0);
  Shape pieces;
  if (in.has_rank()) {
    std::vector<Dim> dims = in.dims();
    dims.push_back(Dim::Unknown());
    pieces = Shape(std::move(dims));
  }
  context.SetOutput(0, DataType::kString, std::move(pieces));
  context.SetOutput(1, DataType::kInt64, in);
  return Ok();
}

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// At most `most` splits; what is left after the last one stays whole.
// Appends the pieces of a text, which refer to it; gives their number.
size_t SplitText(std::string_view text, std::string_view delimiter, int64_t most,
                 std::vector<std::string_view>& pieces) {
  const size_t before = pieces.size();
  const auto count = [&] { return static_cast<int64_t>(pieces.size() - before); };
  if (delimiter.empty()) {
    // Runs of white space separate; those at the ends count for nothing.
    while (true) {
      size_t begin = 0;
      while (begin < text.size() && IsSpace(text[begin])) ++begin;
      if (begin == text.size()) return pieces.size() - before;
      text.remove_prefix(begin);
      size_t end = 0;
      while (end < text.size() && !IsSpace(text[end])) ++end;
      if (end == text.size() || count() == most) break;
      pieces.push_back(text.substr(0, end));
      text.remove_prefix(end);
    }
  } else {
    while (count() != most) {
      const size_t end = text.find(delimiter);
      if (end == std::string_view::npos) break;
      pieces.push_back(text.substr(0, end));
      text.remove_prefix(end + delimiter.size());
    }
  }
  pieces.push_back(text);
  return pieces.size() - before;
}

Status StringSplit(KernelContext& context) {
  const Tensor& in = context.input(0);
  const std::string delimiter = context.attributes().String("delimiter", "");
  const int64_t most = context.attributes().Int("maxsplit", INT64_MAX);
  std::vector<std::string_view> pieces;
  std::vector<size_t> row_sizes;
  size_t width = 0;
  for (const std::string& text : in.values<std::string>()) {
    row_sizes.push_back(SplitText(text, delimiter, most < 0 ? INT64_MAX : most, pieces));
    width = std::max(width, row_sizes.back());
  }
  Dims dims = in.dims();
  dims.push_back(static_cast<int64_t>(width));
  ASC_ASSIGN_OR_RETURN(Tensor * rows, context.AllocateOutput(0, DataType::kString, dims));
  ASC_ASSIGN_OR_RETURN(Tensor * counts, context.AllocateOutput(1, DataType::kInt64, in.dims()));
  auto piece = pieces.begin();
  for (size_t i = 0; i < row_sizes.size(); ++i) {
    counts->data<int64_t>()[i] = static_cast<int64_t>(row_sizes[i]);
    std::string* row = rows->data<std::string>() + i * width;
    for (size_t k = 0; k < row_sizes[i]; ++k) row[k] = *piece++;
  }
  return Ok();
}

// ---- StringNormalizer ----

enum class CaseChange { kNone, kLower, kUpper };

Result<CaseChange> ReadCaseChange(const AttributeMap& attributes) {
  const std::string name = attributes.String("case_change_action", "NONE");
  if (name == "NONE") return CaseChange::kNone;
  if (name == "LOWER") return CaseChange::kLower;
  if (name == "UPPER") return CaseChange::kUpper;
  return InvalidArgument("StringNormalizer case_change_action '", name,
                         "' is not known: expected LOWER, UPPER or NONE");
}

// Length of the UTF-8 sequence at the start of `text` and its code point; nullopt for bytes that
// are none.
std::optional<std::pair<size_t, uint32_t>> DecodeUtf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  const size_t length = lead < 0x80       ? 1
                        : lead >> 5 == 6  ? 2
                        : lead >> 4 == 14 ? 3
                        : lead >> 3 == 30 ? 4
                                          : 0;
  if (length == 0 || length > text.size()) return std::nullopt;
  uint32_t code = length == 1 ? lead : lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 2) return std::nullopt;
    code = (code << 6) | (byte(i) & 0x3fu);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // shorter forms exist below
  return code < kLeast[length] ? std::nullopt : std::optional(std::pair(length, code));
}

void AppendUtf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  out += static_cast<char>((0xff00u >> (more + 1) & 0xffu) | (code >> (6 * more)));
  for (int i = more; i-- > 0;) out += static_cast<char>(0x80u | (code >> (6 * i) & 0x3fu));
}

// The C library's simple case mapping, by Unicode whatever locale the process is in. Bytes that are
// no UTF-8 stay.
class CaseMapper {
 public:
  CaseMapper() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {}
  ~CaseMapper() {
    if (locale_ != nullptr) freelocale(locale_);
  }
  CaseMapper(const CaseMapper&) = delete;
  CaseMapper& operator=(const CaseMapper&) = delete;

  std::string Map(std::string_view text, CaseChange change) const {
    if (change == CaseChange::kNone) return std::string(text);
    std::string out;
    while (!text.empty()) {
      const auto decoded = DecodeUtf8(text);
      if (decoded) {
        AppendUtf8(out, MapCode(decoded->second, change));
      } else {
        out += text[0];
      }
      text.remove_prefix(decoded ? decoded->first : 1);
    }
    return out;
  }

 private:
  uint32_t MapCode(uint32_t code, CaseChange change) const {
    const auto wide = static_cast<wint_t>(code);
    if (locale_ == nullptr)
      return static_cast<uint32_t>(change == CaseChange::kLower ? towlower(wide) : towupper(wide));
    return static_cast<uint32_t>(change == CaseChange::kLower ? towlower_l(wide, locale_)
                                                              : towupper_l(wide, locale_));
  }

  locale_t locale_;
};

Status InferStringNormalizer(InferContext& context) {
  ASC_RETURN_IF_ERROR(ReadCaseChange(context.attributes()).status());
  const Shape& in = context.shape(0);
  if (!in.has_rank()) return context.SetOutput(0, DataType::kString), Ok();
  const bool row = in.rank() == 2 && (!in[0].is_constant() || in[0].IsConstant(1));
  if (in.rank() != 1 && !row)
    return ShapeError("StringNormalizer takes shape [C] or [1, C], given ", in);
  context.SetOutput(0, DataType::kString,
                    in.rank() == 1 ? Shape({Dim::Unknown()}) : Shape({Dim(1), Dim::Unknown()}));
  return Ok();
}

Status StringNormalizer(KernelContext& context) {
  const Tensor& in = context.input(0);
  const AttributeMap& attributes = context.attributes();
  ASC_ASSIGN_OR_RETURN(const CaseChange change, ReadCaseChange(attributes));
  const CaseMapper mapper;
  const CaseChange compared =
      attributes.Int("is_case_sensitive", 0) != 0 ? CaseChange::kNone : CaseChange::kLower;
  std::set<std::string> stopwords;
  if (const auto* words = attributes.Get<std::vector<std::string>>("stopwords")) {
    for (const std::string& word : *words) stopwords.insert(mapper.Map(word, compared));
  }
  std::vector<std::string> kept;
  for (const std::string& text : in.values<std::string>()) {
    if (!stopwords.contains(mapper.Map(text, compared))) kept.push_back(mapper.Map(text, change));
  }
  if (kept.empty())
    kept.emplace_back();  // the operator's definition: one empty string rather than nothing
  Dims dims = {static_cast<int64_t>(kept.size())};
  if (in.rank() == 2) dims.insert(dims.begin(), 1);
  ASC_ASSIGN_OR_RETURN(Tensor * out, context.AllocateOutput(0, DataType::kString, dims));
  std::move(kept.begin(), kept.end(), out->data<std::string>());
  return Ok();
}
}  // namespace

void AddStringOps(OpTable& table) {
  table.Add("StringConcat", 20)
      .Doc("x followed by y, element by element, with broadcasting")
      .Input("X", "T")
      .Input("Y", "T")
      .Output("Z", "T")
      .Types("T", types::kString)
      .Infer(InferBroadcast)
      .Kernel(StringConcat);
  table.Add("StringSplit", 20)
      .Doc(
          "pieces between delimiters along a new last axis (padded with empty ones), and their "
          "number")
      .Input("X", "T1")
      .Output("Y", "T2")
      .Output("Z", "T3")
      .Types("T1", types::kString)
      .Types("T2", types::kString)
      .Types("T3", types::kInt64)
      .OptionalAttr("delimiter", AttributeType::kString, "", "default: runs of white space")
      .OptionalAttr("maxsplit", AttributeType::kInt)
      .ShapeFromKernel()
      .Infer(InferStringSplit)
      .Kernel(StringSplit);
  table.Add("StringNormalizer", 10)
      .Doc("drops stop words and changes case")
      .Input("X", "tensor(string)")
      .Output("Y", "tensor(string)")
      .Types("tensor(string)", types::kString)
      .Attr("case_change_action", std::string("NONE"), "", "LOWER, UPPER or NONE")
      .Attr("is_case_sensitive", int64_t{0})
      .OptionalAttr("locale", AttributeType::kString, "",
                    "accepted; case follows Unicode in every locale")
      .OptionalAttr("stopwords", AttributeType::kStrings)
      .ShapeFromKernel()
      .Infer(InferStringNormalizer)
      .Kernel(StringNormalizer);
}

}  // namespace asc
