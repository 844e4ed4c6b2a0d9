// Copies of rows so short that a call for each would cost more than its bytes.
#ifndef ASC_CORE_OPS_SHORT_ROWS_H_
#define ASC_CORE_OPS_SHORT_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace asc {

constexpr int64_t kLongestShortRow = 64;  // bytes

// `rows` rows of `bytes` bytes each, kPiece to 2 * kPiece, as two moves of kPiece that may overlap.
template <size_t kPiece>
void CopyShortRows(int64_t rows, int64_t bytes, const char* in, int64_t in_row, char* out,
                   int64_t out_row) {
  const int64_t second = bytes - static_cast<int64_t>(kPiece);
  for (int64_t row = 0; row < rows; ++row, in += in_row, out += out_row) {
    char head[kPiece], tail[kPiece];
    std::memcpy(head, in, kPiece);
    std::memcpy(tail, in + second, kPiece);
    std::memcpy(out, head, kPiece);
    std::memcpy(out + second, tail, kPiece);
  }
}

// (rows, bytes, in, bytes from row to row, out, bytes from row to row)
using ShortRowsCopier = void (*)(int64_t, int64_t, const char*, int64_t, char*, int64_t);

// For rows of 1 to kLongestShortRow bytes.
inline ShortRowsCopier ShortRowsCopierFor(int64_t bytes) {
  if (bytes >= 32) return CopyShortRows<32>;
  if (bytes >= 16) return CopyShortRows<16>;
  if (bytes >= 8) return CopyShortRows<8>;
  if (bytes >= 4) return CopyShortRows<4>;
  return bytes >= 2 ? CopyShortRows<2> : CopyShortRows<1>;
}

// Rows of any length, 1 byte or more.
inline void CopyRowBytes(int64_t rows, int64_t bytes, const char* in, int64_t in_row, char* out,
                         int64_t out_row) {
  constexpr int64_t kBlock = 32, kCall = 512;
  if (bytes <= kLongestShortRow)
    return ShortRowsCopierFor(bytes)(rows, bytes, in, in_row, out, out_row);
  for (int64_t row = 0; row < rows; ++row, in += in_row, out += out_row) {
    if (bytes > kCall) {
      std::memcpy(out, in, static_cast<size_t>(bytes));
      continue;
    }
    int64_t done = 0;
    for (; done + kBlock <= bytes; done += kBlock) std::memcpy(out + done, in + done, kBlock);
    std::memcpy(out + bytes - kBlock, in + bytes - kBlock, kBlock);
  }
}

}  // namespace asc

#endif  // ASC_CORE_OPS_SHORT_ROWS_H_
