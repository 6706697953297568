#include "omp/tasking/tool_events.hpp"

#include <vector>

#include "omp/tasking/depend.hpp"

namespace sorrel::omp {

namespace {

ompt::Data* parallel_data(const TeamThread& thread) {
  return &thread.team->tool_data;
}

ompt::Data* task_data(const Task& task) {
  return &tool_task_of(task).data;
}

const void* code_of(void (*body)(void*)) {
  return reinterpret_cast<const void*>(body);
}

/// Thread states of the standard.
constexpr std::uint32_t state_of(ompt::Sync kind) {
  switch (kind) {
    case ompt::Sync::barrier_explicit:
      return 0x14;
    case ompt::Sync::barrier_implementation:
      return 0x15;
    case ompt::Sync::taskwait:
      return 0x20;
    case ompt::Sync::taskgroup:
      return 0x21;
    case ompt::Sync::barrier_implicit_workshare:
      return 0x12;
    case ompt::Sync::barrier_implicit_parallel:
      break;
  }
  return 0x11;
}

constexpr std::uint32_t state_of(ompt::Mutex kind) {
  switch (kind) {
    case ompt::Mutex::critical:
      return 0x42;
    case ompt::Mutex::atomic:
      return 0x43;
    case ompt::Mutex::ordered:
      return 0x44;
    case ompt::Mutex::lock:
    case ompt::Mutex::nest_lock:
      break;
  }
  return 0x41;
}

void tell_of(const TeamThread& thread, ompt::Event event, ompt::Sync kind, ompt::Endpoint end) {
  // At the end of a region, its master may already use the team's data for the next one.
  const bool is_over = kind == ompt::Sync::barrier_implicit_parallel && end == ompt::Endpoint::end;
  tell_tool<ompt::SyncRegion>(event, kind, end, is_over ? nullptr : parallel_data(thread),
                              task_data(*thread.task), static_cast<const void*>(nullptr));
}

std::uint64_t id_of(const void* mutex) {
  return reinterpret_cast<std::uintptr_t>(mutex);
}

}  // namespace

ToolTask& tool_task_of(const Task& task) {
  if (task.level == 0) return task.team->tool_tasks[&task - task.team->implicit_tasks];
  auto* const block = reinterpret_cast<std::byte*>(const_cast<Task*>(&task));
  return *reinterpret_cast<ToolTask*>(block + task.bytes - sizeof(ToolTask));
}

void tell_thread_begin(TeamThread& thread, ompt::ThreadKind kind) {
  thread.tool_data = {};
  tell_tool<ompt::ThreadBegin>(ompt::thread_begin, kind, &thread.tool_data);
}

void tell_thread_end(TeamThread& thread) {
  tell_tool<ompt::ThreadEnd>(ompt::thread_end, &thread.tool_data);
}

void tell_parallel_begin(const TeamThread& master, Team& team) {
  team.tool_data = {};
  ToolTask& task = tool_task_of(*master.task);
  tell_tool<ompt::ParallelBegin>(
      ompt::parallel_begin, &task.data, static_cast<const ompt::Frame*>(&task.frame),
      &team.tool_data, team.size, static_cast<int>(ompt::invoker_runtime | ompt::parallel_team),
      code_of(team.body));
}

void tell_parallel_end(const TeamThread& master, Team& team) {
  tell_tool<ompt::ParallelEnd>(ompt::parallel_end, &team.tool_data, task_data(*master.task),
                               static_cast<int>(ompt::invoker_runtime | ompt::parallel_team),
                               code_of(team.body));
}

void tell_implicit_task(const TeamThread& thread, ompt::Endpoint end) {
  const Team& team = *thread.team;
  const bool begins = end == ompt::Endpoint::begin;
  ToolTask& task = tool_task_of(*thread.task);
  if (begins) task = {};
  const unsigned flags = team.level == 0 ? ompt::task_initial : ompt::task_implicit;
  tell_tool<ompt::ImplicitTask>(ompt::implicit_task, end, begins ? parallel_data(thread) : nullptr,
                                &task.data, begins ? team.size : 0U,
                                team.level == 0 ? 1U : thread.number, static_cast<int>(flags));
}

void tell_sync_region(const TeamThread& thread, ompt::Sync kind, ompt::Endpoint end) {
  tell_of(thread, ompt::sync_region, kind, end);
}

void tell_sync_wait(TeamThread& thread, ompt::Sync kind, ompt::Endpoint end) {
  thread.tool_state = end == ompt::Endpoint::begin ? state_of(kind) : TeamThread::no_tool_state;
  tell_of(thread, ompt::sync_region_wait, kind, end);
}

void tell_sync(TeamThread& thread, ompt::Sync kind, ompt::Endpoint end) {
  if (end == ompt::Endpoint::begin) {
    tell_sync_region(thread, kind, end);
    tell_sync_wait(thread, kind, end);
  } else {
    tell_sync_wait(thread, kind, end);
    tell_sync_region(thread, kind, end);
  }
}

void tell_work(const TeamThread& thread, ompt::Work kind, ompt::Endpoint end, std::uint64_t count) {
  tell_tool<ompt::WorkRegion>(ompt::work, kind, end, parallel_data(thread), task_data(*thread.task),
                              count, static_cast<const void*>(nullptr));
}

void tell_task_create(const TeamThread& thread,
                      const Task& task,
                      bool is_undeferred,
                      void* const* depend) {
  ToolTask& encountering = tool_task_of(*thread.task);
  ToolTask& created = tool_task_of(task);
  created = {};
  unsigned flags = ompt::task_explicit;
  if (is_undeferred) flags |= ompt::task_undeferred;
  if (task.is_final) flags |= ompt::task_is_final;
  tell_tool<ompt::TaskCreate>(
      ompt::task_create, &encountering.data, static_cast<const ompt::Frame*>(&encountering.frame),
      &created.data, static_cast<int>(flags), depend == nullptr ? 0 : 1, code_of(task.body));
  if (depend == nullptr || callback_of(ompt::dependences) == nullptr) return;
  std::vector<ompt::Dependence> list;
  for_each_dependence(depend, [&](const Dependence& item) {
    const auto kind = item.is_in ? ompt::DependenceKind::in : ompt::DependenceKind::inout;
    list.push_back({{.pointer = const_cast<void*>(item.address)}, static_cast<int>(kind)});
  });
  tell_tool<ompt::Dependences>(ompt::dependences, &created.data,
                               static_cast<const ompt::Dependence*>(list.data()),
                               static_cast<int>(list.size()));
}

void tell_task_schedule(const Task& before, ompt::TaskStatus status, const Task& next) {
  tell_tool<ompt::TaskSchedule>(ompt::task_schedule, task_data(before), status, task_data(next));
}

void tell_cancel(const Task& task, std::uint32_t kind, ompt::CancelFlag event) {
  unsigned flags = event;
  if ((kind & cancelled_parallel) != 0) flags |= ompt::cancel_parallel;
  if ((kind & cancelled_loop) != 0) flags |= ompt::cancel_loop;
  if ((kind & cancelled_sections) != 0) flags |= ompt::cancel_sections;
  if ((kind & cancelled_taskgroup) != 0) flags |= ompt::cancel_taskgroup;
  tell_tool<ompt::Cancel>(ompt::cancel, task_data(task), static_cast<int>(flags),
                          static_cast<const void*>(nullptr));
}

void tell_acquire(TeamThread& thread, ompt::Mutex kind, const void* mutex) {
  thread.tool_state = state_of(kind);
  tell_tool<ompt::MutexAcquire>(ompt::mutex_acquire, kind, 0U, 0U, id_of(mutex),
                                static_cast<const void*>(nullptr));
}

void tell_acquired(TeamThread& thread, ompt::Mutex kind, const void* mutex) {
  thread.tool_state = TeamThread::no_tool_state;
  tell_tool<ompt::MutexChange>(ompt::mutex_acquired, kind, id_of(mutex),
                               static_cast<const void*>(nullptr));
}

void tell_released(ompt::Mutex kind, const void* mutex) {
  tell_tool<ompt::MutexChange>(ompt::mutex_released, kind, id_of(mutex),
                               static_cast<const void*>(nullptr));
}

}  // namespace sorrel::omp
