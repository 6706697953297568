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
    case ompt::Sync::reduction:
      return 0x02;
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
    case ompt::Mutex::test_lock:
    case ompt::Mutex::nest_lock:
    case ompt::Mutex::test_nest_lock:
      break;
  }
  return 0x41;
}

void tell_of(const TeamThread& thread, ompt::Event event, ompt::Sync kind, ompt::Endpoint end) {
  // At the end of a region, its master may already use the team's data for the next one.
  const bool is_over = kind == ompt::Sync::barrier_implicit_parallel && end == ompt::Endpoint::end;
  tell_tool<ompt::SyncRegion>(event, kind, end, is_over ? nullptr : parallel_data(thread),
                              task_data(*thread.task), thread.tool_code);
}

std::uint64_t id_of(const void* mutex) {
  return reinterpret_cast<std::uintptr_t>(mutex);
}

ompt::DependenceKind told_kind(const Dependence& item) {
  if (item.address == nullptr) return ompt::DependenceKind::inout_all_memory;
  switch (item.kind) {
    case DependenceKind::in:
      return ompt::DependenceKind::in;
    case DependenceKind::mutexinoutset:
      return ompt::DependenceKind::mutexinoutset;
    case DependenceKind::inoutset:
      return ompt::DependenceKind::inoutset;
    default:
      return ompt::DependenceKind::inout;
  }
}

/// Calls the tool for each list that has dependences.
void tell_dependences(ompt::Data& task, void* const* depend) {
  if (callback_of(ompt::dependences) == nullptr) return;
  std::vector<ompt::Dependence> list;
  for_each_dependence(depend, [&](const Dependence& item) {
    list.push_back(
        {{.pointer = const_cast<void*>(item.address)}, static_cast<int>(told_kind(item))});
  });
  tell_tool<ompt::Dependences>(ompt::dependences, &task,
                               static_cast<const ompt::Dependence*>(list.data()),
                               static_cast<int>(list.size()));
}

constexpr auto runtime_team = static_cast<int>(ompt::invoker_runtime | ompt::parallel_team);
constexpr auto runtime_league = static_cast<int>(ompt::invoker_runtime | ompt::parallel_league);
constexpr unsigned mutex_implementation = 1;

}  // namespace

ToolTask& tool_task_of(const Task& task) {
  if (task.level == 0) return task.team->tool_tasks[&task - task.team->implicit_tasks];
  auto* const block = reinterpret_cast<std::byte*>(const_cast<Task*>(&task));
  return *reinterpret_cast<ToolTask*>(block + task.bytes - sizeof(ToolTask));
}

ompt::Frame& TaskCall::begin(const TeamThread& thread, void* frame) {
  ompt::Frame& own = tool_task_of(*thread.task).frame;
  own.exit_frame.pointer = frame;
  own.exit_frame_flags = ompt::frame_of_runtime | ompt::frame_by_pointer;
  return own;
}

void TaskCall::end(ompt::Frame& frame) {
  frame.exit_frame = {};
}

void tell_thread_begin(TeamThread& thread, ompt::ThreadKind kind) {
  thread.tool_data = {};
  thread.is_told = true;
  tell_tool<ompt::ThreadBegin>(ompt::thread_begin, kind, &thread.tool_data);
}

void tell_thread_end(TeamThread& thread) {
  tell_tool<ompt::ThreadEnd>(ompt::thread_end, &thread.tool_data);
}

void tell_parallel_begin(const TeamThread& master, Team& team, std::uint32_t requested_size) {
  team.tool_data = {};
  team.tool_code = master.tool_code;
  ToolTask& task = tool_task_of(*master.task);
  tell_tool<ompt::ParallelBegin>(ompt::parallel_begin, &task.data,
                                 static_cast<const ompt::Frame*>(&task.frame), &team.tool_data,
                                 requested_size, runtime_team, master.tool_code);
}

void tell_parallel_end(const TeamThread& master, Team& team) {
  tell_tool<ompt::ParallelEnd>(ompt::parallel_end, &team.tool_data, task_data(*master.task),
                               runtime_team, master.tool_code);
}

