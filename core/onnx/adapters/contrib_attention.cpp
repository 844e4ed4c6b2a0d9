// Attention with its projections and masks in one operator.
#include "core/onnx/adapters/contrib.h"

namespace asc::onnx {
namespace {
Result<std::string> Unsqueezed(Adaptation& adaptation, const std::string& x,
                               const std::vector<int64_t>& axes) {
  return adaptation.Compute("Unsqueeze", {x, adaptation.Ints("axes", axes)});
}

// What is added to the scores where keys are masked: `mask` is of integers and has as many true keys as
// it says for each sentence (rank 1), or 1 for each key that counts: [batch, keys], [batch, queries,
// keys] or [batch, 1, queries, keys]. `keys` is a value whose axis 1 has an entry for each key.
Result<std::string> AdditiveMask(Adaptation& adaptation, size_t mask, const std::string& keys,
                                 const std::string& like) {
  const auto rank = adaptation.Rank(mask);
  if (!rank || *rank < 1 || *rank > 4) return adaptation.Refuse("needs a mask of rank 1 to 4");
  std::string counts = adaptation.input(mask);
  if (*rank == 1) {
    const ValueType* type = adaptation.scope.TypeOf(counts);
    const ValueType* data = adaptation.scope.TypeOf(keys);
    const Shape* shape = data != nullptr ? &data->shape : nullptr;
    if (shape != nullptr && shape->has_rank() && type->shape[0].is_constant() &&
        (*shape)[0].is_constant() && !(type->shape[0] == (*shape)[0]))
      return adaptation.Refuse("needs a mask of one length for each sentence");
    AttributeMap length = OneAttribute("start", int64_t{1});
    length.Set("end", int64_t{2});
    ASC_ASSIGN_OR_RETURN(std::string extent,
                         adaptation.Compute("Shape", {keys}, std::move(length)));
    ASC_ASSIGN_OR_RETURN(std::string end,
                         adaptation.Compute("Squeeze", {extent, adaptation.Ints("axis", {0})}));
    const std::string zero = adaptation.scope.AddConstant("zero", Tensor::Scalar(int64_t{0})),
                      one = adaptation.scope.AddConstant("one", Tensor::Scalar(int64_t{1}));
    ASC_ASSIGN_OR_RETURN(std::string places, adaptation.Compute("Range", {zero, end, one}));
    ASC_ASSIGN_OR_RETURN(std::string lengths,
                         adaptation.Compute("Cast", {counts}, OneAttribute("to", int64_t{7})));
    ASC_ASSIGN_OR_RETURN(lengths, Unsqueezed(adaptation, lengths, {1}));
    ASC_ASSIGN_OR_RETURN(counts, adaptation.Compute("Less", {places, lengths}));
  } else {
    ASC_ASSIGN_OR_RETURN(counts,
                         adaptation.Compute("Cast", {counts}, OneAttribute("to", int64_t{9})));
  }
  if (*rank <= 2) {
    ASC_ASSIGN_OR_RETURN(counts, Unsqueezed(adaptation, counts, {1, 2}));
  } else if (*rank == 3) {
    ASC_ASSIGN_OR_RETURN(counts, Unsqueezed(adaptation, counts, {1}));
  }
  ASC_ASSIGN_OR_RETURN(std::string nothing, NumberLike(adaptation, like, 0));
  ASC_ASSIGN_OR_RETURN(
      std::string filter,
      NumberLike(adaptation, like, adaptation.attributes().Float("mask_filter_value", -10000.0f)));
  return adaptation.Compute("Where", {counts, nothing, filter});
}

// Everything that is added to the scores; "" for nothing.
Result<std::string> Addend(Adaptation& adaptation, size_t mask, size_t bias,
                           const std::string& keys, const std::string& like) {
  if (adaptation.input(mask).empty()) return adaptation.input(bias);
  ASC_ASSIGN_OR_RETURN(std::string sum, AdditiveMask(adaptation, mask, keys, like));
  return PlusOptional(adaptation, std::move(sum), adaptation.input(bias));
}

AttributeMap HeadAttributes(const Adaptation& adaptation) {
  const AttributeMap& given = adaptation.node.attributes;
  AttributeMap attributes;
  attributes.Set("q_num_heads", given.Int("num_heads", 1));
  attributes.Set("kv_num_heads", given.Int("num_heads", 1));
  attributes.Set("is_causal", given.Int("unidirectional", 0));
  if (const float scale = given.Float("scale", 0); scale != 0) attributes.Set("scale", scale);
  return attributes;
}

Result<std::vector<std::string>> SplitLast(Adaptation& adaptation, const std::string& x,
                                           const std::vector<int64_t>& sizes) {
  ImportedNode split;
  split.op_type = "Split";
  split.inputs = {x};
  split.attributes = OneAttribute("axis", int64_t{-1});
  if (sizes.empty()) {
    split.attributes.Set("num_outputs", int64_t{3});
  } else {
    split.inputs.push_back(adaptation.Ints("sizes", sizes));
  }
  for (const char* part : {"_q", "_k", "_v"})
    split.outputs.push_back(adaptation.scope.FreshName(adaptation.node.Label() + part));
  std::vector<std::string> parts = split.outputs;
  ASC_RETURN_IF_ERROR(adaptation.scope.Emit(std::move(split)));
  return parts;
}

// x, which is projected to q, k and v by one product; `past` and `present` are [2, batch, heads, keys,
// size].
Status Attention(Adaptation& adaptation) {
  const AttributeMap& given = adaptation.attributes();
  if (given.Int("do_rotary", 0) != 0 || !adaptation.input(6).empty() ||
      given.Int("past_present_share_buffer", 0) != 0)
    return adaptation.Refuse("rotates its operands or shares the buffer of past and present");
  const std::string x = adaptation.input(0);
  ASC_ASSIGN_OR_RETURN(std::string projected,
                       adaptation.Compute("MatMul", {x, adaptation.input(1)}));
  ASC_ASSIGN_OR_RETURN(projected,
                       PlusOptional(adaptation, std::move(projected), adaptation.input(2)));
  std::vector<int64_t> sizes;
  if (const auto* hidden = given.Get<std::vector<int64_t>>("qkv_hidden_sizes")) sizes = *hidden;
  ASC_ASSIGN_OR_RETURN(auto parts, SplitLast(adaptation, projected, sizes));
  const bool has_past = !adaptation.input(4).empty();
  if (has_past && adaptation.Rank(3) == 1u)
    return adaptation.Refuse("has past keys but a mask of lengths");
  ASC_ASSIGN_OR_RETURN(std::string mask, Addend(adaptation, 3, 5, x, x));
  ImportedNode attention;
  attention.op_type = "Attention";
  attention.name = adaptation.node.name;
  attention.attributes = HeadAttributes(adaptation);
  attention.inputs = {parts[0], parts[1], parts[2], mask};
  for (int64_t i = 0; has_past && i < 2; ++i) {
    const std::string place = adaptation.scope.AddConstant("place", Tensor::Scalar(i));
    ASC_ASSIGN_OR_RETURN(attention.inputs.emplace_back(),
                         adaptation.Compute("Gather", {adaptation.input(4), place}));
  }
  attention.outputs = {adaptation.node.outputs[0]};
  adaptation.replaced = true;
  if (!adaptation.WantsOutput(1)) return adaptation.scope.Emit(std::move(attention));
  for (const char* part : {"_keys", "_values"})
    attention.outputs.push_back(adaptation.scope.FreshName(adaptation.node.Label() + part));
  const std::vector<std::string> outputs = attention.outputs;
  ASC_RETURN_IF_ERROR(adaptation.scope.Emit(std::move(attention)));
  ASC_ASSIGN_OR_RETURN(std::string keys, Unsqueezed(adaptation, outputs[1], {0}));
  ASC_ASSIGN_OR_RETURN(std::string values, Unsqueezed(adaptation, outputs[2], {0}));
  return Replace(adaptation, "Concat", {keys, values}, OneAttribute("axis", int64_t{0}), 1);
}

// q, k and v that are projected already, all of rank 3.
Status MultiHeadAttention(Adaptation& adaptation) {
  for (size_t i = 0; i < 3; ++i) {
    if (adaptation.Rank(i) != 3u)
      return adaptation.Refuse("needs query, key and value of rank 3 each");
  }
  std::string operands[3] = {adaptation.input(0), adaptation.input(1), adaptation.input(2)};
  if (!adaptation.input(3).empty()) {
    // One bias for all: as long as the three rows together, of which the last may differ.
    std::vector<int64_t> sizes;
    for (const std::string& operand : operands) {
      const Dim& size = adaptation.scope.TypeOf(operand)->shape[2];
      if (!size.is_constant()) return adaptation.Refuse("needs rows of known length for its bias");
      sizes.push_back(size.value());
    }
    ASC_ASSIGN_OR_RETURN(const auto parts, SplitLast(adaptation, adaptation.input(3), sizes));
    for (size_t i = 0; i < 3; ++i) {
      ASC_ASSIGN_OR_RETURN(operands[i], adaptation.Compute("Add", {operands[i], parts[i]}));
    }
  }
  if (!adaptation.input(6).empty() && adaptation.Rank(4) == 1u)
    return adaptation.Refuse("has past keys but a mask of lengths");
  if (!adaptation.input(8).empty() || !adaptation.input(9).empty())
    return adaptation.Refuse("shares the buffer of past and present");
  ASC_ASSIGN_OR_RETURN(std::string mask,
                       Addend(adaptation, 4, 5, operands[1], adaptation.input(0)));
  ImportedNode attention;
  attention.op_type = "Attention";
  attention.name = adaptation.node.name;
  attention.attributes = HeadAttributes(adaptation);
  attention.inputs = {operands[0], operands[1], operands[2], mask};
  if (!adaptation.input(6).empty()) {
    attention.inputs.push_back(adaptation.input(6));
    attention.inputs.push_back(adaptation.input(7));
  }
  attention.outputs = adaptation.node.outputs;
  if (attention.outputs.size() > 3) return adaptation.Refuse("has more outputs than 3");
  adaptation.replaced = true;
  return adaptation.scope.Emit(std::move(attention));
}
}  // namespace

std::span<const AdapterRow> ContribAttentionAdapters() {
  static constexpr AdapterRow kRows[] = {
      {"Attention", kContribVersion, Attention, kContribDomain},
      {"MultiHeadAttention", kContribVersion, MultiHeadAttention, kContribDomain},
  };
  return kRows;
}

}  // namespace asc::onnx
