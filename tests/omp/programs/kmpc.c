// Calls what clang and flang call for their constructs, as these do; results are compared with
// ones computed serially. Compiled by any compiler, linked with a library of libomp's name and
// symbol version.
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  int32_t reserved_1, flags, reserved_2, reserved_3;
  const char* source;
} Ident;

typedef int32_t Critical[8];
typedef void (*Microtask)(int32_t* global, int32_t* number, ...);
typedef struct Task Task;
typedef int32_t (*Routine)(int32_t global, Task* task);

struct Task {
  void* shareds;
  Routine routine;
  int32_t part;

  union {
    int32_t priority;
    Routine destructors;
  } first, second;
};

typedef struct {
  void* address;
  size_t bytes;
  uint8_t flags;
} Depend;

int32_t __kmpc_global_thread_num(Ident*);
void __kmpc_push_num_threads(Ident*, int32_t, int32_t);
void __kmpc_push_num_threads_list(Ident*, int32_t, uint32_t, const int32_t*);
void __kmpc_push_num_threads_strict(Ident*, int32_t, int32_t, int32_t, const char*);
void __kmpc_push_num_threads_list_strict(
    Ident*, int32_t, uint32_t, const int32_t*, int32_t, const char*);
void __kmpc_fork_call(Ident*, int32_t, Microtask, ...);
void __kmpc_push_num_teams(Ident*, int32_t, int32_t, int32_t);
void __kmpc_fork_teams(Ident*, int32_t, Microtask, ...);
void __kmpc_serialized_parallel(Ident*, int32_t);
void __kmpc_end_serialized_parallel(Ident*, int32_t);
void __kmpc_barrier(Ident*, int32_t);
int32_t __kmpc_cancel_barrier(Ident*, int32_t);
int32_t __kmpc_master(Ident*, int32_t);
int32_t __kmpc_masked(Ident*, int32_t, int32_t);
int32_t __kmpc_single(Ident*, int32_t);
void __kmpc_end_single(Ident*, int32_t);
void __kmpc_copyprivate(Ident*, int32_t, size_t, void*, void (*)(void*, void*), int32_t);
void __kmpc_critical(Ident*, int32_t, Critical*);
void __kmpc_end_critical(Ident*, int32_t, Critical*);
int32_t __kmpc_reduce(Ident*, int32_t, int32_t, size_t, void*, void (*)(void*, void*), Critical*);
void __kmpc_end_reduce(Ident*, int32_t, Critical*);
int32_t __kmpc_reduce_nowait(
    Ident*, int32_t, int32_t, size_t, void*, void (*)(void*, void*), Critical*);
void __kmpc_end_reduce_nowait(Ident*, int32_t, Critical*);
void __kmpc_for_static_init_4(
    Ident*, int32_t, int32_t, int32_t*, int32_t*, int32_t*, int32_t*, int32_t, int32_t);
void __kmpc_for_static_init_8u(
    Ident*, int32_t, int32_t, int32_t*, uint64_t*, uint64_t*, int64_t*, int64_t, int64_t);
void __kmpc_for_static_fini(Ident*, int32_t);
void __kmpc_dist_for_static_init_4(
    Ident*, int32_t, int32_t, int32_t*, int32_t*, int32_t*, int32_t*, int32_t*, int32_t, int32_t);
void __kmpc_dispatch_init_4(Ident*, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t);
int32_t __kmpc_dispatch_next_4(Ident*, int32_t, int32_t*, int32_t*, int32_t*, int32_t*);
void __kmpc_dispatch_fini_4(Ident*, int32_t);
void __kmpc_dispatch_init_8u(Ident*, int32_t, int32_t, uint64_t, uint64_t, int64_t, int64_t);
int32_t __kmpc_dispatch_next_8u(Ident*, int32_t, int32_t*, uint64_t*, uint64_t*, int64_t*);
void __kmpc_ordered(Ident*, int32_t);
void __kmpc_end_ordered(Ident*, int32_t);
void __kmpc_doacross_init(Ident*, int32_t, int32_t, const int64_t*);
void __kmpc_doacross_post(Ident*, int32_t, const int64_t*);
void __kmpc_doacross_wait(Ident*, int32_t, const int64_t*);
void __kmpc_doacross_fini(Ident*, int32_t);
Task* __kmpc_omp_task_alloc(Ident*, int32_t, int32_t, size_t, size_t, Routine);
int32_t __kmpc_omp_task(Ident*, int32_t, Task*);
int32_t __kmpc_omp_task_with_deps(
    Ident*, int32_t, Task*, int32_t, const Depend*, int32_t, const Depend*);
void __kmpc_omp_wait_deps(Ident*, int32_t, int32_t, const Depend*, int32_t, const Depend*);
void __kmpc_omp_task_begin_if0(Ident*, int32_t, Task*);
void __kmpc_omp_task_complete_if0(Ident*, int32_t, Task*);
int32_t __kmpc_omp_taskwait(Ident*, int32_t);
void __kmpc_taskgroup(Ident*, int32_t);
void __kmpc_end_taskgroup(Ident*, int32_t);
void __kmpc_taskloop(Ident*,
                     int32_t,
                     Task*,
                     int32_t,
                     uint64_t*,
                     uint64_t*,
                     int64_t,
                     int32_t,
                     int32_t,
                     uint64_t,
                     void*);
