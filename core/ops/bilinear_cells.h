// Reading of many planes at the same places by bilinear interpolation: what GridSample and DeformConv share.
#ifndef ASC_CORE_OPS_BILINEAR_CELLS_H_
#define ASC_CORE_OPS_BILINEAR_CELLS_H_

#include <cstdint>

namespace asc {

// Four neighbours in a row-major plane that are all within it, and which result they make.
template <typename A>
struct BilinearCell {
  int64_t at;   // of the upper left element
  A weight[4];  // of the elements in row-major order
  A factor;     // of their sum
  int64_t to;   // number of the result
};

template <int64_t count, typename A>
void ReadCellsOf(const BilinearCell<A>* cells, int64_t cell_count, const A* x, int64_t plane,
                 int64_t width, A* y, int64_t y_plane) {
  for (int64_t i = 0; i < cell_count; ++i) {
    const BilinearCell<A>& cell = cells[i];
    const A a = cell.weight[0], b = cell.weight[1], c = cell.weight[2], d = cell.weight[3];
    for (int64_t k = 0; k < count; ++k) {
      const A* from = x + k * plane + cell.at;
      y[k * y_plane + cell.to] =
          cell.factor * (A(0) + a * from[0] + b * from[1] + c * from[width] + d * from[width + 1]);
    }
  }
}

// For each cell and channel: y[channel * y_plane + to] = factor * sum of weight * x[channel * plane + ...], in the order of the
// elements. Weights stay in registers for several channels.
template <typename A>
void ReadCells(const BilinearCell<A>* cells, int64_t cell_count, int64_t channels, const A* x,
               int64_t plane, int64_t width, A* y, int64_t y_plane) {
  constexpr int64_t kTogether = 4;
  int64_t c = 0;
  for (; c + kTogether <= channels; c += kTogether)
    ReadCellsOf<kTogether>(cells, cell_count, x + c * plane, plane, width, y + c * y_plane,
                           y_plane);
  for (; c < channels; ++c)
    ReadCellsOf<1>(cells, cell_count, x + c * plane, plane, width, y + c * y_plane, y_plane);
}

}  // namespace asc

#endif  // ASC_CORE_OPS_BILINEAR_CELLS_H_
