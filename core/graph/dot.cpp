#include "core/graph/dot.h"

namespace asc {
namespace {
std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out;
}

std::string ValueLabel(const Value& value) {
  std::string label = value.type.ToString();
  if (value.origin_format != Format::kND) label += Cat(" ", FormatName(value.origin_format));
  if (value.storage.is_blocked()) label += Cat(" as ", value.storage);
  return label;
}

class DotWriter {
 public:
  std::string Write(const Graph& graph) {
    out_ = Cat("digraph \"", Escaped(graph.name()),
               "\" {\n  node [shape=box, fontname=\"Helvetica\"];\n",
               "  edge [fontname=\"Helvetica\", fontsize=10];\n");
    Body(graph, "g", 1);
    return out_ + "}\n";
  }

 private:
  void Line(int depth, std::string_view text) {
    out_.append(static_cast<size_t>(2 * depth), ' ');
    out_ += text;
    out_ += '\n';
  }

  // DOT ids: "<prefix>_n<index>" for nodes, "<prefix>_v<index>" for values without a producer.
  static std::string Source(const Graph& graph, const std::string& prefix, ValueId id) {
    const Node* producer = graph.Producer(id);
    return producer ? Cat(prefix, "_n", producer->id.index) : Cat(prefix, "_v", id.index);
  }

  void Edge(const Graph& graph, const std::string& prefix, ValueId from, std::string_view to,
            std::string_view style, int depth) {
    const Value& value = graph.value(from);
    Line(depth, Cat(Source(graph, prefix, from), " -> ", to, " [label=\"", Escaped(value.name),
                    "\\n", Escaped(ValueLabel(value)), "\"", style, "];"));
  }

  void Body(const Graph& graph, const std::string& prefix, int depth) {
    for (const ValueId id : graph.Values()) {
      const Value& value = graph.value(id);
      if (value.source == ValueSource::kNode) continue;
      const std::string_view look = value.source == ValueSource::kInput ? "shape=ellipse"
                                    : value.source == ValueSource::kConstant
                                        ? "shape=note, color=gray40"
                                        : "shape=cylinder";
      Line(depth, Cat(prefix, "_v", id.index, " [label=\"", Escaped(value.name), "\\n",
                      Escaped(ValueLabel(value)), "\", ", look, "];"));
    }
    for (const NodeId id : graph.Nodes()) {
      const Node& node = graph.node(id);
      const std::string self = Cat(prefix, "_n", id.index);
      Line(depth, Cat(self, " [label=\"", Escaped(node.schema->FullName()), "\\n",
                      Escaped(node.name), "\"];"));
      for (const ValueId input : node.inputs) {
        if (input.valid()) Edge(graph, prefix, input, self, "", depth);
      }
      for (size_t i = 0; i < node.regions.size(); ++i) RegionCluster(graph, prefix, node, i, depth);
    }
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      const GraphOutput& output = graph.outputs()[i];
      const std::string self = Cat(prefix, "_o", i);
      Line(depth, Cat(self, " [label=\"", Escaped(output.name), "\", shape=ellipse, style=bold];"));
      Edge(graph, prefix, output.value, self, "", depth);
    }
  }

  void RegionCluster(const Graph& graph, const std::string& prefix, const Node& node, size_t i,
                     int depth) {
    const Region& region = node.regions[i];
    const Graph& body = *region.graph;
    const std::string inner = Cat(prefix, "_n", node.id.index, "r", i);
    Line(depth, Cat("subgraph cluster_", inner, " {"));
    Line(depth + 1,
         Cat("label=\"", Escaped(node.name), " / ", Escaped(region.name), "\"; style=rounded;"));
    Body(body, inner, depth + 1);
    Line(depth, "}");
    const size_t formal = body.inputs().size() - region.captures.size();
    for (size_t c = 0; c < region.captures.size(); ++c) {
      Edge(graph, prefix, region.captures[c], Cat(inner, "_v", body.inputs()[formal + c].index),
           ", style=dashed", depth);
    }
    for (size_t o = 0; o < body.outputs().size(); ++o) {
      Line(depth, Cat(inner, "_o", o, " -> ", prefix, "_n", node.id.index, " [style=dotted];"));
    }
  }

  std::string out_;
};
}  // namespace

std::string ToDot(const Graph& graph) { return DotWriter().Write(graph); }

}  // namespace asc
