// Calls what GCC 17 calls for its constructs, with and without -fopenmp-ompt, and has a tool (OMPT)
// that counts what it learns of them. Linked with a library of libgomp's name and symbol version.
// gcc17 THREADS; needs OMP_CANCELLATION=true
#include <omp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool_types.h"

typedef unsigned long long Count;
_Complex int GOMP_loop_static_worksharing(Count);
_Complex int GOMP_loop_static_worksharing_start(Count);
void GOMP_loop_static_worksharing_dispatch(Count, Count);
void GOMP_loop_static_worksharing_end(void);
_Complex int GOMP_distribute_static_worksharing(Count);
_Complex int GOMP_distribute_static_worksharing_start(Count);
void GOMP_distribute_static_worksharing_dispatch(Count, Count);
void GOMP_distribute_static_worksharing_end(void);
void GOMP_barrier_ext(int);
bool GOMP_barrier_cancel_ext(int);
bool GOMP_has_masked_thread_num(int);
bool GOMP_has_masked_thread_num_with_end(int);
void GOMP_masked_end(void);
void GOMP_reduction_start(void);
void GOMP_reduction_end(void);
bool GOMP_single_start_with_end(void);
void GOMP_single_end(void);
void GOMP_scope_start_with_end(uintptr_t*);
void GOMP_scope_end(void);

enum { in_parallel, in_workshare, explicit };

enum { work_event = 20, masked_event = 21, sync_event = 23, reduction_event = 31, kind_end = 16 };

// By kind of work or synchronization, begin and end.
static atomic_int works[kind_end][3], syncs[kind_end][3], masked[3], reductions[3];

static void on_work(
    int kind, int end, Data* parallel, Data* task, uint64_t count, const void* code) {
  (void)parallel, (void)task, (void)count;
  if (code != NULL) works[kind][end]++;
}

static void on_masked(int end, Data* parallel, Data* task, const void* code) {
  (void)parallel, (void)task;
  if (code != NULL) masked[end]++;
}

static void on_sync(int kind, int end, Data* parallel, Data* task, const void* code) {
  (void)parallel, (void)task;
  if (code != NULL) syncs[kind][end]++;
}

static void on_reduction(int kind, int end, Data* parallel, Data* task, const void* code) {
  (void)kind, (void)parallel, (void)task;
  if (code != NULL) reductions[end]++;
}

static int initialize(Lookup lookup, int device, Data* tool) {
  (void)device, (void)tool;
  int (*set)(int, Function) = (int (*)(int, Function))lookup("ompt_set_callback");
  return set(work_event, (Function)on_work) != 0 && set(masked_event, (Function)on_masked) != 0 &&
         set(sync_event, (Function)on_sync) != 0 &&
         set(reduction_event, (Function)on_reduction) != 0;
}

static void finalize(Data* tool) {
  (void)tool;

  enum { executor = 3, distribute = 6, scope = 8, loop_static = 10 };

  enum { barrier_explicit = 3, barrier_implicit_workshare = 8 };

  printf("loops %d %d, distribute %d %d\n", works[loop_static][1], works[loop_static][2],
         works[distribute][1], works[distribute][2]);
  printf("single %d %d, scope %d %d\n", works[executor][1], works[executor][2], works[scope][1],
         works[scope][2]);
  printf("masked %d %d, reductions %d %d\n", masked[1], masked[2], reductions[1], reductions[2]);
  printf("barriers %d %d, explicit %d %d\n", syncs[barrier_implicit_workshare][1],
         syncs[barrier_implicit_workshare][2], syncs[barrier_explicit][1],
         syncs[barrier_explicit][2]);
}

__attribute__((visibility("default"))) Start* ompt_start_tool(unsigned version,
                                                              const char* runtime);

Start* ompt_start_tool(unsigned version, const char* runtime) {
  static Start start = {initialize, finalize, {0}};
  return version != 0 && runtime != NULL ? &start : NULL;
}

enum { count = 1000, team_count = 5 };

static int threads;
static atomic_long wrong;

static void expect(const char* what, bool is_right) {
  if (is_right) return;
  if (wrong++ < 10) printf("wrong: %s\n", what);
}