void* __kmpc_taskred_init(int32_t, int32_t, void*);
void* __kmpc_taskred_modifier_init(Ident*, int32_t, int32_t, int32_t, void*);
void __kmpc_task_reduction_modifier_fini(Ident*, int32_t, int32_t);
void* __kmpc_task_reduction_get_th_data(int32_t, void*, void*);
void* __kmpc_task_allow_completion_event(Ident*, int32_t, Task*);
void* __kmpc_task_reduction_modifier_init(Ident*, int32_t, int32_t, int32_t, void*);
void __kmpc_proxy_task_completed_ooo(Task*);
uint64_t __kmpc_get_taskid(void);
uint64_t __kmpc_get_parent_taskid(void);
int32_t __kmpc_sections_init(Ident*, int32_t);
int32_t __kmpc_next_section(Ident*, int32_t, int32_t);
void __kmpc_end_sections(Ident*, int32_t);
int __kmpc_pause_resource(int);
void __kmpc_threadprivate_register_vec(Ident*,
                                       void*,
                                       void* (*)(void*, size_t),
                                       void* (*)(void*, void*, size_t),
                                       void (*)(void*, size_t),
                                       size_t);
int32_t __kmpc_cancel(Ident*, int32_t, int32_t);
int32_t __kmpc_cancellationpoint(Ident*, int32_t, int32_t);
void* __kmpc_threadprivate_cached(Ident*, int32_t, void*, size_t, void***);
void* __kmpc_alloc(int, size_t, uintptr_t);
void __kmpc_free(int, void*, uintptr_t);
void __kmpc_atomic_fixed4_add(Ident*, int32_t, int32_t*, int32_t);
void __kmpc_atomic_float8_mul(Ident*, int32_t, double*, double);
int64_t __kmpc_atomic_fixed8_max_cpt(Ident*, int32_t, int64_t*, int64_t, int32_t);
void __kmpc_atomic_float10_add(Ident*, int32_t, long double*, long double);
int omp_get_thread_num(void);
int omp_get_max_threads(void);
void omp_set_schedule(int, int);
void ompc_set_num_threads(int);
void* kmpc_malloc(size_t);
void kmpc_free(void*);
void kmp_set_blocktime(int);
int kmp_get_blocktime(void);
void kmp_set_disp_num_buffers(int);
int omp_get_num_threads(void);
int omp_get_level(void);
void omp_set_max_active_levels(int);
int omp_get_num_teams(void);
int omp_get_team_num(void);
void omp_fulfill_event(void*);
void omp_init_nest_lock(void**);
void omp_set_nest_lock(void**);
void omp_unset_nest_lock(void**);
int omp_test_nest_lock(void**);
void omp_destroy_nest_lock(void**);

enum {
  static_chunked = 33,
  static_even = 34,
  dynamic = 35,
  guided = 36,
  by_setting = 37,
  ordered_dynamic = 67,
  monotonic = 1 << 29,
  nonmonotonic = 1 << 30
};

static Ident here = {0, 2, 0, 0, ";kmpc.c;main;1;1;;"};
static int failures = 0;
static int threads = 4;
static Critical lock;

static void check(const char* what, long got, long wanted) {
  if (got == wanted) return;
  printf("%s: %ld, not %ld\n", what, got, wanted);
  failures++;
}

static long sum_to(long last) {
  return last * (last + 1) / 2;
}

static void fork_team(int count, Microtask code, void* argument) {
  __kmpc_push_num_threads(&here, __kmpc_global_thread_num(&here), count);
  __kmpc_fork_call(&here, 1, code, argument);
}

// Regions, and their arguments.

static void many_arguments(int32_t* global, int32_t* number, ...) {
  va_list list;
  long sum = 0;
  va_start(list, number);
  int* results = va_arg(list, int*);
  for (int i = 0; i < 20; i++)
    sum += *va_arg(list, int*);
  va_end(list);
  results[*number] = sum == sum_to(20) && *global >= 0 && omp_get_thread_num() == *number;
}

static void regions(void) {
  int results[64] = {0};
  int values[21];
  for (int i = 0; i <= 20; i++)
    values[i] = i;
  __kmpc_push_num_threads(&here, 0, threads);
  __kmpc_fork_call(&here, 21, many_arguments, results, values + 1, values + 2, values + 3,
                   values + 4, values + 5, values + 6, values + 7, values + 8, values + 9,
                   values + 10, values + 11, values + 12, values + 13, values + 14, values + 15,
                   values + 16, values + 17, values + 18, values + 19, values + 20);
  int right = 0;
  for (int i = 0; i < 64; i++)
    right += results[i];
  check("arguments of a region", right, threads);
  __kmpc_serialized_parallel(&here, 0);
  check("level of a serialized region", omp_get_level() * 10 + omp_get_num_threads(), 11);
  __kmpc_end_serialized_parallel(&here, 0);
  check("level outside", omp_get_level(), 0);
}

// Counts threads at their level; those of the first two levels begin a region inside.
static void count_levels(int32_t* global, int32_t* number, ...) {
  va_list list;
  va_start(list, number);
  int32_t* counts = va_arg(list, int32_t*);
  va_end(list);
  (void)global;
  const int level = omp_get_level();
  __atomic_fetch_add(&counts[level], 1, __ATOMIC_RELAXED);
  if (level < 3) __kmpc_fork_call(&here, 1, count_levels, counts);
}

static void check_levels(const char* what, int first, int second, int third) {
  int32_t counts[4] = {0};
  __kmpc_fork_call(&here, 1, count_levels, counts);
  check(what, counts[1], first);
  check(what, counts[2], first * second);
  check(what, counts[3], first * second * third);
}

