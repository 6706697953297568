// The largest number of ranks; each does little.
#include <mpi.h>
#include <stdio.h>

#ifdef HAS_THREAD_LOCALS
_Thread_local int own = 3;
#else
static int own = 3;
#endif

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  own += rank;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == ranks - 1) printf("%d ranks\n", own - 2);
  MPI_Finalize();
  return 0;
}
