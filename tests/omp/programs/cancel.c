// Cancellation, with OMP_CANCELLATION=true: the program continues after it.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

// A cancellation ends with its construct: the next construct of the region runs completely.
static void constructs_after(int threads, int is_off) {
  int after_loops = 0, after_sections = 0, after_dynamic = 0, cut_short = 0, rounds = 0;
#pragma omp parallel num_threads(threads)
  {
    for (int round = 0; round < 5; ++round) {
      // Never true: these only make the compiler check for requests.
#pragma omp cancel parallel if (threads > 100)
#pragma omp for
      for (int i = 0; i < 1000; ++i) {
#pragma omp cancel for if (i % 7 == 0)
#pragma omp atomic
        cut_short++;
      }
#pragma omp for
      for (int i = 0; i < 1000; ++i) {
#pragma omp cancel for if (threads > 100)
#pragma omp atomic
        after_loops++;
      }
#pragma omp sections
      {
#pragma omp section
        {
#pragma omp cancel sections
        }
#pragma omp section
        {
#pragma omp cancellation point sections
        }
      }
#pragma omp sections
      {
#pragma omp section
        {
#pragma omp cancel sections if (threads > 100)
#pragma omp atomic
          after_sections++;
        }
#pragma omp section
        {
#pragma omp cancel sections if (threads > 100)
#pragma omp atomic
          after_sections++;
        }
      }
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 100; ++i) {
#pragma omp cancel for if (i == 3)
      }
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 100; ++i) {
#pragma omp cancel for if (threads > 100)
#pragma omp atomic
        after_dynamic++;
      }
#pragma omp single
      rounds++;
    }
  }
  const int is_cut = cut_short < 5 * 1000;
  if (is_cut == is_off || after_loops != 5000 || after_sections != 10 || after_dynamic != 500 ||
      rounds != 5)
    printf("wrong: after constructs of %d threads %d %d %d %d %d\n", threads, cut_short,
           after_loops, after_sections, after_dynamic, rounds);
}

// Each region begins without the requests of the previous one.
static void regions_after(int threads) {
  int whole = 0;
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(threads)
    {
#pragma omp for
      for (int i = 0; i < 100; ++i) {
#pragma omp cancel for
      }
    }
#pragma omp parallel num_threads(threads)
#pragma omp for
    for (int i = 0; i < 100; ++i) {
#pragma omp cancel for if (threads > 100)
#pragma omp atomic
      whole++;
    }
  }
  if (whole != 2000) printf("wrong: after regions of %d threads %d\n", threads, whole);
}

// The request is for the taskgroup construct, not for a loop's task reduction inside it.
static void group_around_loop(int is_off) {
  int ran = 0, sum = 0;
#pragma omp parallel num_threads(1)
#pragma omp taskgroup
  {
#pragma omp for reduction(task, + : sum)
    for (int i = 0; i < 1; ++i) {
#pragma omp task in_reduction(+ : sum)
      {
        sum++;
#pragma omp cancel taskgroup
      }
    }
#pragma omp task shared(ran)
    ran++;
  }
  if (sum != 1 || ran != is_off) printf("wrong: group around a loop %d %d\n", sum, ran);
}

int main(int argc, char** argv) {
  const int is_off = argc > 1 && argv[1][0] == 'o';
  printf("cancellation %d\n", omp_get_cancellation());
  for (int round = 0; round < 50; ++round) {
    constructs_after(4, is_off);
    constructs_after(1, is_off);
    regions_after(4);
    regions_after(1);
    group_around_loop(is_off);
    int after = 0, before = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp atomic
      before++;
      if (omp_get_thread_num() == 2) {
#pragma omp cancel parallel
      }
#pragma omp barrier
#pragma omp atomic
      after++;
    }
    int found = -1, ran = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(dynamic, 1)
      for (int i = 0; i < 100000; ++i) {
#pragma omp atomic
        ran++;
        if (i == 50) {
          found = i;
#pragma omp cancel for
        }
#pragma omp cancellation point for
      }
      // The region continues, with loops of its own.
#pragma omp for
      for (int i = 0; i < 4; ++i)
#pragma omp atomic
        after += 100;
    }
    int tasks = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 1000; ++i) {
#pragma omp task
      {
#pragma omp cancellation point taskgroup
#pragma omp atomic
        tasks++;
        if (i == 10) {
#pragma omp cancel taskgroup
        }
      }
    }
    if (is_off) {
      if (before != 4 || after != 404 || ran != 100000 || tasks != 1000)
        printf("wrong: nothing is cancelled\n");
      continue;
    }
    if (before < 1 || after % 100 != 0 || after != 400 || found != 50 || ran > 100000 ||
        tasks > 1000)
      printf("wrong: %d %d %d %d %d\n", before, after, found, ran, tasks);
  }
  printf("done\n");
  return 0;
}
