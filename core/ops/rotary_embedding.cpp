// RotaryEmbedding: pairs of a head's elements are rotated by angles that depend on the token's
// position.
#include "core/ops/compute_buffer.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"

namespace asc {
namespace {
Status InferRotary(InferContext& context) {
  const Shape& x = context.shape(0);
  const AttributeMap& attributes = context.attributes();
  const int64_t heads = attributes.Int("num_heads", 0),
                rotated = attributes.Int("rotary_embedding_dim", 0);
  context.SetOutput(0, context.type(0));
  if (rotated < 0 || rotated % 2 != 0)
    return InvalidArgument("RotaryEmbedding needs an even rotary_embedding_dim, given ", rotated);
  if (!x.has_rank()) return Ok();
  if (x.rank() != 3 && x.rank() != 4) {
    return ShapeError(
        "RotaryEmbedding needs x [batch, heads, steps, size] or [batch, steps, heads * size], "
        "given ",
        x);
  }
  if (x.rank() == 3 && heads < 1)
    return InvalidArgument("RotaryEmbedding of rank 3 needs num_heads >= 1, given ", heads);
  const Dim& last = x[x.rank() - 1];
  Dim pairs = Dim::Unknown();
  if (last.is_constant()) {
    if (x.rank() == 3 && last.value() % heads != 0) {
      return ShapeError("RotaryEmbedding cannot divide ", x, " into ", heads, " heads");
    }
    const int64_t size = x.rank() == 3 ? last.value() / heads : last.value();
    if ((rotated == 0 && size % 2 != 0) || rotated > size) {
      return ShapeError("RotaryEmbedding cannot rotate ", rotated == 0 ? size : rotated, " of ",
                        size, " elements of a head");
    }
    pairs = Dim((rotated == 0 ? size : rotated) / 2);
  }
  const bool by_position = context.HasInput(3);
  const Dim& steps = x[x.rank() == 3 ? 1 : 2];
  const auto fits = [](const Dim& a, const Dim& b) {
    return !a.is_constant() || !b.is_constant() || a == b;
  };
  for (const size_t i : {size_t{1}, size_t{2}}) {
    const Shape& cache = context.shape(i);
    if (!cache.has_rank()) continue;
    bool good = cache.rank() == (by_position ? 2 : 3) && fits(cache[cache.rank() - 1], pairs);
    if (good && !by_position) good = fits(cache[0], x[0]) && fits(cache[1], steps);
    if (good) continue;
    return ShapeError("RotaryEmbedding needs '", context.schema().inputs[i].name, "' of shape ",
                      by_position ? "[positions, " : "[batch, steps, ", pairs, "], given ", cache);
  }
  if (by_position && context.shape(3).has_rank()) {
    const Shape& ids = context.shape(3);
    if (ids.rank() != 2 || !fits(ids[0], x[0]) || !fits(ids[1], steps)) {
      return ShapeError("RotaryEmbedding needs position_ids [batch, steps] for x ", x, ", given ",
                        ids);
    }
  }
  return Ok();
}

struct Layout {
  int64_t batch, heads, steps, size;
  bool heads_first;

  // The token of a row; rows are numbered as they lie in memory.
  int64_t Token(int64_t row) const {
    return heads_first ? row / (heads * steps) * steps + row % steps : row / heads;
  }
};

// Pairs (k, k + pairs); y is not x.
void RotateHalves(const float* __restrict x, const float* __restrict c, const float* __restrict s,
                  int64_t pairs, float* __restrict y) {
  for (int64_t k = 0; k < pairs; ++k) {
    const float a = x[k], b = x[k + pairs];
    y[k] = c[k] * a - s[k] * b;
    y[k + pairs] = s[k] * a + c[k] * b;
  }
}

// Pairs (2 k, 2 k + 1).
void RotateNeighbours(const float* __restrict x, const float* __restrict c,
                      const float* __restrict s, int64_t pairs, float* __restrict y) {
  for (int64_t k = 0; k < pairs; ++k) {
    const float a = x[2 * k], b = x[2 * k + 1];
    y[2 * k] = c[k] * a - s[k] * b;
    y[2 * k + 1] = s[k] * a + c[k] * b;
  }
}

Status Rotary(KernelContext& context) {
  const Tensor& x = context.input(0);
  const AttributeMap& attributes = context.attributes();
  const Dims& dims = x.dims();
  const Layout layout = dims.size() == 4 ? Layout{dims[0], dims[1], dims[2], dims[3], true}
                                         : Layout{dims[0], attributes.Int("num_heads", 1), dims[1],
                                                  dims[2] / attributes.Int("num_heads", 1), false};
  const int64_t given = attributes.Int("rotary_embedding_dim", 0),
                rotated = given == 0 ? layout.size : given, pairs = rotated / 2;
  const bool interleaved = attributes.Int("interleaved", 0) != 0;
  ASC_ASSIGN_OR_RETURN(const auto values, ComputeInput<float>::Make(context, x));
  ASC_ASSIGN_OR_RETURN(const auto cosines, ComputeInput<float>::Make(context, context.input(1)));
  ASC_ASSIGN_OR_RETURN(const auto sines, ComputeInput<float>::Make(context, context.input(2)));
  ASC_ASSIGN_OR_RETURN(auto out, ComputeOutput<float>::Make(context, context.output(0)));
  const int64_t* ids = context.HasInput(3) ? context.input(3).data<int64_t>() : nullptr;
  for (int64_t i = 0; ids != nullptr && i < layout.batch * layout.steps; ++i) {
    if (ids[i] >= 0 && ids[i] < context.input(1).dim(0) && ids[i] < context.input(2).dim(0))
      continue;
    return Error(Code::kOutOfRange, "RotaryEmbedding has position ", ids[i], " for caches of ",
                 context.input(1).dim(0), " positions");
  }
  // Rows in the order of memory: (batch, head, step), or (batch, step, head).
  const int64_t rows = layout.batch * layout.heads * layout.steps;
  ParallelFor(rows, std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, layout.size)),
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row) {
                  const int64_t token = layout.Token(row);
                  const int64_t angle = (ids == nullptr ? token : ids[token]) * pairs;
                  const float* from = values.data() + row * layout.size;
                  float* to = out.data() + row * layout.size;
                  const auto rotate = interleaved ? RotateNeighbours : RotateHalves;
                  rotate(from, cosines.data() + angle, sines.data() + angle, pairs, to);
                  std::copy(from + rotated, from + layout.size, to + rotated);
                }
              });
  out.Finish();
  return Ok();
}
}  // namespace

void AddRotaryEmbeddingOps(OpTable& table) {
  table.Add("RotaryEmbedding", 23)
      .Doc("rotates pairs of each head's elements by angles of the token's position")
      .Input("x", "T")
      .Input("cos_cache", "T")
      .Input("sin_cache", "T")
      .OptionalInput("position_ids", "M")
      .Output("y", "T")
      .Types("T", types::kFloats - TypeSet{DataType::kFloat64})
      .Types("M", types::kInt64)
      .Attr("interleaved", int64_t{0}, "", "1: pairs are neighbours; 0: one from each half")
      .OptionalAttr("num_heads", AttributeType::kInt, "", "needed for x of rank 3")
      .Attr("rotary_embedding_dim", int64_t{0}, "", "elements of a head that are rotated; 0: all")
      .Infer(InferRotary)
      .Kernel(Rotary);
}

}  // namespace asc
