#include "core/kernels/gemm/blocked.h"

#include <algorithm>
#include <limits>

#include "core/base/parallel.h"

namespace asc::gemm {
namespace {
// A panel's part of the right operand stays in the second-level cache together with the rows' part
// of the left one; sums of more terms are added up from parts, which also keeps digits.
constexpr int64_t kMostDepth = 768;
constexpr int64_t kMostLeft = 1 << 17;  // floats of the left operand that stay in the cache
// Columns after which the activation is applied, while they are in the cache.
constexpr int64_t kGroupColumns = 256;
// Floats between copied rows beyond their length, so that rows do not fall on each other's cache lines.
constexpr int64_t kCopyGap = 16;
// Rows at a distance of a multiple of so many bytes fall on the same lines of the first-level cache, which holds so many of them.
constexpr int64_t kAliasBytes = 4096, kAliasRows = 8;
// Nanoseconds of work that are worth waking a thread for.
constexpr double kWorthAThread = 4000;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t Depth(const Product& p) { return p.k * p.blocks + p.rest; }
// Part `i` of `parts` even ones.
struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};
Range PartOf(int64_t count, int64_t i, int64_t parts) {
  return {count * i / parts, count * (i + 1) / parts};
}

// Columns with those that fill the last block of channels.
int64_t StoredColumns(const Product& p) {
  return p.c_width == 0 ? p.n : CeilDiv(p.n, p.c_width) * p.c_width;
}

// About the time of a part of so many rows and panels, per step of the sum, in multiply-adds of a vector.
double PartCost(const TileShape& tiles, int64_t rows, int64_t panels) {
  const int64_t cuts = CeilDiv(rows, tiles.rows);
  const auto vectors = static_cast<double>(tiles.width / tiles.lanes);
  // A short tile waits for its own sums; panels come from memory once, rows from the cache for each panel.
  const double tile = std::max(vectors * static_cast<double>(CeilDiv(rows, cuts)), 4.0);
  return static_cast<double>(panels) * (tile * static_cast<double>(cuts) + 2.4 * vectors) +
         0.05 * static_cast<double>(rows);
}

const float* CopyRows(const Product& p, int64_t a_column, int64_t rows, int64_t depth, float* to) {
  const int64_t stride = depth + kCopyGap;
  if (a_column == 1) {
    for (int64_t i = 0; i < rows; ++i) std::copy_n(p.a + i * p.a_row, depth, to + i * stride);
    return to;
  }
  constexpr int64_t kSquare = 16;
  for (int64_t first = 0; first < depth; first += kSquare) {
    const int64_t last = std::min(first + kSquare, depth);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = first; j < last; ++j) to[i * stride + j] = p.a[i * p.a_row + j * a_column];
    }
  }
  return to;
}

void Activate(const simd::UnaryCall& f, const Product& p) {
  if (p.c_width == 0) {
    for (int64_t i = 0; i < p.m; ++i)
      simd::ApplyUnary(f, p.c + i * p.c_row, p.c + i * p.c_row, p.n);
    return;
  }
  for (int64_t block = 0; block < CeilDiv(p.n, p.c_width); ++block) {
    float* c = p.c + block * p.c_block;
    if (p.c_row == p.c_width) {
      simd::ApplyUnary(f, c, c, p.m * p.c_width);
    } else {
      for (int64_t i = 0; i < p.m; ++i) {
        simd::ApplyUnary(f, c + i * p.c_row, c + i * p.c_row, p.c_width);
      }
    }
  }
}

// Advances the result, the bias and the right operand of `p` to `column`, a multiple of a panel's width.
void SkipColumns(Product& p, int64_t column, int64_t width) {
  const int64_t away =
      p.c_width == 0 ? column : column / p.c_width * p.c_block + column % p.c_width;
  p.c += away;
  if (p.residual != nullptr) p.residual += away;
  if (p.bias != nullptr) p.bias += column;
  p.b += column / width * p.b_panel;
}

