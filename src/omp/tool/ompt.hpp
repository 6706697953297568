//! OMPT - the types of the OpenMP standard's interface for tools, as far as this library uses them.
//! The numbers and the layouts are the standard's (5.1, chapter 4).
#pragma once

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
  sync_region_wait = 16,
  mutex_released = 17,
  dependences = 18,
  work = 20,
  sync_region = 23,
  mutex_acquire = 26,
  mutex_acquired = 27,
  cancel = 30,
  event_count = 38
};

enum class SetResult : int { error = 0, never = 1, always = 5 };
enum class ThreadKind : int { initial = 1, worker = 2 };
enum class Endpoint : int { begin = 1, end = 2 };
enum class Sync : int {
  barrier_explicit = 3,
  barrier_implementation = 4,
  taskwait = 5,
  taskgroup = 6,
  barrier_implicit_workshare = 8,
  barrier_implicit_parallel = 9
};
enum class Work : int { loop = 1, sections = 2, single_executor = 3, single_other = 4 };
enum class Mutex : int { lock = 1, nest_lock = 3, critical = 5, atomic = 6, ordered = 7 };
enum class TaskStatus : int { complete = 1, yield = 2, cancel = 3, switched = 7 };

enum TaskFlag : unsigned {
  task_initial = 0x1,
  task_implicit = 0x2,
  task_explicit = 0x4,
  task_undeferred = 0x0800'0000,
  task_untied = 0x1000'0000,
  task_is_final = 0x2000'0000
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

enum ParallelFlag : unsigned { invoker_runtime = 0x2, parallel_team = 0x8000'0000 };

struct Dependence {
  Data variable;
  int kind;
};
enum class DependenceKind : int { in = 1, out = 2, inout = 3 };

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

}  // namespace sorrel::omp::ompt
