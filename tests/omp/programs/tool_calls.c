// A program with a tool of its own (OMPT), which checks frames and addresses of constructs, and
// counts events that only some constructs have. Compiled by GCC and by clang. Needs two threads at
// least. tool_calls THREADS
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool_types.h"

enum {
  thread_begin = 1,
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
  event_end = 38
};

enum { set_never = 1, set_sometimes = 3, set_always = 5 };

enum { begin = 1, end = 2 };

enum { mutex_lock = 1, test_lock, nested, test_nested, critical, atomic, ordered, mutex_end };

enum { flags_end = 16 };

static Data* (*get_thread_data)(void);
static int (*get_task_info)(int, int*, Data**, Frame**, Data**, int*);

static atomic_int counts[event_end][flags_end][3];
static atomic_int sources, sinks, mutexes, wrong;
/// Iterations of the chunks of dynamic and guided loops, and of taskloops; by kind of construct.
static atomic_int iterations[flags_end];
static _Thread_local int last_work;
static atomic_uint_fast64_t last_id;
static int threads;

static void expect(const char* what, int is_right) {
  if (is_right) return;
  if (wrong++ < 10) printf("wrong: %s\n", what);
}

static void expect_code(const char* what, const void* code) {
  extern const char __executable_start, etext;
  expect(what, (const char*)code > &__executable_start && (const char*)code < &etext);
}

/// The frames of the caller's task: whether it has been called by the library, and calls it.
static void expect_frames(const char* what, int level, int has_exit, int has_enter) {
  Frame* frame = NULL;
  expect(what, get_task_info(level, NULL, NULL, &frame, NULL, NULL) == 2);
  if (frame == NULL) return;
  expect(what, (frame->exit_frame.ptr != NULL) == has_exit);
  expect(what, (frame->enter_frame.ptr != NULL) == has_enter);
  // The stack grows down: the task's own frames lie below those that called it, above this one.
  const char* const here = __builtin_frame_address(0);
  if (level == 0 && has_exit) expect(what, (const char*)frame->exit_frame.ptr > here);
  if (level == 0 && has_enter) expect(what, (const char*)frame->enter_frame.ptr > here);
  if (level == 0 && has_exit && has_enter)
    expect(what, (const char*)frame->exit_frame.ptr > (const char*)frame->enter_frame.ptr);
}

static void on_thread_begin(int kind, Data* data) {
  (void)kind;
  expect("a thread begins twice", data->value == 0);
  data->value = ++last_id;
}

static void on_parallel_begin(
    Data* task, const Frame* frame, Data* parallel, unsigned size, int flags, const void* code) {
  (void)task;
  const int is_league = (flags & 0x40000000) != 0;
  expect("the requested threads", is_league ? size == 4 : size == 2 || size == (unsigned)threads);
  expect_code("the code of a region", code);
  expect("the frame of a region", frame->enter_frame.ptr != NULL);
  expect("a new region has data", parallel->value == 0);
  parallel->value = ++last_id;
  counts[parallel_begin][(flags & 0x40000000) != 0][begin]++;
}

static void on_parallel_end(Data* parallel, Data* task, int flags, const void* code) {
  (void)task;
  expect("the data of a region", parallel->value != 0);
  expect_code("the code of a region's end", code);
  counts[parallel_begin][(flags & 0x40000000) != 0][end]++;
}

static void on_task_create(
    Data* task, const Frame* frame, Data* created, int flags, int has_items, const void* code) {
  (void)task, (void)flags, (void)has_items;
  expect_code("the code of a task", code);
  expect("the frame of a task's creator", frame->enter_frame.ptr != NULL);
  created->value = ++last_id;
}

static void on_task_schedule(Data* before, int status, Data* next) {
  (void)before, (void)next;
  counts[task_schedule][status][begin]++;
}

static void on_implicit_task(
    int endpoint, Data* parallel, Data* task, unsigned size, unsigned index, int flags) {
  (void)parallel, (void)index;
  expect("the data of a thread", get_thread_data()->value != 0);
  if (endpoint == begin) {
    task->value = ++last_id;
    if (flags == 1) expect("teams of a league", size == 1 || size == 4);
  }
  counts[implicit_task][flags][endpoint]++;
}

static void on_sync(int kind, int endpoint, Data* parallel, Data* task, const void* code) {
  (void)parallel;
  const int is_barrier_explicit = kind == 3;
  expect("the waiting task", task->value != 0);
  expect_code("the code of a wait", code);
  counts[sync_region][kind][endpoint]++;
  if (is_barrier_explicit) expect_frames("the frames in a barrier", 0, 1, 1);
}

