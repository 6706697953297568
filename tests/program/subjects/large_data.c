/* 64 MiB of initialised data: pages that no rank writes stay shared. */
#include <mpi.h>
#include <stdio.h>

enum { count = 16 << 20 };
int data[count] = {[0] = 1, [count / 2] = 2, [count - 1] = 3};
int *first = data, *last = data + count - 1;

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  data[count / 2] += rank;
  *last += rank;
  MPI_Barrier(MPI_COMM_WORLD);
  if (*first != 1 || data[count / 2] != 2 + rank || data[count - 1] != 3 + rank) return 1;
  if (rank == 0) printf("large .data is shared until written\n");
  MPI_Finalize();
  return 0;
}
