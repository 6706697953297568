// GOMP_*: tasks, taskloops, taskgroups and reductions over them; no logic except the cutting of
// taskloops.
#include <cstring>

#include "omp/entry/entry_point.hpp"
#include "omp/icv/environment.hpp"
#include "omp/region/native_thread.hpp"
#include "omp/region/program_call.hpp"
#include "omp/region/region.hpp"
#include "omp/sched/schedule.hpp"
#include "omp/tasking/reduction.hpp"
#include "omp/tasking/tasking.hpp"
#include "omp/tasking/taskloop.hpp"
#include "omp/tasking/tool_events.hpp"
#include "omp/worksharing/loop.hpp"

namespace {

using namespace sorrel::omp;
using Ull = unsigned long long;

struct TaskloopRequest {
  TaskRequest task;
  std::uint64_t start;
  std::uint64_t step;
  std::uint64_t trip_count;
  std::uint64_t number;  ///< of tasks, or the grain
};

/// The first words of a taskloop's data, as passed by the construct.
struct TaskloopData {
  TaskRange range;
  std::uintptr_t* reductions;
};

Grain grain_of(std::uint32_t flags) {
  if ((flags & task_grainsize) == 0) return Grain::task_count;
  return (flags & task_strict) == 0 ? Grain::least : Grain::exact;
}

void run_taskloop(TaskloopRequest request, std::uint64_t end_of_loop) {
  TeamThread& thread = this_thread();
  const std::uint32_t flags = request.task.flags;
  const bool has_group = (flags & task_nogroup) == 0;
  const bool has_reductions = (flags & task_reduction) != 0;
  if (has_group) begin_taskgroup(thread);
  if (has_reductions) {
    std::uintptr_t* reductions = static_cast<TaskloopData*>(request.task.data)->reductions;
    register_reductions(reductions, nullptr, thread.team->size);
    add_reductions(thread, reductions);
  }
  request.task.is_deferrable = (flags & task_if) != 0;
  request.task.flags = flags & task_final;
  const TaskloopCut cut =
      cut_taskloop(request.trip_count, request.number, grain_of(flags), thread.team->size);
  if (has_tool()) [[unlikely]]
    tell_work(thread, ompt::Work::taskloop, ompt::Endpoint::begin, request.trip_count);
  std::uint64_t begin = 0;
  for (std::uint64_t i = 0; i < cut.task_count; ++i) {
    const std::uint64_t size = cut.size + (i < cut.larger_count ? 1 : 0);
    const std::uint64_t end = begin + std::min(size, request.trip_count - begin);
    const TaskRange range{
        .first = request.start + begin * request.step,
        .end = end == request.trip_count ? end_of_loop : request.start + end * request.step};
    request.task.range = &range;
    if (has_tool()) [[unlikely]]
      this_thread().tool_chunk = {range.first, end - begin};
    make_task(this_thread(), request.task);
    begin = end;
  }
  if (has_tool()) [[unlikely]] {
    this_thread().tool_chunk = {};
    tell_work(this_thread(), ompt::Work::taskloop, ompt::Endpoint::end, request.trip_count);
  }
  if (has_group) end_taskgroup(this_thread());
}

TaskRequest task_request(void (*body)(void*),
                         void* data,
                         void (*copy)(void*, void*),
                         long bytes,
                         long alignment,
                         unsigned flags) {
  return {.body = body,
          .data = data,
          .copy = copy,
          .bytes = static_cast<std::size_t>(bytes),
          .alignment = static_cast<std::size_t>(alignment),
          .flags = flags};
}

}  // namespace

SORREL_ENTRY_POINT void GOMP_task(void (*body)(void*),
                                  void* data,
                                  void (*copy)(void*, void*),
                                  long bytes,
                                  long alignment,
                                  bool is_deferrable,
                                  unsigned flags,
                                  void** depend,
                                  int,
                                  void* detach) {
  const ProgramCall call;
  make_task(this_thread(), {.body = body,
                            .data = data,
                            .copy = copy,
                            .bytes = static_cast<std::size_t>(bytes),
                            .alignment = static_cast<std::size_t>(alignment),
                            .is_deferrable = is_deferrable,
                            .flags = flags,
                            .depend = depend,
                            .detach = static_cast<void**>(detach),
                            .ends_with_event = true});
}

