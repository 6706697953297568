#include "grid/plan/placement.hpp"

#include <algorithm>
#include <cstddef>

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

/// Neighbours in one dimension that are in different groups.
struct Crossing {
  double mean = 0;  ///< share of all pairs of neighbours
  int worst = 0;    ///< the most of one rank's two neighbours
};

Crossing crossing_of(const Cut& cut, std::size_t dimension, int group) {
  const int within = cut.brick[dimension];
  const bool is_whole = within == cut.grid[dimension];
  if (size_of(cut.brick) == group) {
    if (is_whole) return {};
    return {.mean = 1.0 / within, .worst = within == 1 ? 2 : 1};
  }
  // Share of pairs of ranks `stride` apart that are in different groups, over all ranks.
  const int stride = within > 1 ? stride_in(cut.brick, dimension) : size_of(cut.brick);
  if (is_whole && group % (stride * within) == 0) return {};
  return {.mean = std::min(1.0, static_cast<double>(stride) / group),
          .worst = stride >= group ? 2 : 1};
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
        bytes += crossing_of(cut, face.dimension, group).mean * static_cast<double>(face.bytes);
    return bytes;
  };
  const std::vector<ProcessGrid> bricks = bricks_of(group, grid);
  return *std::min_element(bricks.begin(), bricks.end(), [&](const auto& left, const auto& right) {
    return surface(left) < surface(right);
  });
}

std::vector<LinkShare> link_shares(const Machine& machine,
                                   const Cut& cut,
                                   std::size_t dimension,
                                   int side_count) {
  std::vector<LinkShare> shares;
  Crossing beyond{.mean = 1, .worst = side_count};
  int inner_group = 1;
  for (const Link& link : machine.links) {
    const int group = group_size(link, cut.rank_count());
    // The outermost link joins all remaining pairs.
    const bool is_last = &link == &machine.links.back();
    const Crossing crossing = is_last ? Crossing{} : crossing_of(cut, dimension, group);
    const Crossing left{.mean = std::min(beyond.mean, crossing.mean),
                        .worst = std::min(beyond.worst, crossing.worst)};
    shares.push_back({.link = &link,
                      .mean = beyond.mean - left.mean,
                      .worst = beyond.worst - left.worst,
                      .inner_group = inner_group});
    beyond = left;
    inner_group = group;
  }
  return shares;
}

}  // namespace sorrel::grid
