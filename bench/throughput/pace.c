// Parallel loops of about 35 us of work, one after the other, for the given time; and how many are
// done every millisecond: the program's share of the machine over time. Prints "pace NANOSECONDS
// LOOPS" lines, by a clock common to all processes.
//
//   pace SECONDS
//
//   -DUSE_TBB  with tbb::parallel_for (as C++); -DUSE_MPI  ranks that share the work of each loop
#ifdef USE_TBB
#include <tbb/parallel_for.h>
#elif defined USE_MPI
#include <mpi.h>
#else
#include <sorrel.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { parts = 32, recurrences = 120, records_max = 20000 };

static double results[parts * 8];

static void run_part(int part) {
  double x = results[part * 8] + 1;
  for (int i = 0; i < recurrences; i++)
    x = x * 0.999999 + 1.0 / (1.0 + x * x);
  results[part * 8] = x;
}

// The first rank decides whether to continue.
#ifdef USE_TBB
static int run_loop(int go_on) {
  tbb::parallel_for(0, (int)parts, [](int part) { run_part(part); });
  return go_on;
}
#elif defined USE_MPI
static int run_loop(int go_on) {
  int rank, ranks, all_go_on;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int part = rank; part < parts; part += ranks)
    run_part(part);
  go_on = rank != 0 || go_on;
  MPI_Allreduce(&go_on, &all_go_on, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all_go_on;
}
#else
static int body(void* argument, int64_t begin, int64_t end) {
  (void)argument;
  for (int64_t part = begin; part < end; part++)
    run_part((int)part);
  return 0;
}

static int run_loop(int go_on) {
  sorrel_parallel_for(0, parts, body, NULL, NULL);
  return go_on;
}
#endif

static long long now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long long records[records_max][2];

int main(int argc, char** argv) {
  const long long began = now_ns();
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  int count = 0, speaks = 1;
#ifdef USE_MPI
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  speaks = rank == 0;
#endif
  long long now = began, next = 0;
  for (long loops = 0; run_loop(now - began < (long long)(seconds * 1e9)); loops++) {
    now = now_ns();
    if (now < next || count == records_max) continue;
    records[count][0] = now;
    records[count++][1] = loops;
    next = now + 1000000;
  }
  for (int i = 0; speaks && i < count; i++)
    printf("pace %lld %lld\n", records[i][0], records[i][1]);
#ifdef USE_MPI
  MPI_Finalize();
#endif
  return 0;
}