// A num_threads clause with a list: numbers for nested regions.
static void lists_of_threads(void) {
  const int32_t list[] = {threads, 3, 2};

  enum { warning = 1, fatal = 2, most = 3 };

  omp_set_max_active_levels(most);
  ompc_set_num_threads(2);
  for (int i = 0; i < 3; i++) {
    __kmpc_push_num_threads_list(&here, 0, 3, list);
    check_levels("a list of three numbers of threads", threads, 3, 2);
    check_levels("regions after one with a list", 2, 2, 2);
    __kmpc_push_num_threads_list(&here, 0, 2, list);
    check_levels("after the end of a list, the last number", threads, 3, 3);
    __kmpc_push_num_threads_list(&here, 0, 1, list);
    check_levels("a list of one number", threads, 2, 2);
    __kmpc_push_num_threads_list_strict(&here, 0, 3, list, fatal, "not to be seen");
    check_levels("a strict list", threads, 3, 2);
  }
  __kmpc_push_num_threads_strict(&here, 0, threads, fatal, "not to be seen");
  check_levels("a strict number", threads, 2, 2);
  omp_set_max_active_levels(1);
}

// No region may have more than one thread.
static void strict_number(int severity) {
  omp_set_max_active_levels(0);
  __kmpc_push_num_threads_strict(&here, 0, 2, severity, "two, please");
  check_levels("a strict number that cannot be had", 1, 1, 1);
  __kmpc_push_num_threads_strict(&here, 0, 3, severity, NULL);
  check_levels("the same without a message", 1, 1, 1);
  puts("on we go");
}

// Loops.

typedef struct {
  int kind;
  int chunk;
  int lower, upper, step;
  int counts[2000];
  int last;
  int last_count;
  int order[2000];
  int ordered_count;
} Loop;

static void run_static(int32_t* global, int32_t* number, ...) {
  va_list list;
  va_start(list, number);
  Loop* loop = va_arg(list, Loop*);
  va_end(list);
  int32_t is_last = 0, lower = loop->lower, upper = loop->upper, stride = 1;
  __kmpc_for_static_init_4(&here, *global, loop->kind, &is_last, &lower, &upper, &stride,
                           loop->step, loop->chunk);
  const int up = loop->step > 0;
  if (loop->kind == static_even) {
    if (up ? upper > loop->upper : upper < loop->upper) upper = loop->upper;
    for (int i = lower; up ? i <= upper : i >= upper; i += loop->step)
      __atomic_fetch_add(&loop->counts[i], 1, __ATOMIC_RELAXED);
  } else {
    for (; up ? lower <= loop->upper : lower >= loop->upper; lower += stride, upper += stride) {
      const int end = up ? (upper < loop->upper ? upper : loop->upper)
                         : (upper > loop->upper ? upper : loop->upper);
      for (int i = lower; up ? i <= end : i >= end; i += loop->step)
        __atomic_fetch_add(&loop->counts[i], 1, __ATOMIC_RELAXED);
    }
  }
  __kmpc_for_static_fini(&here, *global);
  if (is_last) __atomic_fetch_add(&loop->last_count, 1, __ATOMIC_RELAXED);
  __kmpc_barrier(&here, *global);
}

static void run_dispatch(int32_t* global, int32_t* number, ...) {
  va_list list;
  va_start(list, number);
  Loop* loop = va_arg(list, Loop*);
  va_end(list);
  int32_t is_last = 0, lower, upper, step;
  __kmpc_dispatch_init_4(&here, *global, loop->kind, loop->lower, loop->upper, loop->step,
                         loop->chunk);
  while (__kmpc_dispatch_next_4(&here, *global, &is_last, &lower, &upper, &step)) {
    for (int i = lower; loop->step > 0 ? i <= upper : i >= upper; i += loop->step) {
      __atomic_fetch_add(&loop->counts[i], 1, __ATOMIC_RELAXED);
      if (loop->kind == ordered_dynamic) {
        __kmpc_ordered(&here, *global);
        loop->order[loop->ordered_count++] = i;
        __kmpc_end_ordered(&here, *global);
        __kmpc_dispatch_fini_4(&here, *global);
      }
    }
    if (is_last) __atomic_fetch_add(&loop->last_count, 1, __ATOMIC_RELAXED);
  }
  __kmpc_barrier(&here, *global);
}

static void check_loop(
    const char* what, Microtask code, int kind, int chunk, int lower, int upper, int step) {
  Loop* loop = calloc(1, sizeof *loop);
  loop->kind = kind;
  loop->chunk = chunk;
  loop->lower = lower;
  loop->upper = upper;
  loop->step = step;
  fork_team(threads, code, loop);
  long wrong = 0, made = 0;
  for (int i = 0; i < 2000; i++) {
    const int is_in = step > 0 ? i >= lower && i <= upper && (i - lower) % step == 0
                               : i <= lower && i >= upper && (lower - i) % -step == 0;
    wrong += loop->counts[i] != is_in;
    made += is_in;
  }
  check(what, wrong, 0);
  check("last iterations", loop->last_count, made != 0);
  if (kind == ordered_dynamic) {
    for (int i = 0; i < loop->ordered_count; i++)
      wrong += loop->order[i] != lower + i * step;
    check("order", wrong * 10000 + loop->ordered_count, made);
  }
  free(loop);
}

static void wide_loop(int32_t* global, int32_t* number, ...) {
  va_list list;
  va_start(list, number);
  long* sum = va_arg(list, long*);
  va_end(list);
  // Beyond 2^63, where signed numbers would be wrong.
  const uint64_t first = 0x8000000000000000ULL - 50;
  uint64_t lower = first, upper = first + 99;
  int64_t stride = 1, step;
  int32_t is_last = 0;
  __kmpc_for_static_init_8u(&here, *global, static_even, &is_last, &lower, &upper, &stride, 1, 1);
  for (uint64_t i = lower; i <= upper; i++)
    __atomic_fetch_add(sum, (long)(i - first + 1), __ATOMIC_RELAXED);
  __kmpc_for_static_fini(&here, *global);
  __kmpc_barrier(&here, *global);
  __kmpc_dispatch_init_8u(&here, *global, dynamic, first, first + 99, 1, 3);
  while (__kmpc_dispatch_next_8u(&here, *global, &is_last, &lower, &upper, &step))
    for (uint64_t i = lower; i <= upper; i++)
      __atomic_fetch_add(sum, (long)(i - first + 1), __ATOMIC_RELAXED);
  __kmpc_barrier(&here, *global);
}

