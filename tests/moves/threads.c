// Ranks that have moved to another worker of their process start threads, and wait for messages of
// these: their worker is not idle for good.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { steps = 300, rounds = 3 };

static int rank;

/// The ranks of the first worker have all the work.
static void compute(double seconds) {
  const double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) {
  }
}

static void* send_late(void* round) {
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  MPI_Send(round, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0, size = 0, failures = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int step = 0; step < steps; step++) {
    if (rank < size / 2) compute(0.0005);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int round = 0; round < rounds; round++) {
    pthread_t thread;
    int got = -1;
    pthread_create(&thread, NULL, send_late, &round);
    MPI_Recv(&got, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
    failures += got != round;
  }
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d failures\n", failures);
  MPI_Finalize();
  return failures != 0;
}
