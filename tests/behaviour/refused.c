// Calls a function that fails in a job without places for further ranks, on the error handler in
// force.
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Comm made;
  MPI_Init(&argc, &argv);
  MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &made,
                 MPI_ERRCODES_IGNORE);
  MPI_Finalize();
  return 0;
}
