#include "grid/plan/face.hpp"

#include <algorithm>
#include <cstddef>

namespace sorrel::grid {
namespace {

// Extents of the cells of a face: the halo's width in its dimension, the block's extents in the
// others, with ghosts that a box stencil has exchanged before.
Extents face_extents(const Problem& problem,
                     const Extents& block,
                     const PerDimension<Face>& earlier,
                     std::size_t dimension) {
  Extents extents = block;
  if (problem.stencil == Stencil::box)
    for (std::size_t d = 0; d < dimension; ++d)
      if (earlier[d].side_count > 0) extents[d] += 2 * problem.halo_width;
  extents[dimension] = problem.halo_width;
  return extents;
}

// Sets the memory layout of the cells. Runs grow from the innermost dimension while they fill its
// whole padded extent; the next dimension of more than one cell determines the stride.
void set_runs(Face& face, const Problem& problem, const Extents& cells, const Extents& room) {
  std::int64_t run = problem.element_bytes;
  std::int64_t stride = problem.element_bytes;  // of the current dimension
  face.stride_bytes = 0;
  for (const std::size_t d : memory_order(problem)) {
    if (run == stride) {
      run *= cells[d];
    } else if (face.stride_bytes == 0 && cells[d] > 1) {
      face.stride_bytes = stride;
    }
    stride *= room[d];
  }
  face.run_bytes = run;
  if (face.stride_bytes == 0) face.stride_bytes = run;
}

// With its ghosts, a face is one run if no dimension with a larger stride has several cells.
std::int64_t direct_bytes_of(const Problem& problem, const Extents& room, std::size_t dimension) {
  if (problem.field_count != 1) return 0;
  const auto order = memory_order(problem);
  std::int64_t bytes = problem.element_bytes * problem.halo_width;
  bool is_outside = false;
  for (const std::size_t d : order) {
    if (d == dimension) {
      is_outside = true;
    } else if (is_outside && room[d] > 1) {
      return 0;
    } else {
      bytes *= room[d];
    }
  }
  return bytes;
}

}  // namespace

std::int64_t cell_count(const Extents& extents) {
  return extents[0] * extents[1] * extents[2];
}

Extents largest_block(const Problem& problem, const ProcessGrid& grid) {
  // Longer blocks come first.
  return block_at(problem, grid, {0, 0, 0}).extents();
}

Extents padded(const Problem& problem, const Extents& block) {
  Extents room = block;
  for (std::size_t d = 0; d < room.size(); ++d)
    if (problem.extents[d] > 1) room[d] += 2 * problem.halo_width;
  return room;
}

std::int64_t padded_bytes(const Problem& problem, const Extents& block) {
  return cell_count(padded(problem, block)) * problem.element_bytes * problem.field_count;
}

PerDimension<std::size_t> memory_order(const Problem& problem) {
  if (problem.order == MemoryOrder::c) return {2, 1, 0};
  return {0, 1, 2};
}

std::size_t contiguous_dimension(const Problem& problem) {
  for (const std::size_t d : memory_order(problem))
    if (problem.extents[d] > 1) return d;
  return memory_order(problem)[0];
}

int side_count_of(int part_count, bool is_periodic) {
  if (is_periodic) return 2;
  return std::min(part_count - 1, 2);
}

PerDimension<Face> faces_of(const Problem& problem, const ProcessGrid& grid) {
  const Extents block = largest_block(problem, grid);
  const Extents room = padded(problem, block);
  PerDimension<Face> faces;
  for (std::size_t d = 0; d < faces.size(); ++d) {
    Face& face = faces[d];
    face.dimension = d;
    face.is_periodic = problem.is_periodic[d] && problem.extents[d] > 1;
    face.side_count = side_count_of(grid[d], face.is_periodic);
    face.is_own = face.is_periodic && grid[d] == 1;
    const Extents cells = face_extents(problem, block, faces, d);
    face.bytes = cell_count(cells) * problem.element_bytes * problem.field_count;
    set_runs(face, problem, cells, room);
    face.direct_bytes = direct_bytes_of(problem, room, d);
  }
  return faces;
}

}  // namespace sorrel::grid
