//! CostModel - predicts the time of a step for a cut of the grid, term by term.
//!
//! Pure; README.md in this folder has the equations and their sources. Holds references to the
//! machine and the problem, which must outlive it.
#pragma once

#include <algorithm>
#include <optional>

#include <sorrel/grid/plan.hpp>

#include "grid/plan/face.hpp"
#include "grid/plan/node_torus.hpp"
#include "grid/plan/update_rate.hpp"

namespace sorrel::grid {

/// The model cannot distinguish times that differ by less than this share.
inline constexpr double prediction_tie = 0.02;

/// Ranks on one processor, when `rank_count` ranks run.
[[nodiscard]] int ranks_per_processor(const Machine& machine, int rank_count);

/// Nodes that `rank_count` ranks take, and ranks on one of them.
struct NodeUse {
  int node_count = 0;
  int node_ranks = 0;
};

[[nodiscard]] NodeUse node_use(const Machine& machine, int rank_count);

class CostModel {
 public:
  CostModel(const Machine& machine, const Problem& problem, int rank_count);

  /// Every brick to evaluate for a grid.
  [[nodiscard]] std::vector<ProcessGrid> bricks(const ProcessGrid& grid) const;

  /// The cut for a grid and a brick of it, with its cheapest packs and its time.
  [[nodiscard]] Cut without_overlap(const ProcessGrid& grid, const ProcessGrid& brick) const;

  /// The cut `plain`, which comes from without_overlap(), overlapped.
  [[nodiscard]] Cut with_overlap(const Cut& plain, const Overlap& overlap) const;

 private:
  /// The work of one block, and its size.
  struct Load {
    Extents block{};
    PerDimension<Face> faces;
    std::int64_t set_bytes = 0;  ///< size of one processor's blocks in its caches
    double flops_s = 0;          ///< time per cell to compute
    double memory_s = 0;         ///< time per cell to read and write it

    [[nodiscard]] double cell_s() const { return std::max(flops_s, memory_s); }
  };

  /// The exchange of one block with its neighbours.
  struct Exchange {
    double pack_s = 0;
    double wire_s = 0;         ///< processor's part
    double flight_s = 0;       ///< the wire's part
    double progressing_s = 0;  ///< share of flight_s that passes while the processor computes
    double latency_s = 0;
    double announced_s = 0;  ///< until the rendezvous request could be seen; part of the latency

    /// When a poll every `poll_interval_s`, until `busy_s`, sees the rendezvous request.
    [[nodiscard]] double seen_s(double poll_interval_s, double busy_s) const;
  };

  [[nodiscard]] Load load_of(const ProcessGrid& grid) const;
  [[nodiscard]] std::int64_t plane_bytes(const Extents& block) const;
  [[nodiscard]] double compute_s(const Load& load) const;
  [[nodiscard]] double skin_s(const Load& load, const Cut& cut) const;
  [[nodiscard]] double copy_s(const Load& load, const Face& face, Pack pack, bool is_updated) const;
  [[nodiscard]] Pack cheapest_pack(const Load& load, const Face& face) const;
  [[nodiscard]] Exchange exchange_of(const Load& load, const Cut& cut, bool is_updated) const;
  [[nodiscard]] Exchange messages_of(const Face& face, const Cut& cut, double sides) const;

  const Machine& machine_;
  const Problem& problem_;
  const int ranks_per_processor_;
  const UpdateRate update_rate_;
  std::optional<NodeTorus> torus_;
};

}  // namespace sorrel::grid
