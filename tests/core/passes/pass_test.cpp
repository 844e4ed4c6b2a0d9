#include "tests/core/passes/pass_test.h"

#include <cmath>
#include <random>

#include "core/graph/infer.h"
#include "core/graph/text.h"
#include "core/graph/verify.h"
#include "core/ops/evaluate.h"
#include "core/ops/registry.h"
#include "core/tensor/element.h"

namespace asc::testing {

std::unique_ptr<Graph> ReadGraph(std::string_view body) {
  ParseOptions options;
  options.find_op = [](std::string_view domain, std::string_view name) {
    return OpRegistry::Global().Find(domain, name);
  };
  auto graph = ParseText(Cat("graph \"test\" {", body, "}"), options);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString() << "\n" << body;
  if (!graph.ok()) return nullptr;
  const Status inferred = InferGraph(**graph);
  EXPECT_TRUE(inferred.ok()) << inferred.ToString() << "\n" << body;
  const Status legal = Verify(**graph);
  EXPECT_TRUE(legal.ok()) << legal.ToString() << "\n" << body;
  return std::move(*graph);
}

namespace {
class CanonicalWriter {
 public:
  explicit CanonicalWriter(const Graph& graph) : graph_(graph), names_(graph.value_bound()) {}

  std::string Write() {
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      names_[Index(graph_.inputs()[i])] = Cat("input", i);
      out_ += Cat("input", i, ": ", TypeText(graph_.inputs()[i]), "\n");
    }
    // Writes count as results: nothing else may need them.
    for (const NodeId id : graph_.Nodes()) {
      if (graph_.node(id).schema->writes_variable) Name(graph_.node(id).outputs[0]);
    }
    for (const GraphOutput& output : graph_.outputs()) {
      const std::string name = Name(output.value);
      out_ += Cat("output \"", output.name, "\" = ", name, "\n");
    }
    return out_;
  }

 private:
  static size_t Index(ValueId id) { return static_cast<size_t>(id.index); }

  std::string TypeText(ValueId id) const {
    std::string type = graph_.value(id).type.ToString();
    // Unknowns are numbered over the whole process.
    for (size_t at = type.find('?'); at != std::string::npos; at = type.find('?', at + 1)) {
      size_t end = at + 1;
      while (end < type.size() && std::isdigit(static_cast<unsigned char>(type[end]))) ++end;
      type.erase(at + 1, end - at - 1);
    }
    if (graph_.value(id).storage.is_blocked()) type += Cat(" ", graph_.value(id).storage);
    return type;
  }

  static std::string AttributeText(const AttributeValue& value) {
    switch (TypeOf(value)) {
      case AttributeType::kInt:
        return Cat(std::get<int64_t>(value));
      case AttributeType::kFloat:
        return Cat(std::get<float>(value), "f");
      case AttributeType::kString:
        return std::get<std::string>(value);
      case AttributeType::kInts:
        return Cat(std::get<std::vector<int64_t>>(value));
      case AttributeType::kFloats:
        return Cat(std::get<std::vector<float>>(value), "f");
      case AttributeType::kStrings:
        return Cat(std::get<std::vector<std::string>>(value));
      case AttributeType::kTensor:
        return Cat(std::get<Tensor>(value).ContentHash());
      case AttributeType::kType:
        return std::get<ValueType>(value).ToString();
    }
    return "";
  }

  std::string ConstantText(const Tensor& tensor) const {
    if (tensor.size() > 8 || !types::kNumeric.Contains(tensor.dtype()))
      return Cat(tensor.TypeString(), "#", tensor.ContentHash());
    std::vector<std::string> items;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      const double value = ReadAsDouble(tensor.dtype(), tensor.raw(), i);
      items.push_back(Cat(std::signbit(value) && value == 0 ? "-" : "", value));
    }
    return Cat(tensor.TypeString(), "(", Join(items, ", "), ")");
  }

  std::string Name(ValueId id) {
    if (!id.valid()) return "_";
    std::string& name = names_[Index(id)];
    if (!name.empty()) return name;
    const Value& value = graph_.value(id);
    if (value.is_constant()) return name = ConstantText(value.constant);
    if (value.source == ValueSource::kVariable) return name = Cat("variable", value.variable);
    WriteNode(graph_.node(value.producer));
    return names_[Index(id)];
  }

  void WriteNode(const Node& node) {
    std::vector<std::string> operands, attributes, results, regions;
    for (const ValueId input : node.inputs) operands.push_back(Name(input));
    for (const auto& [key, value] : node.attributes)
      attributes.push_back(Cat(key, "=", AttributeText(value)));
    for (const Region& region : node.regions) {
      std::vector<std::string> captures;
      for (const ValueId capture : region.captures) captures.push_back(Name(capture));
      regions.push_back(
          Cat("\n  ", region.name, captures, " {\n", Canonical(*region.graph), "  }"));
    }
    for (const ValueId output : node.outputs) {
      if (output.valid()) names_[Index(output)] = Cat("v", next_++);
      results.push_back(output.valid() ? Cat(names_[Index(output)], ": ", TypeText(output)) : "_");
    }
    out_ += Cat(Join(results, ", "), " = ", node.schema->FullName(), "(", Join(operands, ", "),
                ") {", Join(attributes, ", "), "}", Join(regions, ""), "\n");
  }

  const Graph& graph_;
  std::vector<std::string> names_;
  std::string out_;
  int next_ = 0;
};

