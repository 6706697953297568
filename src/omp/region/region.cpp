#include "omp/region/region.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "arch/cpu.hpp"
#include "base/check.hpp"
#include "omp/icv/environment.hpp"
#include "omp/kernel/perturb.hpp"
#include "omp/region/bound_threads.hpp"
#include "omp/sched/own_thread_claim.hpp"
#include "omp/sched/pool.hpp"
#include "omp/sched/schedule.hpp"
#include "omp/tasking/member_state.hpp"
#include "omp/tasking/tasking.hpp"
#include "omp/tasking/tool_events.hpp"
#include "omp/worksharing/loop.hpp"
#include "os/kept_errno.hpp"

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
  if (!barrier.is_full(state) || !is_quiescent(team)) return false;
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
  perturb(thread.number, PerturbedPoint::arrive);
  const BarrierState state = barrier.arrive(thread.number);
  perturb(thread.number, PerturbedPoint::report);
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
  team.set_size(size);
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

/// The tool may have used the team before it observed the process.
void observe_team(Team& team) {
  if (team.tool_tasks == nullptr) team.tool_tasks = new ToolTask[team.size]{};
}

bool is_outermost(const TeamThread& master, const NestLevel& nest_level) {
  return master.is_native() && &nest_level == &master.first_level;
}

/// The number of threads of a region, the master included, that are started by bits. Others start
/// through the queue: those of inner and very large regions, and under a tool.
std::uint32_t bit_started_count(bool is_outermost) {
  return is_outermost && !has_tool() ? Group::bit_count : 1;
}

/// Creates fibers for a team of `size`; returns the possible size.
std::uint32_t provide_threads(TeamThread& master, NestLevel& nest_level, std::uint32_t size) {
  TeamThreads& kept_threads = nest_level.kept_threads;
  if (kept_threads.count() == 0) kept_threads.add(master);
  if (kept_threads.count() >= size) return size;
  const os::KeptErrno kept_errno;
  while (kept_threads.count() < size) {
    TeamThread* const spare = kept_threads.spare();
    TeamThread* const fiber = spare != nullptr ? spare : new TeamThread;
    if (!master.group->make_fiber(*fiber)) {
      if (spare == nullptr) delete fiber;
      std::fprintf(stderr, "sorrel: the system allows only %u of the %u requested OpenMP threads\n",
                   kept_threads.count(), size);
      break;
    }
    fiber->number = kept_threads.count();
    fiber->starts_through_queue =
        fiber->number >= bit_started_count(is_outermost(master, nest_level));
    fiber->bound_place = TeamThread::no_place;
    kept_threads.add(*fiber);
  }
  return std::min(size, kept_threads.count());
}

/// Sets the state of a thread at the beginning of a region.
void enter_region(TeamThread& thread, Team& team, bool has_loop) {
  SORREL_ASSERT(thread.number < team.size);
  thread.icv = team.icv;
  thread.allocator = team.allocator;
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
  if (has_tool()) [[unlikely]]
    tell_implicit_task(thread, ompt::Endpoint::begin);
  if (has_loop) {
    bool is_first = false;
    const WorkShare& share = team.shares.enter(thread, is_first);
    if (has_tool()) [[unlikely]]
      tell_work(thread, share.tool_work, ompt::Endpoint::begin, share.loop.trip_count);
  }
  if (team.has_affinity) [[unlikely]]
    enter_with_affinity(thread);
}

/// Writes only changes, because the other members have the line of a team in their caches.
template <class Value>
void set(Value& field, const Value& value) {
  if (!(field == value)) field = value;
}

/// The region's own list, or what follows in that of the region around it.
void take_thread_list(const Fork& fork, const Team& outer, Team& team, Icv& icv) {
  team.thread_list = fork.thread_list != nullptr ? *fork.thread_list : outer.thread_list;
  if (fork.thread_list == nullptr) ++team.thread_list.at;
  const ThreadList& list = team.thread_list;
  if (list.at < list.counts->size()) icv.thread_count = (*list.counts)[list.at];
}

