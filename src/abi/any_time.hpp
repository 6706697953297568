//! Calls that MPI allows before MPI_Init, after MPI_Finalize and on every thread (MPI 5.0, 11.4.1).
//!
//! A rank calls them like all other functions. A caller without a rank is a thread that the program
//! has started, or a process that becomes a rank in MPI_Init. It borrows a stand-in rank state, one
//! caller at a time; errors of the stand-in end the process. MPI_Init moves the caller's additions
//! to the stand-in into its rank: error classes and codes, integers of handles.
#pragma once

#include "mpi/match/rank_state.hpp"

namespace sorrel::abi {

/// An OpenMP thread of a rank in process mode moves to the main thread, which runs the rank.
/// Returns that rank, or null for a caller without one. May suspend.
[[gnu::cold]] mpi::RankState* move_to_main_thread();

/// The calling rank, or null.
[[nodiscard]] inline mpi::RankState* rank_of_caller() {
  mpi::RankState* self = mpi::current_rank();
  return self != nullptr ? self : move_to_main_thread();
}

/// In a process that becomes one rank in MPI_Init or MPI_Session_init: makes the calling thread
/// that rank.
void begin_rank(const char* function);

/// In MPI_Init, after the caller has become a rank.
void merge_stand_in(mpi::RankState& rank);

/// The rank state of one call, from its begin to its end.
class AnyTimeCall {
 public:
  /// `running`: the calling rank, or null.
  AnyTimeCall(mpi::RankState* running, const char* function, const void* call_site)
      : rank_(running != nullptr ? running : move_to_main_thread()) {
    if (rank_ == nullptr) rank_ = borrow_stand_in();
    rank_->fiber.call = function;
    rank_->fiber.call_site = call_site;
  }

  ~AnyTimeCall() {
    if (rank_->world == nullptr) return_stand_in();
  }

  AnyTimeCall(const AnyTimeCall&) = delete;
  AnyTimeCall& operator=(const AnyTimeCall&) = delete;

  /// The stand-in's `world` is null.
  [[nodiscard]] mpi::RankState& rank() const { return *rank_; }

 private:
  [[gnu::cold]] static mpi::RankState* borrow_stand_in();
  [[gnu::cold]] static void return_stand_in();

  mpi::RankState* rank_;
};

}  // namespace sorrel::abi