Tensor RandomTensor(const ValueType& type, const DimBindings& bindings, std::mt19937& random) {
  std::set<std::string> symbols;
  for (const Dim& dim : type.shape.dims()) dim.CollectSymbols(symbols);
  DimBindings bound = bindings;
  for (const std::string& symbol : symbols) bound.emplace(symbol, 3);
  Result<Tensor> tensor = Tensor::Allocate(type.dtype, *type.shape.Evaluate(bound));
  EXPECT_TRUE(tensor.ok());
  for (int64_t i = 0; i < tensor->size(); ++i) {
    VisitFloats(type.dtype, [&](auto zero) {
      tensor->data<decltype(zero)>()[i] =
          decltype(zero)(std::uniform_real_distribution<float>(-2, 2)(random));
    });
    VisitIntegers(type.dtype, [&](auto zero) {
      tensor->data<decltype(zero)>()[i] =
          static_cast<decltype(zero)>(std::uniform_int_distribution<int>(-100, 100)(random));
    });
    if (type.dtype == DataType::kBool) tensor->data<bool>()[i] = random() % 2 == 0;
  }
  return *tensor;
}

void ExpectClose(const Tensor& got, const Tensor& want, double tolerance, std::string_view name) {
  ASSERT_EQ(got.TypeString(), want.TypeString()) << name;
  if (tolerance == 0) {
    EXPECT_TRUE(got.ContentEquals(want)) << name;
    return;
  }
  double largest = 0;
  for (int64_t i = 0; i < want.size(); ++i)
    largest = std::max(largest, std::fabs(ReadAsDouble(want.dtype(), want.raw(), i)));
  for (int64_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(ReadAsDouble(got.dtype(), got.raw(), i), ReadAsDouble(want.dtype(), want.raw(), i),
                tolerance * largest)
        << name << " at " << i;
  }
}

bool HasRegions(const Graph& graph) {
  const auto nodes = graph.Nodes();
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](NodeId id) { return !graph.node(id).regions.empty(); });
}

void ExpectSameResults(const Graph& before, const Graph& after, const Expectation& expectation) {
  if (HasRegions(before)) return;
  std::mt19937 random(1);
  std::vector<Tensor> inputs;
  for (const ValueId id : before.inputs())
    inputs.push_back(RandomTensor(before.value(id).type, expectation.bindings, random));
  const auto want = Interpret(before, inputs), got = Interpret(after, inputs);
  ASSERT_TRUE(want.ok()) << want.status().ToString();
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  for (size_t i = 0; i < want->size(); ++i) {
    if ((*want)[i].is_tensor()) {
      ExpectClose((*got)[i].tensor(), (*want)[i].tensor(), expectation.tolerance,
                  before.outputs()[i].name);
    }
  }
}
}  // namespace

std::string Canonical(const Graph& graph) { return CanonicalWriter(graph).Write(); }

PassReport RunPasses(Graph& graph, const std::vector<MakePass>& passes, PassOptions options) {
  options.verify = true;
  std::vector<std::unique_ptr<Pass>> made;
  for (const MakePass make : passes) made.push_back(make());
  PassDriver driver(options);
  const Status status = driver.Run(graph, made);
  EXPECT_TRUE(status.ok()) << status.ToString() << "\n" << ToText(graph);
  return driver.report();
}

void ExpectRewrite(std::string_view before, std::string_view after,
                   const std::vector<MakePass>& passes, const Expectation& expectation) {
  const auto original = ReadGraph(before), graph = ReadGraph(before), reference = ReadGraph(after);
  ASSERT_TRUE(graph && reference);
  const PassReport report = RunPasses(*graph, passes, expectation.options);
  EXPECT_EQ(Canonical(*graph), Canonical(*reference)) << ToText(*graph) << report.ToJson();
  ExpectSameResults(*original, *graph, expectation);
}

void ExpectUnchanged(std::string_view body, const std::vector<MakePass>& passes,
                     const PassOptions& options) {
  ExpectRewrite(body, body, passes, {.tolerance = 0, .options = options, .bindings = {}});
}

Result<std::vector<AnyValue>> Interpret(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<std::optional<AnyValue>> values(graph.value_bound());
  for (size_t i = 0; i < inputs.size(); ++i)
    values[static_cast<size_t>(graph.inputs()[i].index)] = inputs[i];
  for (const ValueId id : graph.Values()) {
    const Value& value = graph.value(id);
    if (value.is_constant() || value.source == ValueSource::kVariable)
      values[static_cast<size_t>(id.index)] = value.constant;
  }
  ASC_ASSIGN_OR_RETURN(const auto order, graph.TopologicalOrder());
  RunState run;
  run.allocator = HostAllocator();
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    std::vector<const AnyValue*> operands;
    for (const ValueId input : node.inputs) {
      operands.push_back(input.valid() ? &*values[static_cast<size_t>(input.index)] : nullptr);
    }
    auto results = Evaluate(*node.schema, node.attributes, operands, node.outputs.size(), run);
    if (!results.ok()) return std::move(results).status().WithNode(node.name);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].valid())
        values[static_cast<size_t>(node.outputs[i].index)] = (*results)[i];
    }
  }
  std::vector<AnyValue> outputs;
  for (const GraphOutput& output : graph.outputs())
    outputs.push_back(*values[static_cast<size_t>(output.value.index)]);
  return outputs;
}

std::string RandomConstant(std::string_view name, const Dims& dims, float low, float high) {
  std::mt19937 random(static_cast<unsigned>(std::hash<std::string_view>()(name)));
  std::uniform_real_distribution<float> uniform(low, high);
  std::vector<float> items(static_cast<size_t>(ElementCount(dims)));
  for (float& item : items) item = uniform(random);
  return Cat("constant %", name, ": float32", dims, " = ", items, "\n");
}

}  // namespace asc::testing