/// Relaxed: the pool's monitor may read it at any time, in code_of().
template <class Value>
void publish_to_monitor(Value& field, Value value) {
  std::atomic_ref(field).store(value, std::memory_order_relaxed);
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
    // (R) release.
    group.members.store(team.members, std::memory_order_release);
    group.member_count.store(team.size, std::memory_order_release);
    group.task_flag.store(&team.task_flag, std::memory_order_release);
    // Read occasionally.
    group.is_in_region.store(true, std::memory_order_relaxed);
    group.region_count.store(group.region_count.load(std::memory_order_relaxed) + 1,
                             std::memory_order_relaxed);
    if (!team.members[1]->starts_through_queue)
      first_queued = std::min(team.size, Group::bit_count);
    const std::uint64_t below = first_queued == 64 ? 0 : std::uint64_t{1} << first_queued;
    SORREL_ASSERT(group.unstarted.seems() == 0, "threads of the last region were not started");
    group.unstarted.publish((below - 1) & ~std::uint64_t{1});
  }
  perturb(0, PerturbedPoint::post);
  for (std::uint32_t i = first_queued; i < team.size; ++i) {
    Thread& fiber = *team.members[i];
    SORREL_ASSERT(fiber.starts_through_queue);
    // If it has not docked yet, its worker queues it.
    if (fiber.queued_start.start()) group.push_ready(fiber);
  }
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

