/* Calls MPI_Init, then MPI from a thread that it has started, as some programs do: the variables of
 * the environment that the other MPIs have for that make MPI_Init provide what they need. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int sum;

static void* send_round(void* argument) {
  int rank, size, before;
  (void)argument;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 7, &before, 1, MPI_INT,
               (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (before != (rank + size - 1) % size) abort();
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t thread;
  int size, level, round;
  if (argc == 1) {
    MPI_Init(&argc, &argv);
  } else {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
  }
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Query_thread(&level);
  for (round = 0; round < 3; round++) {
    if (pthread_create(&thread, NULL, send_round, NULL) != 0) abort();
    if (pthread_join(thread, NULL) != 0) abort();
    if (sum != size * (size - 1) / 2 || level != MPI_THREAD_MULTIPLE) abort();
  }
  MPI_Finalize();
  return 0;
}
