// `flight FILE`: rank 0 sleeps until the file exists, and the other ranks wait for it in a barrier.
// A message to rank 2 has come, and is not received before.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static void wait_for_file(const char* file) {
  printf("ready\n");
  fflush(stdout);
  while (access(file, F_OK) != 0)
    usleep(10000);
}

int main(int argc, char** argv) {
  int me, value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 1) MPI_Send(&value, 1, MPI_INT, 2, 9, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) wait_for_file(argv[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 2) MPI_Recv(&value, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
