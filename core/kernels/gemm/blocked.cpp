#include "core/kernels/gemm/blocked.h"

#include <algorithm>
#include <limits>

#include "core/base/parallel.h"
#include "core/kernels/gemm/strassen.h"

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
// Multiply-adds of a vector in the time in which an element of an image comes from another core's cache, and is taken
// back when its memory is next written. It varies by ten times with how far apart the cores are.
constexpr double kShared = 1.5;
// Nanoseconds of work that are worth waking a thread for.
constexpr double kWorthAThread = 4000;
// Strassen's algorithm gains from these extents on. The seven sums of a block of rows, and those of a pair of
// panels, stay in the second-level cache.
constexpr int64_t kLeastHalved = 256, kLeastHalvedRows = 64, kMostHalvedRows = 256;
constexpr int64_t kMostHalvedDepth = 384;
// Weights, in floats, that each thread may read as a whole.
constexpr int64_t kMostSharedWeights = 1 << 20;
constexpr int64_t kPairsOfAPart = 2;

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
// `shared` is the cost of an element that another thread has written.
double PartCost(const TileShape& tiles, int64_t rows, int64_t panels, double shared) {
  const int64_t cuts = CeilDiv(rows, tiles.rows);
  const auto vectors = static_cast<double>(tiles.width / tiles.lanes);
  // A short tile waits for its own sums; panels come from memory once, rows from the cache for each panel.
  const double tile = std::max(vectors * static_cast<double>(CeilDiv(rows, cuts)), 4.0);
  return static_cast<double>(panels) * (tile * static_cast<double>(cuts) + 2.4 * vectors) +
         (0.05 + shared) * static_cast<double>(rows);
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

// The rows `rows` of `whole` and part `part` of `parts` even ones of its sum. Sums are cut between their blocks, or
// where they have one, within that at multiples of `unit`.
Product BlockOf(const Product& whole, int64_t a_column, Range rows, int64_t part, int64_t parts,
                int64_t unit) {
  Product p = whole;
  p.m = rows.size();
  p.a += rows.begin * p.a_row;
  p.c += rows.begin * p.c_row;
  // The residual comes first: its memory may be the result's.
  if (part > 0) p.residual = nullptr;
  if (p.residual != nullptr) p.residual += rows.begin * p.residual_row;
  p.accumulate |= part > 0;
  if (part + 1 < parts) p.bias = nullptr, p.clamp = false, p.rest = 0;
  if (p.blocks > 1) {
    const Range depth = PartOf(p.blocks, part, parts);
    p.a += depth.begin * p.a_block;
    p.b += depth.begin * p.b_block;
    p.blocks = depth.size();
  } else {
    const Range units = PartOf(p.k / unit, part, parts);
    p.a += units.begin * unit * a_column;
    p.b += units.begin * unit * Tiles().width;
    p.k = units.size() * unit;
  }
  return p;
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
      Product p = BlockOf(whole, a_column, {rows.begin + block.begin, rows.begin + block.end}, part,
                          cutting.depth_blocks, 1);
      if (cutting.copies_a) {
        p.a = CopyRows(p, a_column, p.m, p.k, copy);
        p.a_row = p.k + kCopyGap;
      }
      for (int64_t panel = panels.begin; panel < panels.end; panel += group) {
        Product some = p;
        SkipColumns(some, panel * width, width);
        some.n = std::min(p.n - panel * width, std::min(group, panels.end - panel) * width);
        Multiply(some);
        if (part + 1 == cutting.depth_blocks && activation) Activate(*activation, some);
      }
    }
  }
}

// The same by Strassen's algorithm, for pairs of panels that are half of all panels apart.
void MultiplyPartHalved(const Product& whole, const Cutting& cutting, Range rows, Range pairs,
                        const std::optional<simd::UnaryCall>& activation, float* scratch) {
  const int64_t width = Tiles().width, away = whole.n / width / 2;
  const int64_t row_blocks = CeilDiv(rows.size(), cutting.row_block);
  const int64_t group = std::max<int64_t>(1, kGroupColumns / width);
  for (int64_t row_block = 0; row_block < row_blocks; ++row_block) {
    const Range block = PartOf(rows.size(), row_block, row_blocks);
    for (int64_t part = 0; part < cutting.depth_blocks; ++part) {
      const Product p = BlockOf(whole, 1, {rows.begin + block.begin, rows.begin + block.end}, part,
                                cutting.depth_blocks, kHalvedDepth);
      const int64_t even = p.m / 2 * 2;
      float* right = scratch + LeftHalvesCount(p.a_row, even, p.k);
      const bool halved = HalveLeft(p.a, p.a_row, even, p.k, scratch);
      // `count` panels from `panel` on, `first` being the first row.
      const auto at = [&](int64_t panel, int64_t count, int64_t first) {
        Product some = p;
        SkipColumns(some, panel * width, width);
        some.n = count * width;
        some.m -= first;
        some.a += first * some.a_row;
        some.c += first * some.c_row;
        if (some.residual != nullptr) some.residual += first * some.residual_row;
        return some;
      };
      for (int64_t begin = pairs.begin; begin < pairs.end; begin += group) {
        const int64_t count = std::min(group, pairs.end - begin);
        for (int64_t pair = begin; pair < begin + count; ++pair) {
          if (halved) {
            Product both = at(pair, 1 + away, 0);
            both.m = even;
            MultiplyHalved(both, away, scratch, right);
          }
          // An odd row is left, or what is too large.
          for (const int64_t panel : {pair, pair + away}) {
            Multiply(at(panel, 1, halved ? even : 0));
          }
        }
        if (part + 1 == cutting.depth_blocks && activation) {
          for (const int64_t panel : {begin, begin + away})
            Activate(*activation, at(panel, count, 0));
        }
      }
    }
  }
}

