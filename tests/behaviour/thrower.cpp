// An uncaught exception in rank 1 or, with KIND all, in every rank: `thrower [KIND]`.
#include <cstring>
#include <mpi.h>
#include <stdexcept>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool is_caught = argc > 1 && std::strcmp(argv[1], "caught") == 0;
  const bool is_everywhere = argc > 1 && std::strcmp(argv[1], "all") == 0;
  if (is_everywhere) {
    MPI_Barrier(MPI_COMM_WORLD);
    throw std::runtime_error("all wells\nare dry");
  }
  try {
    if (rank == 1) throw std::runtime_error("the well is dry");
  } catch (const std::runtime_error&) {
    if (!is_caught) throw;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
