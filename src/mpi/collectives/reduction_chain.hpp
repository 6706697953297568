//! ReductionChain - long and user-defined reductions of members in several processes: a running
//! total passes from process to process, in the order of ranks.
//!
//! A total visits the *runs* of consecutive members that live in one process (ProcessMap): from the
//! last to the first for reductions, from the first to the last for scans. So the operations are
//! the same, in the same order, as in one process. The vector is cut into segments. In each process
//! one member computes a segment of all its process's runs, so that many members work at the same
//! time. A segment is cut into chunks, so that processes work at the same time. Members call
//! between two barriers of their process, with operands published. May suspend.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mpi/collectives/reduction.hpp"
#include "mpi/collectives/traffic.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/process_map.hpp"

namespace sorrel::mpi {

class ReductionChain {
 public:
  /// `segment_count` segments, of any ranges.
  ReductionChain(const Member& member,
                 const ReductionArguments& arguments,
                 std::int32_t segment_count);

  /// The member that computes a segment in a process.
  [[nodiscard]] std::int32_t computer(std::int32_t process_index, std::int32_t segment) const;

  [[nodiscard]] bool is_computer(std::int32_t segment) const {
    return computer(processes_.own_index(), segment) == member_.comm.rank;
  }

  /// The process where a reduction ends.
  [[nodiscard]] std::int32_t last_process_index() const {
    return processes_.runs().front().process_index;
  }

  /// Calls body(range) for each chunk of a range.
  template <class Body>
  void for_each_chunk(ElementRange range, Body&& body) const {
    for (std::size_t done = 0; done < range.count; done += chunk_)
      body(
          ElementRange{.first = range.first + done, .count = std::min(chunk_, range.count - done)});
  }

  /// The computing member's share in the reduction of a chunk. True if the result is in `total`,
  /// for elements from 0 on: at the end of the chain.
  [[nodiscard]] bool reduce_chunk(std::int32_t segment, ElementRange range, void* total) const;

  /// The computing member's share in the scan of a chunk: leaves the results of its process's
  /// members in their outputs. `before` and `after` have room for a chunk.
  void scan_chunk(
      std::int32_t segment, ElementRange range, ScanKind kind, void* before, void* after) const;

  [[nodiscard]] std::size_t chunk_element_count() const { return chunk_; }

  /// Elements of a buffer of the arguments' type.
  [[nodiscard]] TypedBuffer elements(const void* buffer,
                                     std::size_t first,
                                     std::size_t count) const;

 private:
  void fold_run(const ProcessMap::Run& run, bool is_first, ElementRange range, void* total) const;
  [[nodiscard]] const void* operand(std::int32_t rank, ElementRange range) const;

  Member member_;
  const ReductionArguments& arguments_;
  const ProcessMap& processes_;
  std::int32_t segment_count_;
  std::size_t chunk_;
};

}  // namespace sorrel::mpi
