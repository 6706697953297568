//! RankRecord - a rank at a safepoint as bytes with which it goes on in another process: a record,
//! and its memory, at the same addresses there.
//!
//! While no rank runs. The two processes are equal (program_layout.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/match/rank_state.hpp"
#include "mpi/safepoint/safepoint.hpp"
#include "os/touched_pages.hpp"
#include "runtime/program_states.hpp"

namespace sorrel::runtime {

/// What a rank is, but for its memory.
[[nodiscard]] std::string record_of(mpi::RankState& rank,
                                    const mpi::WaitingRank& waiting,
                                    ProgramStates& states);

/// Appends what differs from the memory of a new rank: `stack`, thread-locals, touched pages.
/// Returns an error, or "".
[[nodiscard]] std::string add_memory_of(const mpi::RankState& rank,
                                        const os::MemoryRange& stack,
                                        const ProgramStates& states,
                                        std::vector<os::MemoryRange>& to);

/// What restore_record() has found for the steps after it.
struct RestoredRank {
  std::uintptr_t context = 0;
  /// Address of the int that Safepoint::enter() returns.
  std::uintptr_t outcome = 0;
  /// The record of its objects of MPI (mpi/saved/saved_rank.hpp).
  std::string objects;
  /// What has changed since the job was saved, for a user; "": nothing.
  std::string note;

  /// The rank goes on within its stack, and what it finds there lies above its frames.
  void check_invariants(const os::MemoryRange& stack) const;
};

/// In a rank that is prepared and has not run, on its worker, before its memory. `is_restart`: in
/// another job. Returns an error, or "".
[[nodiscard]] std::string restore_record(mpi::RankState& rank,
                                         const std::string& record,
                                         bool is_restart,
                                         ProgramStates& states,
                                         RestoredRank& to);

/// When its memory is there: the rank goes on in its frame of Safepoint::enter(), which returns
/// `outcome`.
void resume(mpi::RankState& rank, const RestoredRank& restored, ProgramStates& states, int outcome);

}  // namespace sorrel::runtime
