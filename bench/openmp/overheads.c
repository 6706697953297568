// overheads THREADS [samples [NAME..]] - the cost of empty OpenMP constructs.
//
// Prints the median of 21 samples of each construct in nanoseconds, or with `samples` every sample,
// as bench/probes does: "result NAME VALUE ns". Every construct counts its executions, and a wrong
// number ends the program with status 1; what a barrier orders is checked before it is timed. Build
// with -fopenmp; run under any OpenMP library.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { samples = 21, repetitions = 2000, threads_max = 1024 };

// A thread's executions, on a line of its own.
struct counter {
  _Alignas(64) long count;
};

static volatile int sink;
static int cells[1000];
static omp_lock_t lock;
static struct counter counters[threads_max];
static int threads;

static void execute(void) {
  counters[omp_get_thread_num()].count++;
}

static long take_executions(void) {
  long all = 0;
  for (int i = 0; i < threads_max; ++i)
    all += counters[i].count;
  memset(counters, 0, sizeof counters);
  return all;
}

// Each construct returns how often something was executed in `n` repetitions.

static long parallel(int n) {
  for (int i = 0; i < n; ++i) {
#pragma omp parallel
    execute();
  }
  return take_executions();
}

static long parallel_for(int n) {
  for (int i = 0; i < n; ++i) {
#pragma omp parallel for
    for (int k = 0; k < 8; ++k)
      execute();
  }
  return take_executions();
}

static long reduction(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
#pragma omp parallel reduction(+ : sum)
    sum++;
  }
  return sum;
}

static long barrier(int n) {
  long passed = 0;
#pragma omp parallel reduction(+ : passed)
  for (int i = 0; i < n; ++i) {
#pragma omp barrier
    passed++;
  }
  return passed;
}

static long for_static(int n) {
  long done = 0;
#pragma omp parallel reduction(+ : done)
  for (int i = 0; i < n; ++i) {
#pragma omp for
    for (int k = 0; k < 8; ++k)
      done += 1 + sink;
  }
  return done;
}

static long for_dynamic(int n) {
  long done = 0;
#pragma omp parallel reduction(+ : done)
  for (int i = 0; i < n; ++i) {
#pragma omp for schedule(dynamic)
    for (int k = 0; k < 8; ++k)
      done += 1 + sink;
  }
  return done;
}

static long dynamic_chunk(int n) {
  long done = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : done)
  for (int k = 0; k < n; ++k)
    done += 1 + sink;
  return done;
}

static long for_guided(int n) {
  long done = 0;
#pragma omp parallel reduction(+ : done)
  for (int i = 0; i < n; ++i) {
#pragma omp for schedule(guided)
    for (int k = 0; k < 8; ++k)
      done += 1 + sink;
  }
  return done;
}

static long single(int n) {
  long done = 0;
#pragma omp parallel reduction(+ : done)
  for (int i = 0; i < n; ++i) {
#pragma omp single
    done += 1 + sink;
  }
  return done;
}

static long sections(int n) {
  long done = 0;
#pragma omp parallel reduction(+ : done)
  for (int i = 0; i < n; ++i) {
#pragma omp sections
    {
#pragma omp section
      done += 1 + sink;
#pragma omp section
      done += 1 + sink;
    }
  }
  return done;
}

static long critical(int n) {
  long done = 0;
#pragma omp parallel
  for (int i = 0; i < n / omp_get_num_threads(); ++i) {
#pragma omp critical
    done += 1 + sink;
  }
  return done;
}

static long locked(int n) {
  long done = 0;
#pragma omp parallel
  for (int i = 0; i < n / omp_get_num_threads(); ++i) {
    omp_set_lock(&lock);
    done += 1 + sink;
    omp_unset_lock(&lock);
  }
  return done;
}

static long ordered(int n) {
  long next = 0;
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < n; ++i) {
#pragma omp ordered
    if (next == i) next++;
  }
  return next;
}

static long tasks_of_all(int n) {
#pragma omp parallel
  for (int i = 0; i < n / omp_get_num_threads(); ++i) {
#pragma omp task
    execute();
  }
  return take_executions();
}

static long tasks_of_one(int n) {
#pragma omp parallel
#pragma omp master
  for (int i = 0; i < n; ++i) {
#pragma omp task
    execute();
  }
  return take_executions();
}

static long task_and_wait(int n) {
  long done = 0;
#pragma omp parallel
#pragma omp master
  for (int i = 0; i < n; ++i) {
#pragma omp task shared(done)
    done += 1 + sink;
#pragma omp taskwait
  }
  return done;
}