void tell_implicit_task(const TeamThread& thread, ompt::Endpoint end) {
  const Team& team = *thread.team;
  const bool begins = end == ompt::Endpoint::begin;
  ToolTask& task = tool_task_of(*thread.task);
  const unsigned flags = team.level == 0 ? ompt::task_initial : ompt::task_implicit;
  if (begins) {
    task = {};
    task.flags = flags;
    if (team.level != 0) count_implicit_task(1);
  }
  tell_tool<ompt::ImplicitTask>(ompt::implicit_task, end, begins ? parallel_data(thread) : nullptr,
                                &task.data, begins ? team.size : 0U,
                                team.level == 0 ? 1U : thread.number, static_cast<int>(flags));
  if (!begins && team.level != 0) count_implicit_task(-1);
}

void tell_called_by_program(const TeamThread& thread, void* frame) {
  ompt::Frame& own = tool_task_of(*thread.task).frame;
  own.exit_frame.pointer = frame;
  own.exit_frame_flags = ompt::frame_of_runtime | ompt::frame_by_cfa;
}

ToldLeague::ToldLeague(TeamThread& thread, std::uint32_t team_count)
    : thread_(thread),
      outer_task_(tool_task_of(*thread.task)),
      outer_parallel_(thread.team->tool_data) {
  ToolTask& task = tool_task_of(*thread.task);
  tell_tool<ompt::ParallelBegin>(ompt::parallel_begin, &task.data,
                                 static_cast<const ompt::Frame*>(&task.frame), &league_, team_count,
                                 runtime_league, thread.tool_code);
  thread.team->tool_data = league_;
}

void ToldLeague::tell_team(ompt::Endpoint end) {
  const bool begins = end == ompt::Endpoint::begin;
  ToolTask& task = tool_task_of(*thread_.task);
  if (begins) {
    task = {};
    task.flags = ompt::task_initial;
  }
  const Team& team = *thread_.team;
  tell_tool<ompt::ImplicitTask>(ompt::implicit_task, end, begins ? parallel_data(thread_) : nullptr,
                                &task.data, begins ? team.league_size : 0U, team.league_number,
                                static_cast<int>(ompt::task_initial));
}

