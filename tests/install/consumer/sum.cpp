// Sums the ranks in C++, with a global that has a constructor: every rank must have its own.
#include <iostream>
#include <mpi.h>
#include <numeric>
#include <vector>

static std::vector<int> everybody;

int main(int argc, char** argv) {
  int rank = 0, ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  everybody.resize(static_cast<std::size_t>(ranks));
  MPI_Allgather(&rank, 1, MPI_INT, everybody.data(), 1, MPI_INT, MPI_COMM_WORLD);
  const int sum = std::accumulate(everybody.begin(), everybody.end(), 0);
  if (rank == 0) std::cout << "C++: the sum of " << ranks << " ranks is " << sum << "\n";
  MPI_Finalize();
  return sum != ranks * (ranks - 1) / 2;
}
