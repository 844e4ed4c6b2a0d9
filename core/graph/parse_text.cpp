#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "core/base/base64.h"
#include "core/graph/text.h"
#include "core/graph/text_literals.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
// Against hostile text: deeper nesting and longer dimensions are refused.
constexpr int kDeepestNesting = 64;
constexpr size_t kLongestDim = 4096;

class Parser {
 public:
  Parser(std::string_view text, const ParseOptions& options) : text_(text), options_(options) {}

  Result<std::unique_ptr<Graph>> Parse() {
    ASC_RETURN_IF_ERROR(Expect("graph"));
    ASC_ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph, GraphBody(0));
    Skip();
    if (at_ != text_.size()) return Wrong("the end of the text");
    return graph;
  }

 private:
  // ---- characters and words ----
  void Skip() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' ||
                 text_[at_] == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }

  template <typename... Args>
  Status Fail(const Args&... args) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t start = before.rfind('\n');
    const size_t column = start == std::string_view::npos ? at_ + 1 : at_ - start;
    return Error(Code::kInvalidModel, "graph text, line ", line, ", column ", column, ": ",
                 args...);
  }

  Status Wrong(std::string_view expected) const {
    if (at_ >= text_.size()) return Fail("expected ", expected, ", found the end of the text");
    return Fail("expected ", expected, ", found ", text::Quote(text_.substr(at_, 16)));
  }

  bool Take(char c) {
    Skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Status Expect(char c) { return Take(c) ? Ok() : Wrong(std::string_view(&c, 1)); }

  std::string_view PeekWord() {
    Skip();
    size_t end = at_;
    while (end < text_.size() && text::IsWordChar(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  bool TakeWord(std::string_view word) {
    if (PeekWord() != word) return false;
    at_ += word.size();
    return true;
  }
  Status Expect(std::string_view word) { return TakeWord(word) ? Ok() : Wrong(word); }
  bool PeekChar(char c) {
    Skip();
    return at_ < text_.size() && text_[at_] == c;
  }

  Result<std::string> String() {
    if (!Take('"')) return Wrong("a quoted string");
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      char c = text_[at_++];
      if (c == '\\') {
        if (at_ >= text_.size()) break;
        c = text_[at_++];
        if (c == 'n') {
          c = '\n';
        } else if (c == 'x') {
          int byte = 0;
          const char* begin = text_.data() + at_;
          if (text_.size() - at_ < 2) return Wrong("two hexadecimal digits");
          const auto [end, error] = std::from_chars(begin, begin + 2, byte, 16);
          if (error != std::errc() || end != begin + 2) return Wrong("two hexadecimal digits");
          c = static_cast<char>(byte);
          at_ += 2;
        } else if (c != '"' && c != '\\') {
          return Fail("unknown escape '\\", c, "'");
        }
      }
      out += c;
    }
    if (at_ >= text_.size()) return Fail("a quoted string has no end");
    ++at_;
    return out;
  }

  Result<std::string> WordOrString() {
    if (PeekChar('"')) return String();
    const std::string_view word = PeekWord();
    if (word.empty()) return Wrong("a name");
    at_ += word.size();
    return std::string(word);
  }

  // A number's characters: words and a leading sign or inner plus.
  std::string_view PeekNumber() {
    Skip();
    size_t end = at_;
    while (end < text_.size() && (text::IsWordChar(text_[end]) || text_[end] == '+')) ++end;
    return text_.substr(at_, end - at_);
  }

  template <typename T>
  Result<T> Number(std::string_view what) {
    const std::string_view word = PeekNumber();
    T value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || error != std::errc() || end != word.data() + word.size())
      return Wrong(what);
    at_ += word.size();
    return value;
  }

  // ---- types ----
  Result<Dim> OneDim() {
    Skip();
    size_t end = at_;
    int depth = 0;
    while (end < text_.size() && (depth > 0 || (text_[end] != ',' && text_[end] != ']'))) {
      depth += text_[end] == '(' ? 1 : text_[end] == ')' ? -1 : 0;
      if (depth < 0 || text_[end] == '\n') break;
      ++end;
    }
    const std::string_view spelling = text_.substr(at_, end - at_);
    if (spelling.size() > kLongestDim)
      return Fail("a dimension of ", spelling.size(), " characters is too long");
    const auto dim = Dim::Parse(spelling);
    if (!dim) return Wrong("a dimension");
    at_ = end;
    return Renamed(*dim);
  }

  // Unknowns become fresh ones, the same for the same number; declared symbols get their names.
  Dim Renamed(const Dim& dim) {
    if (dim.is_constant()) return dim;
    std::set<std::string> symbols;
    dim.CollectSymbols(symbols);
    std::vector<std::string> ordered(symbols.begin(), symbols.end());
    std::sort(ordered.begin(), ordered.end(), [](const std::string& a, const std::string& b) {
      return std::pair(a.size(), a) < std::pair(b.size(), b);
    });
    DimSubstitution names;
    for (const std::string& symbol : ordered) {
      if (const auto it = renamed_.find(symbol); it != renamed_.end()) {
        names.emplace(symbol, it->second);
      } else if (text::IsUnknownSymbol(symbol)) {
        names.emplace(symbol, renamed_.emplace(symbol, Dim::Unknown()).first->second);
      }
    }
    return dim.Substitute(names);
  }

  Result<std::vector<Dim>> DimList() {
    ASC_RETURN_IF_ERROR(Expect('['));
    std::vector<Dim> dims;
    if (Take(']')) return dims;
    do {
      ASC_ASSIGN_OR_RETURN(Dim dim, OneDim());
      dims.push_back(std::move(dim));
    } while (Take(','));
    ASC_RETURN_IF_ERROR(Expect(']'));
    return dims;
  }

  Result<DataType> ElementType() {
    const std::string_view word = PeekWord();
    const auto dtype =
        word == "undefined" ? std::optional(DataType::kUndefined) : ParseDataType(word);
    if (!dtype) return Wrong("an element type");
    at_ += word.size();
    return *dtype;
  }

  Result<ValueType> Type(int depth) {
    if (depth > kDeepestNesting) return Fail("types nest too deeply");
    const std::string_view word = PeekWord();
    if (word == "map" || word == "sequence" || word == "optional") {
      at_ += word.size();
      ASC_RETURN_IF_ERROR(Expect('('));
      ValueType type;
      type.kind = word == "map"        ? ValueKind::kMap
                  : word == "sequence" ? ValueKind::kSequence
                                       : ValueKind::kOptional;
      if (type.kind == ValueKind::kMap) {
        ASC_ASSIGN_OR_RETURN(type.dtype, ElementType());
        ASC_RETURN_IF_ERROR(Expect(','));
      }
      if (!Take('?')) {
        ASC_ASSIGN_OR_RETURN(ValueType element, Type(depth + 1));
        type.element = std::make_shared<ValueType>(std::move(element));
      }
      ASC_RETURN_IF_ERROR(Expect(')'));
      return type;
    }
    ASC_ASSIGN_OR_RETURN(const DataType dtype, ElementType());
    if (text_.substr(at_).starts_with("[*]")) {
      at_ += 3;
      return ValueType::Tensor(dtype);
    }
    ASC_ASSIGN_OR_RETURN(std::vector<Dim> dims, DimList());
    return ValueType::Tensor(dtype, Shape(std::move(dims)));
  }

  // ---- tensors ----
  Result<Tensor> Elements(DataType dtype, const Dims& dims) {
    if (dtype == DataType::kUndefined) return Fail("elements need an element type");
    if (PeekChar('[')) return ElementList(dtype, dims);
    const auto count = CheckedElementCount(dims);
    const auto bytes = count ? ByteSize(dtype, *count) : std::nullopt;
    if (!bytes) return Fail("a tensor of shape ", dims, " is not possible");
    if (TakeWord("bytes")) {
      ASC_ASSIGN_OR_RETURN(const std::string spelling, String());
      const auto data = DecodeBase64(spelling);
      if (!data || dtype == DataType::kString)
        return Fail("the bytes are not valid base64 of numbers");
      if (data->size() != *bytes) {
        return Fail("a ", DataTypeName(dtype), " tensor of shape ", dims, " needs ", *bytes,
                    " bytes, given ", data->size());
      }
      ASC_ASSIGN_OR_RETURN(Tensor tensor,
                           Tensor::Allocate(dtype, dims, HostAllocator(), MemoryUse::kConstant));
      if (!data->empty()) std::memcpy(tensor.raw(), data->data(), data->size());
      return tensor;
    }
    if (!TakeWord("content")) return Wrong("the elements of a tensor");
    ASC_ASSIGN_OR_RETURN(const std::string spelling, String());
    uint64_t hash = 0;
    const auto [end, error] =
        std::from_chars(spelling.data(), spelling.data() + spelling.size(), hash, 16);
    if (error != std::errc() || end != spelling.data() + spelling.size())
      return Fail("\"", spelling, "\" is no content hash");
    std::optional<Tensor> found =
        options_.find_constant ? options_.find_constant(hash) : std::nullopt;
    if (!found || found->dtype() != dtype || found->dims() != dims) {
      return std::move(Fail("the elements of a ", DataTypeName(dtype), " tensor of shape ", dims,
                            " are not in the text, only their content hash ", spelling))
          .WithHint("write the text with all constants in it");
    }
    return *std::move(found);
  }

  template <typename T, typename Read>
  Status ListInto(std::vector<T>& items, Read&& read) {
    ASC_RETURN_IF_ERROR(Expect('['));
    if (Take(']')) return Ok();
    do {
      auto item = read();
      if (!item.ok()) return std::move(item).status();
      items.push_back(T(*std::move(item)));
    } while (Take(','));
    return Expect(']');
  }

  template <typename T, typename Read>
  Result<Tensor> TypedList(const Dims& dims, Read&& read) {
    std::vector<T> items;
    ASC_RETURN_IF_ERROR(ListInto(items, read));
    const auto count = CheckedElementCount(dims);
    if (!count || *count != static_cast<int64_t>(items.size())) {
      return Fail("shape ", dims, " does not have the ", items.size(), " elements that are given");
    }
    ASC_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(DataTypeOf<T>::value, dims));
    std::copy(items.begin(), items.end(), tensor.data<T>());
    return tensor;
  }

  Result<Tensor> ElementList(DataType dtype, const Dims& dims) {
    if (dtype == DataType::kString)
      return TypedList<std::string>(dims, [this] { return String(); });
    if (dtype == DataType::kFloat64)
      return TypedList<double>(dims, [this] { return Number<double>("a number"); });
    if (dtype == DataType::kBool) {
      // std::vector<bool> has no elements to point at: read as bytes.
      ASC_ASSIGN_OR_RETURN(const Tensor bytes,
                           TypedList<uint8_t>(dims, [this] { return Number<uint8_t>("0 or 1"); }));
      ASC_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, dims));
      for (int64_t i = 0; i < bytes.size(); ++i)
        tensor.data<bool>()[i] = bytes.data<uint8_t>()[i] != 0;
      return tensor;
    }
    Result<Tensor> out = Fail("elements of ", DataTypeName(dtype), " are written as bytes");
    VisitType<float, Half, BFloat16>(dtype, [&](auto zero) {
      out = TypedList<decltype(zero)>(dims, [this] { return Number<float>("a number"); });
    });
    VisitIntegers(dtype, [&](auto zero) {
      out = TypedList<decltype(zero)>(
          dims, [this] { return Number<decltype(zero)>("an integer in range"); });
    });
    return out;
  }

  Result<Tensor> TensorLiteral() {
    ASC_RETURN_IF_ERROR(Expect("tensor"));
    if (TakeWord("undefined")) return Tensor();
    ASC_ASSIGN_OR_RETURN(const ValueType type, Type(0));
    const auto dims = type.is_tensor() ? type.shape.ToDims() : std::nullopt;
    if (!dims) return Fail("a tensor literal needs a static shape");
    return Elements(type.dtype, *dims);
  }

  // ---- attributes ----
  Result<float> Float() {
    const std::string_view word = PeekWord();
    if (!word.starts_with("nan.")) return Number<float>("a number");
    uint32_t bits = 0;
    const auto [end, error] = std::from_chars(word.data() + 4, word.data() + word.size(), bits);
    if (error != std::errc() || end != word.data() + word.size()) return Wrong("nan.<bits>");
    at_ += word.size();
    return std::bit_cast<float>(bits);
  }

  bool AtInteger() {
    std::string_view word = PeekNumber();
    if (word.starts_with("-")) word.remove_prefix(1);
    return !word.empty() &&
           std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
  }

  template <typename T, typename Read>
  Result<AttributeValue> AttributeList(Read&& read) {
    std::vector<T> items;
    ASC_RETURN_IF_ERROR(ListInto(items, read));
    return AttributeValue(std::move(items));
  }

  Result<AttributeValue> Attribute() {
    const auto integers = [this] { return Number<int64_t>("an integer"); };
    const auto floats = [this] { return Float(); };
    const auto strings = [this] { return String(); };
    if (PeekChar('"')) {
      ASC_ASSIGN_OR_RETURN(std::string value, String());
      return AttributeValue(std::move(value));
    }
    if (TakeWord("ints")) return AttributeList<int64_t>(integers);
    if (TakeWord("floats")) return AttributeList<float>(floats);
    if (TakeWord("strings")) return AttributeList<std::string>(strings);
    if (PeekChar('[')) {
      const size_t open = at_++;
      const bool string = PeekChar('"'), integer = AtInteger();
      at_ = open;
      if (string) return AttributeList<std::string>(strings);
      return integer ? AttributeList<int64_t>(integers) : AttributeList<float>(floats);
    }
    if (PeekWord() == "tensor") {
      ASC_ASSIGN_OR_RETURN(Tensor tensor, TensorLiteral());
      return AttributeValue(std::move(tensor));
    }
    if (TakeWord("type")) {
      ASC_ASSIGN_OR_RETURN(ValueType type, Type(0));
      return AttributeValue(std::move(type));
    }
    if (AtInteger()) {
      ASC_ASSIGN_OR_RETURN(const int64_t value, integers());
      return AttributeValue(value);
    }
    ASC_ASSIGN_OR_RETURN(const float value, floats());
    return AttributeValue(value);
  }

  // ---- values ----
  struct Defined {
    std::string name;
    ValueType type;
    Format format = Format::kND;
    Layout storage;
    std::optional<std::vector<Dim>> dims;
    bool absent = false;
  };

  Result<std::string> ValueName() {
    ASC_RETURN_IF_ERROR(Expect('%'));
    ASC_ASSIGN_OR_RETURN(std::string name, WordOrString());
    if (name.empty()) return Fail("a value needs a name");
    return name;
  }

  Result<Defined> Definition() {
    Defined out;
    ASC_ASSIGN_OR_RETURN(out.name, ValueName());
    if (Take(':')) {
      ASC_ASSIGN_OR_RETURN(out.type, Type(0));
    }
    if (TakeWord("format")) {
      const std::string_view word = PeekWord();
      const auto format = ParseFormat(word);
      if (!format) return Wrong("a format");
      out.format = *format;
      at_ += word.size();
    }
    if (TakeWord("stored")) {
      Skip();
      const size_t word = PeekWord().size();
      const size_t close =
          text_.substr(at_ + word).starts_with("(") ? text_.find(')', at_) : at_ + word - 1;
      const auto layout = close == std::string_view::npos
                              ? std::nullopt
                              : Layout::Parse(text_.substr(at_, close + 1 - at_));
      if (!layout) return Wrong("a layout");
      out.storage = *layout;
      at_ = close + 1;
    }
    if (TakeWord("dims")) {
      ASC_ASSIGN_OR_RETURN(out.dims, DimList());
    }
    return out;
  }

  Status Settle(Graph& graph, ValueId id, Defined defined) {
    if (graph.value(id).name != defined.name) {
      if (graph.FindValue(defined.name).valid())
        return Fail("value %", defined.name, " is defined twice");
      graph.RenameValue(id, defined.name);
    }
    Value& value = graph.value(id);
    value.type = std::move(defined.type);
    value.origin_format = defined.format;
    value.storage = defined.storage;
    value.dims = std::move(defined.dims);
    return Ok();
  }

  Result<ValueId> Operand(const Graph& graph) {
    if (TakeWord("_")) return ValueId();
    ASC_ASSIGN_OR_RETURN(const std::string name, ValueName());
    const ValueId id = graph.FindValue(name);
    if (!id.valid()) return Fail("value %", name, " is used before it is defined");
    return id;
  }

  Result<std::vector<ValueId>> Operands(const Graph& graph) {
    ASC_RETURN_IF_ERROR(Expect('('));
    std::vector<ValueId> ids;
    if (Take(')')) return ids;
    do {
      ASC_ASSIGN_OR_RETURN(const ValueId id, Operand(graph));
      ids.push_back(id);
    } while (Take(','));
    ASC_RETURN_IF_ERROR(Expect(')'));
    return ids;
  }

  // ---- statements ----
  Status NodeStatement(Graph& graph, int depth) {
    std::vector<Defined> results;
    if (!PeekChar('=')) {
      do {
        if (TakeWord("_")) {
          results.emplace_back().absent = true;
        } else {
          ASC_ASSIGN_OR_RETURN(Defined defined, Definition());
          results.push_back(std::move(defined));
        }
      } while (Take(','));
    }
    ASC_RETURN_IF_ERROR(Expect('='));
    ASC_ASSIGN_OR_RETURN(const std::string op, WordOrString());
    const size_t dot = op.rfind('.');
    const std::string domain = dot == std::string::npos ? "" : op.substr(0, dot);
    const OpSchema* schema =
        options_.find_op
            ? options_.find_op(domain, dot == std::string::npos ? op : op.substr(dot + 1))
            : nullptr;
    if (schema == nullptr)
      return Error(Code::kUnsupportedOperator, Fail("there is no operator '", op, "'").message());
    std::string name = schema->method;
    if (PeekChar('"')) {
      ASC_ASSIGN_OR_RETURN(name, String());
      if (name.empty() || graph.FindNode(name).valid()) {
        return Fail("node name \"", name, "\" is empty or taken");
      }
    }
    ASC_ASSIGN_OR_RETURN(std::vector<ValueId> inputs, Operands(graph));
    AttributeMap attributes;
    if (Take('{')) {
      do {
        ASC_ASSIGN_OR_RETURN(const std::string key, WordOrString());
        ASC_RETURN_IF_ERROR(Expect('='));
        ASC_ASSIGN_OR_RETURN(AttributeValue value, Attribute());
        if (attributes.Has(key)) return Fail("attribute '", key, "' is given twice");
        attributes.Set(key, std::move(value));
      } while (Take(','));
      ASC_RETURN_IF_ERROR(Expect('}'));
    }
    const NodeId id =
        graph.AddNode(schema, std::move(inputs), results.size(), std::move(attributes), name);
    const std::vector<ValueId> outputs = graph.node(id).outputs;
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i].absent) ASC_RETURN_IF_ERROR(Settle(graph, outputs[i], std::move(results[i])));
    }
    for (size_t i = results.size(); i-- > 0;) {
      if (results[i].absent) graph.RemoveOutput(id, i);
    }
    if (TakeWord("scope")) {
      ASC_ASSIGN_OR_RETURN(graph.node(id).scope, Number<int>("a scope number"));
    }
    if (TakeWord("from")) ASC_RETURN_IF_ERROR(Origins(graph.node(id).origins));
    while (TakeWord("region")) ASC_RETURN_IF_ERROR(RegionStatement(graph, id, depth));
    return Ok();
  }

  Status Origins(std::vector<Origin>& origins) {
    do {
      Origin origin;
      ASC_ASSIGN_OR_RETURN(origin.node, String());
      if (TakeWord("at")) {
        ASC_ASSIGN_OR_RETURN(origin.source, String());
      }
      origins.push_back(std::move(origin));
    } while (Take(','));
    return Ok();
  }

  Status RegionStatement(Graph& graph, NodeId node, int depth) {
    ASC_ASSIGN_OR_RETURN(const std::string name, String());
    ASC_ASSIGN_OR_RETURN(std::vector<ValueId> captures, Operands(graph));
    ASC_RETURN_IF_ERROR(Expect("graph"));
    ASC_ASSIGN_OR_RETURN(std::unique_ptr<Graph> body, GraphBody(depth + 1));
    for (const ValueId id : captures) {
      if (!id.valid()) return Fail("a capture cannot be absent");
    }
    if (captures.size() > body->inputs().size()) {
      return Fail("region \"", name, "\" has fewer inputs than captures");
    }
    graph.AddRegion(node, name, std::move(body), std::move(captures));
    return Ok();
  }

  Status ConstantStatement(Graph& graph) {
    ASC_ASSIGN_OR_RETURN(Defined defined, Definition());
    ASC_RETURN_IF_ERROR(Expect('='));
    const auto dims = defined.type.is_tensor() ? defined.type.shape.ToDims() : std::nullopt;
    if (!dims) return Fail("constant %", defined.name, " needs a static shape, not ", defined.type);
    ASC_ASSIGN_OR_RETURN(Tensor tensor, Elements(defined.type.dtype, *dims));
    if (graph.FindValue(defined.name).valid())
      return Fail("value %", defined.name, " is defined twice");
    const ValueId id = graph.AddConstant(defined.name, std::move(tensor));
    return Settle(graph, id, std::move(defined));
  }

  Status VariableStatement(Graph& graph) {
    ASC_ASSIGN_OR_RETURN(const std::string name, String());
    ASC_ASSIGN_OR_RETURN(Defined defined, Definition());
    ASC_RETURN_IF_ERROR(Expect('='));
    ASC_ASSIGN_OR_RETURN(Tensor tensor, TensorLiteral());
    if (!tensor.defined()) return Fail("variable \"", name, "\" needs initial elements");
    if (graph.FindValue(name).valid()) return Fail("value %", name, " is defined twice");
    return Settle(graph, graph.AddVariable(name, std::move(tensor)), std::move(defined));
  }

  Status InputStatement(Graph& graph) {
    ASC_ASSIGN_OR_RETURN(Defined defined, Definition());
    if (graph.FindValue(defined.name).valid())
      return Fail("value %", defined.name, " is defined twice");
    const ValueId id = graph.AddInput(defined.name, defined.type);
    return Settle(graph, id, std::move(defined));
  }

  Status Statement(Graph& graph, int depth) {
    if (TakeWord("symbol")) {
      const std::string_view word = PeekWord();
      if (!word.starts_with(text::kSymbolPrefix)) return Wrong("sym.<number>");
      std::string key(word);
      at_ += word.size();
      ASC_RETURN_IF_ERROR(Expect('='));
      ASC_ASSIGN_OR_RETURN(const std::string name, String());
      renamed_.insert_or_assign(std::move(key), Dim::Symbol(name));
      return Ok();
    }
    if (TakeWord("metadata")) {
      ASC_ASSIGN_OR_RETURN(std::string key, String());
      ASC_RETURN_IF_ERROR(Expect('='));
      ASC_ASSIGN_OR_RETURN(graph.metadata()[key], String());
      return Ok();
    }
    if (TakeWord("input")) return InputStatement(graph);
    if (TakeWord("constant")) return ConstantStatement(graph);
    if (TakeWord("variable")) return VariableStatement(graph);
    if (TakeWord("output")) {
      ASC_ASSIGN_OR_RETURN(const std::string name, String());
      ASC_RETURN_IF_ERROR(Expect('='));
      ASC_ASSIGN_OR_RETURN(const ValueId id, Operand(graph));
      if (!id.valid() || name.empty()) return Fail("an output needs a name and a value");
      graph.AddOutput(id, name);
      return Ok();
    }
    if (PeekChar('%') || PeekChar('=') || PeekWord() == "_") return NodeStatement(graph, depth);
    return Wrong("a statement or }");
  }

  Result<std::unique_ptr<Graph>> GraphBody(int depth) {
    if (depth > kDeepestNesting) return Fail("regions nest too deeply");
    ASC_ASSIGN_OR_RETURN(std::string name, String());
    auto graph = std::make_unique<Graph>(std::move(name));
    ASC_RETURN_IF_ERROR(Expect('{'));
    while (!Take('}')) ASC_RETURN_IF_ERROR(Statement(*graph, depth));
    return graph;
  }

  std::string_view text_;
  const ParseOptions& options_;
  size_t at_ = 0;
  DimSubstitution renamed_;  // unknowns and declared symbols, shared by the whole text
};
}  // namespace

Result<std::unique_ptr<Graph>> ParseText(std::string_view text, const ParseOptions& options) {
  return Parser(text, options).Parse();
}

}  // namespace asc
