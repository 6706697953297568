//! TeamThread - an OpenMP thread with its place in a team, and what it keeps as a master.
//!
//! Only the running thread accesses the fields, except where stated. Data only. Limit:
//! thread_count_max of one master.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "omp/icv/places.hpp"
#include "omp/sched/thread.hpp"
#include "omp/team/task_memory.hpp"
#include "omp/team/team_state.hpp"
#include "omp/tool/ompt.hpp"

namespace sorrel::omp {

struct TeamThread;

/// The threads that a master has used. It grows; old arrays and threads stay, as helpers may still
/// read them.
class TeamThreads {
 public:
  [[nodiscard]] Thread* const* threads() const { return threads_; }

  [[nodiscard]] TeamThread& at(std::uint32_t number) const;

  [[nodiscard]] std::uint32_t count() const { return count_; }

  /// Adds `thread`, or spare() again.
  void add(TeamThread& thread);

  /// A thread that was dropped, to be added next; null: there is none.
  [[nodiscard]] TeamThread* spare() const;

  /// Drops all threads but the first.
  void drop_others() { count_ = count_ == 0 ? 0 : 1; }

 private:
  Thread** threads_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t filled_ = 0;  ///< threads in the array: those beyond count_ were dropped
  std::uint32_t room_ = 0;
};

/// What decides the affinity of a team's threads; size 0: none.
struct DisplayedTeam {
  std::uint32_t size = 0;
  Bind bind = Bind::none;
  std::uint32_t place = 0;  ///< the master's

  bool operator==(const DisplayedTeam&) const = default;
};

/// What a master keeps for the teams at one nesting level of its own. Its first level is for teams
/// outside its other teams, `inner` for those inside that, and so on.
struct NestLevel {
  TeamThreads kept_threads;
  Team* teams = nullptr;        ///< created so far, one of each size
  Team* pooled_team = nullptr;  ///< whose members are the threads of the pool
  DisplayedTeam displayed;      ///< the last team whose affinity was displayed
  NestLevel* inner = nullptr;
  NestLevel* outer = nullptr;
};

struct TeamThread : Thread, TeamState {
  TaskMemory task_memory;
  /// To whose processors its kernel thread is bound; no_place: none.
  std::uint32_t bound_place = no_place;
  static constexpr std::uint32_t no_place = ~0U;

  /// Since when the same tasks are queued that it may not take, and the push count at that time.
  std::uint64_t idle_since = 0;
  std::uint64_t idle_push_count = 0;
  /// Earliest time at which it takes a task from another thread again.
  std::uint64_t steal_after = 0;

  // For programs of LLVM's library: clauses of the next construct, and the thread's number, from 1;
  // 0: none yet.
  std::uint32_t pushed_threads = 0;
  std::uint32_t pushed_teams = 0;
  std::uint32_t pushed_thread_limit = 0;
  std::uint32_t pushed_bind = 0;  ///< also of GCC's programs; used only where threads are bound
  std::int32_t global_number = 0;
  std::shared_ptr<const std::vector<std::uint32_t>> pushed_list;  ///< of num_threads
  std::int32_t pushed_severity = 0;  ///< of its strict modifier; 0: none
  const char* pushed_message = nullptr;

  // For a tool: its data, whether it knows the thread, the thread's state while it waits, where the
  // program's call of this library returns, and the kind of its next barrier or work-sharing
  // construct, if that is not the usual one.
  static constexpr std::uint32_t no_tool_state = ~0U;
  ompt::Data tool_data{};
  bool is_told = false;
  std::uint32_t told_singles = 0;  ///< blocks of single constructs that it runs
  const void* tool_code = nullptr;
  std::uint32_t tool_state = no_tool_state;
  ompt::Sync tool_sync = ompt::Sync::barrier_explicit;
  ompt::Work tool_work = ompt::Work::loop;
  ompt::LoopChunk tool_chunk{};  ///< of the taskloop's task that it creates

  // As a master.
  NestLevel first_level;
  NestLevel* innermost_level = nullptr;  ///< of the innermost open team; null: none
  Team* spare_initial_team = nullptr;    ///< for the next target region; linked by `next`

  // For a fiber.
  Team* next_team = nullptr;          ///< written by its master before it starts the fiber
  std::uint32_t done_generation = 0;  ///< of its team's last barrier, where it arrived
};

inline TeamThread* TeamThreads::spare() const {
  return count_ < filled_ ? static_cast<TeamThread*>(threads_[count_]) : nullptr;
}

inline TeamThread& TeamThreads::at(std::uint32_t number) const {
  return static_cast<TeamThread&>(*threads_[number]);
}

}  // namespace sorrel::omp
