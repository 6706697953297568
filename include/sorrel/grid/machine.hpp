//! Machine - what must be known of a parallel computer to predict the time of a grid's step.
//!
//! Plain data; read from a file or measured (machine_file.hpp, measure.hpp). Every number may carry
//! a Source, which says where it comes from and whether it is an assumption. Link follows LogGOPS
//! (Hoefler, Schneider, Lumsdaine 2010: LogGP's L, o, G and an overhead O per byte), the memory
//! levels follow the roofline model (Williams, Waterman, Patterson 2009); src/grid/plan/README.md
//! has the equations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sorrel::grid {

/// Bytes per second that a processor streams from memory, for data up to a size. Between two sizes
/// the time of a byte is linear in the logarithm of the size.
struct MemoryLevel {
  std::int64_t size_bytes = 0;  ///< 0: any size, the last level
  double bytes_per_second = 0;
};

/// How fast runs of contiguous bytes, a stride apart, are copied to or from a buffer.
struct CopyRate {
  std::int64_t run_bytes = 0;
  std::int64_t stride_bytes = 0;
  std::int64_t set_bytes = 0;  ///< of the data worked on between two copies; 0: beyond every cache
  double bytes_per_second = 0;
};

/// Copy rates at some points, and between them by interpolation.
struct CopyTable {
  std::vector<CopyRate> rates;

  [[nodiscard]] bool is_empty() const { return rates.empty(); }

  /// Seconds per byte: linear in the logarithms of run length, stride and set. Beyond every cache
  /// is two octaves beyond the last set that is said.
  [[nodiscard]] double seconds_per_byte(std::int64_t run_bytes,
                                        std::int64_t stride_bytes,
                                        std::int64_t set_bytes) const;
};

/// How much longer updating a cell takes when the planes that its neighbours lie in are so large:
/// planes that no near cache holds are fetched for each of their neighbours again, and small ones
/// break off what is streamed.
struct PlaneCost {
  std::int64_t plane_bytes = 0;
  std::int64_t set_bytes = 0;  ///< of all that a processor updates in a step
  double slowdown = 1;
};

/// What a message costs between two ranks of one group, in the terms of LogGOPS.
struct Link {
  std::string name;
  /// Ranks that reach each other this way: so many consecutive ones, or the ranks cut into so many
  /// groups. Both 0: all of them. The innermost link comes first.
  int group_ranks = 0;
  int group_count = 0;
  double overhead_s = 0;  ///< o: processor's time per message, for each of sender and receiver
  double overhead_s_per_byte = 0;  ///< O: processor's time per byte, both ends together
  double latency_s = 0;            ///< L
  double gap_s_per_byte = 0;       ///< G: the wire's time per byte, one pair alone
  double contention = 1;           ///< how much longer G is while all ranks send
  /// Share of the wire's time that passes while the processor computes and does not ask.
  double progress_share = 0;
  /// Messages longer than this are announced, and fetched when the receiver has looked: two
  /// latencies more (the S of LogGPS, Ino, Fujimoto, Hagihara 2001). 0: none are.
  std::int64_t announced_bytes = 0;
};

/// Where a number comes from.
struct Source {
  std::string value;  ///< the name that it has in a machine file
  std::string text;
  bool is_assumed = false;
};

struct Machine {
  std::string name;
  /// Processors that ranks share in contiguous blocks; 0: one for each rank.
  int processor_count = 0;
  double flops_per_second = 0;
  std::vector<MemoryLevel> memory;  ///< in ascending size
  /// Empty: planes do not matter. Between two sizes linear in the logarithm of the size.
  std::vector<PlaneCost> planes;
  /// Time to start a row of contiguous cells: pipelines, prefetchers and TLB.
  double row_start_s = 0;
  /// Share of a cell's bytes that a ghost takes, which is read and not updated.
  double ghost_share = 0;
  /// A cell updated apart from its neighbours costs this much of its time in addition.
  double skin_penalty = 0;
  /// Time to update the end of a row apart from the row.
  double row_end_s = 0;
  /// Time to leave the update and look after messages, once.
  double poll_s = 0;
  CopyTable copy;      ///< one run after the other
  CopyTable blocked;   ///< short runs in blocks, with prefetch; empty: not available
  CopyTable datatype;  ///< strided data given to MPI as they lie: what this takes beside contiguous
                       ///< data, both ends together; empty: not to be used
  std::vector<Link> links;
  std::vector<Source> sources;
};

/// What is wrong with a machine and what is allowed, one line; "" if nothing is.
[[nodiscard]] std::string trouble_with(const Machine& machine);

}  // namespace sorrel::grid
