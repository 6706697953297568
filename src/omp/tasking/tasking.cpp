#include "omp/tasking/tasking.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "arch/cpu.hpp"
#include "base/check.hpp"
#include "omp/icv/environment.hpp"
#include "omp/kernel/perturb.hpp"
#include "omp/sched/pool.hpp"
#include "omp/sched/schedule.hpp"
#include "omp/tasking/depend.hpp"
#include "omp/tasking/member_state.hpp"
#include "omp/tasking/tool_events.hpp"
#include "omp/team/team.hpp"
#include "omp/team/team_thread.hpp"

namespace sorrel::omp {

namespace {

/// How long a single task in another thread's queue is left to that thread: moving it would cost
/// more than most tasks take.
constexpr std::uint64_t single_task_delay_cycles = 40'000;
/// Maximum cost of moving a task, and the pause of a thread after it has moved a shorter one.
constexpr std::uint64_t short_task_cycles = 2'000;
constexpr std::uint64_t steal_pause_cycles = 6'000;
/// Queued tasks of one thread above which it runs new ones at once.
constexpr std::uint32_t queued_max = 64;
/// Unfinished dependent children of a task above which its thread runs some itself.
constexpr std::uint32_t unfinished_max = 32;
/// Blockers of a task during its creation; more than the possible number of predecessors.
constexpr std::uint32_t creator_hold = 1U << 30;
constexpr std::uint64_t one_gone = std::uint64_t{1} << 32;

void destroy(TeamThread& thread, Task& task);

/// Drops one reference; returns whether it was the last.
bool drop_reference(Task& task) {
  // Acquire: all other references are dropped, and none is added.
  if (task.references.load(std::memory_order_acquire) == 1) return true;
  return task.references.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

/// Adds a finished or freed child to its parent's family.
void notify_parent(TeamThread& thread,
                   Task* parent,
                   std::uint32_t parent_level,
                   std::uint64_t change) {
  // (F) acq_rel, and before the check for waiters. If the parent is done, the freeing of its last
  // child frees the parent, too.
  const std::uint64_t family = parent->family.fetch_add(change, waker_order) + change;
  if (parent_level != 0 && change >= one_gone && family < one_gone && drop_reference(*parent))
    destroy(thread, *parent);
}

/// Frees the memory.
void destroy(TeamThread& thread, Task& task) {
  SORREL_ASSERT(task.level != 0, "implicit tasks belong to their team");
  Task* parent = task.parent;
  const std::uint32_t parent_level = task.level - 1;
  thread.task_memory.give(&task, task.bytes);
  notify_parent(thread, parent, parent_level, one_gone);
}

/// The task is done: returns whether nothing else holds its memory.
bool settle(Task& task) {
  if (task.created != 0) {
    const std::uint64_t less = (one_gone - task.created) << 32;
    // (F) acq_rel: pairs with that of the children.
    const std::uint64_t family = task.family.fetch_add(less, std::memory_order_acq_rel) + less;
    if (family >= one_gone) return false;
  }
  return drop_reference(task);
}

/// Wakes a sleeping thread that could run a task.
void wake_any(Team& team) {
  wake_one(team.inner.waiters(), nullptr);
  wake_one(team.last.waiters(), nullptr);
  wake_all(team.task_waiters);
  if (team.is_outermost && team.group->is_in_pool) pool().request_helper_for_tasks(team.size);
}

bool seems_queued(const Team& team) {
  for (std::uint32_t i = 0; i < team.size; ++i) {
    if (team.member_states[i].queue.seems() != 0) return true;
  }
  return false;
}

/// Called by a thread that has found no task.
void lower_flag(Team& team) {
  if (!team.task_flag.seems_up() || seems_queued(team)) return;
  const bool is_down = team.task_flag.lower([&] {
    for (std::uint32_t i = 0; i < team.size; ++i) {
      if (!team.member_states[i].queue.is_empty()) return true;
    }
    return false;
  });
  // A thread that saw the flag down meanwhile may be asleep.
  if (!is_down) wake_any(team);
}

void queue_task(TeamThread& thread, Task& task, bool is_alone) {
  Team& team = *task.team;
  const bool is_own_team = thread.team == &team;
  (is_own_team ? *thread.member_state : team.member_states[0]).queue.push(task);
  perturb(thread.number, PerturbedPoint::post);
  team.task_flag.raise();
  // A thread that has released a single task runs it next.
  if (!is_alone || !is_own_team) wake_any(team);
}

void release_successors(TeamThread& thread, Task& task) {
  task.lock.lock();
  SORREL_ASSERT(!task.has_finished, "a task has finished twice");
  task.has_finished = true;
  Successor* successor = task.successors;
  task.successors = nullptr;
  task.lock.unlock();
  perturb(thread.number, PerturbedPoint::release);
  bool is_first = true;
  while (successor != nullptr) {
    Successor* next = successor->next;
    Task& successor_task = *successor->task;
    if (!successor->is_inline) delete successor;
    // (B) acq_rel: effects of all predecessors; before the check for waiters, in finish().
    if (successor_task.blockers.fetch_sub(1, waker_order) == 1) {
      queue_task(thread, successor_task, is_first);
      is_first = false;
    }
    successor = next;
  }
}

/// Makes `successor_task` a successor of `task`, unless that is done.
void add_successor(Task& task, Task& successor_task) {
  task.lock.lock();
  if (!task.has_finished) {
    Successor* entry = &successor_task.own_successor;
    if (entry->task != nullptr) entry = new Successor;
    entry->is_inline = entry == &successor_task.own_successor;
    entry->task = &successor_task;
    entry->next = task.successors;
    task.successors = entry;
    ++successor_task.predecessors;  // the creator's own count
    SORREL_ASSERT(successor_task.predecessors < creator_hold);
  }
  const bool is_before = !task.has_finished;
  task.lock.unlock();
  // A waiter is no task.
  if (is_before && has_tool() && successor_task.team != nullptr) [[unlikely]]
    tell_task_dependence(task, successor_task);
}

void finish(TeamThread& thread, Task& task) {
  Team& team = *task.team;
  if (task.table != nullptr) drop_table(thread, task);
  if (task.has_dependences) release_successors(thread, task);
  TaskGroup* taskgroup = task.taskgroup;
  Task* parent = task.parent;
  const std::uint32_t parent_level = task.level - 1;
  const std::uint32_t bytes = task.bytes;
  if (settle(task)) {
    thread.task_memory.give(&task, bytes);
    notify_parent(thread, parent, parent_level, one_gone + 1);
  } else {
    notify_parent(thread, parent, parent_level, 1);
  }
  perturb(thread.number, PerturbedPoint::report);
  // The thread that ends the group may free it at once.
  if (taskgroup != nullptr) {
    [[maybe_unused]] const std::uint64_t left = taskgroup->unfinished.fetch_sub(1, waker_order);
    SORREL_ASSERT(left != 0);
  }
  wake_all(team.task_waiters);
  if (thread.team == &team) {
    MemberState& member_state = *thread.member_state;
    // Release, pairs with is_quiescent(): all of the above. Only this thread writes it.
    member_state.finished.store(member_state.finished.load(std::memory_order_relaxed) + 1,
                                std::memory_order_release);
  } else {
    team.finished_elsewhere.fetch_add(1, std::memory_order_release);
  }
}

/// One of a task's parts has ended.
void end_part(TeamThread& thread, Task& task) {
  // The last part has seen all other parts; before the check for waiters.
  if (task.is_detached && task.parts.fetch_sub(1, waker_order) != 1) return;
  finish(thread, task);
}

/// The body of a task has ended, and the thread goes on with `next`.
void end_told(TeamThread& thread, Task& task, const Task& next) {
  if (task.is_discarded)
    tell_cancel(thread, task, task.team->is_cancelled() ? cancelled_parallel : cancelled_taskgroup,
                ompt::cancel_discarded_task);
  const auto status = task.is_discarded || task.is_cancelled ? ompt::TaskStatus::cancel
                                                             : ompt::TaskStatus::complete;
  if (!task.is_detached) {
    tell_task_schedule(task, status, next);
    finish(thread, task);
    return;
  }
  // The callback comes after the decision whether this ends the task, which may be freed then.
  task.references.fetch_add(1, std::memory_order_relaxed);
  const bool is_last = task.parts.fetch_sub(1, waker_order) == 1;
  tell_task_schedule(task, is_last ? status : ompt::TaskStatus::detach, next);
  if (is_last) finish(thread, task);
  if (drop_reference(task)) destroy(thread, task);
}

bool is_cancelled(const Team& team, const TaskGroup* taskgroup) {
  return team.is_cancelled() || (taskgroup != nullptr && taskgroup->is_cancelled());
}

void execute(TeamThread& thread, Task& task) {
  SORREL_ASSERT(task.blockers.load(std::memory_order_relaxed) <= 1, "a task that is not ready");
  Task* const before = thread.task;
  const Icv icv = thread.icv;
  thread.task = &task;
  thread.icv = task.icv;
  std::uint32_t tool_state = 0;
  if (has_tool()) [[unlikely]] {
    tool_state = std::exchange(thread.tool_state, TeamThread::no_tool_state);
    tell_task_schedule(*before, ompt::TaskStatus::switched, task);
    const ompt::LoopChunk& chunk = tool_task_of(task).chunk;
    if (chunk.iterations != 0) tell_dispatch(thread, ompt::Work::taskloop, chunk);
  }
  if (task.has_copies || !is_cancelled(*task.team, task.taskgroup)) {
    const TaskCall call(thread);
    task.body(task.data);
  } else {
    task.is_discarded = true;
  }
  thread.task = before;
  thread.icv = icv;
  if (has_tool()) [[unlikely]] {
    thread.tool_state = tool_state;
    end_told(thread, task, *before);
  } else {
    end_part(thread, task);
  }
}

std::byte* aligned(std::byte* address, std::size_t alignment) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return address + ((alignment - number % alignment) % alignment);
}

Task& new_task(TeamThread& thread, const TaskRequest& request) {
  Task& parent = *thread.task;
  const std::size_t alignment = request.alignment == 0 ? 1 : request.alignment;
  std::size_t bytes = sizeof(Task) + request.bytes + alignment;
  if (has_tool()) [[unlikely]]
    bytes = with_tool_task(bytes);
  void* block = thread.task_memory.take(bytes);
  Task& task = *new (block) Task;
  task.bytes = static_cast<std::uint32_t>(bytes);
  task.body = request.body;
  task.parent = &parent;
  task.taskgroup = parent.taskgroup;
  task.team = thread.team;
  task.level = parent.level + 1;
  task.is_final = parent.is_final || (request.flags & task_final) != 0;
  task.icv = thread.icv;
  if ((request.flags & task_detach) != 0) {
    task.is_detached = true;
    task.parts.store(2, std::memory_order_relaxed);  // not published
    *request.detach = &task;
    if (request.data != nullptr && !request.keeps_data) *static_cast<void**>(request.data) = &task;
  }
  std::byte* data = aligned(static_cast<std::byte*>(block) + sizeof(Task), alignment);
  if (request.copy != nullptr) {
    task.has_copies = true;
    request.copy(data, request.data);
  } else {
    if (request.bytes != 0) std::memcpy(data, request.data, request.bytes);
  }
  if (request.must_run_body) task.has_copies = true;
  if (request.range != nullptr) std::memcpy(data, request.range, sizeof(TaskRange));
  task.data = data;
  ++parent.created;
  MemberState& member_state = *thread.member_state;
  // Relaxed: published before the task's end, by the queue's lock or the thread's own order.
  member_state.made.store(member_state.made.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
  if (task.taskgroup != nullptr)
    task.taskgroup->unfinished.fetch_add(1, std::memory_order_relaxed);  // as above
  return task;
}

/// Enters the task's dependences; returns whether it may run at once.
bool enter_dependences(TeamThread& thread, Task& task, void* const* depend) {
  Task& parent = *task.parent;
  task.has_dependences = true;
  task.blockers.store(creator_hold, std::memory_order_relaxed);  // not published
  if (parent.table == nullptr) parent.table = new DependTable;
  parent.table->enter(
      task, depend, [&](Task& before) { add_successor(before, task); },
      [&](Task& old) {
        if (drop_reference(old)) destroy(thread, old);
      });
  // (B) acq_rel: removes the creator's hold, less the predecessors it has counted.
  const std::uint32_t left = creator_hold - task.predecessors;
  return task.blockers.fetch_sub(left, std::memory_order_acq_rel) == left;
}

unsigned tool_flags(const TaskRequest& request) {
  unsigned flags = 0;
  if ((request.flags & task_untied) != 0) flags |= ompt::task_untied;
  if ((request.flags & task_mergeable) != 0) flags |= ompt::task_mergeable;
  if (request.is_target) flags |= ompt::task_target;
  return flags;
}

std::uint32_t unfinished_children(const Task& task) {
  // Relaxed: a guess.
  return task.created - static_cast<std::uint32_t>(task.family.load(std::memory_order_relaxed));
}

struct Waiting {
  Task* task;
  Team* team;
  TaskGroup* group;

  static bool for_children(void* argument) {
    const auto& self = *static_cast<const Waiting*>(argument);
    return self.task->children_done(waiter_order) || self.may_find();
  }

  static bool for_group(void* argument) {
    const auto& self = *static_cast<const Waiting*>(argument);
    return self.group->unfinished.load(waiter_order) == 0 || self.may_find();
  }

  static bool for_blockers(void* argument) {
    const auto& self = *static_cast<const Waiting*>(argument);
    return self.task->blockers.load(waiter_order) == 1 || self.may_find();
  }

  static bool for_event(void* argument) {
    const auto& self = *static_cast<const Waiting*>(argument);
    return self.task->parts.load(waiter_order) == 0 || self.may_find();
  }

  [[nodiscard]] bool may_find() const { return team->task_flag.is_up(); }
};

/// Runs descendants of the current task, and waits, until `is_done`.
template <class IsDone>
void work_until(TeamThread& thread, const Condition& condition, IsDone is_done) {
  Team& team = *thread.team;
  while (!is_done()) {
    if (run_task_below(thread, *thread.task)) continue;
    if (is_done()) return;
    if (team.task_flag.seems_up()) {
      // Tasks that this thread must not take: other threads run them.
      lower_flag(team);
      arch::pause();
      if (may_others_run(thread)) yield(thread);
      continue;
    }
    wait_until(thread, team.task_waiters, condition);
  }
}

/// Runs the task and waits for its event.
void execute_with_event(TeamThread& thread, Task& task) {
  task.references.fetch_add(1, std::memory_order_relaxed);
  execute(thread, task);
  Waiting waiting{.task = &task, .team = thread.team, .group = nullptr};
  work_until(thread, {.holds_of = Waiting::for_event, .argument = &waiting},
             // Acquire: what was done before the fulfilment.
             [&] { return task.parts.load(std::memory_order_acquire) == 0; });
  if (drop_reference(task)) destroy(thread, task);
}

}  // namespace

bool is_quiescent(const Team& team) {
  if (!team.has_tasks.load(std::memory_order_relaxed)) return true;  // arrival published it
  // Finished first: a task made between the two sums makes them differ.
  std::uint64_t finished = team.finished_elsewhere.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < team.size; ++i)
    finished += team.member_states[i].finished.load(std::memory_order_acquire);
  std::uint64_t made = 0;
  for (std::uint32_t i = 0; i < team.size; ++i)
    made += team.member_states[i].made.load(std::memory_order_relaxed);
  return made == finished;
}

void drop_table(TeamThread& thread, Task& task) {
  task.table->clear([&](Task& old) {
    if (drop_reference(old)) destroy(thread, old);
  });
  delete task.table;
  task.table = nullptr;
}

namespace {

/// In a team of one, only tasks with a detach clause come here: their bodies need not wait.
void start_dependent(TeamThread& thread, Task& task, void* const* depend) {
  const bool is_alone = thread.team->size == 1;
  const bool may_run = enter_dependences(thread, task, depend);
  if (may_run && is_alone) {
    execute(thread, task);
  } else if (may_run) {
    queue_task(thread, task, false);
  }
  constexpr std::uint32_t tasks_per_check = 16;
  Task& parent = *thread.task;
  if (parent.created % tasks_per_check != 0) return;
  while (unfinished_children(parent) > unfinished_max && run_task_below(thread, parent)) {
  }
}

}  // namespace

bool make_task(TeamThread& thread, const TaskRequest& request) {
  Team& team = *thread.team;
  Task& parent = *thread.task;
  if (is_cancelled(team, parent.taskgroup)) return false;
  // Relaxed: the creator's arrival at the barrier publishes it.
  if (!team.has_tasks.load(std::memory_order_relaxed))
    team.has_tasks.store(true, std::memory_order_relaxed);
  const bool is_detached = (request.flags & task_detach) != 0;
  const bool has_dependences = (request.flags & task_depend) != 0;
  const bool must_run =
      !request.is_deferrable || parent.is_final || (team.size == 1 && !is_detached);
  if (must_run && has_dependences) wait_for_dependences(thread, request.depend);
  Task& task = new_task(thread, request);
  if (has_tool()) [[unlikely]]
    tell_task_create(thread, task, tool_flags(request) | (must_run ? ompt::task_undeferred : 0U),
                     has_dependences ? request.depend : nullptr);
  if (must_run) {
    if (is_detached && request.ends_with_event) {
      execute_with_event(thread, task);
    } else {
      execute(thread, task);
    }
    return true;
  }
  const bool is_queue_full =
      thread.member_state->queue.seems() >= queued_max && environment().limits_queues;
  if (has_dependences) {
    start_dependent(thread, task, request.depend);
  } else if (team.size == 1 || is_queue_full) {
    execute(thread, task);
  } else {
    queue_task(thread, task, false);
  }
  return true;
}

Task& begin_included_task(TeamThread& thread, std::uint32_t flags) {
  if (!thread.team->has_tasks.load(std::memory_order_relaxed))
    thread.team->has_tasks.store(true, std::memory_order_relaxed);
  void* event = nullptr;
  Task& task = new_task(thread, {.flags = flags, .detach = &event});
  if (has_tool()) [[unlikely]] {
    tell_task_create(thread, task, ompt::task_undeferred, nullptr);
    tell_task_schedule(*task.parent, ompt::TaskStatus::switched, task);
  }
  thread.task = &task;
  return task;
}

void end_included_task(TeamThread& thread, Task& task) {
  SORREL_ASSERT(thread.task == &task);
  thread.task = task.parent;
  thread.icv = task.icv;
  if (has_tool()) [[unlikely]] {
    end_told(thread, task, *task.parent);
  } else {
    end_part(thread, task);
  }
}

bool is_current_task_cancelled(const TeamThread& thread) {
  return is_cancelled(*thread.team, thread.task->taskgroup);
}

namespace {

/// What has changed since the thread's last search for tasks.
struct SearchState {
  bool is_same = false;     ///< nothing has been queued since the last search
  bool is_patient = false;  ///< for so long that it may take single tasks of others
};

SearchState update_search(TeamThread& thread, const Team& team) {
  std::uint64_t push_count = 0;
  for (std::uint32_t i = 0; i < team.size; ++i)
    push_count += team.member_states[i].queue.push_count();
  const std::uint64_t now = arch::cycles();
  const bool is_same = thread.idle_since != 0 && thread.idle_push_count == push_count;
  if (!is_same) {
    thread.idle_since = now;
    thread.idle_push_count = push_count;
  }
  return {.is_same = is_same, .is_patient = now - thread.idle_since > single_task_delay_cycles};
}

}  // namespace

FoundTask find_any_task(TeamThread& thread) {
  Team& team = *thread.team;
  if (Task* task = thread.member_state->queue.pop(nullptr)) {
    thread.idle_since = 0;
    return {.task = task};
  }
  Task* task = nullptr;
  const std::uint64_t now = arch::cycles();
  if (now >= thread.steal_after) {
    const SearchState state = update_search(thread, team);
    const std::uint32_t least = state.is_patient || perturbs_choice(thread.number) ? 1 : 2;
    for (std::uint32_t i = 1; i < team.size && task == nullptr; ++i)
      task = team.member_states[(thread.number + i) % team.size].queue.steal(least);
    // Not at the first search: between two tasks of a chain no task is queued.
    if (task == nullptr && state.is_same) lower_flag(team);
  }
  if (task != nullptr || !team.task_flag.seems_up()) {
    thread.idle_since = 0;
    return {.task = task, .stolen_at = now};
  }
  // Permanent polling would keep taking the queues' lines from working threads.
  constexpr int pauses_between_polls = 80;
  for (int i = 0; i < pauses_between_polls; ++i)
    arch::pause();
  return {};
}

void run_found_task(TeamThread& thread, const FoundTask& found) {
  SORREL_ASSERT(found.task != nullptr && found.task->team == thread.team);
  perturb(thread.number, PerturbedPoint::borrow);
  execute(thread, *found.task);
  if (found.stolen_at == 0) return;
  // Short tasks cost more to move than to run on their own thread.
  const std::uint64_t ended = arch::cycles();
  if (ended - found.stolen_at < short_task_cycles) thread.steal_after = ended + steal_pause_cycles;
}

void requeue(TeamThread& thread, const FoundTask& found) {
  queue_task(thread, *found.task, false);
}

bool run_any_task(TeamThread& thread) {
  const FoundTask found = find_any_task(thread);
  if (found.task == nullptr) return false;
  run_found_task(thread, found);
  return true;
}

bool run_task_below(TeamThread& thread, const Task& ancestor) {
  Team& team = *thread.team;
  Task* task = thread.member_state->queue.pop(&ancestor);
  for (std::uint32_t i = 0; i < team.size && task == nullptr; ++i)
    task = team.member_states[(thread.number + i) % team.size].queue.take_below(ancestor);
  if (task == nullptr) return false;
  execute(thread, *task);
  return true;
}

namespace {

void wait_for_children_untold(TeamThread& thread) {
  Task& task = *thread.task;
  if (task.created == 0 || task.children_done()) return;
  Waiting waiting{.task = &task, .team = thread.team, .group = nullptr};
  work_until(thread, {.holds_of = Waiting::for_children, .argument = &waiting},
             [&] { return task.children_done(); });
}

}  // namespace

void wait_for_children(TeamThread& thread) {
  if (!has_tool()) [[likely]]
    return wait_for_children_untold(thread);
  tell_sync(thread, ompt::Sync::taskwait, ompt::Endpoint::begin);
  wait_for_children_untold(thread);
  tell_sync(thread, ompt::Sync::taskwait, ompt::Endpoint::end);
}

void wait_for_dependences(TeamThread& thread, void** depend) {
  Task& parent = *thread.task;
  if (parent.table == nullptr) return;
  Task waiter;
  waiter.blockers.store(creator_hold, std::memory_order_relaxed);  // as above
  parent.table->look_up(depend, [&](Task& before) { add_successor(before, waiter); });
  // One blocker is kept, so that no thread takes it for ready.
  waiter.blockers.fetch_sub(creator_hold - waiter.predecessors - 1, std::memory_order_acq_rel);
  Waiting waiting{.task = &waiter, .team = thread.team, .group = nullptr};
  work_until(thread, {.holds_of = Waiting::for_blockers, .argument = &waiting},
             // (B) acquire: effects of the predecessors.
             [&] { return waiter.blockers.load(std::memory_order_acquire) == 1; });
}

void wait_for_children(TeamThread& thread, void** depend) {
  if (!has_tool()) [[likely]]
    return wait_for_dependences(thread, depend);
  const ToldTaskwait told(thread, depend);
  tell_sync(thread, ompt::Sync::taskwait, ompt::Endpoint::begin);
  wait_for_dependences(thread, depend);
  tell_sync(thread, ompt::Sync::taskwait, ompt::Endpoint::end);
}

void begin_taskgroup(TeamThread& thread) {
  if (has_tool()) [[unlikely]]
    tell_sync_region(thread, ompt::Sync::taskgroup, ompt::Endpoint::begin);
  thread.task->taskgroup = new TaskGroup{.outer = thread.task->taskgroup};
}

void* end_taskgroup(TeamThread& thread) {
  TaskGroup* group = thread.task->taskgroup;
  if (group == nullptr) return nullptr;
  SORREL_ASSERT(group != thread.team->region_taskgroup, "the group of a region ends with it");
  if (has_tool()) [[unlikely]]
    tell_sync_wait(thread, ompt::Sync::taskgroup, ompt::Endpoint::begin);
  Waiting waiting{.task = thread.task, .team = thread.team, .group = group};
  work_until(thread, {.holds_of = Waiting::for_group, .argument = &waiting},
             // Acquire: effects of the group's tasks.
             [&] { return group->unfinished.load(std::memory_order_acquire) == 0; });
  if (has_tool()) [[unlikely]]
    tell_sync(thread, ompt::Sync::taskgroup, ompt::Endpoint::end);
  thread.task->taskgroup = group->outer;
  void* const reduction = group->llvm_reduction;
  delete group;
  return reduction;
}

void fulfill(TeamThread& thread, Task& task) {
  Team& team = *task.team;
  if (has_tool()) [[unlikely]] {
    const bool is_late = task.parts.load(std::memory_order_relaxed) == 1;
    tell_fulfill(task, is_late ? ompt::TaskStatus::late_fulfill : ompt::TaskStatus::early_fulfill);
  }
  end_part(thread, task);
  // All threads may be waiting for this event alone.
  for (Barrier* barrier : {&team.inner, &team.last}) {
    const BarrierState state = barrier->sync();
    if (barrier->is_full(state) && is_quiescent(team)) barrier->open(state);
  }
}

}  // namespace sorrel::omp
