// A program with a tool of its own (OMPT), which counts events and compares. tool THREADS
#include <omp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if __has_include(<omp-tools.h>)
// Its declaration has other types.
#define ompt_start_tool declared_start_tool
#include <omp-tools.h>
#undef ompt_start_tool
#define HAS_STANDARD 1
#endif

#include "tool_types.h"

enum {
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
  mutex_acquired = 27
};

#ifdef HAS_STANDARD
_Static_assert(sizeof(Data) == sizeof(ompt_data_t), "");
_Static_assert(sizeof(Frame) == sizeof(ompt_frame_t), "");
_Static_assert(sizeof(Start) == sizeof(ompt_start_tool_result_t), "");
_Static_assert(sizeof(Dependence) == sizeof(ompt_dependence_t), "");
_Static_assert(task_create == (int)ompt_callback_task_create, "");
_Static_assert(implicit_task == (int)ompt_callback_implicit_task, "");
_Static_assert(sync_region_wait == (int)ompt_callback_sync_region_wait, "");
_Static_assert(mutex_released == (int)ompt_callback_mutex_released, "");
_Static_assert(dependences == (int)ompt_callback_dependences, "");
_Static_assert(work == (int)ompt_callback_work, "");
_Static_assert(sync_region == (int)ompt_callback_sync_region, "");
_Static_assert(mutex_acquire == (int)ompt_callback_mutex_acquire, "");
_Static_assert(mutex_acquired == (int)ompt_callback_mutex_acquired, "");
#endif

enum {
  begin = 1,
  end = 2,
  initial_flag = 1,
  implicit_flag = 2,
  explicit_flag = 4,
  taskwait_flag = 16
};

static Data* (*get_thread_data)(void);
static int (*get_task_info)(int, int*, Data**, Frame**, Data**, int*);
static int (*get_parallel_info)(int, Data**, int*);

static atomic_long counts[64][3];
static atomic_long created, completed, dependence_items, threads_seen, wrong;
static atomic_uint_fast64_t last_id;
static __thread uint64_t own_thread;
static int threads;

static uint64_t new_id(void) {
  return atomic_fetch_add(&last_id, 1) + 1;
}

static void expect(const char* what, int is_right) {
  if (is_right) return;
  if (atomic_fetch_add(&wrong, 1) < 10) printf("wrong: %s\n", what);
}

static void check_thread(void) {
  const Data* data = get_thread_data();
  expect("the thread's data", data != NULL && data->value == own_thread && own_thread != 0);
}

static void on_thread_begin(int kind, Data* data) {
  (void)kind;
  own_thread = data->value = new_id();
  atomic_fetch_add(&threads_seen, 1);
}

static void on_parallel_begin(
    Data* task, const Frame* frame, Data* parallel, unsigned size, int flags, const void* code) {
  (void)frame, (void)size, (void)flags;
  check_thread();
  expect("the encountering task", task->value != 0);
  expect("the region's code", code != NULL);
  parallel->value = new_id();
  counts[parallel_begin][begin]++;
}

static void on_parallel_end(Data* parallel, Data* task, int flags, const void* code) {
  (void)flags, (void)code;
  check_thread();
  expect("the region's data at its end", parallel->value != 0 && task->value != 0);
  counts[parallel_begin][end]++;
}

static void on_implicit_task(
    int endpoint, Data* parallel, Data* task, unsigned size, unsigned index, int flags) {
  if (flags == initial_flag) {
    if (endpoint == begin) task->value = new_id();
    return;
  }
  check_thread();
  if (endpoint == begin) {
    expect("the region of a new implicit task", parallel != NULL && parallel->value != 0);
    expect("an implicit task's place", index < size);
    task->value = new_id();
  } else {
    expect("the implicit task's data at its end", task->value != 0);
  }
  counts[implicit_task][endpoint]++;
}

static void on_sync(int event, int kind, int endpoint, Data* task) {
  (void)kind;
  check_thread();
  expect("the task that waits", task != NULL && task->value != 0);
  counts[event][endpoint]++;
}

static void on_sync_region(int kind, int endpoint, Data* parallel, Data* task, const void* code) {
  (void)parallel, (void)code;
  on_sync(sync_region, kind, endpoint, task);
}

static void on_sync_wait(int kind, int endpoint, Data* parallel, Data* task, const void* code) {
  (void)parallel, (void)code;
  on_sync(sync_region_wait, kind, endpoint, task);
}

static void on_work(
    int kind, int endpoint, Data* parallel, Data* task, uint64_t count, const void* code) {
  (void)count, (void)code;
  check_thread();
  expect("the task at work", parallel->value != 0 && task->value != 0);
  const int dynamic_loop = 11;
  if (kind == dynamic_loop) counts[work][endpoint]++;
}

static void on_task_create(Data* task,
                           const Frame* frame,
                           Data* created_task,
                           int flags,
                           int has_items,
                           const void* code) {
  (void)frame, (void)code, (void)has_items;
  if ((flags & (explicit_flag | taskwait_flag)) == 0) return;
  check_thread();
  expect("the creating task", task->value != 0);
  created_task->value = new_id();
  if ((flags & explicit_flag) != 0) created++;
}

static void on_task_schedule(Data* before, int status, Data* next) {
  check_thread();
  expect("the task before", before->value != 0);
  if (status == 1 || status == 3) completed++;
  if (status == 7) expect("the next task", next != NULL && next->value != 0);
}

static void on_dependences(Data* task, const Dependence* list, int count) {
  expect("the task with dependences", task->value != 0);
  for (int i = 0; i < count; i++)
    expect("a dependence", list[i].variable.ptr != NULL && list[i].kind >= 1);
  dependence_items += count;
}

