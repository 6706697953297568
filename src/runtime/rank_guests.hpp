//! Threads of a rank that call MPI: which rank a thread belongs to, and what makes its calls
//! possible.
//!
//! A rank is a fiber of its worker until it has a second thread and a thread level at which that
//! one may call. Then it moves to a thread of its own, and all of its threads are guests of the
//! worker (core/guest.hpp).
#pragma once

#include <optional>

#include "core/guest.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::program {
class RankProcess;
}

namespace sorrel::runtime {

class RankBody;

/// What the program's side knows of threads. Set once, before any rank runs; without it, threads of
/// the process's only rank may start at any time.
struct ThreadSource {
  /// The rank that has started the calling thread, or null.
  mpi::RankState* (*rank_of_caller)() = nullptr;
  /// Whether before_thread_start() is called.
  bool (*sees_starts)() = nullptr;
};

void set_thread_source(const ThreadSource& source);

/// The rank that has started the calling thread, or whose main thread it is after the rank has
/// moved out; null elsewhere, and in a rank's fiber. Any thread.
[[nodiscard]] mpi::RankState* rank_of_thread();

/// Called by a rank, when its thread level has changed: prepares for threads that it has started.
/// May suspend.
void admit_started_threads(mpi::RankState& self);

/// For each thread that the program starts, before it starts. May suspend, if a rank calls.
void before_thread_start();

/// The highest level that MPI_Init_thread provides in this process.
[[nodiscard]] int thread_level_max();

/// A call of MPI by a thread of a rank that has left its worker.
class ThreadCall {
 public:
  /// Sleeps until the rank's worker can be entered. Does nothing if the caller belongs to no rank,
  /// or its rank has no thread level at which it may call, or is in a call.
  ThreadCall(const char* function, const void* call_site);
  ~ThreadCall();
  ThreadCall(const ThreadCall&) = delete;
  ThreadCall& operator=(const ThreadCall&) = delete;

  [[nodiscard]] bool is_made() const { return guest_ != nullptr; }

 private:
  core::Fiber fiber_;
  std::optional<core::Guest> own_;
  core::Guest* guest_ = nullptr;
};

}  // namespace sorrel::runtime
