// Positions of ranks and blocks in the grid of a chosen plan.
#include <algorithm>
#include <cstddef>

#include <sorrel/grid/plan.hpp>

namespace sorrel::grid {
namespace {

// Row-major: the last coordinate changes fastest.
int index_in(const ProcessGrid& grid, const ProcessGrid& coords) {
  return (coords[0] * grid[1] + coords[1]) * grid[2] + coords[2];
}

ProcessGrid coords_in(const ProcessGrid& grid, int index) {
  return {index / (grid[1] * grid[2]), index / grid[2] % grid[1], index % grid[2]};
}

int size_of(const ProcessGrid& grid) {
  return grid[0] * grid[1] * grid[2];
}

ProcessGrid divided(const ProcessGrid& grid, const ProcessGrid& brick) {
  return {grid[0] / brick[0], grid[1] / brick[1], grid[2] / brick[2]};
}

// A dimension of one cell is not cut.
std::int64_t grain_in(const Problem& problem, std::size_t dimension) {
  return problem.extents[dimension] == 1 ? 1 : problem.grain;
}

}  // namespace

ProcessGrid coords_of(int rank, const ProcessGrid& grid, const ProcessGrid& brick) {
  const ProcessGrid outer = coords_in(divided(grid, brick), rank / size_of(brick));
  const ProcessGrid inner = coords_in(brick, rank % size_of(brick));
  ProcessGrid coords;
  for (std::size_t d = 0; d < coords.size(); ++d)
    coords[d] = outer[d] * brick[d] + inner[d];
  return coords;
}

int rank_of(const ProcessGrid& coords, const ProcessGrid& grid, const ProcessGrid& brick) {
  const ProcessGrid outer = divided(coords, brick);
  const ProcessGrid inner{coords[0] % brick[0], coords[1] % brick[1], coords[2] % brick[2]};
  return index_in(divided(grid, brick), outer) * size_of(brick) + index_in(brick, inner);
}

Box<3> block_at(const Problem& problem, const ProcessGrid& grid, const ProcessGrid& coords) {
  Box<3> block;
  for (std::size_t d = 0; d < grid.size(); ++d) {
    const std::int64_t grains = problem.extents[d] / grain_in(problem, d);
    const std::int64_t size = grains / grid[d];
    const std::int64_t longer_count = grains % grid[d];
    const std::int64_t first = coords[d] * size + std::min<std::int64_t>(coords[d], longer_count);
    block.lo[d] = first * grain_in(problem, d);
    block.hi[d] = (first + size + (coords[d] < longer_count ? 1 : 0)) * grain_in(problem, d);
  }
  return block;
}

}  // namespace sorrel::grid
