// allocates [BYTES [ARRAYS [STEPS]]]: every rank allocates, writes and frees its arrays in each
// step. The first rank prints the cost: page faults of the process per step and rank, and its
// resident memory at most and at the end.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static long page_faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

static long resident_kib(void) {
  long all = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &all, &resident) != 2) exit(1);
  fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char** argv) {
  enum { arrays_max = 64, first_steps = 5 };

  char* arrays[arrays_max];
  int rank = 0, neighbours = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &neighbours);
  // The ranks of this process.
  const long own = getpid();
  long* pids = malloc(sizeof *pids * (size_t)neighbours);
  MPI_Allgather(&own, 1, MPI_LONG, pids, 1, MPI_LONG, MPI_COMM_WORLD);
  int count = 0;
  for (int i = 0; i < neighbours; ++i)
    count += pids[i] == own;
  free(pids);

  const size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 400000;
  const int array_count = argc > 2 ? atoi(argv[2]) : 8;
  const int steps = argc > 3 ? atoi(argv[3]) : 40;
  if (array_count > arrays_max) return 1;
  long faults_before = 0, most_kib = 0;
  for (int step = 0; step < first_steps + steps; ++step) {
    if (step == first_steps) {
      MPI_Barrier(MPI_COMM_WORLD);
      faults_before = page_faults();
    }
    for (int i = 0; i < array_count; ++i) {
      arrays[i] = malloc(bytes);
      memset(arrays[i], step, bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      const long kib = resident_kib();
      if (kib > most_kib) most_kib = kib;
    }
    // No rank frees memory before the first rank has counted it.
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < array_count; ++i)
      free(arrays[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%ld page faults in a step for a rank, resident %ld MiB, in the end %ld MiB\n",
           (page_faults() - faults_before) / ((long)steps * count), most_kib >> 10,
           resident_kib() >> 10);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
