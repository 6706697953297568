// What the standard leaves to the library, and GCC's and LLVM's have differently: compiled by both.
// conventions [affinity [bound]]
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static void schedules(void) {
  omp_sched_t kind;
  int chunk = 0;
  omp_get_schedule(&kind, &chunk);
  printf("schedule %x, chunk %d\n", (unsigned)kind, chunk);
  int first[100];
#pragma omp parallel for schedule(runtime) num_threads(4)
  for (int i = 0; i < 100; i++)
    first[i] = omp_get_thread_num();
  int changes = 0;
  for (int i = 1; i < 100; i++)
    changes += first[i] != first[i - 1];
  // In blocks only the first and the last are certain for a dynamic schedule.
  if (((unsigned)kind & 0xFF) == omp_sched_static) printf("changes of thread: %d\n", changes);
}

// A pool has room for memory and what the library keeps about it.
static void pools(void) {
  enum { half = 1 << 20 };

  omp_alloctrait_t traits[] = {{omp_atk_pool_size, 2 * half}, {omp_atk_fallback, omp_atv_null_fb}};
  const omp_allocator_handle_t pool = omp_init_allocator(omp_default_mem_space, 2, traits);
  for (int i = 0; i < 3; i++) {
    void* const first = omp_alloc(half, pool);
    void* const second = omp_alloc(half, pool);
    void* const small = omp_alloc(half / 2, pool);
    printf("blocks of a pool: %d %d %d\n", first != NULL, second != NULL, small != NULL);
    omp_free(first, pool);
    omp_free(small, pool);
  }
  omp_destroy_allocator(pool);
}

// Tasks that their creator runs before it has created all.
static void task_throttling(void) {
  int early = 0, are_created = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    const int creator = omp_get_thread_num();
    for (int i = 0; i < 5000; i++) {
#pragma omp task
      if (omp_get_thread_num() == creator && !are_created) early++;
    }
    are_created = 1;
  }
  printf("tasks run by their creator before it has created all: %d\n", early);
}

static void region(int threads) {
  int sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  sum++;
  if (sum == 0) puts("an empty region");
}

static void nested_of_one(void) {
#pragma omp parallel num_threads(1)
  {
    region(1);
    region(1);
#pragma omp parallel num_threads(1)
    region(1);
    region(1);
  }
  region(1);
  region(3);
  region(3);
}

// Each policy but the first two changes what is displayed.
static void bound_regions(void) {
  int sum = 0;
#pragma omp parallel num_threads(2) proc_bind(spread) reduction(+ : sum)
  sum++;
#pragma omp parallel num_threads(2) proc_bind(spread) reduction(+ : sum)
  sum++;
#pragma omp parallel num_threads(2) proc_bind(close) reduction(+ : sum)
  sum++;
#pragma omp parallel num_threads(2) proc_bind(primary) reduction(+ : sum)
  sum++;
  if (sum != 8) puts("regions of other sizes");
}

int main(int argument_count, char** arguments) {
  (void)arguments;
  if (argument_count > 2) {
    omp_set_affinity_format("affinity: thread %n of %N on %A");
    bound_regions();
    return 0;
  }
  if (argument_count > 1) {
    omp_set_affinity_format("affinity: level %L thread %n of %N");
    nested_of_one();
    omp_display_affinity("once more: level %L thread %n of %N");
    return 0;
  }
  char format[100] = "";
  (void)omp_get_affinity_format(format, sizeof format);
  printf("format of affinity: %s\n", format);
  schedules();
  pools();
  const char* const throttles = getenv("KMP_ENABLE_TASK_THROTTLING");
  if (throttles != NULL) task_throttling();
  return 0;
}
