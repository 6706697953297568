//! Refusal - why a rank's state in MPI cannot be saved, or be taken to another process, for a user.
//!
//! While no rank runs.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "mpi/match/rank_state.hpp"
#include "os/touched_pages.hpp"

namespace sorrel::mpi {

/// What all members of a communicator have done equally often, if none is behind another one.
class MemberCounts {
 public:
  /// Whether the view agrees with those that were given before.
  [[nodiscard]] bool agree(const Comm& comm);

  /// The sum of this over all processes is 0 if members in other processes agree, too, and hardly
  /// ever otherwise.
  [[nodiscard]] std::uint64_t difference() const { return difference_; }

 private:
  struct Counts {
    std::uint32_t barriers;
    std::uint32_t nonblocking;
    bool operator==(const Counts&) const = default;
  };

  std::map<const CommShared*, Counts> counts_;
  /// For each member a hash of its counts; less that of the first member, as often as there are
  /// members.
  std::uint64_t difference_ = 0;
};

/// Null: its communicators may begin anew, with other members in this process. `counts`: as below.
/// For ranks that stay while others change their process.
[[nodiscard]] const char* reason_not_regrouped(RankState& rank, MemberCounts& counts);

/// Null: it can go on in another process, while other ranks stay. `memory` is what goes with it.
[[nodiscard]] const char* reason_not_moved(RankState& rank,
                                           std::span<const os::MemoryRange> memory);

/// Null: it can be saved. `memory` is what is saved of the rank's; `counts` are those of the ranks
/// before.
[[nodiscard]] const char* reason_not_saved(RankState& rank,
                                           std::span<const os::MemoryRange> memory,
                                           MemberCounts& counts);

}  // namespace sorrel::mpi