ToldLeague::~ToldLeague() {
  league_ = thread_.team->tool_data;
  thread_.team->tool_data = outer_parallel_;
  ToolTask& task = tool_task_of(*thread_.task);
  task = outer_task_;
  tell_tool<ompt::ParallelEnd>(ompt::parallel_end, &league_, &task.data, runtime_league,
                               thread_.tool_code);
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

void tell_reduction(TeamThread& thread, ompt::Endpoint end) {
  constexpr auto kind = ompt::Sync::reduction;
  thread.tool_state = end == ompt::Endpoint::begin ? state_of(kind) : TeamThread::no_tool_state;
  tell_of(thread, ompt::reduction, kind, end);
}

void tell_work(const TeamThread& thread, ompt::Work kind, ompt::Endpoint end, std::uint64_t count) {
  if (kind == ompt::Work::none) return;
  tell_tool<ompt::WorkRegion>(ompt::work, kind, end, parallel_data(thread), task_data(*thread.task),
                              count, thread.tool_code);
}

void tell_dispatch(const TeamThread& thread, ompt::Work kind, const ompt::LoopChunk& chunk) {
  if (kind == ompt::Work::none) return;
  auto what = ompt::Dispatch::loop_chunk;
  if (kind == ompt::Work::sections) what = ompt::Dispatch::section;
  if (kind == ompt::Work::distribute) what = ompt::Dispatch::distribute_chunk;
  if (kind == ompt::Work::taskloop) what = ompt::Dispatch::taskloop_chunk;
  ompt::LoopChunk told = chunk;
  ompt::Data instance{.pointer = &told};
  if (what == ompt::Dispatch::section) instance.pointer = const_cast<void*>(thread.tool_code);
  tell_tool<ompt::DispatchRegion>(ompt::dispatch, parallel_data(thread), task_data(*thread.task),
                                  what, instance);
}

void tell_single_begin(TeamThread& thread, bool is_own) {
  if (is_own) ++thread.told_singles;
  const auto kind = is_own ? ompt::Work::single_executor : ompt::Work::single_other;
  tell_work(thread, kind, ompt::Endpoint::begin, 1);
  if (!is_own) tell_work(thread, kind, ompt::Endpoint::end, 1);
}

void tell_single_end(TeamThread& thread) {
  if (thread.told_singles == 0) return;
  --thread.told_singles;
  tell_work(thread, ompt::Work::single_executor, ompt::Endpoint::end, 1);
}

void tell_masked(const TeamThread& thread, ompt::Endpoint end) {
  tell_tool<ompt::Masked>(ompt::masked, end, parallel_data(thread), task_data(*thread.task),
                          thread.tool_code);
}

void tell_flush(TeamThread& thread) {
  tell_tool<ompt::Flush>(ompt::flush, &thread.tool_data, thread.tool_code);
}

void tell_error(const TeamThread& thread,
                ompt::Severity severity,
                const char* text,
                std::size_t n) {
  tell_tool<ompt::Error>(ompt::error, severity, text, n, thread.tool_code);
}

std::optional<int> tell_control(const TeamThread& thread,
                                std::uint64_t command,
                                std::uint64_t modifier,
                                void* argument) {
  const auto callback = reinterpret_cast<ompt::ControlTool>(callback_of(ompt::control_tool));
  const ToolCall call;
  if (callback == nullptr || !call.is_allowed()) return std::nullopt;
  return callback(command, modifier, argument, thread.tool_code);
}

void tell_task_create(const TeamThread& thread,
                      const Task& task,
                      unsigned flags,
                      void* const* depend) {
  ToolTask& encountering = tool_task_of(*thread.task);
  ToolTask& created = tool_task_of(task);
  created = {};
  created.chunk = thread.tool_chunk;
  created.flags = ompt::task_explicit | flags | (task.is_final ? ompt::task_is_final : 0U);
  tell_tool<ompt::TaskCreate>(
      ompt::task_create, &encountering.data, static_cast<const ompt::Frame*>(&encountering.frame),
      &created.data, static_cast<int>(created.flags), depend == nullptr ? 0 : 1, thread.tool_code);
  if (depend != nullptr) tell_dependences(created.data, depend);
}

void tell_task_schedule(const Task& before, ompt::TaskStatus status, const Task& next) {
  if (status == ompt::TaskStatus::switched) tool_task_of(next).context = &before;
  tell_tool<ompt::TaskSchedule>(ompt::task_schedule, task_data(before), status, task_data(next));
}

void tell_fulfill(const Task& task, ompt::TaskStatus status) {
  tell_tool<ompt::TaskSchedule>(ompt::task_schedule, task_data(task), status,
                                static_cast<ompt::Data*>(nullptr));
}

void tell_task_dependence(const Task& before, const Task& after) {
  tell_tool<ompt::TaskDependence>(ompt::task_dependence, task_data(before), task_data(after));
}

ToldTaskwait::ToldTaskwait(const TeamThread& thread, void* const* depend) : thread_(thread) {
  ToolTask& encountering = tool_task_of(*thread.task);
  constexpr unsigned flags = ompt::task_taskwait | ompt::task_undeferred | ompt::task_mergeable;
  tell_tool<ompt::TaskCreate>(ompt::task_create, &encountering.data,
                              static_cast<const ompt::Frame*>(&encountering.frame), &data_,
                              static_cast<int>(flags), 1, thread.tool_code);
  tell_dependences(data_, depend);
}

ToldTaskwait::~ToldTaskwait() {
  tell_tool<ompt::TaskSchedule>(ompt::task_schedule, &data_, ompt::TaskStatus::taskwait_complete,
                                static_cast<ompt::Data*>(nullptr));
}

void tell_doacross(const TeamThread& thread,
                   ompt::DependenceKind kind,
                   const std::uint64_t* iterations,
                   std::size_t count) {
  std::vector<ompt::Dependence> list;
  for (std::size_t i = 0; i < count; ++i)
    list.push_back({{.value = iterations[i]}, static_cast<int>(kind)});
  tell_tool<ompt::Dependences>(ompt::dependences, task_data(*thread.task),
                               static_cast<const ompt::Dependence*>(list.data()),
                               static_cast<int>(count));
}

void tell_cancel(const TeamThread& thread,
                 const Task& task,
                 std::uint32_t kind,
                 ompt::CancelFlag event) {
  unsigned flags = event;
  if ((kind & cancelled_parallel) != 0) flags |= ompt::cancel_parallel;
  if ((kind & cancelled_loop) != 0) flags |= ompt::cancel_loop;
  if ((kind & cancelled_sections) != 0) flags |= ompt::cancel_sections;
  if ((kind & cancelled_taskgroup) != 0) flags |= ompt::cancel_taskgroup;
  // A task is discarded where no construct is.
  const void* const code = event == ompt::cancel_discarded_task ? nullptr : thread.tool_code;
  tell_tool<ompt::Cancel>(ompt::cancel, task_data(task), static_cast<int>(flags), code);
}

void tell_lock_init(const TeamThread& thread, ompt::Mutex kind, unsigned hint, const void* mutex) {
  tell_tool<ompt::MutexAcquire>(ompt::lock_init, kind, hint, mutex_implementation, id_of(mutex),
                                thread.tool_code);
}

void tell_lock_destroy(const TeamThread& thread, ompt::Mutex kind, const void* mutex) {
  tell_tool<ompt::MutexChange>(ompt::lock_destroy, kind, id_of(mutex), thread.tool_code);
}

void tell_acquire(TeamThread& thread, ompt::Mutex kind, const void* mutex) {
  thread.tool_state = state_of(kind);
  tell_tool<ompt::MutexAcquire>(ompt::mutex_acquire, kind, 0U, mutex_implementation, id_of(mutex),
                                thread.tool_code);
}

void tell_acquired(TeamThread& thread, ompt::Mutex kind, const void* mutex) {
  thread.tool_state = TeamThread::no_tool_state;
  tell_tool<ompt::MutexChange>(ompt::mutex_acquired, kind, id_of(mutex), thread.tool_code);
}

void tell_not_acquired(TeamThread& thread) {
  thread.tool_state = TeamThread::no_tool_state;
}

void tell_released(const TeamThread& thread, ompt::Mutex kind, const void* mutex) {
  tell_tool<ompt::MutexChange>(ompt::mutex_released, kind, id_of(mutex), thread.tool_code);
}

void tell_nest_lock(const TeamThread& thread, ompt::Endpoint end, const void* mutex) {
  tell_tool<ompt::NestLockChange>(ompt::nest_lock, end, id_of(mutex), thread.tool_code);
}

void tell_target(const TeamThread& thread, ToldTarget& target, ompt::Endpoint end) {
  constexpr int host = 0;
  if (target.id == 0) target.id = new_tool_id();
  if (callback_of(ompt::target_emi) != nullptr) {
    tell_tool<ompt::TargetRegionWithData>(
        ompt::target_emi, target.kind, end, host, task_data(*thread.task),
        static_cast<ompt::Data*>(nullptr), &target.data, thread.tool_code);
  } else {
    tell_tool<ompt::TargetRegion>(ompt::target, target.kind, end, host, task_data(*thread.task),
                                  target.id, thread.tool_code);
  }
}

void tell_target_submit(ToldTarget& target, ompt::Endpoint end, std::uint32_t team_count) {
  if (callback_of(ompt::target_submit_emi) != nullptr) {
    std::uint64_t operation = target.id;
    tell_tool<ompt::TargetSubmitWithData>(ompt::target_submit_emi, end, &target.data, &operation,
                                          team_count);
  } else if (end == ompt::Endpoint::begin) {
    tell_tool<ompt::TargetSubmit>(ompt::target_submit, target.id, target.id, team_count);
  }
}

}  // namespace sorrel::omp
