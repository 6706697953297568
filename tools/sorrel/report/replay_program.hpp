//! ReplayProgram - what each rank of a traced job does, without times of waiting: the work between
//! the moments at which ranks depend on each other.
//!
//! A rank's steps are in its own order. A step needs some work of a core first; then it signals an
//! event, or needs one, or is a member's arrival at a collective.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/sorrel/report/job_trace.hpp"
#include "tools/sorrel/report/wait_causes.hpp"

namespace sorrel::tool {

enum class StepKind : std::uint8_t {
  signal,  ///< `index`: an event
  need,    ///< `index`: an event
  arrive,  ///< `index`: a collective; the member continues
  leave,   ///< `index`: a collective; the member needs what it waits for
  pause,   ///< `index`: nanoseconds in which the rank does nothing, in units of pause_unit_ns
  end      ///< of the rank
};

inline constexpr std::int64_t pause_unit_ns = 100;

struct ReplayStep {
  /// Work before this step: of the program, and of MPI.
  std::int64_t compute_ns = 0;
  std::int64_t mpi_ns = 0;
  StepKind kind = StepKind::end;
  /// The rank has waited before its work.
  bool is_cold = false;
  std::uint32_t index = 0;
};

/// Where the two ranks of a message are.
enum class Distance : std::uint8_t { same_worker, same_node, other_node };

struct ReplayEvent {
  /// For a message: how far, and how large. Others take no time.
  bool is_message = false;
  Distance distance = Distance::same_worker;
  std::uint64_t bytes = 0;
};

struct ReplayCollective {
  std::uint32_t member_count = 0;
  std::uint32_t root = no_index;  ///< rank; no_index: all members need all others
  bool is_from_root = false;
  /// Time from the last arrival in the node of a member, and in other nodes, until the member may
  /// continue.
  std::int64_t near_ns = 0;
  std::int64_t far_ns = 0;
};

/// How long messages take, by distance and by size: those of at least 2^k bytes and less than
/// 2^(k+1). Messages of one kind differ: the median, and the quartiles.
class Latencies {
 public:
  static constexpr std::size_t size_count = 41;

  enum class Quantile : std::uint8_t { lower, median, upper };

  [[nodiscard]] std::int64_t ns_of(Distance distance,
                                   std::uint64_t bytes,
                                   Quantile quantile = Quantile::median) const;
  [[nodiscard]] bool has(Distance distance) const;
  /// Time of the smallest messages between processes or simulated nodes.
  [[nodiscard]] std::int64_t least_ns() const;

  /// Lower quartile, median, upper quartile.
  using Times = std::array<std::int64_t, 3>;

  void set(Distance distance, std::size_t size, const Times& ns) {
    ns_[static_cast<std::size_t>(distance)][size] = ns;
  }

 private:
  std::array<std::array<std::optional<Times>, size_count>, 3> ns_{};
};

struct ReplayProgram {
  std::vector<std::vector<ReplayStep>> ranks;
  std::vector<ReplayEvent> events;
  std::vector<ReplayCollective> collectives;
  Latencies latencies;
  /// What a rank computes longer in each cold step.
  std::int64_t cold_start_ns = 0;
  /// The worker of each rank, and its process, or its simulated node. The same of each worker:
  /// several simulated nodes may share one.
  std::vector<std::uint32_t> workers;
  std::vector<std::uint32_t> rank_nodes;
  std::vector<std::uint32_t> nodes;
  /// When a rank first ran.
  std::vector<std::int64_t> begins;
  std::uint64_t step_count = 0;

  [[nodiscard]] Distance distance_of(std::uint32_t from, std::uint32_t to) const {
    if (rank_nodes[from] != rank_nodes[to]) return Distance::other_node;
    return workers[from] == workers[to] ? Distance::same_worker : Distance::same_node;
  }
};

[[nodiscard]] ReplayProgram make_replay_program(const JobTrace& job, const WaitCauses& causes);

}  // namespace sorrel::tool
