// Common part of all probes: arguments, and a series of timed samples of one operation.
//
// A probe prints one line per sample, for the driver (python/sorrel_bench), which computes floors
// and medians:
//   result NAME VALUE UNIT
// A sample repeats the operation until it lasts about sample_seconds, so that clock and barriers
// cost little. The first, unprinted rounds determine the number of repetitions. A series ends after
// series_seconds, so that an MPI that is a thousand times slower takes no longer and gives fewer
// samples. No global variables: a probe also runs under MPIs whose ranks share them.
#ifndef SORREL_PROBE_H
#define SORREL_PROBE_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { sample_count_max = 400, sample_count_min = 3 };

struct probe {
  int rank, ranks;
  double sample_seconds, series_seconds;
  int argument_count;  // arguments after the program's name and the time of the series
  char** arguments;
};

// Executes the operation `count` times. Every rank calls it together.
typedef void (*operation)(void* state, int count);

static inline void probe_fail(const char* message) {
  fprintf(stderr, "probe: %s\n", message);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);  // unreachable, but the compiler does not know it
}

// PROGRAM SERIES_SECONDS ARGUMENTS...
static inline struct probe probe_begin(int argc, char** argv) {
  struct probe p;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
  p.sample_seconds = 2e-3;
  p.series_seconds = argc > 1 ? atof(argv[1]) : 0.2;
  p.argument_count = argc > 2 ? argc - 2 : 0;
  p.arguments = argv + 2;
  return p;
}

static inline void probe_end(void) {
  MPI_Finalize();
}

static inline int probe_argument(const struct probe* p, int index, int otherwise) {
  return index < p->argument_count ? atoi(p->arguments[index]) : otherwise;
}

// About 1 ns each: a multiply and an add after another, whose result is 1.
static inline double probe_compute(long iterations) {
  double value = 1;
  for (long i = 0; i < iterations; i++) {
    value = value * 0.5 + 0.5;
    __asm__ volatile("" : "+x"(value));
  }
  return value;
}

static inline void* probe_allocate(size_t bytes) {
  void* memory = calloc(1, bytes);
  if (memory == NULL) probe_fail("out of memory");
  return memory;
}

// Returns rank 0's value on every rank.
static inline int probe_agree(int value) {
  MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return value;
}

static inline double probe_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Seconds from the first rank's start to the last one's end, on rank 0. One rank's clock is not
// enough: where ranks share a core, it may start after the other ranks have done their part. All
// ranks are on one machine, so one clock serves all; MPI_Wtime may differ between ranks.
static inline double probe_time(operation operate, void* state, int count) {
  double ends[2], outer[2] = {0, 0};
  MPI_Barrier(MPI_COMM_WORLD);
  ends[0] = -probe_now();
  operate(state, count);
  ends[1] = probe_now();
  MPI_Reduce(ends, outer, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return outer[0] + outer[1];
}

// The number of operations of a sample; also warms up. Same result on every rank.
static inline int probe_count_per_sample(const struct probe* p, operation operate, void* state) {
  int count = 1;
  for (;;) {
    // The best of three: a cold or disturbed round would make all samples too short.
    double seconds = probe_time(operate, state, count);
    for (int again = 0; again < 2; again++) {
      const double other = probe_time(operate, state, count);
      if (other < seconds) seconds = other;
    }
    const int is_enough = probe_agree(seconds >= p->sample_seconds || count > 1 << 26);
    if (is_enough) return count;
    // Grows in small steps: the time per operation is longer for few operations.
    const double factor = seconds > 0 ? 1.3 * p->sample_seconds / seconds : 8;
    count = probe_agree((int)(count * (factor < 2 ? 2 : factor > 8 ? 8 : factor)));
  }
}

static inline void probe_print(const char* name, double value, const char* unit) {
  printf("result %s %.6g %s\n", name, value, unit);
}

// The best copy of the machine: memcpy, or a loop of vectors, to a target that begins a line. One
// of both, and one distance of the target from the source modulo a page, is the fastest; memcpy
// between two blocks of malloc may be thirty times slower.
enum { probe_copy_ways = 8, probe_copy_room = 8192 };

typedef long long probe_vector __attribute__((vector_size(32), aligned(16), may_alias));

// Where a buffer for these copies begins in `memory`, which has probe_copy_room bytes more.
static inline char* probe_page(char* memory) {
  return memory + (4096 - (size_t)memory % 4096) % 4096;
}

// Copies between two pages of probe_page(), in one of the ways.
static inline void probe_copy(int way, char* target_page, const char* source_page, size_t bytes) {
  static const int distances[probe_copy_ways / 2] = {0, 64, 1024, 2048};
  char* const target = target_page + distances[way / 2];
  size_t done = 0;
  if (way % 2 != 0) {
    for (; done + 128 <= bytes; done += 128) {
      const probe_vector* const from = (const probe_vector*)(source_page + done);
      probe_vector* const to = (probe_vector*)(target + done);
      const probe_vector first = from[0], second = from[1], third = from[2], fourth = from[3];
      to[0] = first;
      // Stores in order; and the compiler does not make it a call of memcpy.
      __asm__ volatile("" : : : "memory");
      to[1] = second;
      __asm__ volatile("" : : : "memory");
      to[2] = third;
      __asm__ volatile("" : : : "memory");
      to[3] = fourth;
    }
  }
  memcpy(target + done, source_page + done, bytes - done);
  __asm__ volatile("" : : "r"(target) : "memory");
}

// The fastest way to copy from `from` to `to`, pages of probe_page(). Seconds of the copy in
// *seconds.
static inline int probe_best_copy(char* to, const char* from, size_t bytes, double* seconds) {
  int best = 0;
  *seconds = 1e9;
  for (int round = 0; round < 4; round++) {
    for (int way = 0; way < probe_copy_ways; way++) {
      const int count = bytes < 65536 ? (int)(65536 / bytes) : 1;
      probe_copy(way, to, from, bytes);
      const double start = probe_now();
      for (int i = 0; i < count; i++)
        probe_copy(way, to, from, bytes);
      const double taken = (probe_now() - start) / count;
      if (taken < *seconds) *seconds = taken, best = way;
    }
  }
  return best;
}

// Samples of one operation, printed by rank 0: seconds per operation times `scale`.
static inline void probe_series(const struct probe* p,
                                const char* name,
                                double scale,
                                const char* unit,
                                operation operate,
                                void* state) {
  const int count = probe_count_per_sample(p, operate, state);
  double samples[sample_count_max];
  const double start = probe_now();
  int sample_count = 0, is_over = 0;
  while (!is_over) {
    samples[sample_count++] = probe_time(operate, state, count) / count * scale;
    is_over =
        probe_agree(sample_count == sample_count_max ||
                    (sample_count >= sample_count_min && probe_now() - start >= p->series_seconds));
  }
  for (int i = 0; p->rank == 0 && i < sample_count; i++)
    probe_print(name, samples[i], unit);
}

#endif
