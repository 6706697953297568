// The cost of empty OpenMP constructs: medians in nanoseconds, for two threads or the number given
// as argument. Build with -fopenmp; run under any OpenMP library.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { samples = 21, repetitions = 2000 };

static volatile int sink;
static int cells[1000];
static omp_lock_t lock;

static void parallel(int n) {
  for (int i = 0; i < n; ++i) {
#pragma omp parallel
    (void)sink;
  }
}

static void parallel_for(int n) {
  for (int i = 0; i < n; ++i) {
#pragma omp parallel for
    for (int k = 0; k < 8; ++k)
      (void)sink;
  }
}

static void reduction(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
#pragma omp parallel reduction(+ : sum)
    sum++;
  }
  sink = sum;
}

static void barrier(int n) {
#pragma omp parallel
  for (int i = 0; i < n; ++i) {
#pragma omp barrier
  }
}

static void for_static(int n) {
#pragma omp parallel
  for (int i = 0; i < n; ++i) {
#pragma omp for
    for (int k = 0; k < 8; ++k)
      (void)sink;
  }
}

static void for_dynamic(int n) {
#pragma omp parallel
  for (int i = 0; i < n; ++i) {
#pragma omp for schedule(dynamic)
    for (int k = 0; k < 8; ++k)
      (void)sink;
  }
}

static void dynamic_chunk(int n) {
#pragma omp parallel for schedule(dynamic)
  for (int k = 0; k < n; ++k)
    (void)sink;
}

static void for_guided(int n) {
#pragma omp parallel
  for (int i = 0; i < n; ++i) {
#pragma omp for schedule(guided)
    for (int k = 0; k < 8; ++k)
      (void)sink;
  }
}

static void single(int n) {
#pragma omp parallel
  for (int i = 0; i < n; ++i) {
#pragma omp single
    (void)sink;
  }
}

static void sections(int n) {
#pragma omp parallel
  for (int i = 0; i < n; ++i) {
#pragma omp sections
    {
#pragma omp section
      (void)sink;
#pragma omp section
      (void)sink;
    }
  }
}

static void critical(int n) {
#pragma omp parallel
  for (int i = 0; i < n / omp_get_num_threads(); ++i) {
#pragma omp critical
    (void)sink;
  }
}

static void locked(int n) {
#pragma omp parallel
  for (int i = 0; i < n / omp_get_num_threads(); ++i) {
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
  }
}

static void ordered(int n) {
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < n; ++i) {
#pragma omp ordered
    (void)sink;
  }
}

static void tasks_of_all(int n) {
#pragma omp parallel
  for (int i = 0; i < n / omp_get_num_threads(); ++i) {
#pragma omp task
    (void)sink;
  }
}

static void tasks_of_one(int n) {
#pragma omp parallel
#pragma omp master
  for (int i = 0; i < n; ++i) {
#pragma omp task
    (void)sink;
  }
}

static void task_and_wait(int n) {
#pragma omp parallel
#pragma omp master
  for (int i = 0; i < n; ++i) {
#pragma omp task
    (void)sink;
#pragma omp taskwait
  }
}

static void dependent_chain(int n) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < n; ++i) {
#pragma omp task depend(inout : cells[0])
    (void)sink;
  }
}

static void dependent_many(int n) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < n; ++i) {
#pragma omp task depend(in : cells[i % 100]) depend(inout : cells[(i + 1) % 100])
    (void)sink;
  }
}

static void nested(int n) {
  omp_set_max_active_levels(2);
#pragma omp parallel
#pragma omp master
  for (int i = 0; i < n; ++i) {
#pragma omp parallel num_threads(2)
    (void)sink;
  }
  omp_set_max_active_levels(1);
}

static int compare(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

static void measure(const char* name, void (*construct)(int), int count) {
  double times[samples];
  construct(count);
  for (int i = 0; i < samples; ++i) {
    const double began = omp_get_wtime();
    construct(count);
    times[i] = (omp_get_wtime() - began) / count * 1e9;
  }
  qsort(times, samples, sizeof *times, compare);
  printf("%-16s %9.1f\n", name, times[samples / 2]);
  fflush(stdout);
}

int main(int argc, char** argv) {
  omp_set_num_threads(argc > 1 ? atoi(argv[1]) : 2);
  omp_init_lock(&lock);
  measure("parallel", parallel, repetitions);
  measure("parallel-for", parallel_for, repetitions);
  measure("reduction", reduction, repetitions);
  measure("barrier", barrier, repetitions);
  measure("for-static", for_static, repetitions);
  measure("for-dynamic", for_dynamic, repetitions);
  measure("dynamic-chunk", dynamic_chunk, 20 * repetitions);
  measure("for-guided", for_guided, repetitions);
  measure("single", single, repetitions);
  measure("sections", sections, repetitions);
  measure("critical", critical, repetitions);
  measure("lock", locked, repetitions);
  measure("ordered", ordered, repetitions);
  measure("tasks-of-all", tasks_of_all, repetitions);
  measure("tasks-of-one", tasks_of_one, repetitions);
  measure("task-and-wait", task_and_wait, repetitions);
  measure("dependent-chain", dependent_chain, repetitions);
  measure("dependent-many", dependent_many, repetitions);
  measure("nested", nested, repetitions / 20);
  return 0;
}
