// The cost for its caller of a parallel loop over two empty iterations: immediately after another,
// and after serial work of several lengths. Prints "result GAP MEDIAN ns" lines. Before and after
// them, with GAP "line", the time of a cache line transfer between two processors, on which all
// else depends.
//
//   -DUSE_OPENMP  the same with an OpenMP loop, -DUSE_TBB with tbb::parallel_for (as C++)
#ifdef USE_TBB
#include <tbb/parallel_for.h>
#elif !defined(USE_OPENMP)
#include <sorrel.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile long touched[64];

#ifdef USE_OPENMP
static void region(void) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 2; i++)
    touched[i * 16]++;
}
#elif defined USE_TBB
static void region(void) {
  tbb::parallel_for(0, 2, [](int i) { touched[i * 16] = touched[i * 16] + 1; });
}
#else
static int body(void* argument, int64_t begin, int64_t end) {
  (void)argument;
  for (int64_t i = begin; i < end; i++)
    touched[i * 16]++;
  return 0;
}

static void region(void) {
  sorrel_parallel_for(0, 2, body, NULL, NULL);
}
#endif

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

static int compare(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

static void report(const char* name, double* samples, int count) {
  qsort(samples, count, sizeof *samples, compare);
  printf("result %s %.1f ns\n", name, samples[count / 2]);
}

// A cache line that two threads pass back and forth: medians of a number of turns each.
enum { turns_per_sample = 200, turn_samples = 51, turns = turns_per_sample * turn_samples };

static int whose[64];

static void await_turn(int of) {
  for (int look = 1; __atomic_load_n(&whose[32], __ATOMIC_ACQUIRE) != of; look++) {
    // Both threads may be on one processor.
    if (look % 4096 == 0) sched_yield();
  }
}

static void* answer(void* argument) {
  for (int turn = 0; turn < turns; turn++) {
    await_turn(1);
    __atomic_store_n(&whose[32], 0, __ATOMIC_RELEASE);
  }
  return argument;
}

static void report_line(void) {
  static double samples[turn_samples];
  pthread_t other;
  if (pthread_create(&other, NULL, answer, NULL) != 0) return;
  for (int i = 0; i < turn_samples; i++) {
    const double began = now_ns();
    for (int turn = 0; turn < turns_per_sample; turn++) {
      __atomic_store_n(&whose[32], 1, __ATOMIC_RELEASE);
      await_turn(0);
    }
    samples[i] = (now_ns() - began) / turns_per_sample / 2;
  }
  pthread_join(other, NULL);
  report("line", samples, turn_samples);
}

int main(void) {
  enum { samples_max = 1000, loops_per_sample = 50 };

  static double samples[samples_max];
  report_line();
  for (int i = 0; i < 20000; i++)
    region();
  for (int i = 0; i < 400; i++) {
    const double began = now_ns();
    for (int loop = 0; loop < loops_per_sample; loop++)
      region();
    samples[i] = (now_ns() - began) / loops_per_sample;
  }
  report("hot", samples, 400);

  const struct {
    const char* name;
    double gap_ns;
    int count;
  } gaps[] = {{"after_20us", 20e3, 1000},
              {"after_200us", 200e3, 400},
              {"after_2ms", 2e6, 80},
              {"after_20ms", 20e6, 20},
              {"after_250ms", 250e6, 4}};

  for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
    for (int i = 0; i < gaps[g].count; i++) {
      double began = now_ns();
      while (now_ns() - began < gaps[g].gap_ns) {
      }
      began = now_ns();
      region();
      samples[i] = now_ns() - began;
    }
    report(gaps[g].name, samples, gaps[g].count);
  }
  report_line();
  return 0;
}
