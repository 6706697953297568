// Cleanup handlers belong to a rank, also if ranks of one worker push and pop alternately.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char run[16];
static int rank;

static void note(void* name) {
  strcat(run, name);
  if (strcmp(run, "dba") == 0) printf("handlers of rank %d ran\n", rank);
}

static void inner(void) {
  pthread_cleanup_push(note, "b");
  MPI_Barrier(MPI_COMM_WORLD);
  pthread_cleanup_push(note, "c");
  MPI_Barrier(MPI_COMM_WORLD);
  pthread_cleanup_pop(0);
  pthread_cleanup_push(note, "d");
  pthread_cleanup_pop(1);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  pthread_exit(NULL);
  pthread_cleanup_pop(0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_cleanup_push(note, "a");
  MPI_Barrier(MPI_COMM_WORLD);
  inner();
  pthread_cleanup_pop(0);
}
