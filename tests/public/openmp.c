// Situations of OpenMP programs that public trackers report (README.md). No MPI; each has four
// threads.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 4 };

#define CHECK_EQUAL(value, expected) check_equal((value), (expected), #value, __LINE__)

static void check_equal(long value, long expected, const char* text, int line) {
  if (value == expected) return;
  fprintf(stderr, "openmp.c:%d: %s is %ld, expected %ld\n", line, text, value, expected);
  exit(1);
}

static int own = 1;
#pragma omp threadprivate(own)

// LLVM 55547: copyin had no effect on constructs that combine a region with a loop or sections.
static void copies_of_combined_constructs(void) {
  long seen[40], in_sections[3] = {0};
  own = 5;
#pragma omp parallel for copyin(own) num_threads(threads)
  for (int i = 0; i < 40; i++)
    seen[i] = own + i;
  for (int i = 0; i < 40; i++)
    CHECK_EQUAL(seen[i], 5 + i);
  own = 6;
#pragma omp parallel sections copyin(own) num_threads(threads)
  {
#pragma omp section
    in_sections[0] = own;
#pragma omp section
    in_sections[1] = own;
#pragma omp section
    in_sections[2] = own;
  }
  for (int i = 0; i < 3; i++)
    CHECK_EQUAL(in_sections[i], 6);
}

// hpxMP 29: threads left a single construct before they had the value that its thread copies to
// them.
static void values_of_a_single_thread_reach_all(void) {
  long wrong = 0, executed = 0;
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
  for (int i = 0; i < 200; i++) {
#pragma omp single copyprivate(own)
    {
      executed++;
      own = i;
    }
    wrong += own != i;
#pragma omp barrier
  }
  CHECK_EQUAL(wrong, 0);
  CHECK_EQUAL(executed, 200);
}

// LLVM 76345: the values that the threads have set are gone in the next region.
static void values_of_threads_stay(void) {
  long wrong = 0;
  omp_set_dynamic(0);
  for (int round = 0; round < 50; round++) {
#pragma omp parallel num_threads(threads)
    own = 100 * round + omp_get_thread_num();
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
    wrong += own != 100 * round + omp_get_thread_num();
  }
  CHECK_EQUAL(wrong, 0);
}

// LLVM 55970 and 59947: loops whose bounds depend on outer loops were cut wrongly when collapsed.
static void collapsed_loops_that_are_no_rectangle(void) {
  for (int n = 0; n <= 9; n++) {
    static int hits[9][9][9];
    long count = 0, expected = 0;
    for (int i = 0; i < 9 * 9 * 9; i++)
      (&hits[0][0][0])[i] = 0;
#pragma omp parallel for collapse(3) num_threads(threads) reduction(+ : count)
    for (int i = 0; i < n; i++)
      for (int j = i; j < n; j++)
        for (int k = 0; k < 3; k++) {
          hits[i][j][k]++;
          count++;
        }
    for (int i = 0; i < n; i++)
      for (int j = i; j < n; j++)
        for (int k = 0; k < 3; k++, expected++)
          CHECK_EQUAL(hits[i][j][k], 1);
    CHECK_EQUAL(count, expected);
  }
}

// LLVM 64055: the loop variable after a loop with lastprivate was that of the last iteration; with
// an unsigned variable near its limit and all schedules.
static void loop_variables_after_the_loop(void) {
  int i = -1;
  unsigned long u = 1;
  long last = -1;
#pragma omp parallel for lastprivate(i, last) num_threads(threads) schedule(static, 3)
  for (i = 0; i < 50; i++)
    last = i;
  CHECK_EQUAL(i, 50);
  CHECK_EQUAL(last, 49);
  for (int kind = omp_sched_static; kind <= omp_sched_guided; kind++) {
    omp_set_schedule((omp_sched_t)kind, 7);
    unsigned long sum = 0;
#pragma omp parallel for lastprivate(u) num_threads(threads) schedule(runtime) reduction(+ : sum)
    for (u = ~0ul - 101; u < ~0ul - 1; u += 2)
      sum += ~0ul - u;
    CHECK_EQUAL((long)(u == ~0ul - 1), 1);
    // 101, 99, …, 3.
    CHECK_EQUAL((long)sum, 51 * 51 - 1);
  }
}

// LLVM 62867: a task with a priority, with OMP_MAX_TASK_PRIORITY set, ended in a hang.
static void tasks_with_priorities(void) {
  long done = 0;
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 50; i++) {
#pragma omp task priority(i % 7)
    {
#pragma omp atomic
      done++;
    }
  }
  CHECK_EQUAL(done, threads * 50);
  CHECK_EQUAL(omp_get_max_task_priority(), 42);
}

// hpxMP 36: a program stood still after many regions.
static void many_regions(void) {
  long sum = 0;
  for (int i = 0; i < 2000; i++) {
#pragma omp parallel num_threads(1 + i % threads) reduction(+ : sum)
    sum++;
  }
  CHECK_EQUAL(sum, 500 * (1 + 2 + 3 + 4));
}

// LLVM 132039: the contributions of tasks within tasks of a loop were lost.
static void reductions_of_tasks_in_tasks(void) {
  for (int round = 0; round < 20; round++) {
    long sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskloop reduction(+ : sum) num_tasks(5)
    for (int i = 1; i <= 20; i++) {
      sum += i;
#pragma omp task in_reduction(+ : sum)
      sum += 1000 * i;
    }
    CHECK_EQUAL(sum, 1001 * 210);
  }
}

int main(void) {
  copies_of_combined_constructs();
  values_of_a_single_thread_reach_all();
  values_of_threads_stay();
  collapsed_loops_that_are_no_rectangle();
  loop_variables_after_the_loop();
  tasks_with_priorities();
  many_regions();
  reductions_of_tasks_in_tasks();
  return 0;
}
