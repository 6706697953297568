#include "grid/halo/fit.hpp"

#include <cstddef>

#include "base/text.hpp"
#include "grid/plan/face.hpp"

namespace sorrel::grid {

std::string error_in(const Problem& problem,
                     const Extents& cells,
                     std::span<const ArrayView> fields) {
  if (fields.size() != static_cast<std::size_t>(problem.field_count))
    return text_of("%zu fields are given, the problem has %d", fields.size(), problem.field_count);
  const Extents room = padded(problem, cells);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].element_bytes != problem.element_bytes)
      return text_of("elements of field %zu have %lld bytes, those of the problem %lld", i,
                     static_cast<long long>(fields[i].element_bytes),
                     static_cast<long long>(problem.element_bytes));
    for (std::size_t d = 0; d < room.size(); ++d)
      if (fields[i].extents[d] != room[d])
        return text_of(
            "field %zu has %lld cells in dimension %zu; it must be the block with its "
            "ghosts, %lld",
            i, static_cast<long long>(fields[i].extents[d]), d, static_cast<long long>(room[d]));
  }
  return "";
}

std::string error_in(const Problem& problem, const Cut& cut, int comm_size) {
  if (const Result<void> good = check(problem); !good) return good.error();
  for (std::size_t d = 0; d < cut.grid.size(); ++d) {
    const int parts = cut.grid[d];
    if (parts < 1 || cut.brick[d] < 1 || parts % cut.brick[d] != 0)
      return text_of("%d parts in dimension %zu with bricks of %d; bricks must divide parts", parts,
                     d, cut.brick[d]);
    ProcessGrid last{};
    last[d] = parts - 1;
    const std::int64_t smallest = block_at(problem, cut.grid, last).extent(d);
    if (parts > 1 && smallest < problem.halo_width)
      return text_of(
          "the halo of %lld cells is wider than the smallest block in dimension %zu, %lld; cut it "
          "into fewer than %d parts",
          static_cast<long long>(problem.halo_width), d, static_cast<long long>(smallest), parts);
  }
  if (cut.rank_count() > comm_size)
    return text_of("the cut needs %d ranks, the communicator has %d", cut.rank_count(), comm_size);
  return "";
}

Box<3> block_of(const Problem& problem, const Cut& cut, int rank) {
  return block_at(problem, cut.grid, coords_of(rank, cut.grid, cut.brick));
}

}  // namespace sorrel::grid
