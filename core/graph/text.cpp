#include "core/graph/text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "core/base/base64.h"
#include "core/graph/text_literals.h"
#include "core/tensor/element.h"

namespace asc {
namespace text {

bool IsPlainWord(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), IsWordChar);
}

std::string Quote(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      constexpr std::string_view kHex = "0123456789abcdef";
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace text

namespace {
using text::Quote;

// The shortest text that reads back equal and is not mistaken for an integer.
template <typename T>
std::string FloatText(T value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string out(buffer, end);
  if (std::isfinite(value) && out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string FloatAttributeText(float value) {
  if (!std::isnan(value)) return FloatText(value);
  return Cat("nan.", std::bit_cast<uint32_t>(value));
}

template <typename T>
bool HasNan(const Tensor& tensor) {
  const auto values = tensor.values<T>();
  return std::any_of(values.begin(), values.end(),
                     [](T value) { return std::isnan(static_cast<double>(value)); });
}

std::optional<std::string> ListText(const Tensor& tensor) {
  std::vector<std::string> items;
  const DataType dtype = tensor.dtype();
  // The payload of a NaN would be lost: such tensors are written as bytes.
  bool nan = false;
  VisitFloats(dtype, [&](auto zero) { nan = HasNan<decltype(zero)>(tensor); });
  if (nan) return std::nullopt;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (dtype == DataType::kString) {
      items.push_back(Quote(tensor.data<std::string>()[i]));
    } else if (dtype == DataType::kFloat64) {
      items.push_back(FloatText(tensor.data<double>()[i]));
    } else if (types::kFloats.Contains(dtype)) {
      items.push_back(FloatText(static_cast<float>(ReadAsDouble(dtype, tensor.raw(), i))));
    } else if (dtype == DataType::kUInt64) {
      items.push_back(std::to_string(tensor.data<uint64_t>()[i]));
    } else if (types::kIntegers.Contains(dtype) || dtype == DataType::kBool) {
      items.push_back(std::to_string(ReadAsInt64(dtype, tensor.raw(), i)));
    } else {
      return std::nullopt;
    }
  }
  return Cat("[", Join(items, ", "), "]");
}

class Writer {
 public:
  explicit Writer(const TextOptions& options) : options_(options) {}

  std::string Write(const Graph& graph) {
    std::string body;
    WriteBody(graph, 1, body);
    std::string symbols;
    for (size_t i = 0; i < odd_symbols_.size(); ++i) {
      symbols += Cat("  symbol ", text::kSymbolPrefix, i, " = ", Quote(odd_symbols_[i]), "\n");
    }
    return Cat("graph ", Quote(graph.name()), " {\n", symbols, body, "}\n");
  }

 private:
  // A dimension under the names of this text: unknowns renumbered, symbols that would not parse
  // replaced by declared ones.
  std::string DimText(const Dim& dim) {
    if (dim.is_constant()) return dim.ToString();
    std::set<std::string> symbols;
    dim.CollectSymbols(symbols);
    std::vector<std::string> ordered(symbols.begin(), symbols.end());
    // By length first: unknowns in order of their numbers, as the parser makes them.
    std::sort(ordered.begin(), ordered.end(), [](const std::string& a, const std::string& b) {
      return std::pair(a.size(), a) < std::pair(b.size(), b);
    });
    DimSubstitution names;
    for (const std::string& symbol : ordered) {
      if (text::IsUnknownSymbol(symbol)) {
        const auto it = unknowns_.emplace(symbol, unknowns_.size()).first;
        names.emplace(symbol, Dim::Symbol(Cat("?", it->second)));
      } else if (!text::IsPlainSymbol(symbol)) {
        auto it = std::find(odd_symbols_.begin(), odd_symbols_.end(), symbol);
        if (it == odd_symbols_.end()) it = odd_symbols_.insert(it, symbol);
        names.emplace(symbol, Dim::Symbol(Cat(text::kSymbolPrefix, it - odd_symbols_.begin())));
      }
    }
    return dim.Substitute(names).ToString();
  }

  std::string DimsText(const std::vector<Dim>& dims) {
    std::vector<std::string> items;
    for (const Dim& dim : dims) items.push_back(DimText(dim));
    return Cat("[", Join(items, ", "), "]");
  }

  std::string TypeText(const ValueType& type) {
    switch (type.kind) {
      case ValueKind::kTensor:
        return Cat(DataTypeName(type.dtype),
                   type.shape.has_rank() ? DimsText(type.shape.dims()) : "[*]");
      case ValueKind::kMap:
        return Cat("map(", DataTypeName(type.dtype), ", ",
                   type.element ? TypeText(*type.element) : "?", ")");
      default:
        return Cat(ValueKindName(type.kind), "(", type.element ? TypeText(*type.element) : "?",
                   ")");
    }
  }

  static std::string NameText(std::string_view name) {
    return Cat("%", text::IsPlainWord(name) ? std::string(name) : Quote(name));
  }

  std::string Reference(const Graph& graph, ValueId id) {
    return id.valid() ? NameText(graph.value(id).name) : "_";
  }

  std::string Definition(const Value& value) {
    std::string out = Cat(NameText(value.name), ": ", TypeText(value.type));
    if (value.origin_format != Format::kND) out += Cat(" format ", FormatName(value.origin_format));
    if (value.storage != Layout{}) out += Cat(" stored ", value.storage);
    if (value.dims) out += Cat(" dims ", DimsText(*value.dims));
    return out;
  }

  std::string Elements(const Tensor& tensor) {
    if (tensor.size() <= options_.most_inline_elements) {
      if (auto list = ListText(tensor)) return *list;
    } else if (!options_.all_constants) {
      return Cat("content ", Quote(text::HashText(tensor.ContentHash())));
    }
    if (tensor.dtype() == DataType::kString) return *ListText(tensor);
    return Cat("bytes ", Quote(EncodeBase64(tensor.raw(), tensor.bytes())));
  }

  std::string TensorText(const Tensor& tensor) {
    if (!tensor.defined()) return "tensor undefined";
    return Cat("tensor ", tensor.TypeString(), " ", Elements(tensor));
  }

  template <typename T, typename F>
  static std::string List(std::string_view type, const std::vector<T>& items, F&& to_text) {
    if (items.empty()) return Cat(type, " []");
    std::vector<std::string> texts;
    for (const T& item : items) texts.push_back(to_text(item));
    return Cat("[", Join(texts, ", "), "]");
  }

  std::string AttributeText(const AttributeValue& value) {
    switch (TypeOf(value)) {
      case AttributeType::kInt:
        return std::to_string(std::get<int64_t>(value));
      case AttributeType::kFloat:
        return FloatAttributeText(std::get<float>(value));
      case AttributeType::kString:
        return Quote(std::get<std::string>(value));
      case AttributeType::kInts:
        return List("ints", std::get<std::vector<int64_t>>(value),
                    [](int64_t v) { return std::to_string(v); });
      case AttributeType::kFloats:
        return List("floats", std::get<std::vector<float>>(value), FloatAttributeText);
      case AttributeType::kStrings:
        return List("strings", std::get<std::vector<std::string>>(value),
                    [](const std::string& v) { return Quote(v); });
      case AttributeType::kTensor:
        return TensorText(std::get<Tensor>(value));
      case AttributeType::kType:
        return Cat("type ", TypeText(std::get<ValueType>(value)));
    }
    return "";
  }

  static std::string WordOrQuoted(std::string_view word) {
    return text::IsPlainWord(word) ? std::string(word) : Quote(word);
  }

  void WriteNode(const Graph& graph, const Node& node, int depth, std::string& out) {
    std::vector<std::string> results, operands, attributes, origins;
    for (const ValueId id : node.outputs) {
      results.push_back(id.valid() ? Definition(graph.value(id)) : "_");
    }
    for (const ValueId id : node.inputs) operands.push_back(Reference(graph, id));
    for (const auto& [name, value] : node.attributes) {
      attributes.push_back(Cat(WordOrQuoted(name), " = ", AttributeText(value)));
    }
    for (const Origin& origin : node.origins) {
      origins.push_back(Quote(origin.node));
      if (!origin.source.empty()) origins.back() += Cat(" at ", Quote(origin.source));
    }
    out += Cat(Join(results, ", "), results.empty() ? "= " : " = ",
               WordOrQuoted(node.schema->FullName()), " ", Quote(node.name), " (",
               Join(operands, ", "), ")");
    if (!attributes.empty()) out += Cat(" {", Join(attributes, ", "), "}");
    if (node.scope != 0) out += Cat(" scope ", node.scope);
    if (!origins.empty()) out += Cat(" from ", Join(origins, ", "));
    const std::string indent(static_cast<size_t>(2 * depth), ' ');
    for (const Region& region : node.regions) {
      std::vector<std::string> captures;
      for (const ValueId id : region.captures) captures.push_back(Reference(graph, id));
      out += Cat("\n", indent, "  region ", Quote(region.name), " (", Join(captures, ", "),
                 ") graph ", Quote(region.graph->name()), " {\n");
      WriteBody(*region.graph, depth + 2, out);
      out += Cat(indent, "  }");
    }
    out += '\n';
  }

  void WriteBody(const Graph& graph, int depth, std::string& out) {
    const std::string indent(static_cast<size_t>(2 * depth), ' ');
    for (const auto& [key, value] : graph.metadata()) {
      out += Cat(indent, "metadata ", Quote(key), " = ", Quote(value), "\n");
    }
    for (const ValueId id : graph.inputs()) {
      out += Cat(indent, "input ", Definition(graph.value(id)), "\n");
    }
    for (const Variable& variable : graph.variables()) {
      const Value& value = graph.value(variable.initial);
      out += Cat(indent, "variable ", Quote(variable.name), " ", Definition(value), " = ",
                 TensorText(value.constant), "\n");
    }
    for (const ValueId id : graph.Values()) {
      const Value& value = graph.value(id);
      if (!value.is_constant()) continue;
      out += Cat(indent, "constant ", Definition(value), " = ", Elements(value.constant), "\n");
    }
    const Result<std::vector<NodeId>> order = graph.TopologicalOrder();
    // A graph that is not acyclic is not legal, but whoever looks for the cycle wants to see it.
    for (const NodeId id : order.ok() ? *order : graph.Nodes()) {
      out += indent;
      WriteNode(graph, graph.node(id), depth, out);
    }
    for (const GraphOutput& output : graph.outputs()) {
      out +=
          Cat(indent, "output ", Quote(output.name), " = ", Reference(graph, output.value), "\n");
    }
  }

  const TextOptions& options_;
  std::map<std::string, size_t> unknowns_;
  std::vector<std::string> odd_symbols_;
};
}  // namespace

std::string ToText(const Graph& graph, const TextOptions& options) {
  return Writer(options).Write(graph);
}

}  // namespace asc
