// Recurrent operators and Scan.
#include "core/onnx/adapters/adapter.h"

namespace asc::onnx {
namespace {
// Whether output Y is wanted is told by its name alone now.
Status OutputSequence(Adaptation& adaptation) {
  adaptation.attributes().Erase("output_sequence");
  return Ok();
}

// The default was misspelt in the operator's definition.
Status Gru1(Adaptation& adaptation) {
  if (adaptation.attributes().String("direction", "") == "foward") {
    adaptation.attributes().Erase("direction");
  }
  return Ok();
}

ValueType WithoutAxes(const ValueType* type, size_t count) {
  if (type == nullptr) return ValueType();
  if (!type->is_tensor() || !type->shape.has_rank() || type->shape.rank() < count) {
    return ValueType::Tensor(type->dtype);
  }
  const auto& dims = type->shape.dims();
  return ValueType::Tensor(
      type->dtype,
      Shape(std::vector<Dim>(dims.begin() + static_cast<ptrdiff_t>(count), dims.end())));
}

// Scan of opset 8 went over axis 1 and had a batch on axis 0. Now a Scan over the batch, without
// state, runs a Scan over the sequence for each of its entries.
Status Scan8(Adaptation& adaptation) {
  ImportedNode& node = adaptation.node;
  if (!adaptation.input(0).empty()) {
    return adaptation.Refuse("has sequence_lens, which are not supported");
  }
  const int64_t scanned = node.attributes.Int("num_scan_inputs", 0);
  if (node.inputs.size() < 2 || scanned < 1 ||
      scanned > static_cast<int64_t>(node.inputs.size()) - 1 || node.regions.size() != 1) {
    return adaptation.Refuse("needs a body, inputs and num_scan_inputs that fit");
  }
  const std::vector<std::string> inputs(node.inputs.begin() + 1, node.inputs.end());

  auto batch = std::make_shared<ImportedGraph>();
  batch->name = node.Label() + "_batch";
  ImportedNode inner;
  inner.op_type = "Scan";
  inner.name = node.name;
  inner.origins = node.origins;
  inner.regions = node.regions;
  inner.attributes.Set("num_scan_inputs", scanned);
  if (node.attributes.Has("directions")) {
    inner.attributes.Set("scan_input_directions", node.attributes.Ints("directions"));
  }
  for (const std::string& input : inputs) {
    const std::string name = adaptation.scope.FreshName(input + "_entry");
    batch->inputs.push_back({name, WithoutAxes(adaptation.scope.TypeOf(input), 1)});
    inner.inputs.push_back(name);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const std::string name = adaptation.scope.FreshName(Cat(node.Label(), "_entry_out"));
    batch->outputs.push_back({name, std::nullopt});
    inner.outputs.push_back(name);
  }
  batch->nodes.push_back(std::move(inner));

  node.inputs = inputs;
  node.regions[0].second = std::move(batch);
  node.attributes = {};
  node.attributes.Set("num_scan_inputs", static_cast<int64_t>(inputs.size()));
  return Ok();
}
}  // namespace

std::span<const AdapterRow> RecurrentAdapters() {
  static constexpr AdapterRow kRows[] = {
      {"GRU", 2, Gru1},           {"GRU", 6, OutputSequence}, {"LSTM", 6, OutputSequence},
      {"RNN", 6, OutputSequence}, {"Scan", 8, Scan8},
  };
  return kRows;
}

}  // namespace asc::onnx