/// schedule(simd: runtime): all chunks but the last one are of whole vectors.
typedef struct {
  int least;
  int counts[1000];
  int wrong;
} Vectors;

enum { by_setting_simd = 47, vector = 4 };

static void run_vectors(int32_t* global, int32_t* number, ...) {
  va_list list;
  va_start(list, number);
  Vectors* vectors = va_arg(list, Vectors*);
  va_end(list);
  int32_t is_last = 0, lower, upper, step;
  __kmpc_dispatch_init_4(&here, *global, by_setting_simd, 0, 998, 1, vector);
  while (__kmpc_dispatch_next_4(&here, *global, &is_last, &lower, &upper, &step)) {
    const int size = upper - lower + 1;
    if (upper != 998 && (size % vector != 0 || size < vectors->least))
      __atomic_fetch_add(&vectors->wrong, 1, __ATOMIC_RELAXED);
    for (int i = lower; i <= upper; i++)
      __atomic_fetch_add(&vectors->counts[i], 1, __ATOMIC_RELAXED);
  }
  __kmpc_barrier(&here, *global);
}

static void check_vectors(int schedule, int chunk) {
  Vectors vectors = {.least = vector * (chunk == 0 ? 1 : chunk)};
  omp_set_schedule(schedule, chunk);
  fork_team(threads, run_vectors, &vectors);
  for (int i = 0; i < 999; i++)
    vectors.wrong += vectors.counts[i] != 1;
  check("chunks of vectors", vectors.wrong, 0);
}

enum { section_count = 40 };

static void sections(int32_t* global, int32_t* number, ...) {
  va_list list;
  va_start(list, number);
  int* counts = va_arg(list, int*);
  va_end(list);
  for (int round = 0; round < 20; round++) {
    if (__kmpc_sections_init(&here, *global)) {
      for (;;) {
        const int32_t section = __kmpc_next_section(&here, *global, section_count);
        if (section < 0 || section >= section_count) break;
        __atomic_fetch_add(&counts[section], 1, __ATOMIC_RELAXED);
      }
    } else {
      for (int i = 0; i < section_count; i++)
        counts[i]++;
    }
    __kmpc_end_sections(&here, *global);
    __kmpc_barrier(&here, *global);
  }
}

enum { rows = 12, columns = 9 };

static void doacross(int32_t* global, int32_t* number, ...) {
  va_list list;
  va_start(list, number);
  long(*grid)[columns] = va_arg(list, long(*)[columns]);
  va_end(list);
  const int64_t dimensions[] = {0, rows - 1, 1, 0, columns - 1, 1};
  __kmpc_doacross_init(&here, *global, 2, dimensions);
  int32_t is_last = 0, lower = 0, upper = rows - 1, stride = 1;
  __kmpc_for_static_init_4(&here, *global, static_chunked, &is_last, &lower, &upper, &stride, 1, 1);
  for (; lower < rows; lower += stride) {
    for (int64_t j = 0; j < columns; j++) {
      const int64_t above[] = {lower - 1, j}, before[] = {lower, j - 1}, self[] = {lower, j};
      __kmpc_doacross_wait(&here, *global, above);
      __kmpc_doacross_wait(&here, *global, before);
      grid[lower][j] = (lower == 0 ? 1 : grid[lower - 1][j]) + (j == 0 ? 0 : grid[lower][j - 1]);
      __kmpc_doacross_post(&here, *global, self);
    }
  }
  __kmpc_for_static_fini(&here, *global);
  __kmpc_doacross_fini(&here, *global);
  __kmpc_barrier(&here, *global);
}

static void loops(void) {
  check_loop("static", run_static, static_even, 1, 0, 1000, 1);
  check_loop("static of few", run_static, static_even, 1, 3, 4, 1);
  check_loop("static down", run_static, static_even, 1, 1999, 5, -7);
  check_loop("static, empty", run_static, static_even, 1, 10, 9, 1);
  check_loop("static in chunks", run_static, static_chunked, 7, 5, 1500, 3);
  check_loop("static in chunks down", run_static, static_chunked, 4, 999, 0, -1);
  for (int chunk = 1; chunk < 40; chunk += 13) {
    check_loop("dynamic", run_dispatch, dynamic | nonmonotonic, chunk, 0, 1999, 1);
    check_loop("dynamic, monotonic", run_dispatch, dynamic | monotonic, chunk, 1, 1999, 2);
    check_loop("dynamic down", run_dispatch, dynamic, chunk, 1998, 4, -3);
    check_loop("guided", run_dispatch, guided | nonmonotonic, chunk, 0, 1999, 1);
    check_loop("ordered", run_dispatch, ordered_dynamic, chunk, 0, 200, 1);
  }
  check_loop("by setting", run_dispatch, by_setting, 0, 0, 1000, 1);
  check_loop("dispatched static", run_dispatch, static_even, 0, 0, 1000, 1);
  check_loop("dynamic, empty", run_dispatch, dynamic, 1, 10, 9, 1);
  long sum = 0;
  fork_team(threads, wide_loop, &sum);
  check("beyond signed numbers", sum, 2 * sum_to(100));
  check_vectors(1, 0);
  check_vectors(1, 3);
  check_vectors(2, 3);
  check_vectors(3, 2);
  check_vectors(4, 0);
  omp_set_schedule(2, 1);
  int counts[section_count] = {0};
  fork_team(threads, sections, counts);
  long wrong = 0;
  for (int i = 0; i < section_count; i++)
    wrong += counts[i] != 20;
  check("sections", wrong, 0);
  long grid[rows][columns] = {{0}};
  long wanted[rows][columns];
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++)
      wanted[i][j] = (i == 0 ? 1 : wanted[i - 1][j]) + (j == 0 ? 0 : wanted[i][j - 1]);
  fork_team(threads, doacross, grid);
  check("doacross", memcmp(grid, wanted, sizeof grid) != 0, 0);
}

