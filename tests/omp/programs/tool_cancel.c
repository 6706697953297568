// A program with a tool of its own (OMPT), which counts what is cancelled. Needs
// OMP_CANCELLATION=true and four threads.
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "tool_types.h"

enum { task_create = 5, task_schedule = 6, implicit_task = 7, cancel_event = 30 };

enum { parallel_flag = 1, sections_flag = 2, loop_flag = 4, taskgroup_flag = 8 };

enum { activated = 0x10, detected = 0x20, discarded = 0x40, flags_end = 0x80 };

static atomic_int counts[flags_end];
static atomic_int without_data, created_explicitly, ended_as_cancelled;
static atomic_uint_fast64_t last_id;

static void on_cancel(Data* task, int flags, const void* code) {
  (void)code;
  if (task == NULL || task->value == 0) without_data++;
  if (flags > 0 && flags < flags_end) counts[flags]++;
}

static void on_implicit_task(
    int endpoint, Data* parallel, Data* task, unsigned size, unsigned index, int flags) {
  (void)parallel, (void)size, (void)index, (void)flags;
  if (endpoint == 1) task->value = ++last_id;
}

static void on_task_create(
    Data* task, const void* frame, Data* created, int flags, int has_items, const void* code) {
  (void)task, (void)frame, (void)flags, (void)has_items, (void)code;
  created->value = ++last_id;
  created_explicitly++;
}

static void on_task_schedule(Data* before, int status, Data* next) {
  (void)before, (void)next;
  const int cancel_status = 3;
  if (status == cancel_status) ended_as_cancelled++;
}

static int initialize(Lookup lookup, int device, Data* tool) {
  (void)device, (void)tool;
  int (*set)(int, Function) = (int (*)(int, Function))lookup("ompt_set_callback");
  const int always = 5;
  return set(cancel_event, (Function)on_cancel) == always &&
         set(implicit_task, (Function)on_implicit_task) == always &&
         set(task_create, (Function)on_task_create) == always &&
         set(task_schedule, (Function)on_task_schedule) == always;
}

static void finalize(Data* tool) {
  (void)tool;
  printf("parallel %d %d, loop %d %d, sections %d %d\n", counts[parallel_flag | activated],
         counts[parallel_flag | detected], counts[loop_flag | activated],
         counts[loop_flag | detected], counts[sections_flag | activated],
         counts[sections_flag | detected]);
  printf("taskgroup %d %d, discarded %d of %d, ended as cancelled %d, without data %d\n",
         counts[taskgroup_flag | activated], counts[taskgroup_flag | detected],
         counts[taskgroup_flag | discarded], created_explicitly, ended_as_cancelled, without_data);
}

__attribute__((visibility("default"))) Start* ompt_start_tool(unsigned version,
                                                              const char* runtime);

Start* ompt_start_tool(unsigned version, const char* runtime) {
  static Start start = {initialize, finalize, {0}};
  return version != 0 && runtime != NULL ? &start : NULL;
}

static void cancel_a_region(void) {
#pragma omp parallel num_threads(4)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
    }
    for (;;) {
      sched_yield();
#pragma omp cancellation point parallel
    }
  }
}

static void cancel_a_loop(void) {
#pragma omp parallel num_threads(4)
  {
#pragma omp for schedule(static, 1)
    for (int i = 0; i < 4; i++) {
      if (i == 0) {
#pragma omp cancel for
      }
      for (;;) {
        sched_yield();
#pragma omp cancellation point for
      }
    }
  }
}

static void cancel_sections(void) {
#pragma omp parallel num_threads(1)
  {
#pragma omp sections
    {
#pragma omp section
      {
#pragma omp cancel sections
      }
#pragma omp section
      without_data++;
    }
  }
}

// The first task cancels the group when the others, which depend on it, have been created.
static void cancel_a_taskgroup(void) {
  atomic_int are_created = 0;
  int order = 0;
  (void)order;
#pragma omp parallel num_threads(4) shared(are_created, order)
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task depend(out : order) shared(are_created)
    {
      while (!are_created)
        sched_yield();
#pragma omp cancel taskgroup
    }
    for (int i = 0; i < 9; i++) {
#pragma omp task depend(in : order)
      without_data++;
    }
    are_created = 1;
  }
}

int main(void) {
  cancel_a_region();
  cancel_a_loop();
  cancel_sections();
  cancel_a_taskgroup();
  return 0;
}