static void on_work(
    int kind, int endpoint, Data* parallel, Data* task, uint64_t count, const void* code) {
  (void)parallel, (void)task, (void)count;
  expect_code("the code of a work-sharing construct", code);
  if (endpoint == begin) last_work = kind;
  counts[work][kind][endpoint]++;
}

static void on_dispatch(Data* parallel, Data* task, int kind, Data instance) {
  enum { section = 2, loop_chunk, taskloop_chunk, chunk_end };

  expect("the region of a chunk", parallel->value != 0 && task->value != 0);
  expect("the kind of a chunk", kind >= section && kind < chunk_end);
  counts[dispatch][kind][begin]++;
  if (kind == section) return expect_code("the code of a section", instance.ptr);
  const LoopChunk* const chunk = instance.ptr;
  expect("the iterations of a chunk", chunk->start + chunk->iterations <= 20);
  expect("a chunk that is not empty", chunk->iterations > 0);
  iterations[kind == taskloop_chunk ? 7 : last_work] += (int)chunk->iterations;
}

static void on_masked(int endpoint, Data* parallel, Data* task, const void* code) {
  (void)parallel, (void)task;
  expect_code("the code of masked", code);
  counts[masked][0][endpoint]++;
}

static void on_flush(Data* thread, const void* code) {
  expect("the thread of a flush", thread == get_thread_data());
  expect_code("the code of a flush", code);
  counts[flush][0][begin]++;
}

static void on_reduction(int kind, int endpoint, Data* parallel, Data* task, const void* code) {
  (void)parallel, (void)task;
  expect("the kind of a reduction", kind == 7);
  expect_code("the code of a reduction", code);
  counts[reduction][0][endpoint]++;
}

static void on_mutex(int event, int kind, uint64_t id, const void* code) {
  expect("a mutex", id != 0 && kind > 0 && kind < mutex_end);
  expect_code("the code of a mutex", code);
  counts[event][kind][begin]++;
}

static void on_lock_init(int kind, unsigned hint, unsigned impl, uint64_t id, const void* code) {
  (void)hint, (void)impl;
  on_mutex(lock_init, kind, id, code);
}

static void on_lock_destroy(int kind, uint64_t id, const void* code) {
  on_mutex(lock_destroy, kind, id, code);
}

static void on_acquire(int kind, unsigned hint, unsigned impl, uint64_t id, const void* code) {
  (void)hint, (void)impl;
  on_mutex(mutex_acquire, kind, id, code);
}

static void on_acquired(int kind, uint64_t id, const void* code) {
  on_mutex(mutex_acquired, kind, id, code);
}

static void on_released(int kind, uint64_t id, const void* code) {
  on_mutex(mutex_released, kind, id, code);
}

static void on_nest_lock(int endpoint, uint64_t id, const void* code) {
  on_mutex(nest_lock, endpoint, id, code);
}

static void on_dependences(Data* task, const Dependence* list, int count) {
  (void)task;
  for (int i = 0; i < count; i++) {
    sources += list[i].kind == 5;
    sinks += list[i].kind == 6;
    mutexes += list[i].kind == 4;
  }
}

static void on_task_dependence(Data* before, Data* after) {
  expect("two tasks of a dependence", before->value != 0 && after->value != 0);
  counts[task_dependence][0][begin]++;
}

static void on_target(
    int kind, int endpoint, int device, Data* task, uint64_t id, const void* code) {
  (void)task;
  expect("a target construct", device == 0 && id != 0);
  expect_code("the code of a target construct", code);
  counts[target][kind][endpoint]++;
}

static void on_target_submit(uint64_t id, uint64_t operation, unsigned team_count) {
  (void)operation, (void)team_count;
  expect("a submitted target region", id != 0);
  counts[target_submit][0][begin]++;
}

