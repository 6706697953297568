//! TeamThread - an OpenMP thread with its place in a team, and what it keeps as a master.
//!
//! Only the running thread accesses the fields, except where stated. Data only. Limit:
//! thread_count_max of one master.
#pragma once

#include <cstdint>

#include "omp/sched/thread.hpp"
#include "omp/team/task_memory.hpp"
#include "omp/team/team_state.hpp"

namespace sorrel::omp {

struct TeamThread;

/// The threads that a master has used. It grows; old arrays stay, as helpers may still read them.
class TeamThreads {
 public:
  [[nodiscard]] Thread* const* threads() const { return threads_; }

  [[nodiscard]] TeamThread& at(std::uint32_t number) const;

  [[nodiscard]] std::uint32_t count() const { return count_; }

  void add(TeamThread& thread);

 private:
  Thread** threads_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t room_ = 0;
};

/// What a master keeps for the teams at one nesting level of its own. Its first level is for teams
/// outside its other teams, `inner` for those inside that, and so on.
struct NestLevel {
  TeamThreads kept_threads;
  Team* teams = nullptr;        ///< created so far, one of each size
  Team* pooled_team = nullptr;  ///< whose members are the threads of the pool
  NestLevel* inner = nullptr;
  NestLevel* outer = nullptr;
};

struct TeamThread : Thread, TeamState {
  TaskMemory task_memory;

  /// Since when the same tasks are queued that it may not take, and the push count at that time.
  std::uint64_t idle_since = 0;
  std::uint64_t idle_push_count = 0;
  /// Earliest time at which it takes a task from another thread again.
  std::uint64_t steal_after = 0;

  // As a master.
  NestLevel first_level;
  NestLevel* innermost_level = nullptr;  ///< of the innermost open team; null: none

  // For a fiber.
  Team* next_team = nullptr;          ///< written by its master before it starts the fiber
  std::uint32_t done_generation = 0;  ///< of its team's last barrier, where it arrived
};

inline TeamThread& TeamThreads::at(std::uint32_t number) const {
  return static_cast<TeamThread&>(*threads_[number]);
}

}  // namespace sorrel::omp