SORREL_ENTRY_POINT void GOMP_taskwait() {
  const ProgramCall call;
  wait_for_children(this_thread());
}

SORREL_ENTRY_POINT void GOMP_taskwait_depend(void** depend) {
  const ProgramCall call;
  wait_for_children(this_thread(), depend);
}

// An empty task with these dependences.
SORREL_ENTRY_POINT void GOMP_taskwait_depend_nowait(void** depend) {
  const ProgramCall call;
  make_task(this_thread(), {.body = [](void*) {}, .flags = task_depend, .depend = depend});
}

SORREL_ENTRY_POINT void GOMP_taskyield() {
  const ProgramCall call;
  TeamThread& thread = this_thread();
  if (thread.team->size > 1) yield(thread);
}

SORREL_ENTRY_POINT void GOMP_taskgroup_start() {
  const ProgramCall call;
  begin_taskgroup(this_thread());
}

SORREL_ENTRY_POINT void GOMP_taskgroup_end() {
  const ProgramCall call;
  end_taskgroup(this_thread());
}

SORREL_ENTRY_POINT void GOMP_taskloop(void (*body)(void*),
                                      void* data,
                                      void (*copy)(void*, void*),
                                      long bytes,
                                      long alignment,
                                      unsigned flags,
                                      unsigned long number,
                                      int,
                                      long start,
                                      long end,
                                      long step) {
  const ProgramCall call;
  run_taskloop({.task = task_request(body, data, copy, bytes, alignment, flags),
                .start = static_cast<std::uint64_t>(start),
                .step = static_cast<std::uint64_t>(step),
                .trip_count = trip_count(start, end, step),
                .number = number},
               static_cast<std::uint64_t>(end));
}

SORREL_ENTRY_POINT void GOMP_taskloop_ull(void (*body)(void*),
                                          void* data,
                                          void (*copy)(void*, void*),
                                          long bytes,
                                          long alignment,
                                          unsigned flags,
                                          unsigned long number,
                                          int,
                                          Ull start,
                                          Ull end,
                                          Ull step) {
  const ProgramCall call;
  run_taskloop({.task = task_request(body, data, copy, bytes, alignment, flags),
                .start = start,
                .step = step,
                .trip_count = trip_count_unsigned((flags & task_up) != 0, start, end, step),
                .number = number},
               end);
}

SORREL_ENTRY_POINT void GOMP_taskgroup_reduction_register(std::uintptr_t* data) {
  TeamThread& thread = this_thread();
  register_reductions(data, nullptr, thread.team->size);
  add_reductions(thread, data);
}

SORREL_ENTRY_POINT void GOMP_taskgroup_reduction_unregister(std::uintptr_t* data) {
  unregister_reductions(data);
}

SORREL_ENTRY_POINT void GOMP_task_reduction_remap(size_t count,
                                                  size_t original_count,
                                                  void** pointers) {
  remap_reductions(this_thread(), count, original_count, pointers);
}

SORREL_ENTRY_POINT void GOMP_workshare_task_reduction_unregister(bool is_cancelled) {
  const ProgramCall call;
  TeamThread& thread = this_thread();
  std::uintptr_t* data = thread.task->taskgroup->reductions;
  end_taskgroup(thread);
  // All threads share the memory: wait until its last use.
  if (!is_cancelled) (void)wait_at_barrier(thread);
  if (thread.number == 0) unregister_reductions(data);
}

SORREL_ENTRY_POINT void omp_fulfill_event(Task* event) {
  const ProgramCall call;
  fulfill(this_thread(), *event);
}

// By value, as the module omp_lib declares the argument.
SORREL_ENTRY_POINT void omp_fulfill_event_(Task* event) {
  const ProgramCall call;
  fulfill(this_thread(), *event);
}
