//! Placement - which of a rank's neighbours are reached over which link.
//!
//! Pure. Ranks are numbered so that consecutive ones fill bricks of the process grid; a link joins
//! groups of consecutive ranks. A brick of just a group's size gives it the smallest surface. Idea:
//! Gropp, "Using node and socket information to implement MPI Cartesian topologies", 2019; here
//! the bricks that are tried are all of them, and the cost model decides.
#pragma once

#include <vector>

#include <sorrel/grid/plan.hpp>

namespace sorrel::grid {

/// Ranks of one group of a link, when `rank_count` ranks run.
[[nodiscard]] int group_size(const Link& link, int rank_count);

/// Every brick worth a try: one that is the whole grid (ranks in plain row-major order), and all
/// that have the size of the outermost group.
[[nodiscard]] std::vector<ProcessGrid> bricks_of(const Machine& machine, const ProcessGrid& grid);

/// The same for groups of one size.
[[nodiscard]] std::vector<ProcessGrid> bricks_of(int group, const ProcessGrid& grid);

/// A link's part in reaching the neighbours in one dimension.
struct LinkShare {
  const Link* link;
  double mean;      ///< of all pairs of neighbours, those that it joins
  int worst;        ///< neighbours that it joins, for the rank with most of them far away
  int inner_group;  ///< consecutive ranks that have this link to the others in common
};

/// For every link, the innermost first; a pair of ranks uses the innermost that joins it. Ranks
/// have neighbours on `side_count` sides of `dimension`.
[[nodiscard]] std::vector<LinkShare> link_shares(const Machine& machine,
                                                 const Candidate& candidate,
                                                 std::size_t dimension,
                                                 int side_count);

}  // namespace sorrel::grid
