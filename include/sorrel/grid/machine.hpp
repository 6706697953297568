//! Machine - the parameters of a parallel computer that predict the time of a step on a grid.
//!
//! Plain data; read from a file or measured (machine_file.hpp, measure.hpp). Every number may have
//! a Source, which states its origin and whether it is an assumption. Link follows LogGOPS
//! (Hoefler, Schneider, Lumsdaine 2010: LogGP's L, o, G and an overhead O per byte), the memory
//! levels follow the roofline model (Williams, Waterman, Patterson 2009); src/grid/plan/README.md
//! has the equations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sorrel/result.hpp>

namespace sorrel::grid {

/// Bytes per second that a processor streams from memory, for data up to a size. Between two sizes
/// the time per byte is linear in the logarithm of the size.
struct MemoryLevel {
  std::int64_t size_bytes = 0;  ///< 0: any size, the last level
  double bytes_per_second = 0;  ///< read and written together
};

/// Rate of copies of contiguous runs, a stride apart, to or from a buffer.
struct CopyRate {
  std::int64_t run_bytes = 0;     ///< length of a run
  std::int64_t stride_bytes = 0;  ///< from the begin of a run to that of the next one
  std::int64_t set_bytes = 0;     ///< data used between two copies, in bytes; 0: beyond every cache
  double bytes_per_second = 0;    ///< bytes that are copied, counted once
};

/// Copy rates at some points; interpolated in between.
struct CopyTable {
  std::vector<CopyRate> rates;  ///< the points

  /// @return whether there are no rates
  [[nodiscard]] bool is_empty() const { return rates.empty(); }

  /// Linear in the logarithms of run length, stride and set. Sizes two octaves above the last given
  /// set count as beyond every cache.
  ///
  /// @param run_bytes length of a run
  /// @param stride_bytes from the begin of a run to that of the next one
  /// @param set_bytes data used between two copies
  /// @return seconds for each byte that is copied
  [[nodiscard]] double seconds_per_byte(std::int64_t run_bytes,
                                        std::int64_t stride_bytes,
                                        std::int64_t set_bytes) const;
};

/// Factor on the update of a cell for planes of a given size, which contain its neighbours. Planes
/// that no near cache holds are fetched again for each neighbour, and small planes interrupt
/// streaming.
struct PlaneCost {
  std::int64_t plane_bytes = 0;  ///< size of a plane
  std::int64_t set_bytes = 0;    ///< all data that a processor updates in a step
  double slowdown = 1;           ///< the factor
};

/// Nodes that are joined along the dimensions of a torus or a mesh, so that a message passes the
/// nodes in between: the hops. Consecutive nodes fill the last dimension first. The ranks of a node
/// are consecutive, too: those of a group of the link before, or those of a processor.
struct Torus {
  /// Nodes in each dimension. All 0: as MPI_Dims_create chooses for the nodes that a job uses.
  std::vector<int> extents;
  bool wraps = true;          ///< the ends of a dimension are neighbours
  double hop_s = 0;           ///< latency of each hop after the first
  double hop_contention = 0;  ///< addition to Link::contention for each hop after the first
};

/// Most nodes of a torus: a plan counts the hops of every pair of neighbours.
inline constexpr int torus_node_count_max = 65536;
/// Most dimensions of a torus; a hypercube has one for each factor of 2.
inline constexpr int torus_dimension_count_max = 16;

/// Cost of a message between two ranks of one group, in the terms of LogGOPS.
struct Link {
  std::string name;  ///< such as "memory" or "network"
  /// Consecutive ranks of each group that this link joins. The innermost link comes first.
  int group_ranks = 0;
  /// The number of groups, if `group_ranks` is 0. Both 0: all ranks.
  int group_count = 0;
  double overhead_s = 0;  ///< o: processor time per message, for each of sender and receiver
  double overhead_s_per_byte = 0;  ///< O: processor time per byte, sum of both ends
  double latency_s = 0;            ///< L, with a torus between nodes one hop apart
  double gap_s_per_byte = 0;       ///< G: time per byte on the wire, for one pair alone
  double contention = 1;           ///< factor on G while all ranks send; with a torus one hop
  /// Share of the wire time that passes while the processor computes without polling.
  double progress_share = 0;
  /// Longer messages use rendezvous: two latencies more (the S of LogGPS, Ino, Fujimoto, Hagihara
  /// 2001). 0: none do.
  std::int64_t announced_bytes = 0;
  /// Only in the outermost link. Nothing: distance does not matter.
  std::optional<Torus> torus = std::nullopt;
};

/// Origin of a number.
struct Source {
  std::string value;        ///< name of the number in a machine file
  std::string text;         ///< a measurement, a publication, or the reason of an assumption
  bool is_assumed = false;  ///< whether the number was neither measured nor published
};

/// Conditions of a measurement, as far as they are known.
struct Measurement {
  std::string date;  ///< in UTC
  /// Median time of the same work beyond its best time, as a share; 0.1: 10 %.
  std::optional<double> spread;
  /// Share of the processors that other processes took meanwhile.
  std::optional<double> other_work;
};

/// What a plan needs to know about a machine: measured, or read from a file.
struct Machine {
  std::string name;  ///< for tables and messages
  /// Processors, shared by ranks in contiguous blocks; 0: one for each rank.
  int processor_count = 0;
  double flops_per_second = 0;      ///< floating-point operations of a processor
  std::vector<MemoryLevel> memory;  ///< in ascending size
  /// Empty: planes do not matter. Between two sizes linear in the logarithm of the size.
  std::vector<PlaneCost> planes;
  /// Time to start a row of contiguous cells, in s: pipelines, prefetchers and TLB.
  double row_start_s = 0;
  /// Part of a cell's bytes that a ghost costs, which is read and not updated.
  double ghost_share = 0;
  /// Additional time of a cell that is updated apart from its neighbours, as a factor.
  double skin_penalty = 0;
  /// Time to update the end of a row apart from the row, in s.
  double row_end_s = 0;
  /// Time of one poll of the messages during the update, in s.
  double poll_s = 0;
  CopyTable copy;               ///< run by run
  CopyTable blocked;            ///< short runs in blocks, with prefetch; empty: not available
  CopyTable datatype;           ///< additional cost of strided data passed to MPI as a
                                ///< datatype, both ends together; empty: not used
  std::vector<Link> links;      ///< the innermost first
  std::vector<Source> sources;  ///< of the numbers, by name
  std::optional<Measurement> measurement;  ///< none: the numbers are from elsewhere
};

/// @param machine any numbers
/// @return success, or the error in a machine and what is allowed
Result<void> check(const Machine& machine);

}  // namespace sorrel::grid