// Constructs of a team.

typedef struct {
  long reduced, reduced_nowait, singles, masters, masked, guarded, copied;
  int private_right;
} Team;

static int shared_variable = 5;
static int shared_array[3] = {1, 2, 3};
static long constructed;

static void* construct(void* copy, size_t count) {
  __atomic_fetch_add(&constructed, count, __ATOMIC_RELAXED);
  for (size_t i = 0; i < count; i++)
    ((int*)copy)[i] = 10;
  return copy;
}

// The thread's own array: of the first thread that uses OpenMP it is the original.
static int is_own_array_right(int32_t global) {
  static void** cache;
  int* own = __kmpc_threadprivate_cached(&here, global, shared_array, sizeof shared_array, &cache);
  return own == shared_array ? own[2] == 3 : own[0] == 10 && own[2] == 10;
}

static void copy_long(void* into, void* from) {
  *(long*)into = *(long*)from;
}

static void constructs(int32_t* global, int32_t* number, ...) {
  va_list list;
  va_start(list, number);
  Team* team = va_arg(list, Team*);
  va_end(list);
  for (int round = 0; round < 50; round++) {
    long mine = *number + 1;
    void* values[] = {&mine};
    if (__kmpc_reduce(&here, *global, 1, sizeof values, values, NULL, &lock) == 1) {
      team->reduced += mine;
      __kmpc_end_reduce(&here, *global, &lock);
    }
    if (__kmpc_reduce_nowait(&here, *global, 1, sizeof values, values, NULL, &lock) == 1) {
      team->reduced_nowait += mine;
      __kmpc_end_reduce_nowait(&here, *global, &lock);
    }
    if (__kmpc_single(&here, *global)) {
      team->singles++;
      __kmpc_end_single(&here, *global);
    }
    __kmpc_barrier(&here, *global);
    if (__kmpc_master(&here, *global)) team->masters++;
    if (__kmpc_masked(&here, *global, 1)) team->masked++;
    __kmpc_critical(&here, *global, &lock);
    team->guarded++;
    __kmpc_end_critical(&here, *global, &lock);
    long value = -1;
    const int is_source = __kmpc_single(&here, *global);
    if (is_source) value = round;
    __kmpc_copyprivate(&here, *global, sizeof value, &value, copy_long, is_source);
    __kmpc_critical(&here, *global, &lock);
    team->copied += value;
    __kmpc_end_critical(&here, *global, &lock);
    __kmpc_barrier(&here, *global);
  }
  static void** cache;
  int* own = __kmpc_threadprivate_cached(&here, *global, &shared_variable, sizeof *own, &cache);
  const int began = *own;
  *own += *number + 1;
  __kmpc_barrier(&here, *global);
  own = __kmpc_threadprivate_cached(&here, *global, &shared_variable, sizeof *own, &cache);
  __kmpc_critical(&here, *global, &lock);
  team->private_right += began == 5 && *own == 6 + *number && is_own_array_right(*global);
  __kmpc_end_critical(&here, *global, &lock);
}

static void teams_of_league(int32_t* global, int32_t* number, ...);

static void part_of_league(int32_t* global, int32_t* number, ...) {
  va_list list;
  va_start(list, number);
  int* counts = va_arg(list, int*);
  va_end(list);
  int32_t is_last = 0, lower = 0, upper = 99, team_upper = 0, stride = 1;
  __kmpc_dist_for_static_init_4(&here, *global, static_even, &is_last, &lower, &upper, &team_upper,
                                &stride, 1, 1);
  for (int i = lower; i <= upper && i <= team_upper; i++)
    __atomic_fetch_add(&counts[i], 1, __ATOMIC_RELAXED);
  __kmpc_for_static_fini(&here, *global);
  if (is_last) __atomic_fetch_add(&counts[100], 1, __ATOMIC_RELAXED);
}

static void teams_of_league(int32_t* global, int32_t* number, ...) {
  (void)global;
  va_list list;
  va_start(list, number);
  int* counts = va_arg(list, int*);
  va_end(list);
  counts[101] += omp_get_num_teams() == 3;
  counts[102] += omp_get_team_num();
  fork_team(threads, part_of_league, counts);
}

static void team_constructs(void) {
  Team team = {0};
  __kmpc_threadprivate_register_vec(&here, shared_array, construct, NULL, NULL, 3);
  fork_team(threads, constructs, &team);
  check("objects of threadprivate arrays", constructed, 3L * (threads - 1));
  check("reduce", team.reduced, 50 * sum_to(threads));
  check("reduce without a barrier", team.reduced_nowait, 50 * sum_to(threads));
  check("single", team.singles, 50);
  check("master", team.masters, 50);
  check("masked", team.masked, threads > 1 ? 50 : 0);
  check("critical", team.guarded, 50L * threads);
  check("copyprivate", team.copied, sum_to(49) * threads);
  check("threadprivate", team.private_right, threads);
  int counts[103] = {0};
  __kmpc_push_num_teams(&here, 0, 3, 0);
  __kmpc_fork_teams(&here, 1, teams_of_league, counts);
  long wrong = 0;
  for (int i = 0; i < 100; i++)
    wrong += counts[i] != 1;
  check("a loop of a league", wrong, 0);
  check("the last iteration in a league", counts[100], 1);
  check("teams", counts[101] * 10 + counts[102], 33);
}