static int initialize(Lookup lookup, int device, Data* tool) {
  (void)device, (void)tool;
  int (*set)(int, Function) = (int (*)(int, Function))lookup("ompt_set_callback");
  get_thread_data = (Data * (*)(void)) lookup("ompt_get_thread_data");
  get_task_info = (int (*)(int, int*, Data**, Frame**, Data**, int*))lookup("ompt_get_task_info");

  const struct {
    int event;
    Function callback;
    int result;
  } callbacks[] = {{thread_begin, (Function)on_thread_begin, set_always},
                   {parallel_begin, (Function)on_parallel_begin, set_always},
                   {parallel_end, (Function)on_parallel_end, set_always},
                   {task_create, (Function)on_task_create, set_always},
                   {task_schedule, (Function)on_task_schedule, set_always},
                   {implicit_task, (Function)on_implicit_task, set_always},
                   {target, (Function)on_target, set_sometimes},
                   {target_submit, (Function)on_target_submit, set_sometimes},
                   {mutex_released, (Function)on_released, set_always},
                   {dependences, (Function)on_dependences, set_always},
                   {task_dependence, (Function)on_task_dependence, set_always},
                   {work, (Function)on_work, set_sometimes},
                   {masked, (Function)on_masked, set_sometimes},
                   {sync_region, (Function)on_sync, set_always},
                   {lock_init, (Function)on_lock_init, set_always},
                   {lock_destroy, (Function)on_lock_destroy, set_always},
                   {mutex_acquire, (Function)on_acquire, set_always},
                   {mutex_acquired, (Function)on_acquired, set_always},
                   {nest_lock, (Function)on_nest_lock, set_always},
                   {flush, (Function)on_flush, set_sometimes},
                   {reduction, (Function)on_reduction, set_sometimes},
                   {dispatch, (Function)on_dispatch, set_sometimes}};

  for (unsigned i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
    expect("the answer to ompt_set_callback",
           set(callbacks[i].event, callbacks[i].callback) == callbacks[i].result);
  // Events of devices: none happens.
  for (int event = 9; event <= 36; event++) {
    if (event == 9 || (event >= 12 && event <= 15) || event == 22 || event == 34 || event == 36)
      expect("the answer for an event that never happens", set(event, NULL) == set_never);
  }
  expect("the answer for no event", set(0, NULL) == 0 && set(event_end, NULL) == 0);
  int (*next_state)(int, int*, const char**) =
      (int (*)(int, int*, const char**))lookup("ompt_enumerate_states");
  const int undefined = 0x102;
  int state_count = 0, state = undefined;
  const char* name = NULL;
  while (state_count < 100 && next_state(state, &state, &name))
    state_count++;
  expect("an end of the states", state_count > 5 && state_count < 100 && state != undefined);
  // The tool uses the team that the program will use.
#pragma omp parallel num_threads(threads)
  expect("the tool's own region", omp_get_num_threads() == threads);
  return 1;
}

static void print(const char* what, int event, int kind) {
  printf("%s %d %d\n", what, counts[event][kind][begin], counts[event][kind][end]);
}

static void finalize(Data* tool) {
  (void)tool;
  printf("leagues %d %d, initial tasks %d %d\n", counts[parallel_begin][1][begin],
         counts[parallel_begin][1][end], counts[implicit_task][1][begin],
         counts[implicit_task][1][end]);
  printf("locks %d %d, taken %d %d, attempts %d %d, released %d\n", counts[lock_init][1][begin],
         counts[lock_destroy][1][begin], counts[mutex_acquire][mutex_lock][begin],
         counts[mutex_acquired][mutex_lock][begin], counts[mutex_acquire][test_lock][begin],
         counts[mutex_acquired][test_lock][begin], counts[mutex_released][mutex_lock][begin]);
  printf("nest locks %d %d, taken %d %d, attempts %d %d, again %d %d, released %d\n",
         counts[lock_init][nested][begin], counts[lock_destroy][nested][begin],
         counts[mutex_acquire][nested][begin], counts[mutex_acquired][nested][begin],
         counts[mutex_acquire][test_nested][begin], counts[mutex_acquired][test_nested][begin],
         counts[nest_lock][begin][begin], counts[nest_lock][end][begin],
         counts[mutex_released][nested][begin]);
  printf("ordered %d %d %d\n", counts[mutex_acquire][ordered][begin],
         counts[mutex_acquired][ordered][begin], counts[mutex_released][ordered][begin]);
  print("taskloops", work, 7);
  print("dynamic loops", work, 11);
  print("guided loops", work, 12);
  printf("sources %d, sinks %d\n", sources, sinks);
  printf("chunks: dynamic %d, guided %d, taskloop %d in %d; sections %d\n", iterations[11],
         iterations[12], iterations[7], counts[dispatch][4][begin], counts[dispatch][2][begin]);
  printf("mutexinoutset %d\n", mutexes);
  printf("detached %d, fulfilled early %d, late %d\n", counts[task_schedule][4][begin],
         counts[task_schedule][5][begin], counts[task_schedule][6][begin]);
  print("masked", masked, 0);
  printf("flushes %d\n", counts[flush][0][begin]);
  print("reductions", reduction, 0);
  printf("targets %d %d, submitted %d, data %d %d, updates %d\n", counts[target][1][begin],
         counts[target][1][end], counts[target_submit][0][begin], counts[target][2][begin],
         counts[target][3][begin], counts[target][4][begin]);
  printf("%d wrong\n", wrong);
}

__attribute__((visibility("default"))) Start* ompt_start_tool(unsigned version,
                                                              const char* runtime);

Start* ompt_start_tool(unsigned version, const char* runtime) {
  static Start start = {initialize, finalize, {0}};
  return version != 0 && runtime != NULL ? &start : NULL;
}

static void frames(void) {
  expect_frames("the frames of the initial task", 0, 0, 0);
#pragma omp parallel num_threads(threads)
  {
    expect_frames("the frames of an implicit task", 0, 1, 0);
    expect_frames("the frames of its parent", 1, 0, 1);
#pragma omp barrier
#pragma omp task
    {
      expect_frames("the frames of a task", 0, 1, 0);
      expect_frames("the frames of its creator's", 1, 1, 1);
    }
#pragma omp taskwait
#pragma omp task if (0)
    expect_frames("the frames of an included task", 0, 1, 0);
    expect_frames("the frames after tasks", 0, 1, 0);
#pragma omp parallel num_threads(2)
    {
      expect_frames("the frames of an inner implicit task", 0, 1, 0);
      expect_frames("the frames of its parent", 1, 1, 1);
    }
    expect_frames("the frames after a region", 0, 1, 0);
  }
  expect_frames("the frames at the end", 0, 0, 0);
}

static void locks(void) {
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(threads)
  {
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
    omp_set_nest_lock(&nest);
    omp_set_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
  }
  expect("a free lock", omp_test_lock(&lock));
  expect("a taken lock", !omp_test_lock(&lock));
  omp_unset_lock(&lock);
  expect("a free nest lock", omp_test_nest_lock(&nest) == 1);
  expect("a nest lock again", omp_test_nest_lock(&nest) == 2);
  omp_unset_nest_lock(&nest);
  omp_unset_nest_lock(&nest);
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest);
}