static long dependent_chain(int n) {
  cells[0] = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < n; ++i) {
#pragma omp task depend(inout : cells[0])
    cells[0]++;
  }
  return cells[0];
}

static long dependent_many(int n) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < n; ++i) {
#pragma omp task depend(in : cells[i % 100]) depend(inout : cells[(i + 1) % 100])
    execute();
  }
  return take_executions();
}

static long nested(int n) {
  omp_set_max_active_levels(2);
#pragma omp parallel
#pragma omp master
  for (int i = 0; i < n; ++i) {
#pragma omp parallel num_threads(2)
    execute();
  }
  omp_set_max_active_levels(1);
  return take_executions();
}

// Not timed: no thread passes a barrier before all have come.
static void check_barrier(void) {
  int early = 0;
#pragma omp parallel reduction(+ : early)
  for (long i = 1; i <= 200; ++i) {
    __atomic_store_n(&counters[omp_get_thread_num()].count, i, __ATOMIC_RELAXED);
#pragma omp barrier
    for (int k = 0; k < omp_get_num_threads(); ++k)
      early += __atomic_load_n(&counters[k].count, __ATOMIC_RELAXED) < i;
  }
  take_executions();
  if (early == 0) return;
  fprintf(stderr, "overheads: threads passed a barrier early %d times\n", early);
  exit(1);
}

enum kind { once, by_thread, eight_times, twice, once_of_thread };

static long expected(enum kind kind, int n) {
  switch (kind) {
    case once:
      return n;
    case by_thread:
      return (long)n * threads;
    case eight_times:
      return 8L * n;
    case twice:
      return 2L * n;
    case once_of_thread:
      return (long)(n / threads) * threads;
  }
  return -1;
}

struct construct {
  const char* name;
  long (*run)(int);
  enum kind kind;
  int count;
};

static const struct construct constructs[] = {
    {"parallel", parallel, by_thread, repetitions},
    {"parallel-for", parallel_for, eight_times, repetitions},
    {"reduction", reduction, by_thread, repetitions},
    {"barrier", barrier, by_thread, repetitions},
    {"for-static", for_static, eight_times, repetitions},
    {"for-dynamic", for_dynamic, eight_times, repetitions},
    {"dynamic-chunk", dynamic_chunk, once, 20 * repetitions},
    {"for-guided", for_guided, eight_times, repetitions},
    {"single", single, once, repetitions},
    {"sections", sections, twice, repetitions},
    {"critical", critical, once_of_thread, repetitions},
    {"lock", locked, once_of_thread, repetitions},
    {"ordered", ordered, once, repetitions},
    {"tasks-of-all", tasks_of_all, once_of_thread, repetitions},
    {"tasks-of-one", tasks_of_one, once, repetitions},
    {"task-and-wait", task_and_wait, once, repetitions},
    {"dependent-chain", dependent_chain, once, repetitions},
    {"dependent-many", dependent_many, once, repetitions},
    {"nested", nested, twice, repetitions / 20},
};

static int compare(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

static double run(const struct construct* construct) {
  const double began = omp_get_wtime();
  const long found = construct->run(construct->count);
  const double seconds = omp_get_wtime() - began;
  const long right = expected(construct->kind, construct->count);
  if (found == right) return seconds / construct->count * 1e9;
  fprintf(stderr, "overheads: %s was executed %ld times, not %ld\n", construct->name, found, right);
  exit(1);
}

static void measure(const struct construct* construct, int has_all) {
  double times[samples];
  run(construct);
  for (int i = 0; i < samples; ++i)
    times[i] = run(construct);
  for (int i = 0; has_all && i < samples; ++i)
    printf("result %s %.6g ns\n", construct->name, times[i]);
  qsort(times, samples, sizeof *times, compare);
  if (!has_all) printf("%-16s %9.1f\n", construct->name, times[samples / 2]);
  fflush(stdout);
}

static int is_wanted(const char* name, int count, char** names) {
  for (int i = 0; i < count; ++i)
    if (strcmp(names[i], name) == 0) return 1;
  return count == 0;
}

int main(int argc, char** argv) {
  threads = argc > 1 ? atoi(argv[1]) : 2;
  if (threads < 1 || threads > threads_max) {
    fprintf(stderr, "overheads: THREADS is a number from 1 to %d\n", threads_max);
    return 2;
  }
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  omp_init_lock(&lock);
  const int has_all = argc > 2, name_count = argc > 3 ? argc - 3 : 0;
  check_barrier();
  for (size_t i = 0; i < sizeof constructs / sizeof *constructs; ++i)
    if (is_wanted(constructs[i].name, name_count, argv + 3)) measure(&constructs[i], has_all);
  return 0;
}
