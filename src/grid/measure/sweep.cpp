#include "grid/measure/sweep.hpp"

#include <cstddef>

namespace sorrel::grid {
namespace {

void sweep_row(const double* __restrict row,
               double* __restrict result,
               std::ptrdiff_t to_y,
               std::ptrdiff_t to_x,
               std::ptrdiff_t count) {
  for (std::ptrdiff_t z = 0; z < count; ++z)
    result[z] =
        (row[z - 1] + row[z + 1] + row[z - to_y] + row[z + to_y] + row[z - to_x] + row[z + to_x]) *
        (1.0 / 6);
}

}  // namespace

void sweep(const ArrayView& source, const ArrayView& target, const Box& box) {
  const std::ptrdiff_t to_x = source.strides[0] / 8;
  const std::ptrdiff_t to_y = source.strides[1] / 8;
  for (std::int64_t x = 0; x < box.extents[0]; ++x) {
    for (std::int64_t y = 0; y < box.extents[1]; ++y) {
      const Extents place{box.first[0] + x, box.first[1] + y, box.first[2]};
      sweep_row(reinterpret_cast<const double*>(source.at(place)),
                reinterpret_cast<double*>(target.at(place)), to_y, to_x, box.extents[2]);
    }
  }
}

}  // namespace sorrel::grid