/// By the master, at the end of a region: prepares its team for the next one.
void leave_constructs(const TeamThread& thread, Team& team) {
  if (team.is_cancelled() || team.cancelled_construct.load(std::memory_order_relaxed) != 0) {
    clear_after_cancellation(team);
  } else {
    set(team.share_base, thread.share_count);
    set(team.single_base, thread.single_count);
  }
  // Relaxed: the next fork publishes it.
  if (!team.has_tasks.load(std::memory_order_relaxed)) return;
  team.has_tasks.store(false, std::memory_order_relaxed);
  // All tasks are done, but maybe no thread has searched since. With the flag up, threads of a
  // region without tasks would search at its barriers instead of waiting.
  team.task_flag.clear();
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

/// GCC opens a loop with schedule(auto) together with its region, and then cuts it like a static
/// one.
void leave_unused_loop(TeamThread& thread) {
  if (thread.team->has_loop && thread.share != nullptr) [[unlikely]]
    end_loop(thread);
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
  const std::uint32_t limit = icv.thread_limit;
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
  thread.allocator = team->allocator = environment().allocator;
  thread.task = team->implicit_tasks;
  thread.member_state = team->member_states;
  return *team;
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
  size = provide_threads(thread, *nest_level, size);
  Team& team = team_of_size(thread, *nest_level, size);
  team.outer_state = static_cast<const TeamState&>(thread);
  if (team.body != fork.body) publish_to_monitor(team.body, fork.body);
  set(team.data, fork.data);
  set(team.parent, thread.team);
  set(team.level, thread.team->level + 1);
  set(team.active_level, thread.team->active_level + (size > 1 ? 1U : 0U));
  Icv icv = thread.icv;
  const bool has_list = fork.thread_list != nullptr || thread.team->has_thread_list;
  set(team.has_thread_list, has_list);
  if (has_list) [[unlikely]] {
    take_thread_list(fork, *thread.team, team, icv);
  } else {
    inherit_next_level(icv, team.level);
  }
  set(team.icv, icv);
  set(team.allocator, thread.allocator);
  set(team.league_size, thread.team->league_size);
  set(team.league_number, thread.team->league_number);
  if (environment().concerns_affinity) [[unlikely]]
    prepare_affinity(thread, *nest_level, team);
  set(team.region_taskgroup, fork.region_taskgroup);
  if (has_tool()) [[unlikely]] {
    observe_team(team);
    tell_parallel_begin(thread, team,
                        fork.thread_count != 0 ? fork.thread_count : thread.icv.thread_count);
  }
  publish_to_monitor(thread.team, &team);
  thread.number = 0;
  enter_region(thread, team, false);
  if (fork.loop != nullptr) begin_loop(thread, *fork.loop);
  set(team.has_loop, fork.loop != nullptr);
  if (size == 1) {
    set(team.members, nest_level->kept_threads.threads());
    return team;
  }
  bind_members(*nest_level, team);
  set(team.is_outermost, is_outermost(thread, *nest_level));
  if (thread.group->job != nullptr) {
    publish(team);
    return team;
  }
  HelperPool& helpers = pool();
  helpers.monitor().record_use();
  if (thread.group->pool != &helpers) {
    const os::KeptErrno kept_errno;
    const Unbound unbound;
    helpers.add(*thread.group);
    helpers.monitor().begin_watching();
  }
  publish(team);
  return team;
}

void end_region(TeamThread& thread) {
  Team& team = *thread.team;
  SORREL_ASSERT(team.master == &thread && thread.innermost_level != nullptr);
  leave_unused_loop(thread);
  if (thread.task->table != nullptr) drop_table(thread, *thread.task);
  if (has_tool()) [[unlikely]]
    tell_sync(thread, ompt::Sync::barrier_implicit_parallel, ompt::Endpoint::begin);
  if (team.size > 1) {
    (void)arrive_and_wait(thread, team.last, false);
    if (team.is_outermost) thread.group->is_in_region.store(false, std::memory_order_relaxed);
  } else {
    finish_tasks_alone(thread);
  }
  leave_constructs(thread, team);
  audit(team);
  const bool is_told = has_tool();
  if (is_told) [[unlikely]] {
    tell_sync(thread, ompt::Sync::barrier_implicit_parallel, ompt::Endpoint::end);
    tell_implicit_task(thread, ompt::Endpoint::end);
  }
  thread.innermost_level = thread.innermost_level->outer;
  static_cast<TeamState&>(thread) = team.outer_state;
  if (is_told) [[unlikely]]
    tell_parallel_end(thread, team);
  if (thread.group->trace != nullptr && thread.team->level == 0) [[unlikely]]
    thread.group->trace->end_region();
}

void observe_native(TeamThread& thread) {
  observe_team(*thread.team);
  tell_thread_begin(thread, ompt::ThreadKind::initial);
  tell_implicit_task(thread, ompt::Endpoint::begin);
}

void tell_thread_end() {
  auto* const thread = static_cast<TeamThread*>(own_thread);
  if (thread == nullptr || !thread->is_native() || !thread->is_told || thread->team->level != 0)
    return;
  await_implicit_tasks();
  tell_implicit_task(*thread, ompt::Endpoint::end);
  tell_thread_end(*thread);
  thread->is_told = false;
}

void run_on_initial_thread(TeamThread& thread,
                           void (*body)(void*),
                           void* data,
                           std::uint32_t thread_limit) {
  Team* spare = thread.spare_initial_team;
  if (spare != nullptr) thread.spare_initial_team = spare->next;
  Team& team = spare != nullptr ? *spare : make_team(thread, 1);
  Thread* const self = &thread;
  team.members = &self;
  team.outer_state = static_cast<const TeamState&>(thread);
  // A device has control variables of its own: what the program has set does not reach it.
  team.icv = environment().icv;
  if (thread_limit != 0) team.icv.thread_limit = thread_limit;
  team.allocator = environment().allocator;
  team.league_size = 1;
  team.league_number = 0;
  if (has_tool()) [[unlikely]] {
    observe_team(team);
    team.tool_data = {};
  }
  thread.team = &team;
  thread.number = 0;
  enter_region(thread, team, false);
  call_task(thread, body, data);
  if (thread.task->table != nullptr) drop_table(thread, *thread.task);
  finish_tasks_alone(thread);
  leave_constructs(thread, team);
  audit(team);
  if (has_tool()) [[unlikely]]
    tell_implicit_task(thread, ompt::Endpoint::end);
  static_cast<TeamState&>(thread) = team.outer_state;
  team.next = thread.spare_initial_team;
  thread.spare_initial_team = &team;
}

namespace {

bool wait_untold(TeamThread& thread, bool is_cancellable) {
  Team& team = *thread.team;
  if (is_cancellable && team.is_cancelled()) return true;
  if (team.size == 1) {
    finish_tasks_alone(thread);
    team.forget_cancelled_construct();
    return false;
  }
  return arrive_and_wait(thread, team.inner, is_cancellable);
}

}  // namespace

bool wait_at_barrier(TeamThread& thread, bool is_cancellable) {
  if (!has_tool()) [[likely]]
    return wait_untold(thread, is_cancellable);
  const ompt::Sync kind = std::exchange(thread.tool_sync, ompt::Sync::barrier_explicit);
  tell_sync(thread, kind, ompt::Endpoint::begin);
  const bool is_cancelled = wait_untold(thread, is_cancellable);
  tell_sync(thread, kind, ompt::Endpoint::end);
  return is_cancelled;
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

/// A fiber has done its part of a region. May suspend.
void finish_part(TeamThread& thread, Team& team) {
  // No helper searches for docked threads of inner teams, and a tool learns that an implicit task
  // has ended only when the thread has run its last task: such threads stay.
  const bool must_stay = !team.is_outermost || has_tool();
  if (must_stay && team.has_tasks.load(std::memory_order_relaxed)) {
    (void)arrive_and_wait(thread, team.last, false);
    return;
  }
  perturb(thread.number, PerturbedPoint::arrive);
  const BarrierState state = team.last.arrive(thread.number);
  perturb(thread.number, PerturbedPoint::report);
  thread.done_generation = state.generation();
  if (open_if_done(team, team.last, state)) return;
  if (team.is_outermost && team.has_tasks.load(std::memory_order_relaxed)) help_with_tasks(thread);
}

/// Runs a fiber's part of a region.
void run_implicit_task(TeamThread& thread) {
  SORREL_ASSERT(thread.next_team != nullptr && thread.next_team->members[thread.number] == &thread);
  Team& team = *thread.next_team;
  if (has_tool()) [[unlikely]] {
    if (!thread.is_told) tell_thread_begin(thread, ompt::ThreadKind::worker);
    thread.tool_code = team.tool_code;
  }
  publish_to_monitor(thread.team, &team);
  enter_region(thread, team, team.has_loop);
  call_task(thread, team.body, team.data);
  leave_unused_loop(thread);
  if (thread.task->table != nullptr) drop_table(thread, *thread.task);
  if (has_tool()) [[unlikely]]
    tell_sync(thread, ompt::Sync::barrier_implicit_parallel, ompt::Endpoint::begin);
  finish_part(thread, team);
  if (!has_tool()) return;
  tell_sync(thread, ompt::Sync::barrier_implicit_parallel, ompt::Endpoint::end);
  tell_implicit_task(thread, ompt::Endpoint::end);
}

void run_fiber(void* argument) {
  auto& thread = static_cast<TeamThread&>(*static_cast<Thread*>(argument));
  thread.is_told = false;
  for (;;) {
    switch (thread.resume_action) {
      case ResumeAction::implicit_task:
        run_implicit_task(thread);
        break;
      case ResumeAction::tasks:
        help_with_tasks(thread);
        break;
      case ResumeAction::none:
        break;
    }
    thread.resume_action = ResumeAction::implicit_task;
    Worker::switch_to_root(thread, SuspendAction::dock);
  }
}

bool may_help_with_tasks(const Thread& fiber) {
  const auto& thread = static_cast<const TeamThread&>(fiber);
  const Team* team = thread.team;
  return team != nullptr && team->task_flag.seems_up() && !has_tool() &&
         team->last.generation() == thread.done_generation;
}

void leave(Thread& native_or_fiber) {
  if (!has_tool()) return;
  auto& thread = static_cast<TeamThread&>(native_or_fiber);
  if (!thread.is_told) return;
  if (thread.is_native()) tell_implicit_task(thread, ompt::Endpoint::end);
  tell_thread_end(thread);
}

bool takes_next_start(Thread& fiber) {
  const auto& thread = static_cast<const TeamThread&>(fiber);
  // Threads of inner teams start through the queue.
  if (thread.team == nullptr || !thread.team->is_outermost) return false;
  return take_next_start(fiber, thread.number);
}

/// Ends the fibers of which `master` has been master, and those of which they have.
void end_fibers_below(TeamThread& master) {
  for (NestLevel* level = &master.first_level; level != nullptr; level = level->inner) {
    for (std::uint32_t i = 1; i < level->kept_threads.count(); ++i) {
      TeamThread& fiber = level->kept_threads.at(i);
      end_fibers_below(fiber);
      Group::end_fiber(fiber);
    }
    level->kept_threads.drop_others();
  }
}

bool end_fibers(Thread& native) {
  auto& thread = static_cast<TeamThread&>(native);
  if (thread.team->level != 0) return false;
  end_fibers_below(thread);
  return true;
}

/// The code of a fiber that another thread runs, or has run: a team is never freed.
std::uintptr_t code_of(const Thread& fiber) {
  auto& thread = const_cast<TeamThread&>(static_cast<const TeamThread&>(fiber));
  Team* const team = std::atomic_ref(thread.team).load(std::memory_order_relaxed);
  if (team == nullptr) return 0;
  return reinterpret_cast<std::uintptr_t>(
      std::atomic_ref(team->body).load(std::memory_order_relaxed));
}

}  // namespace

constinit const TeamHooks team_hooks{.run_fiber = run_fiber,
                                     .may_help_with_tasks = may_help_with_tasks,
                                     .takes_next_start = takes_next_start,
                                     .code_of = code_of,
                                     .leave = leave,
                                     .end_fibers = end_fibers};

}  // namespace sorrel::omp