static void on_acquire(int kind, unsigned hint, unsigned impl, uint64_t id, const void* code) {
  (void)hint, (void)impl, (void)code;
  if (kind == 5 || kind == 1) expect("a mutex", id != 0), counts[mutex_acquire][begin]++;
}

static void on_acquired(int kind, uint64_t id, const void* code) {
  (void)code;
  if (kind == 5 || kind == 1) expect("a mutex", id != 0), counts[mutex_acquired][begin]++;
}

static void on_released(int kind, uint64_t id, const void* code) {
  (void)code;
  if (kind == 5 || kind == 1) expect("a mutex", id != 0), counts[mutex_released][begin]++;
}

static int initialize(Lookup lookup, int device, Data* tool) {
  (void)device;
  int (*set)(int, Function) = (int (*)(int, Function))lookup("ompt_set_callback");
  get_thread_data = (Data * (*)(void)) lookup("ompt_get_thread_data");
  get_task_info = (int (*)(int, int*, Data**, Frame**, Data**, int*))lookup("ompt_get_task_info");
  get_parallel_info = (int (*)(int, Data**, int*))lookup("ompt_get_parallel_info");
  expect("inquiries",
         get_thread_data != NULL && get_task_info != NULL && get_parallel_info != NULL);
  expect("an unknown inquiry", lookup("ompt_get_nothing") == NULL);

  const struct {
    int event;
    Function callback;
  } callbacks[] = {{thread_begin, (Function)on_thread_begin},
                   {parallel_begin, (Function)on_parallel_begin},
                   {parallel_end, (Function)on_parallel_end},
                   {implicit_task, (Function)on_implicit_task},
                   {sync_region, (Function)on_sync_region},
                   {sync_region_wait, (Function)on_sync_wait},
                   {work, (Function)on_work},
                   {task_create, (Function)on_task_create},
                   {task_schedule, (Function)on_task_schedule},
                   {dependences, (Function)on_dependences},
                   {mutex_acquire, (Function)on_acquire},
                   {mutex_acquired, (Function)on_acquired},
                   {mutex_released, (Function)on_released}};

  for (unsigned i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
    expect("ompt_set_callback",
           set(callbacks[i].event, callbacks[i].callback) == (callbacks[i].event == work ? 3 : 5));
  tool->value = 7;
  return 1;
}

enum { rounds = 20 };

static long sum;

static void finalize(Data* tool) {
  printf("sum %ld, threads seen %d\n", sum, threads_seen >= threads);
  printf("regions %ld %ld, implicit tasks %ld %ld\n", counts[parallel_begin][begin],
         counts[parallel_begin][end], counts[implicit_task][begin], counts[implicit_task][end]);
  printf("tasks %ld %ld, dependences %ld\n", created, completed, dependence_items);
  printf("loops %ld %ld, mutexes %ld %ld %ld\n", counts[work][begin], counts[work][end],
         counts[mutex_acquire][begin], counts[mutex_acquired][begin],
         counts[mutex_released][begin]);
  printf("waits balance %d %d, enough %d\n", counts[sync_region][begin] == counts[sync_region][end],
         counts[sync_region_wait][begin] == counts[sync_region_wait][end],
         counts[sync_region_wait][begin] >= 3L * rounds * threads);
  printf("the tool ends: %d, %ld wrong\n", (int)tool->value, wrong);
}

__attribute__((visibility("default"))) Start* ompt_start_tool(unsigned version,
                                                              const char* runtime);

Start* ompt_start_tool(unsigned version, const char* runtime) {
  static Start start = {initialize, finalize, {0}};
  return version != 0 && runtime != NULL ? &start : NULL;
}

static void check_place(int flag) {
  if (get_task_info == NULL) return;
  int flags = 0, number = -1, size = 0;
  Data *task = NULL, *parallel = NULL, *same = NULL;
  Frame* frame = NULL;
  expect("task info", get_task_info(0, &flags, &task, &frame, &parallel, &number) == 2);
  expect("the kind of task", (flags & 7) == flag);
  expect("the task's data", task != NULL && task->value != 0);
  expect("the number in the team", number == omp_get_thread_num());
  expect("parallel info", get_parallel_info(0, &same, &size) == 2);
  expect("the team", same == parallel && size == omp_get_num_threads());
  Data* outer = NULL;
  expect("the outer task", get_task_info(1, &flags, &outer, NULL, NULL, NULL) == 2);
  expect("the outer task's data", outer != task);
}

int main(int count, char** arguments) {
  threads = count > 1 ? atoi(arguments[1]) : 4;
  omp_lock_t lock;
  omp_init_lock(&lock);
  for (int round = 0; round < rounds; round++) {
#pragma omp parallel num_threads(threads)
    {
      check_place(implicit_flag);
#pragma omp for schedule(dynamic, 1)
      for (int i = 0; i < 50; i++) {
#pragma omp critical
        sum += i;
      }
      omp_set_lock(&lock);
      sum++;
      omp_unset_lock(&lock);
#pragma omp barrier
#pragma omp single
      {
        int a = 0;
        for (int i = 0; i < 10; i++) {
#pragma omp task depend(inout : a)
          {
            check_place(explicit_flag);
            a++;
          }
        }
#pragma omp taskwait
#pragma omp taskgroup
        {
#pragma omp task
          sum++;
        }
#pragma omp task if (0)
        sum++;
      }
    }
  }
  if (get_task_info == NULL) {
    printf("no tool, sum %ld\n", sum);
    return 0;
  }
  // The last threads may be told of the end of their tasks a moment later.
  for (int i = 0; i < 60000 && counts[implicit_task][begin] != counts[implicit_task][end]; i++)
    usleep(1000);
  return wrong != 0;
}