typedef struct {
  Count begin, end;
} Part;

/// The part of a thread or team, as the compiler computes it.
static Part part_of(_Complex int numbers) {
  const Count of = (Count) __real__ numbers, number = (Count) __imag__ numbers;
  const Count each = count / of, rest = count % of;
  const Count begin = each * number + (number < rest ? number : rest);
  return (Part){begin, begin + each + (number < rest ? 1 : 0)};
}

static void static_loops(void) {
  static atomic_int seen[count];
  memset(seen, 0, sizeof seen);
#pragma omp parallel num_threads(threads)
  {
    const _Complex int numbers = GOMP_loop_static_worksharing(count);
    expect("the threads of a loop", __real__ numbers == omp_get_num_threads());
    expect("the thread of a loop", __imag__ numbers == omp_get_thread_num());
    Part part = part_of(numbers);
    for (Count i = part.begin; i < part.end; i++)
      seen[i]++;
    GOMP_barrier_ext(in_workshare);
    for (int i = 0; i < count; i++)
      expect("an iteration before the barrier", seen[i] == 1);
    GOMP_barrier_ext(explicit);
    part = part_of(GOMP_loop_static_worksharing_start(count));
    GOMP_loop_static_worksharing_dispatch(part.begin, part.end - part.begin);
    for (Count i = part.begin; i < part.end; i++)
      seen[i]++;
    GOMP_loop_static_worksharing_end();
    expect("a barrier without cancellation", !GOMP_barrier_cancel_ext(in_workshare));
    for (int i = 0; i < count; i++)
      expect("an iteration of the second loop", seen[i] == 2);
  }
}

static void blocks(void) {
  atomic_int masked_count = 0, single_count = 0;
  long sum = 0, product = 1;
#pragma omp parallel num_threads(threads) shared(sum, product)
  {
    const int filter = threads / 2;
    const bool is_masked = GOMP_has_masked_thread_num(filter);
    expect("the masked thread", is_masked == (omp_get_thread_num() == filter));
    expect("no such thread", !GOMP_has_masked_thread_num(threads));
    if (GOMP_has_masked_thread_num_with_end(filter)) {
      masked_count++;
      GOMP_masked_end();
    }
    for (int i = 0; i < 10; i++) {
      if (GOMP_single_start_with_end()) {
        single_count++;
        GOMP_single_end();
      }
    }
    GOMP_scope_start_with_end(NULL);
    GOMP_scope_end();
    GOMP_reduction_start();
    sum += omp_get_thread_num() + 1;
    product = product * 3 % 1000003;
    GOMP_reduction_end();
  }
  long expected = 1;
  for (int i = 0; i < threads; i++)
    expected = expected * 3 % 1000003;
  expect("one masked thread", masked_count == 1);
  expect("ten singles", single_count == 10);
  expect("a reduction of two variables",
         sum == (long)threads * (threads + 1) / 2 && product == expected);
}

static void leagues(void) {
  static int seen[count];
#pragma omp teams num_teams(team_count) thread_limit(1)
  {
    const _Complex int numbers = GOMP_distribute_static_worksharing(count);
    expect("the teams", __real__ numbers == omp_get_num_teams());
    expect("the team", __imag__ numbers == omp_get_team_num());
    const Part part = part_of(GOMP_distribute_static_worksharing_start(count));
    GOMP_distribute_static_worksharing_dispatch(part.begin, part.end - part.begin);
    for (Count i = part.begin; i < part.end; i++)
      seen[i]++;
    GOMP_distribute_static_worksharing_end();
  }
  for (int i = 0; i < count; i++)
    expect("an iteration of a league", seen[i] == 1);
}

static void cancelled_barrier(void) {
  atomic_int cancelled = 0;
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
    }
    if (GOMP_barrier_cancel_ext(explicit)) cancelled++;
  }
  expect("a cancelled barrier", cancelled == threads - 1);
}

int main(int argument_count, char** arguments) {
  threads = argument_count > 1 ? atoi(arguments[1]) : 4;
  static_loops();
  blocks();
  leagues();
  cancelled_barrier();
  printf("%ld wrong\n", wrong);
  return wrong != 0;
}
