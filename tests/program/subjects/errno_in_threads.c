// The address of errno, which compilers keep across calls, is that of the rank's errno also when
// the rank has started a thread and goes on with a thread of its own.
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

// Called through a variable: compilers know __errno_location() as a function without effect.
static int* (*volatile location)(void) = __errno_location;

static void* call(void* unused) {
  errno = EDOM;
  MPI_Barrier(MPI_COMM_SELF);
  return unused;
}

int main(int argc, char** argv) {
  int rank, level, fault_count = 0;

  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* const address = location();
  for (int i = 0; i < 100; ++i) {
    pthread_t thread;
    *address = 0;
    pthread_create(&thread, NULL, call, NULL);
    fault_count += location() != address;
    pthread_join(thread, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    fault_count += location() != address || *address != 0;
    fault_count += strtol("99999999999999999999", NULL, 10) != LONG_MAX || *address != ERANGE;
  }
  if (fault_count == 0)
    printf("rank %d: errno is where it was\n", rank);
  else
    printf("rank %d: errno was somewhere else %d times\n", rank, fault_count);
  MPI_Finalize();
  return fault_count != 0;
}