static void loops(void) {
  static int matrix[20][2];
  long sum = 0, product = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for ordered schedule(dynamic, 1)
    for (int i = 0; i < 20; i++) {
#pragma omp ordered
      matrix[i][0] = i;
    }
#pragma omp for schedule(guided, 2)
    for (int i = 0; i < 20; i++)
      matrix[i][1] = i;
#pragma omp for ordered(1) schedule(static, 1)
    for (int i = 0; i < 20; i++) {
#pragma omp ordered depend(sink : i - 1)
      matrix[i][0] += i == 0 ? 0 : matrix[i - 1][0];
#pragma omp ordered depend(source)
    }
#pragma omp for reduction(+ : sum) reduction(max : product) schedule(static)
    for (int i = 0; i < 20; i++) {
      sum += matrix[i][1];
      product = product > i ? product : i;
    }
#pragma omp masked
#pragma omp taskloop num_tasks(5)
    for (int i = 0; i < 20; i++)
      matrix[i][1]++;
#pragma omp flush
#pragma omp sections
    {
#pragma omp section
      product = product > 1 ? product : 1;
#pragma omp section
      threads = threads > 1 ? threads : 1;
#pragma omp section
      sum = sum > 1 ? sum : 1;
    }
#pragma omp single
    for (int i = 0; i < 7; i++) {
#pragma omp task depend(mutexinoutset : sum)
      sum += i < 0;
    }
  }
  expect("sums", sum == 190 && product == 19 && matrix[19][0] == 190);
}

static void leagues(void) {
#pragma omp teams num_teams(4) thread_limit(1)
  expect("a team", omp_get_num_teams() == 4);
}

static void detached_tasks(void) {
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    omp_event_handle_t late, early;
#pragma omp task detach(early)
    omp_fulfill_event(early);
    atomic_int is_done = 0;
#pragma omp task detach(late) shared(is_done)
    is_done = 1;
    // Another thread runs it at the barrier.
    while (!is_done)
      sched_yield();
    while (counts[task_schedule][4][begin] == 0)
      sched_yield();
    omp_fulfill_event(late);
  }
}

static void targets(void) {
  int a = 0, b[4] = {0};
#pragma omp target map(tofrom : a)
  a = 7;
#pragma omp target data map(tofrom : b)
  {
#pragma omp target update to(b)
#pragma omp target map(b)
    b[2] = a;
  }
  expect("target regions", a == 7 && b[2] == 7);
}

int main(int argument_count, char** arguments) {
  threads = argument_count > 1 ? atoi(arguments[1]) : 4;
  // The first call finds the tool.
  if (omp_get_max_threads() < 1 || get_task_info == NULL) return 1;
  frames();
  locks();
  loops();
  leagues();
  detached_tasks();
  targets();
  return wrong != 0;
}
