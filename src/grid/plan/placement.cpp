#include "grid/plan/placement.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/divisors.hpp"
#include "grid/plan/face.hpp"

namespace sorrel::grid {
namespace {

int size_of(const ProcessGrid& grid) {
  return grid[0] * grid[1] * grid[2];
}

// Distance in rank between neighbours within a brick.
int stride_in(const ProcessGrid& brick, std::size_t dimension) {
  int stride = 1;
  for (std::size_t d = dimension + 1; d < brick.size(); ++d)
    stride *= brick[d];
  return stride;
}

// The box of the process grid that each group of consecutive ranks fills; nothing if they fill no
// boxes. Ranks fill first the brick, then the grid of bricks, each with the last dimension first.
std::optional<ProcessGrid> box_of(const Cut& cut, int group) {
  ProcessGrid box{1, 1, 1};
  int rest = group;
  for (const bool is_within : {true, false}) {
    for (std::size_t d = box.size(); d-- > 0 && rest > 1;) {
      const int parts = is_within ? cut.brick[d] : cut.grid[d] / cut.brick[d];
      const bool is_filled = rest % parts == 0;
      if (!is_filled && parts % rest != 0) return std::nullopt;
      box[d] *= is_filled ? parts : rest;
      rest = is_filled ? rest / parts : 1;
    }
  }
  return box;
}

// Sides that lead to another part.
int sides_of(int part_count, bool is_periodic) {
  return part_count == 1 ? 0 : side_count_of(part_count, is_periodic);
}

/// Neighbours in one dimension that are in different groups.
struct Crossing {
  double sides = 0;  ///< of a rank, mean of the group with the most
  int worst = 0;     ///< of the rank with the most
};

Crossing crossing_of(const Cut& cut, const Face& face, int group) {
  const int parts = cut.grid[face.dimension];
  if (const auto box = box_of(cut, group)) {
    const int within = (*box)[face.dimension];
    const int sides = sides_of(parts / within, face.is_periodic);
    return {.sides = static_cast<double>(sides) / within,
            .worst = within == 1 ? sides : std::min(sides, 1)};
  }
  const int within = cut.brick[face.dimension];
  const int stride = within > 1 ? stride_in(cut.brick, face.dimension) : size_of(cut.brick);
  if (within == parts && group % (stride * within) == 0) return {};
  // About as many as of all pairs of ranks `stride` apart.
  const int group_count = (cut.rank_count() + group - 1) / group;
  const int sides =
      std::min(sides_of(group_count, face.is_periodic), sides_of(parts, face.is_periodic));
  return {.sides = std::min(1.0, static_cast<double>(stride) / group) * sides,
          .worst = stride >= group ? sides : std::min(sides, 1)};
}

}  // namespace

int group_size(const Link& link, int rank_count) {
  if (link.group_ranks > 0) return std::min(link.group_ranks, rank_count);
  if (link.group_count > 0)
    return std::max(1, (rank_count + link.group_count - 1) / link.group_count);
  return rank_count;
}

std::vector<ProcessGrid> bricks_of(const Machine& machine, const ProcessGrid& grid) {
  const int rank_count = size_of(grid);
  int group = 1;
  for (const Link& link : machine.links)
    if (const int size = group_size(link, rank_count); size < rank_count) group = size;
  return bricks_of(group, grid);
}

std::vector<ProcessGrid> bricks_of(int group, const ProcessGrid& grid) {
  std::vector<ProcessGrid> bricks{grid};
  if (group == 1 || group >= size_of(grid) || size_of(grid) % group != 0) return bricks;
  for (const int first : divisors_of(group)) {
    for (const int second : divisors_of(group / first)) {
      const ProcessGrid brick{first, second, group / first / second};
      const bool fits =
          grid[0] % brick[0] == 0 && grid[1] % brick[1] == 0 && grid[2] % brick[2] == 0;
      if (fits) bricks.push_back(brick);
    }
  }
  return bricks;
}

ProcessGrid brick_of_least_surface(const Problem& problem, const ProcessGrid& grid, int group) {
  const PerDimension<Face> faces = faces_of(problem, grid);
  const auto surface = [&](const ProcessGrid& brick) {
    Cut cut;
    cut.grid = grid;
    cut.brick = brick;
    double bytes = 0;
    for (const Face& face : faces)
      if (face.side_count > 0)
        bytes += crossing_of(cut, face, group).sides * static_cast<double>(face.bytes);
    return bytes;
  };
  const std::vector<ProcessGrid> bricks = bricks_of(group, grid);
  return *std::min_element(bricks.begin(), bricks.end(), [&](const auto& left, const auto& right) {
    return surface(left) < surface(right);
  });
}

double sides_per_rank(const Cut& cut, const Face& face, int group) {
  if (face.is_periodic) return face.side_count;
  const auto box = box_of(cut, group);
  if (!box) return face.side_count;
  const int within = (*box)[face.dimension];
  const int beyond = sides_of(cut.grid[face.dimension] / within, false);
  // Neighbours within the group, two sides for each pair, and those beyond it.
  return (2.0 * (within - 1) + beyond) / within;
}

std::vector<LinkShare> link_shares(const Machine& machine,
                                   const Cut& cut,
                                   const Face& face,
                                   double sides) {
  std::vector<LinkShare> shares;
  Crossing beyond{.sides = sides, .worst = face.side_count};
  int inner_group = 1;
  for (const Link& link : machine.links) {
    const int group = group_size(link, cut.rank_count());
    // The outermost link joins all remaining pairs.
    const bool is_last = &link == &machine.links.back();
    const Crossing crossing = is_last ? Crossing{} : crossing_of(cut, face, group);
    const Crossing left{.sides = std::min(beyond.sides, crossing.sides),
                        .worst = std::min(beyond.worst, crossing.worst)};
    shares.push_back({.link = &link,
                      .sides = beyond.sides - left.sides,
                      .worst = beyond.worst - left.worst,
                      .inner_group = inner_group});
    beyond = left;
    inner_group = group;
  }
  return shares;
}

}  // namespace sorrel::grid