// One thread's part of the rows and panels of `whole`.
void MultiplyPart(const Product& whole, int64_t a_column, const Cutting& cutting, Range rows,
                  Range panels, const std::optional<simd::UnaryCall>& activation, float* copy) {
  const int64_t width = Tiles().width;
  const int64_t group = activation ? std::max<int64_t>(1, kGroupColumns / width) : panels.size();
  const int64_t row_blocks = CeilDiv(rows.size(), cutting.row_block);
  for (int64_t row_block = 0; row_block < row_blocks; ++row_block) {
    const Range block = PartOf(rows.size(), row_block, row_blocks);
    for (int64_t part = 0; part < cutting.depth_blocks; ++part) {
      Product p = whole;
      const bool last = part + 1 == cutting.depth_blocks;
      p.m = block.size();
      p.a += (rows.begin + block.begin) * p.a_row;
      p.c += (rows.begin + block.begin) * p.c_row;
      // The residual comes first: its memory may be the result's.
      if (part > 0) p.residual = nullptr;
      if (p.residual != nullptr) p.residual += (rows.begin + block.begin) * p.residual_row;
      p.accumulate |= part > 0;
      if (!last) p.bias = nullptr, p.clamp = false, p.rest = 0;
      // The sum is cut between its blocks, or where it has one, within that.
      const Range depth = PartOf(p.blocks > 1 ? p.blocks : p.k, part, cutting.depth_blocks);
      if (p.blocks > 1) {
        p.a += depth.begin * p.a_block;
        p.b += depth.begin * p.b_block;
        p.blocks = depth.size();
      } else {
        p.a += depth.begin * a_column;
        p.b += depth.begin * width;
        p.k = depth.size();
      }
      if (cutting.copies_a) {
        p.a = CopyRows(p, a_column, p.m, p.k, copy);
        p.a_row = p.k + kCopyGap;
      }
      for (int64_t panel = panels.begin; panel < panels.end; panel += group) {
        Product some = p;
        SkipColumns(some, panel * width, width);
        some.n = std::min(p.n - panel * width, std::min(group, panels.end - panel) * width);
        Multiply(some);
        if (last && activation) Activate(*activation, some);
      }
    }
  }
}
}  // namespace

std::optional<simd::UnaryCall> Clamped(const Activation& activation, Product& product) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (activation.kind) {
    case ActivationKind::kNone:
      return std::nullopt;
    case ActivationKind::kRelu:
      product.clamp = true;
      product.low = 0;
      product.high = kInfinity;
      return std::nullopt;
    case ActivationKind::kClip:
      product.clamp = true;
      product.low = activation.a;
      product.high = activation.b;
      return std::nullopt;
    default:
      return simd::FromActivation(activation);
  }
}

Cutting Cut(const Product& product, int64_t a_column, int threads) {
  const TileShape tiles = Tiles();
  const int64_t panels = CeilDiv(StoredColumns(product), tiles.width), depth = Depth(product);
  Cutting out;
  const double multiplications =
      static_cast<double>(product.m) * static_cast<double>(product.n) * static_cast<double>(depth);
  const double weights = static_cast<double>(product.n) * static_cast<double>(depth) * 4;
  const double nanoseconds = std::max(multiplications / 50, weights / 40);
  const auto parts = static_cast<int64_t>(
      std::clamp(nanoseconds / kWorthAThread, 1.0, static_cast<double>(threads)));
  double least = 0;
  for (int64_t row_parts = 1; row_parts <= parts; ++row_parts) {
    const int64_t column_parts = parts / row_parts;
    if (row_parts > product.m || column_parts > panels) continue;
    const double cost =
        PartCost(tiles, CeilDiv(product.m, row_parts), CeilDiv(panels, column_parts));
    if (least != 0 && cost >= least) continue;
    least = cost;
    out.row_parts = row_parts;
    out.column_parts = column_parts;
  }
  out.depth_blocks =
      std::min(product.blocks > 1 ? product.blocks : depth, CeilDiv(depth, kMostDepth));
  const int64_t part_depth = CeilDiv(depth, out.depth_blocks);
  const int64_t rows = CeilDiv(product.m, out.row_parts);
  out.row_block = std::clamp(kMostLeft / part_depth, tiles.rows, std::max(rows, tiles.rows));
  const bool aliases = product.a_row * static_cast<int64_t>(sizeof(float)) % kAliasBytes == 0 &&
                       std::min(tiles.rows, rows) > kAliasRows &&
                       CeilDiv(panels, out.column_parts) > 2;
  out.copies_a = product.blocks == 1 && (a_column != 1 || aliases);
  if (out.copies_a) {
    const int64_t block_rows = std::min(out.row_block, rows);
    out.scratch_bytes = sizeof(float) * static_cast<size_t>(out.row_parts * out.column_parts *
                                                            block_rows * (part_depth + kCopyGap));
  }
  return out;
}

void MultiplyOnTeam(const Product& product, int64_t a_column, const Cutting& cutting,
                    const std::optional<simd::UnaryCall>& activation, void* scratch) {
  const int64_t parts = cutting.row_parts * cutting.column_parts;
  const int64_t panels = CeilDiv(StoredColumns(product), Tiles().width);
  ParallelFor(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      float* copy =
          cutting.copies_a
              ? static_cast<float*>(scratch) +
                    part * static_cast<int64_t>(cutting.scratch_bytes / sizeof(float)) / parts
              : nullptr;
      MultiplyPart(product, a_column, cutting,
                   PartOf(product.m, part % cutting.row_parts, cutting.row_parts),
                   PartOf(panels, part / cutting.row_parts, cutting.column_parts), activation,
                   copy);
    }
  });
}

}  // namespace asc::gemm
