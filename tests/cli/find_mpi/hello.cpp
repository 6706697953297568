#include <iostream>
#include <mpi.h>
#include <string>

int main(int argc, char** argv) {
  int rank = 0;
  int size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::cout << "rank " + std::to_string(rank) + " of " + std::to_string(size) + "\n" << std::flush;
  MPI_Finalize();
  return 0;
}