// Tasks.

typedef struct {
  Task task;
  long value;
  uint64_t lower, upper;
  int64_t step;
  int32_t is_last;
} Own;

static long done, cleaned, in_order;

static int32_t add_value(int32_t global, Task* task) {
  (void)global;
  __atomic_fetch_add(*(long**)task->shareds, ((Own*)task)->value, __ATOMIC_RELAXED);
  return 0;
}

static int32_t clean(int32_t global, Task* task) {
  (void)global;
  __atomic_fetch_add(&cleaned, ((Own*)task)->value, __ATOMIC_RELAXED);
  return 0;
}

static int32_t append(int32_t global, Task* task) {
  (void)global;
  in_order = in_order * 10 + ((Own*)task)->value;
  return 0;
}

static int32_t append_late(int32_t global, Task* task) {
  usleep(100000);
  return append(global, task);
}

static Own* new_task(int flags, Routine routine, long value) {
  Own* own = (Own*)__kmpc_omp_task_alloc(&here, 0, 1 | flags, sizeof(Own), sizeof(long*), routine);
  *(long**)own->task.shareds = &done;
  own->value = value;
  return own;
}

static int32_t add_range(int32_t global, Task* task) {
  (void)global;
  const Own* own = (Own*)task;
  for (uint64_t i = own->lower; i <= own->upper; i += (uint64_t)own->step)
    __atomic_fetch_add(&done, (long)i, __ATOMIC_RELAXED);
  __atomic_fetch_add(&cleaned, own->is_last, __ATOMIC_RELAXED);
  return 0;
}

static void duplicate(Task* copy, Task* pattern, int32_t is_last) {
  (void)pattern;
  ((Own*)copy)->is_last = is_last;
}

typedef struct {
  void *shared, *original;
  size_t bytes;
  void *initialize, *destroy, *combine;
  uint32_t flags;
} Item;

static void combine(void* into, void* from) {
  *(long*)into += *(long*)from;
}

static int32_t add_to_own_copy(int32_t global, Task* task) {
  *(long*)__kmpc_task_reduction_get_th_data(global, NULL, &done) += ((Own*)task)->value;
  return 0;
}

static void* events[8];

static int32_t fulfil_next(int32_t global, Task* task) {
  (void)global;
  omp_fulfill_event(events[((Own*)task)->value]);
  return 0;
}

static void* late_event;

static void* fulfil_late(void* unused) {
  usleep(100000);
  __atomic_store_n(&done, 77, __ATOMIC_RELAXED);
  omp_fulfill_event(late_event);
  return unused;
}

// A task whose end another function announces.
static Own* proxy;

static int32_t complete_proxy(int32_t global, Task* task) {
  (void)global;
  __atomic_fetch_add(&done, ((Own*)task)->value, __ATOMIC_RELAXED);
  __kmpc_proxy_task_completed_ooo(&proxy->task);
  return 0;
}

static uint64_t parent_number;

static int32_t compare_numbers(int32_t global, Task* task) {
  (void)global;
  (void)task;
  const uint64_t own = __kmpc_get_taskid();
  done += own != 0 && own != parent_number && __kmpc_get_parent_taskid() == parent_number;
  return 0;
}

static int32_t nothing(int32_t global, Task* task) {
  (void)global;
  (void)task;
  return 0;
}

