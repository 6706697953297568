//! Placement - the link between a rank and each of its neighbours.
//!
//! Pure. Ranks are numbered so that consecutive ones fill bricks of the process grid; a link joins
//! groups of consecutive ranks. A brick of exactly a group's size gives the group the smallest
//! surface. Idea: Gropp, "Using node and socket information to implement MPI Cartesian topologies",
//! 2019. Here all bricks are tried, and the cost model decides.
#pragma once

#include <vector>

#include <sorrel/grid/plan.hpp>

#include "grid/plan/face.hpp"

namespace sorrel::grid {

/// Number of ranks in one group of a link, when `rank_count` ranks run.
[[nodiscard]] int group_size(const Link& link, int rank_count);

/// The whole grid (ranks in plain row-major order), and all bricks of the outermost group's size.
[[nodiscard]] std::vector<ProcessGrid> bricks_of(const Machine& machine, const ProcessGrid& grid);

/// The whole grid, and all bricks of groups of one given size.
[[nodiscard]] std::vector<ProcessGrid> bricks_of(int group, const ProcessGrid& grid);

/// Sides of a face's dimension on which a rank has a neighbour: the mean of the group of `group`
/// consecutive ranks that has the most. Fewer than Face::side_count where every group has ranks at
/// the ends of the grid.
[[nodiscard]] double sides_per_rank(const Cut& cut, const Face& face, int group);

/// A link's part in reaching the neighbours in one dimension.
struct LinkShare {
  const Link* link;
  double sides;     ///< sides of a rank that it joins, mean of the group with the most of them
  int worst;        ///< neighbours that it joins, for the rank with the most distant ones
  int inner_group;  ///< consecutive ranks that share this link to other groups
};

/// One entry per link, the innermost first; a pair of ranks uses the innermost link that joins it.
/// Ranks have neighbours on `sides` sides on average.
[[nodiscard]] std::vector<LinkShare> link_shares(const Machine& machine,
                                                 const Cut& cut,
                                                 const Face& face,
                                                 double sides);

}  // namespace sorrel::grid
