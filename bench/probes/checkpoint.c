/* How long every rank waits in sorrel_checkpoint(), while it has the given memory.
 *
 * usage: checkpoint MIB_PER_RANK STEPS
 *
 * Prints for each step the longest wait of any rank, and the time of day at which the first rank
 * called, in nanoseconds. The next call waits until the files of the one before are on the device.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <sorrel.h>

static double time_of_day_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 3 || atol(argv[1]) < 1 || atoi(argv[2]) < 1) {
    if (rank == 0) fprintf(stderr, "usage: checkpoint MIB_PER_RANK STEPS\n");
    MPI_Finalize();
    return 2;
  }
  const size_t words = (size_t)atol(argv[1]) << 17;
  uint64_t* const state = malloc(8 * words);
  if (state == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int step = 0; step < atoi(argv[2]); ++step) {
    /* All of it changes: no page is like the one in the checkpoint before. */
    for (size_t i = 0; i < words; ++i)
      state[i] = (uint64_t)rank * 0x9e3779b97f4a7c15u + i * (uint64_t)(step + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = time_of_day_ns();
    const int result = sorrel_checkpoint();
    double waited = time_of_day_ns() - began;
    if (result != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    double longest, first;
    MPI_Reduce(&waited, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&began, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      printf("step %d began %.0f waited %.0f ns\n", step, first, longest);
      fflush(stdout);
    }
  }
  free(state);
  MPI_Finalize();
  return 0;
}
