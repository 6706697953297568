// Sums the ranks; exits 1 when the sum is wrong.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, ranks, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("C: the sum of %d ranks is %d\n", ranks, sum);
  MPI_Finalize();
  return sum != ranks * (ranks - 1) / 2;
}
