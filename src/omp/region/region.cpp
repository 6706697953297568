#include "omp/region/region.hpp"

#include <algorithm>
#include <cstdio>

#include "arch/cpu.hpp"
#include "base/check.hpp"
#include "omp/icv/environment.hpp"
#include "omp/sched/pool.hpp"
#include "omp/sched/schedule.hpp"
#include "omp/tasking/member_state.hpp"
#include "omp/tasking/tasking.hpp"
#include "omp/worksharing/loop.hpp"

namespace sorrel::omp {

namespace {

/// How long a thread searches for tasks that it may take before it does something else.
constexpr std::uint64_t idle_cycles_max = 100'000;

struct BarrierWait {
  Team* team;
  Barrier* barrier;
  std::uint32_t generation;
  bool is_cancellable;

  /// True also when there may be a task: the waiter then searches for it.
  static bool is_over(void* argument) {
    const auto& self = *static_cast<const BarrierWait*>(argument);
    if (self.barrier->generation() != self.generation) return true;
    if (self.is_cancellable && self.team->is_cancelled_for_waiter()) return true;
    return self.team->task_flag.is_up();
  }
};

/// Returns whether the barrier is now open: by this call, or by another thread.
bool open_if_done(Team& team, Barrier& barrier, BarrierState state) {
  SORREL_ASSERT(state.arrived_count() <= team.size);
  if (!state.is_full(team.size) || !is_quiescent(team)) return false;
  barrier.open(state);
  return true;
}

/// Waits until the barrier opens, having arrived; runs tasks meanwhile.
bool wait_for(TeamThread& thread, BarrierWait wait) {
  Team& team = *wait.team;
  const Condition condition{.holds_of = BarrierWait::is_over, .argument = &wait};
  bool has_run_tasks = false;
  for (;;) {
    if (wait.barrier->generation() != wait.generation) return false;
    if (wait.is_cancellable && team.is_cancelled()) return true;
    if (team.has_tasks.load(std::memory_order_relaxed)) [[unlikely]] {
      if (run_any_task(thread)) {
        has_run_tasks = true;
        continue;
      }
      if (has_run_tasks) {
        has_run_tasks = false;
        if (open_if_done(team, *wait.barrier, wait.barrier->sync())) return false;
      }
      if (team.task_flag.seems_up()) {
        // Another thread has a task that this one must not take now.
        if (may_others_run(thread)) yield(thread);
        continue;
      }
    }
    wait_until(thread, wait.barrier->waiters(), condition);
  }
}

/// Arrives and waits. Returns true if the region was cancelled meanwhile and `is_cancellable`.
bool arrive_and_wait(TeamThread& thread, Barrier& barrier, bool is_cancellable) {
  Team& team = *thread.team;
  const BarrierState state = barrier.arrive();
  if (open_if_done(team, barrier, state)) return false;
  return wait_for(thread, {.team = &team,
                           .barrier = &barrier,
                           .generation = state.generation(),
                           .is_cancellable = is_cancellable});
}

/// In a team of one, tasks wait only for events.
void finish_tasks_alone(TeamThread& thread) {
  Team& team = *thread.team;
  if (!team.has_tasks.load(std::memory_order_relaxed)) return;
  while (!is_quiescent(team)) {
    if (!run_any_task(thread)) yield(thread);
  }
}

Team& make_team(TeamThread& master, std::uint32_t size) {
  auto& team = *new Team;
  team.size = size;
  team.master = &master;
  team.group = master.group;
  team.implicit_tasks = new Task[size];
  team.member_states = new MemberState[size];
  for (std::uint32_t i = 0; i < size; ++i)
    team.implicit_tasks[i].team = &team;
  return team;
}

Team& team_of_size(TeamThread& master, NestLevel& nest_level, std::uint32_t size) {
  for (Team* team = nest_level.teams; team != nullptr; team = team->next) {
    if (team->size == size) return *team;
  }
  Team& team = make_team(master, size);
  team.next = nest_level.teams;
  nest_level.teams = &team;
  return team;
}

/// Creates fibers for a team of `size`; returns the possible size.
std::uint32_t provide_threads(TeamThread& master, TeamThreads& kept_threads, std::uint32_t size) {
  if (kept_threads.count() == 0) kept_threads.add(master);
  while (kept_threads.count() < size) {
    auto* fiber = new TeamThread;
    if (!master.group->make_fiber(*fiber)) {
      delete fiber;
      std::fprintf(stderr, "sorrel: the system allows only %u of the %u requested OpenMP threads\n",
                   kept_threads.count(), size);
      break;
    }
    fiber->number = kept_threads.count();
    kept_threads.add(*fiber);
  }
  return std::min(size, kept_threads.count());
}

/// Sets the state of a thread at the beginning of a region.
void enter_region(TeamThread& thread, Team& team, bool has_loop) {
  SORREL_ASSERT(thread.number < team.size);
  thread.icv = team.icv;
  thread.share_count = team.share_base;
  thread.single_count = team.single_base;
  thread.share = nullptr;
  thread.holds_chunk = false;
  Task& task = team.implicit_tasks[thread.number];
  // Children of the last region have finished, and their memory is freed.
  task.created = 0;
  task.family.store(0, std::memory_order_relaxed);
  task.taskgroup = team.region_taskgroup;
  task.icv = team.icv;
  thread.task = &task;
  thread.member_state = &team.member_states[thread.number];
  if (has_loop) {
    bool is_first = false;
    (void)team.shares.enter(thread, is_first);
  }
}

/// Writes only changes, because the other members have the line of a team in their caches.
template <class Value>
void set(Value& field, const Value& value) {
  if (!(field == value)) field = value;
}

void bind_members(NestLevel& nest_level, Team& team) {
  SORREL_ASSERT(nest_level.kept_threads.count() >= team.size);
  if (nest_level.pooled_team == &team) return;
  for (std::uint32_t i = 1; i < team.size; ++i)
    nest_level.kept_threads.at(i).next_team = &team;
  nest_level.pooled_team = &team;
  team.members = nest_level.kept_threads.threads();
}

/// Makes the team's fibers ready to be started.
void publish(Team& team) {
  Group& group = *team.group;
  std::uint32_t first_queued = 1;
  if (team.is_outermost) {
    first_queued = std::min(team.size, Group::bit_count);
    // (R) release.
    group.members.store(team.members, std::memory_order_release);
    group.member_count.store(team.size, std::memory_order_release);
    group.task_flag.store(&team.task_flag, std::memory_order_release);
    // Read occasionally.
    group.is_in_region.store(true, std::memory_order_relaxed);
    group.region_count.store(group.region_count.load(std::memory_order_relaxed) + 1,
                             std::memory_order_relaxed);
    const std::uint64_t below = first_queued == 64 ? 0 : std::uint64_t{1} << first_queued;
    SORREL_ASSERT(group.unstarted.seems() == 0, "threads of the last region were not started");
    group.unstarted.publish((below - 1) & ~std::uint64_t{1});
  }
  for (std::uint32_t i = first_queued; i < team.size; ++i)
    group.push_ready(*team.members[i]);
  if (group.is_in_pool) pool().request_helpers(group, team.size - 1);
}

/// In a cancelled region, the threads have reached different constructs.
void clear_after_cancellation(Team& team) {
  team.shares.reset();
  team.inner.reset();
  for (std::uint32_t i = 0; i < team.size; ++i)
    team.member_states[i].forget_loops();
  team.share_base = 0;
  team.single_base = 0;
  // Relaxed: the next fork publishes them.
  team.is_region_cancelled.store(false, std::memory_order_relaxed);
  team.cancelled_construct.store(0, std::memory_order_relaxed);
}

/// The approximate number of threads of all open regions of this group, for the thread limit.
std::uint32_t busy_threads(const TeamThread& thread) {
  std::uint32_t count = 1;
  for (const Team* team = thread.team; team != nullptr; team = team->parent)
    count += team->size - 1;
  return count;
}

/// By the master, when the other threads have done their parts of the region.
void audit(const Team& team) {
  SORREL_AUDIT_INVARIANTS(team);
  for (std::uint32_t i = 0; i < team.size; ++i)
    SORREL_AUDIT_INVARIANTS(team.member_states[i]);
}

void report_size(std::uint32_t asked) {
  static std::atomic<bool> was_reported{false};
  // Relaxed: a flag by itself.
  if (was_reported.exchange(true, std::memory_order_relaxed)) return;
  std::fprintf(stderr,
               "sorrel: %u OpenMP threads are requested, the limit for one parallel region is %u; "
               "using %u\n",
               asked, thread_count_max, thread_count_max);
}

}  // namespace

std::uint32_t resolve_team_size(const TeamThread& thread, std::uint32_t asked) {
  const Icv& icv = thread.icv;
  if (asked == 1) return 1;
  std::uint32_t size = asked != 0 ? asked : icv.thread_count;
  if (size == 1 || thread.team->active_level >= icv.active_levels_max) return 1;
  if (icv.is_dynamic)
    size = std::min(size, thread.group->job != nullptr ? 1 : std::max(1U, pool().width()));
  const std::uint32_t limit = thread_limit_now();
  const std::uint32_t busy = busy_threads(thread);
  size = std::min(size, limit > busy ? limit - busy + 1 : 1);
  if (size > thread_count_max) [[unlikely]]
    report_size(size);
  return std::clamp(size, 1U, thread_count_max);
}

Team& make_initial_team(TeamThread& thread) {
  Team* team = thread.team;
  if (team == nullptr) {
    team = &make_team(thread, 1);
    thread.first_level.kept_threads.add(thread);
    team->members = thread.first_level.kept_threads.threads();
  }
  thread.team = team;
  team->icv = thread.icv;
  thread.task = team->implicit_tasks;
  thread.member_state = team->member_states;
  return *team;
}

void run_teams(TeamThread& thread, void (*body)(void*), void* data, const Teams& teams) {
  Group& group = *thread.group;
  const Icv icv = thread.icv;
  const std::uint32_t limit = thread_limit_now();
  if (teams.thread_limit != 0) set_thread_limit(std::min(limit, teams.thread_limit));
  group.teams_count = teams.count;
  for (std::uint32_t i = 0; i < teams.count; ++i) {
    group.teams_number = i;
    body(data);
    thread.icv = icv;
  }
  group.teams_count = 1;
  group.teams_number = 0;
  set_thread_limit(limit);
}

Team& begin_region(TeamThread& thread, const Fork& fork, std::uint32_t size) {
  SORREL_ASSERT(own_thread == &thread && size >= 1 && size <= thread_count_max);
  // Inner regions of several threads would overlap.
  if (thread.group->trace != nullptr && thread.team->level == 0) [[unlikely]]
    thread.group->trace->begin_region(reinterpret_cast<std::uintptr_t>(fork.body), size);
  NestLevel* nest_level =
      thread.innermost_level == nullptr ? &thread.first_level : thread.innermost_level->inner;
  if (nest_level == nullptr) {
    nest_level = new NestLevel;
    nest_level->outer = thread.innermost_level;
    thread.innermost_level->inner = nest_level;
  }
  thread.innermost_level = nest_level;
  size = provide_threads(thread, nest_level->kept_threads, size);
  Team& team = team_of_size(thread, *nest_level, size);
  team.outer_state = static_cast<const TeamState&>(thread);
  set(team.body, fork.body);
  set(team.data, fork.data);
  set(team.parent, thread.team);
  set(team.level, thread.team->level + 1);
  set(team.active_level, thread.team->active_level + (size > 1 ? 1U : 0U));
  Icv icv = thread.icv;
  inherit_next_level(icv, team.level);
  set(team.icv, icv);
  set(team.region_taskgroup, fork.region_taskgroup);
  thread.team = &team;
  thread.number = 0;
  enter_region(thread, team, false);
  if (fork.loop != nullptr) begin_loop(thread, *fork.loop);
  set(team.has_loop, fork.loop != nullptr);
  if (size == 1) {
    set(team.members, nest_level->kept_threads.threads());
    return team;
  }
  bind_members(*nest_level, team);
  set(team.is_outermost, thread.is_native() && nest_level == &thread.first_level);
  if (thread.group->job != nullptr) {
    publish(team);
    return team;
  }
  HelperPool& helpers = pool();
  helpers.monitor().record_use();
  if (thread.group->pool != &helpers) {
    helpers.add(*thread.group);
    helpers.monitor().begin_watching();
  }
  publish(team);
  return team;
}

void end_region(TeamThread& thread) {
  Team& team = *thread.team;
  SORREL_ASSERT(team.master == &thread && thread.innermost_level != nullptr);
  if (thread.task->table != nullptr) drop_table(thread, *thread.task);
  if (team.size > 1) {
    (void)arrive_and_wait(thread, team.last, false);
    if (team.is_outermost) thread.group->is_in_region.store(false, std::memory_order_relaxed);
  } else {
    finish_tasks_alone(thread);
  }
  if (team.is_cancelled() || team.cancelled_construct.load(std::memory_order_relaxed) != 0) {
    clear_after_cancellation(team);
  } else {
    set(team.share_base, thread.share_count);
    set(team.single_base, thread.single_count);
  }
  // Relaxed: the next fork publishes it.
  if (team.has_tasks.load(std::memory_order_relaxed))
    team.has_tasks.store(false, std::memory_order_relaxed);
  audit(team);
  thread.innermost_level = thread.innermost_level->outer;
  static_cast<TeamState&>(thread) = team.outer_state;
  if (thread.group->trace != nullptr && thread.team->level == 0) [[unlikely]]
    thread.group->trace->end_region();
}

bool wait_at_barrier(TeamThread& thread, bool is_cancellable) {
  Team& team = *thread.team;
  if (is_cancellable && team.is_cancelled()) return true;
  if (team.size == 1) {
    finish_tasks_alone(thread);
    team.forget_cancelled_construct();
    return false;
  }
  return arrive_and_wait(thread, team.inner, is_cancellable);
}

namespace {

/// Runs tasks of a region on a fiber that has done its part of it. May suspend.
void help_with_tasks(TeamThread& thread) {
  Team& team = *thread.team;
  bool has_run_tasks = false;
  std::uint64_t busy = arch::cycles();
  while (team.task_flag.seems_up() && arch::cycles() - busy < idle_cycles_max) {
    if (const FoundTask found = find_any_task(thread); found.task != nullptr) {
      // An unfinished task keeps the region open. But the region at which this thread arrived may
      // be over, and this task belong to the next one, which has not started this thread.
      if (team.last.generation() != thread.done_generation) {
        requeue(thread, found);
        break;
      }
      run_found_task(thread, found);
      has_run_tasks = true;
      busy = arch::cycles();
    } else if (may_others_run(thread)) {
      break;
    }
  }
  if (has_run_tasks) (void)open_if_done(team, team.last, team.last.sync());
}

/// Runs a fiber's part of a region.
void run_implicit_task(TeamThread& thread) {
  SORREL_ASSERT(thread.next_team != nullptr && thread.next_team->members[thread.number] == &thread);
  Team& team = *thread.next_team;
  thread.team = &team;
  enter_region(thread, team, team.has_loop);
  team.body(team.data);
  if (thread.task->table != nullptr) drop_table(thread, *thread.task);
  if (!team.is_outermost && team.has_tasks.load(std::memory_order_relaxed)) {
    // No helper searches for docked threads of inner teams, so this one stays.
    (void)arrive_and_wait(thread, team.last, false);
    return;
  }
  const BarrierState state = team.last.arrive();
  thread.done_generation = state.generation();
  if (open_if_done(team, team.last, state)) return;
  if (team.is_outermost && team.has_tasks.load(std::memory_order_relaxed)) help_with_tasks(thread);
}

void run_fiber(void* argument) {
  auto& thread = static_cast<TeamThread&>(*static_cast<Thread*>(argument));
  for (;;) {
    if (thread.resume_action == ResumeAction::tasks) {
      help_with_tasks(thread);
    } else {
      run_implicit_task(thread);
    }
    thread.resume_action = ResumeAction::implicit_task;
    Worker::switch_to_root(thread, SuspendAction::dock);
  }
}

bool may_help_with_tasks(const Thread& fiber) {
  const auto& thread = static_cast<const TeamThread&>(fiber);
  const Team* team = thread.team;
  return team != nullptr && team->task_flag.seems_up() &&
         team->last.generation() == thread.done_generation;
}

std::uintptr_t code_of(const Thread& fiber) {
  const Team* team = static_cast<const TeamThread&>(fiber).team;
  return team == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(team->body);
}

}  // namespace

constinit const TeamHooks team_hooks{
    .run_fiber = run_fiber, .may_help_with_tasks = may_help_with_tasks, .code_of = code_of};

}  // namespace sorrel::omp
