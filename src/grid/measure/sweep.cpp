#include "grid/measure/sweep.hpp"

#include <cstddef>

namespace sorrel::grid {
namespace {

/// Distances in doubles from a cell to its neighbours; 0 in a dimension of one cell.
struct Steps {
  std::ptrdiff_t x;
  std::ptrdiff_t y;
  std::ptrdiff_t z;
};

void sweep_row(const double* __restrict row,
               double* __restrict result,
               const Steps& to,
               std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 0; i < count; ++i)
    result[i] = (row[i - to.z] + row[i + to.z] + row[i - to.y] + row[i + to.y] + row[i - to.x] +
                 row[i + to.x]) *
                (1.0 / 6);
}

std::ptrdiff_t step_of(const ArrayView& view, std::size_t dimension) {
  return view.extents[dimension] > 1 ? view.strides[dimension] / 8 : 0;
}

}  // namespace

void sweep(const ArrayView& source, const ArrayView& target, const Box<3>& box) {
  const Steps to{.x = step_of(source, 0), .y = step_of(source, 1), .z = step_of(source, 2)};
  const std::ptrdiff_t count = box.extent(2) * (source.element_bytes / 8);
  for (const std::int64_t x : box[0]) {
    for (const std::int64_t y : box[1]) {
      const Extents place{x, y, box.lo[2]};
      sweep_row(reinterpret_cast<const double*>(source.at(place)),
                reinterpret_cast<double*>(target.at(place)), to, count);
    }
  }
}

}  // namespace sorrel::grid
