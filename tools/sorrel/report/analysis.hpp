//! Analysis - what a report says about a job: sums over the trace.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "tools/sorrel/report/critical_path.hpp"
#include "tools/sorrel/report/job_trace.hpp"
#include "tools/sorrel/report/wait_causes.hpp"

namespace sorrel::tool {

struct WaitSum {
  std::int64_t ns = 0;
  /// The part in which the worker ran nothing.
  std::int64_t exposed_ns = 0;
};

using WaitSums = std::array<WaitSum, wait_kind_count>;

/// What lies behind a wait for a late rank: what that rank did meanwhile.
enum class RootKind : std::uint8_t {
  computes,   ///< it computed, before the call at `site`
  in_mpi,     ///< it was in that call, on a core
  in_flight,  ///< it waited for a message in flight itself
  ready,      ///< its worker ran other ranks
  other
};

/// The waiting of one rank, or of all, by what lies behind it.
struct Blame {
  RootKind kind = RootKind::other;
  std::uint32_t rank = no_index;  ///< index
  std::uint32_t site = no_index;
  std::int64_t ns = 0;
};

/// The life of a rank is divided: it computes, is in MPI on a core, or waits.
struct RankTimes {
  Interval life;
  std::int64_t compute_ns = 0;
  std::int64_t mpi_ns = 0;  ///< in MPI, without waiting
  /// The time in which it has yielded its core, or its worker has had no thread, is that of ready
  /// ranks.
  WaitSums waits;
  /// Largest first; the first few.
  std::vector<Blame> blames;

  [[nodiscard]] std::int64_t wait_ns() const;
  [[nodiscard]] std::int64_t exposed_ns() const;
};

/// The time of the job is divided: a worker computes, is in MPI, or is idle.
struct WorkerTimes {
  std::int64_t compute_ns = 0;  ///< of ranks, and of loops and tasks with which it helps
  std::int64_t mpi_ns = 0;
  std::int64_t idle_ns = 0;
  std::int64_t away_ns = 0;  ///< the part of it without a thread
  std::uint32_t rank_count = 0;
};

struct SiteTimes {
  std::uint64_t count = 0;
  std::int64_t ns = 0;
  /// The shortest call and the longest one.
  Interval range{std::numeric_limits<std::int64_t>::max(), 0};
  WaitSums waits;
};

struct MatrixCell {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

/// The steps of the critical path of one kind, rank and site.
struct PathShare {
  PathStep step;
  std::int64_t ns = 0;
  std::uint64_t count = 0;
};

struct Analysis {
  std::vector<RankTimes> ranks;
  std::vector<WorkerTimes> workers;
  std::vector<SiteTimes> sites;
  WorkerTimes all_workers;
  /// Sums over all ranks.
  WaitSums waits;
  std::int64_t compute_ns = 0;
  std::int64_t mpi_ns = 0;
  std::vector<Blame> blames;
  /// By source and destination.
  std::vector<MatrixCell> matrix;
  std::vector<PathStep> path;
  /// Largest first.
  std::vector<PathShare> path_shares;

  [[nodiscard]] std::int64_t wait_ns() const;
  [[nodiscard]] std::int64_t exposed_ns() const;
};

[[nodiscard]] Analysis analyze(const JobTrace& job, const WaitCauses& causes);

}  // namespace sorrel::tool