static void task_constructs(int32_t* global, int32_t* number, ...) {
  (void)number;
  if (__kmpc_single(&here, *global)) {
    done = cleaned = 0;
    for (int i = 1; i <= 500; i++) {
      Own* own = new_task(8, add_value, i);
      own->task.first.destructors = clean;
      __kmpc_omp_task(&here, *global, &own->task);
    }
    __kmpc_omp_taskwait(&here, *global);
    check("tasks", done, sum_to(500));
    check("destructors", cleaned, sum_to(500));

    int a = 0;
    in_order = 0;
    for (int i = 1; i <= 9; i++) {
      const Depend depend = {&a, sizeof a, 3};
      __kmpc_omp_task_with_deps(&here, *global, &new_task(0, append, i)->task, 1, &depend, 0, NULL);
    }
    const Depend reads = {&a, sizeof a, 1};
    __kmpc_omp_wait_deps(&here, *global, 1, &reads, 0, NULL);
    check("dependences", in_order, 123456789);

    // mutexinoutset and inoutset: two sets of tasks without an order of their own.
    in_order = done = 0;
    const Depend writes = {&a, sizeof a, 3};
    for (int i = 1; i <= 9; i++) {
      const Depend both[] = {{&a, sizeof a, i % 2 ? 4 : 8}, {&i, sizeof i, 1}};
      if (i % 3 == 0)
        __kmpc_omp_task_with_deps(&here, *global, &new_task(0, append, i)->task, 1, &writes, 0,
                                  NULL);
      else
        __kmpc_omp_task_with_deps(&here, *global, &new_task(0, add_value, i)->task, 1, both, 1,
                                  both + 1);
    }
    __kmpc_omp_wait_deps(&here, *global, 1, &reads, 0, NULL);
    check("writers between sets", in_order, 369);
    check("sets", done, sum_to(9) - 18);

    // omp_all_memory, by a flag and by an address that is none: behind tasks that take longer.
    in_order = 0;
    const Depend all[] = {{NULL, 0, 0x80}, {(void*)-1, 0, 2}};
    for (int i = 0; i < 2; i++) {
      Own* late = new_task(0, append_late, 2 * i + 1);
      __kmpc_omp_task_with_deps(&here, *global, &late->task, 1, &writes, 0, NULL);
      Own* behind = new_task(0, append, 2 * i + 2);
      __kmpc_omp_task_with_deps(&here, *global, &behind->task, 1, all + i, 0, NULL);
    }
    __kmpc_omp_taskwait(&here, *global);
    check("all memory", in_order, 1234);

    in_order = 123456789;
    Own* included = new_task(0, append, 0);
    __kmpc_omp_task_begin_if0(&here, *global, &included->task);
    append(*global, &included->task);
    __kmpc_omp_task_complete_if0(&here, *global, &included->task);
    check("an included task", in_order, 1234567890);

    done = 0;
    __kmpc_taskgroup(&here, *global);
    for (int i = 1; i <= 100; i++)
      __kmpc_omp_task(&here, *global, &new_task(0, add_value, i)->task);
    __kmpc_end_taskgroup(&here, *global);
    check("taskgroup", done, sum_to(100));

    for (int by = 0; by < 3; by++) {
      done = cleaned = 0;
      Own* pattern = new_task(0, add_range, 0);
      pattern->lower = 1;
      pattern->upper = 999;
      pattern->step = 2;
      pattern->is_last = 0;
      __kmpc_taskloop(&here, *global, &pattern->task, 1, &pattern->lower, &pattern->upper, 2, 0, by,
                      13, (void*)duplicate);
      check("taskloop", done, 250000);
      check("the last task of a taskloop", cleaned, 1);
    }

    done = 7;
    __kmpc_taskgroup(&here, *global);
    Item item = {&done, &done, sizeof done, NULL, NULL, (void*)combine, 0};
    __kmpc_taskred_init(*global, 1, &item);
    for (int i = 1; i <= 200; i++)
      __kmpc_omp_task(&here, *global, &new_task(0, add_to_own_copy, i)->task);
    __kmpc_end_taskgroup(&here, *global);
    check("task_reduction", done, 7 + sum_to(200));

    for (int i = 0; i < 8; i++) {
      Own* own = new_task(64, nothing, i);
      events[i] = __kmpc_task_allow_completion_event(&here, *global, &own->task);
      // The first one is fulfilled before its task is even requested.
      if (i == 0) omp_fulfill_event(events[0]);
      __kmpc_omp_task(&here, *global, &own->task);
    }
    for (int i = 1; i < 8; i++)
      __kmpc_omp_task(&here, *global, &new_task(0, fulfil_next, i)->task);
    __kmpc_omp_taskwait(&here, *global);

    done = 0;
    proxy = new_task(16, nothing, 0);
    __kmpc_omp_task(&here, *global, &proxy->task);
    __kmpc_omp_task(&here, *global, &new_task(0, complete_proxy, 6)->task);
    __kmpc_omp_taskwait(&here, *global);
    check("a proxy task", done, 6);

    // An included task whose event another thread fulfils: taskwait waits for that.
    Own* with_event = new_task(64, nothing, 0);
    late_event = __kmpc_task_allow_completion_event(&here, *global, &with_event->task);
    __kmpc_omp_task_begin_if0(&here, *global, &with_event->task);
    __kmpc_omp_task_complete_if0(&here, *global, &with_event->task);
    pthread_t other;
    pthread_create(&other, NULL, fulfil_late, NULL);
    __kmpc_omp_taskwait(&here, *global);
    check("an included task with an event", __atomic_load_n(&done, __ATOMIC_RELAXED), 77);
    pthread_join(other, NULL);

    // A taskwait construct with nowait is a task without code.
    in_order = 0;
    __kmpc_omp_task_with_deps(&here, *global, &new_task(0, append, 1)->task, 1, &writes, 0, NULL);
    __kmpc_omp_task_with_deps(&here, *global, &new_task(0, NULL, 0)->task, 1, &writes, 0, NULL);
    __kmpc_omp_task_with_deps(&here, *global, &new_task(0, append, 2)->task, 1, &writes, 0, NULL);
    __kmpc_omp_taskwait(&here, *global);
    check("a task without code", in_order, 12);

    done = 0;
    parent_number = __kmpc_get_taskid();
    check("the parent of an implicit task", parent_number != __kmpc_get_parent_taskid(), 1);
    __kmpc_omp_task(&here, *global, &new_task(0, compare_numbers, 0)->task);
    __kmpc_omp_taskwait(&here, *global);
    check("numbers of tasks", done, 1);
    __kmpc_end_single(&here, *global);
  }
  __kmpc_barrier(&here, *global);
}

// The only thread of a team runs the body at once, and the task ends with its event.
static void task_alone(int32_t* global, int32_t* number, ...) {
  (void)number;
  done = 0;
  Own* own = new_task(64, add_value, 5);
  void* const event = __kmpc_task_allow_completion_event(&here, *global, &own->task);
  __kmpc_omp_task(&here, *global, &own->task);
  check("the body of a task with a detach clause", done, 5);
  omp_fulfill_event(event);
  __kmpc_omp_taskwait(&here, *global);
}

typedef struct {
  void* shared;
  size_t bytes;
  void *initialize, *destroy, *combine;
  uint32_t flags;
} OldItem;

static void team_reduction_of_old_compilers(int32_t* global, int32_t* number, ...) {
  (void)number;
  OldItem item = {&done, sizeof done, NULL, NULL, (void*)combine, 0};
  __kmpc_task_reduction_modifier_init(&here, *global, 0, 1, &item);
  for (int i = 1; i <= 50; i++)
    __kmpc_omp_task(&here, *global, &new_task(0, add_to_own_copy, i)->task);
  __kmpc_task_reduction_modifier_fini(&here, *global, 0);
  __kmpc_barrier(&here, *global);
}