// Whether to halve a product that is cut into `parts` parts, and how to cut it then.
std::optional<Cutting> CutHalved(const Product& product, int64_t parts) {
  const TileShape tiles = Tiles();
  const int64_t pairs = product.n / tiles.width / 2;
  if (product.blocks > 1 || product.rest > 0 || product.n % (2 * tiles.width) != 0 ||
      product.k % kHalvedDepth != 0 || product.k < kLeastHalved || product.n < kLeastHalved)
    return std::nullopt;
  Cutting out;
  out.halved = true;
  if (product.n * product.k <= kMostSharedWeights && product.m / parts >= kLeastHalvedRows) {
    // Rows first: they are mostly those that the thread itself wrote in the product before, which
    // tells where lines come slowly from another core's cache.
    out.row_parts = parts;
  } else {
    // Columns first: each part reads its own weights, and all sums of rows from its own cache.
    out.column_parts = std::min(parts, std::max<int64_t>(1, pairs / kPairsOfAPart));
    out.row_parts = parts / out.column_parts;
  }
  const int64_t rows = CeilDiv(product.m, out.row_parts);
  if (rows < kLeastHalvedRows) return std::nullopt;
  out.depth_blocks = CeilDiv(product.k, kMostHalvedDepth);
  const int64_t depth = CeilDiv(product.k / kHalvedDepth, out.depth_blocks) * kHalvedDepth;
  out.row_block = std::min({rows, kMostHalvedRows, kMostLeft / depth});
  out.scratch_bytes =
      sizeof(float) *
      static_cast<size_t>(
          out.row_parts * out.column_parts *
          (LeftHalvesCount(product.a_row, out.row_block + 1, depth) + RightHalvesCount(depth)));
  return out;
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

Cutting Cut(const Product& product, int64_t a_column, int threads, bool may_halve) {
  const TileShape tiles = Tiles();
  const int64_t panels = CeilDiv(StoredColumns(product), tiles.width), depth = Depth(product);
  Cutting out;
  const double multiplications =
      static_cast<double>(product.m) * static_cast<double>(product.n) * static_cast<double>(depth);
  const double weights = static_cast<double>(product.n) * static_cast<double>(depth) * 4;
  const double nanoseconds = std::max(multiplications / 50, weights / 40);
  const auto parts = static_cast<int64_t>(
      std::clamp(nanoseconds / kWorthAThread, 1.0, static_cast<double>(threads)));
  if (may_halve && a_column == 1) {
    if (const auto halved = CutHalved(product, parts)) return *halved;
  }
  const double shared = product.c_width == 0 ? 0 : kShared;
  double least = 0;
  for (int64_t row_parts = 1; row_parts <= parts; ++row_parts) {
    const int64_t column_parts = parts / row_parts;
    if (row_parts > product.m || column_parts > panels) continue;
    const double cost =
        PartCost(tiles, CeilDiv(product.m, row_parts), CeilDiv(panels, column_parts),
                 shared * (1 - 1 / static_cast<double>(column_parts)));
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
  const auto floats = static_cast<int64_t>(cutting.scratch_bytes / sizeof(float)) / parts;
  ParallelFor(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      float* own = floats == 0 ? nullptr : static_cast<float*>(scratch) + part * floats;
      const Range rows = PartOf(product.m, part % cutting.row_parts, cutting.row_parts);
      const auto columns = [&](int64_t count) {
        return PartOf(count, part / cutting.row_parts, cutting.column_parts);
      };
      if (cutting.halved) {
        MultiplyPartHalved(product, cutting, rows, columns(panels / 2), activation, own);
      } else {
        MultiplyPart(product, a_column, cutting, rows, columns(panels), activation, own);
      }
    }
  });
}

}  // namespace asc::gemm
