//! ScanChain - scans of members in several processes: a running total passes from process to
//! process, in the order of ranks.
//!
//! A total visits the *runs* of consecutive members that live in one process (ProcessMap), from the
//! first to the last. So the operations are the same, in the same order, as in one process. The
//! vector is cut into segments. In each process one member computes a segment of all its process's
//! runs, so that many members work at the same time. A segment is cut into chunks, so that
//! processes work at the same time. Members call between two barriers of their process, with
//! operands published. May suspend.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mpi/collectives/reduction.hpp"
#include "mpi/collectives/traffic.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/process_map.hpp"

namespace sorrel::mpi {

class ScanChain {
 public:
  /// `segment_count` segments, of any ranges.
  ScanChain(const Member& member, const ReductionArguments& arguments, std::int32_t segment_count);

  /// The member that computes a segment in a process.
  [[nodiscard]] std::int32_t computer(std::int32_t process_index, std::int32_t segment) const;

  [[nodiscard]] bool is_computer(std::int32_t segment) const {
    return computer(processes_.own_index(), segment) == member_.comm.rank;
  }

  /// Calls body(range) for each chunk of a range.
  template <class Body>
  void for_each_chunk(ElementRange range, Body&& body) const {
    for (std::size_t done = 0; done < range.count; done += chunk_)
      body(
          ElementRange{.first = range.first + done, .count = std::min(chunk_, range.count - done)});
  }

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
  [[nodiscard]] const void* operand(std::int32_t rank, ElementRange range) const;

  Member member_;
  const ReductionArguments& arguments_;
  const ProcessMap& processes_;
  std::int32_t segment_count_;
  std::size_t chunk_;
};

}  // namespace sorrel::mpi
