// Blocks of elements rearranged in registers: squares of 16 bytes a side transposed, runs of 16 bytes reversed, of 32 bytes halved.
#ifndef ASC_CORE_OPS_BLOCK_TRANSPOSE_H_
#define ASC_CORE_OPS_BLOCK_TRANSPOSE_H_

#include <cstdint>
#include <cstring>
#include <utility>

namespace asc {
namespace block_internal {
template <int64_t kBytes>
struct Word;
template <>
struct Word<1> {
  using Type = uint8_t;
};
template <>
struct Word<2> {
  using Type = uint16_t;
};
template <>
struct Word<4> {
  using Type = uint32_t;
};
template <>
struct Word<8> {
  using Type = uint64_t;
};

// Vectors of the compiler, which knows them on every processor.
template <int64_t kBytes>
struct Vector {
  typedef typename Word<kBytes>::Type Type __attribute__((vector_size(16)));
};

// The elements of the lower (kFirst = 0) or upper halves of a and b by turns.
template <size_t kFirst, typename V, size_t... kIndex>
inline V Interleave(V a, V b, std::index_sequence<kIndex...>) {
  constexpr size_t kCount = sizeof...(kIndex);
  return __builtin_shufflevector(a, b, (kIndex / 2 + kFirst + (kIndex % 2 == 0 ? 0 : kCount))...);
}

// Every other element of a, then of b.
template <typename V, size_t... kIndex>
inline V Even(V a, V b, std::index_sequence<kIndex...>) {
  return __builtin_shufflevector(a, b, (2 * kIndex)...);
}

template <typename V, size_t... kIndex>
inline V Reverse(V a, std::index_sequence<kIndex...>) {
  return __builtin_shufflevector(a, a, (sizeof...(kIndex) - 1 - kIndex)...);
}
}  // namespace block_internal

// Elements a side of a block; 1 where a block is one element.
template <int64_t kBytes>
inline constexpr int64_t kBlockSide = kBytes >= 16 ? 1 : 16 / kBytes;

// out[i][j] = in[j][i] for a block of elements of kBytes bytes (1 to 8); rows are `in_row` and `out_row` bytes apart.
template <int64_t kBytes>
inline void TransposeBlock(const char* in, int64_t in_row, char* out, int64_t out_row) {
  if constexpr (kBytes < 16) {
    constexpr size_t kSide = static_cast<size_t>(kBlockSide<kBytes>);
    using V = typename block_internal::Vector<kBytes>::Type;
    constexpr auto kIndices = std::make_index_sequence<kSide>();
    V rows[kSide], next[kSide];
    // Rolled loops would keep the rows in memory.
#pragma GCC unroll 16
    for (size_t i = 0; i < kSide; ++i)
      std::memcpy(&rows[i], in + static_cast<int64_t>(i) * in_row, sizeof(V));
      // Each round interleaves row i with row i + kSide / 2; after log2(kSide) rounds columns are rows.
#pragma GCC unroll 16
    for (size_t round = 1; round < kSide; round *= 2) {
#pragma GCC unroll 16
      for (size_t i = 0; i < kSide / 2; ++i) {
        next[2 * i] = block_internal::Interleave<0>(rows[i], rows[i + kSide / 2], kIndices);
        next[2 * i + 1] =
            block_internal::Interleave<kSide / 2>(rows[i], rows[i + kSide / 2], kIndices);
      }
#pragma GCC unroll 16
      for (size_t i = 0; i < kSide; ++i) rows[i] = next[i];
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < kSide; ++i)
      std::memcpy(out + static_cast<int64_t>(i) * out_row, &rows[i], sizeof(V));
  }
}

// The elements of 16 bytes in the other order.
template <int64_t kBytes>
inline void ReverseBlock(const char* in, char* out) {
  if constexpr (kBytes < 16) {
    typename block_internal::Vector<kBytes>::Type v;
    std::memcpy(&v, in, sizeof(v));
    v = block_internal::Reverse(
        v, std::make_index_sequence<static_cast<size_t>(kBlockSide<kBytes>)>());
    std::memcpy(out, &v, sizeof(v));
  }
}

// Every other one of the elements of 32 bytes, as 16 bytes.
template <int64_t kBytes>
inline void HalveBlock(const char* in, char* out) {
  if constexpr (kBytes < 16) {
    typename block_internal::Vector<kBytes>::Type a, b;
    std::memcpy(&a, in, sizeof(a));
    std::memcpy(&b, in + sizeof(a), sizeof(b));
    a = block_internal::Even(a, b,
                             std::make_index_sequence<static_cast<size_t>(kBlockSide<kBytes>)>());
    std::memcpy(out, &a, sizeof(a));
  }
}

}  // namespace asc

#endif  // ASC_CORE_OPS_BLOCK_TRANSPOSE_H_