static void team_reduction(int32_t* global, int32_t* number, ...) {
  (void)number;
  Item item = {&done, &done, sizeof done, NULL, NULL, (void*)combine, 0};
  __kmpc_taskred_modifier_init(&here, *global, 0, 1, &item);
  for (int i = 1; i <= 50; i++)
    __kmpc_omp_task(&here, *global, &new_task(0, add_to_own_copy, i)->task);
  __kmpc_task_reduction_modifier_fini(&here, *global, 0);
  __kmpc_barrier(&here, *global);
}

// Cancellation, which OMP_CANCELLATION allows.

static void cancelled(int32_t* global, int32_t* number, ...) {
  va_list list;
  va_start(list, number);
  int* counts = va_arg(list, int*);
  va_end(list);
  for (int round = 0; round < 20; round++) {
    int32_t is_last = 0, lower, upper, step;
    __kmpc_dispatch_init_4(&here, *global, dynamic, 0, 99999, 1, 1);
    while (__kmpc_dispatch_next_4(&here, *global, &is_last, &lower, &upper, &step)) {
      __atomic_fetch_add(&counts[0], 1, __ATOMIC_RELAXED);
      if (__kmpc_cancel(&here, *global, 2)) break;
    }
    __kmpc_barrier(&here, *global);
  }
  __atomic_fetch_add(&counts[1], 1, __ATOMIC_RELAXED);
  if (*number == 0 && __kmpc_cancel(&here, *global, 1)) return;
  while (!__kmpc_cancellationpoint(&here, *global, 1))
    ;
  if (__kmpc_cancel_barrier(&here, *global)) return;
  __atomic_fetch_add(&counts[2], 1, __ATOMIC_RELAXED);
}

static void atomics(int32_t* global, int32_t* number, ...) {
  va_list list;
  va_start(list, number);
  int32_t* sum = va_arg(list, int32_t*);
  double* product = va_arg(list, double*);
  int64_t* largest = va_arg(list, int64_t*);
  long double* wide = va_arg(list, long double*);
  va_end(list);
  for (int i = 1; i <= 100; i++) {
    __kmpc_atomic_fixed4_add(&here, *global, sum, i);
    __kmpc_atomic_float8_mul(&here, *global, product, i % 2 == 0 ? 2.0 : 0.5);
    __kmpc_atomic_fixed8_max_cpt(&here, *global, largest, *number * 1000 + i, 1);
    __kmpc_atomic_float10_add(&here, *global, wide, 1);
  }
}

int main(int count, char** arguments) {
  if (count > 1) threads = atoi(arguments[1]);
  if (count > 2) {
    strict_number(atoi(arguments[2]));
    return failures != 0;
  }
  regions();
  lists_of_threads();
  loops();
  team_constructs();
  fork_team(threads, task_constructs, NULL);
  fork_team(1, task_alone, NULL);
  done = 3;
  fork_team(threads, team_reduction, NULL);
  check("a reduction over tasks of a team", done, 3 + threads * sum_to(50));
  done = 4;
  fork_team(threads, team_reduction_of_old_compilers, NULL);
  check("the same of old compilers", done, 4 + threads * sum_to(50));
  int counts[3] = {0};
  const char* can_cancel = getenv("OMP_CANCELLATION");
  if (can_cancel != NULL && strcmp(can_cancel, "true") == 0) {
    fork_team(threads, cancelled, counts);
    check("cancelled loops", counts[0] >= 20 && counts[0] <= 20 * threads, 1);
    check("cancelled regions", counts[1] * 100 + counts[2], threads * 100);
  }
  int32_t sum = 0;
  double product = 1;
  int64_t largest = 0;
  long double wide = 0;
  __kmpc_push_num_threads(&here, 0, threads);
  __kmpc_fork_call(&here, 4, atomics, &sum, &product, &largest, &wide);
  check("atomic additions", sum, threads * sum_to(100));
  check("atomic products", product == 1, 1);
  check("atomic maximum", largest, (threads - 1) * 1000 + 100);
  check("atomic long doubles", (long)wide, threads * 100);
  void* nest_lock;
  omp_init_nest_lock(&nest_lock);
  omp_set_nest_lock(&nest_lock);
  check("nest lock", omp_test_nest_lock(&nest_lock), 2);
  omp_unset_nest_lock(&nest_lock);
  omp_unset_nest_lock(&nest_lock);
  omp_destroy_nest_lock(&nest_lock);
  char* memory = __kmpc_alloc(0, 1000, 1);
  memset(memory, 1, 1000);
  __kmpc_free(0, memory, 1);

  ompc_set_num_threads(threads + 2);
  check("a function of C by its own name", omp_get_max_threads(), threads + 2);
  kmpc_free(kmpc_malloc(100));
  check("how long threads spin", kmp_get_blocktime(), 200);
  kmp_set_blocktime(7);
  check("how long threads spin, as set", kmp_get_blocktime(), 7);
  kmp_set_disp_num_buffers(3);

  enum { hard = 2 };

  check("a pause", __kmpc_pause_resource(hard), 0);
  // All three names are one library, with one set of threads.
  void* gcc = dlopen("libgomp.so.1", RTLD_NOW);
  void* llvm = dlopen("libomp.so.5", RTLD_NOW);
  void* intel = dlopen("libiomp5.so", RTLD_NOW);
  check("one library", gcc != NULL && gcc == llvm && gcc == intel, 1);
  if (failures == 0) puts("all entry points agree");
  return failures != 0;
}
