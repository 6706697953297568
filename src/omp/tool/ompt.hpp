//! OMPT - the types of the OpenMP standard's interface for tools, as far as this library uses them.
//! The numbers and the layouts are the standard's (5.2, chapter 19).
#pragma once

#include <cstddef>
#include <cstdint>

namespace sorrel::omp::ompt {

union Data {
  std::uint64_t value;
  void* pointer;
};

struct Frame {
  Data exit_frame;
  Data enter_frame;
  int exit_frame_flags;
  int enter_frame_flags;
};

using Function = void (*)();
using Lookup = Function (*)(const char* name);

/// What is known of a frame: runtime or application, then how it is addressed.
enum FrameFlag : int { frame_of_runtime = 0x00, frame_by_cfa = 0x10, frame_by_pointer = 0x20 };

struct StartResult {
  int (*initialize)(Lookup lookup, int initial_device, Data* tool_data);
  void (*finalize)(Data* tool_data);
  Data tool_data;
};

enum Event : int {
  thread_begin = 1,
  thread_end = 2,
  parallel_begin = 3,
  parallel_end = 4,
  task_create = 5,
  task_schedule = 6,
  implicit_task = 7,
  target = 8,
  target_submit = 10,
  control_tool = 11,
  sync_region_wait = 16,
  mutex_released = 17,
  dependences = 18,
  task_dependence = 19,
  work = 20,
  masked = 21,
  sync_region = 23,
  lock_init = 24,
  lock_destroy = 25,
  mutex_acquire = 26,
  mutex_acquired = 27,
  nest_lock = 28,
  flush = 29,
  cancel = 30,
  reduction = 31,
  dispatch = 32,
  target_emi = 33,
  target_submit_emi = 35,
  error = 37,
  event_count = 38
};

enum class SetResult : int { error = 0, never = 1, sometimes = 3, always = 5 };
enum class ThreadKind : int { initial = 1, worker = 2 };
enum class Endpoint : int { begin = 1, end = 2 };
enum class Sync : int {
  barrier_explicit = 3,
  barrier_implementation = 4,
  taskwait = 5,
  taskgroup = 6,
  reduction = 7,
  barrier_implicit_workshare = 8,
  barrier_implicit_parallel = 9
};
enum class Work : int {
  none = 0,  ///< this library's own: not reported
  loop = 1,
  sections = 2,
  single_executor = 3,
  single_other = 4,
  distribute = 6,
  taskloop = 7,
  scope = 8,
  loop_static = 10,
  loop_dynamic = 11,
  loop_guided = 12
};
enum class Mutex : int {
  lock = 1,
  test_lock = 2,
  nest_lock = 3,
  test_nest_lock = 4,
  critical = 5,
  atomic = 6,
  ordered = 7
};
enum class TaskStatus : int {
  complete = 1,
  yield = 2,
  cancel = 3,
  detach = 4,
  early_fulfill = 5,
  late_fulfill = 6,
  switched = 7,
  taskwait_complete = 8
};
enum class Target : int {
  target = 1,
  enter_data = 2,
  exit_data = 3,
  update = 4,
  target_nowait = 9,
  enter_data_nowait = 10,
  exit_data_nowait = 11,
  update_nowait = 12
};
enum class Severity : int { warning = 1, fatal = 2 };

enum TaskFlag : unsigned {
  task_initial = 0x1,
  task_implicit = 0x2,
  task_explicit = 0x4,
  task_target = 0x8,
  task_taskwait = 0x10,
  task_undeferred = 0x0800'0000,
  task_untied = 0x1000'0000,
  task_is_final = 0x2000'0000,
  task_mergeable = 0x4000'0000
};

/// One of the first four, and one of the others.
enum CancelFlag : unsigned {
  cancel_parallel = 0x01,
  cancel_sections = 0x02,
  cancel_loop = 0x04,
  cancel_taskgroup = 0x08,
  cancel_activated = 0x10,
  cancel_detected = 0x20,
  cancel_discarded_task = 0x40
};

enum ParallelFlag : unsigned {
  invoker_runtime = 0x2,
  parallel_league = 0x4000'0000,
  parallel_team = 0x8000'0000
};

struct Dependence {
  Data variable;
  int kind;
};
enum class DependenceKind : int {
  in = 1,
  out = 2,
  inout = 3,
  mutexinoutset = 4,
  source = 5,
  sink = 6,
  inoutset = 7,
  inout_all_memory = 35
};

/// What a thread begins.
enum class Dispatch : int {
  section = 2,  ///< with the address of the construct
  loop_chunk = 3,
  taskloop_chunk = 4,
  distribute_chunk = 5
};

/// A chunk of a loop: the value of its variable at the first iteration, and the number of them.
struct LoopChunk {
  std::uint64_t start;
  std::uint64_t iterations;
};

using ThreadBegin = void (*)(ThreadKind kind, Data* thread);
using ThreadEnd = void (*)(Data* thread);
using ParallelBegin = void (*)(Data* task,
                               const Frame* frame,
                               Data* parallel,
                               unsigned requested,
                               int flags,
                               const void* code);
using ParallelEnd = void (*)(Data* parallel, Data* task, int flags, const void* code);
using ImplicitTask =
    void (*)(Endpoint end, Data* parallel, Data* task, unsigned size, unsigned index, int flags);
using SyncRegion = void (*)(Sync kind, Endpoint end, Data* parallel, Data* task, const void* code);
using WorkRegion =
    void (*)(Work kind, Endpoint end, Data* parallel, Data* task, std::uint64_t count, const void*);
using TaskCreate = void (*)(Data* task,
                            const Frame* frame,
                            Data* created,
                            int flags,
                            int has_dependences,
                            const void* code);
using TaskSchedule = void (*)(Data* before, TaskStatus status, Data* next);
using Dependences = void (*)(Data* task, const Dependence* list, int count);
using MutexAcquire = void (*)(
    Mutex kind, unsigned hint, unsigned implementation, std::uint64_t id, const void* code);
using Cancel = void (*)(Data* task, int flags, const void* code);
using MutexChange = void (*)(Mutex kind, std::uint64_t id, const void* code);
using TaskDependence = void (*)(Data* before, Data* after);
using Masked = void (*)(Endpoint end, Data* parallel, Data* task, const void* code);
using NestLockChange = void (*)(Endpoint end, std::uint64_t id, const void* code);
using Flush = void (*)(Data* thread, const void* code);
using ControlTool = int (*)(std::uint64_t command,
                            std::uint64_t modifier,
                            void* argument,
                            const void* code);
using TargetRegion = void (*)(
    Target kind, Endpoint end, int device, Data* task, std::uint64_t target, const void* code);
using TargetRegionWithData = void (*)(Target kind,
                                      Endpoint end,
                                      int device,
                                      Data* task,
                                      Data* target_task,
                                      Data* target,
                                      const void* code);
using TargetSubmit = void (*)(std::uint64_t target, std::uint64_t operation, unsigned team_count);
using TargetSubmitWithData = void (*)(Endpoint end,
                                      Data* target,
                                      std::uint64_t* operation,
                                      unsigned team_count);
using DispatchRegion = void (*)(Data* parallel, Data* task, Dispatch kind, Data instance);
using Error = void (*)(Severity severity,
                       const char* message,
                       std::size_t length,
                       const void* code);

}  // namespace sorrel::omp::ompt
