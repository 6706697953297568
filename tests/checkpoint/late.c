// All ranks take a checkpoint, to which rank 0 comes seconds late: first before any collective of
// MPI_COMM_WORLD, then after one. The search for deadlocks looks at the ranks that wait.
#include <mpi.h>

#include <sorrel.h>

#include "../mpi/check.h"

// The search looks once a second and needs a few looks. It stops ranks that call MPI only.
static void poll_for(double seconds) {
  const double end = MPI_Wtime() + seconds;
  int is_there = 0;
  while (MPI_Wtime() < end)
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
  CHECK_EQUAL(is_there, 0);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int turn = 0; turn < 2; ++turn) {
    if (rank == 0) poll_for(5);
    CHECK_EQUAL(sorrel_checkpoint(), 0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
