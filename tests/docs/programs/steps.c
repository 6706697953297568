// steps [COUNT]: so many steps, with a sum over all ranks in each; without COUNT 300 steps, with a
// checkpoint in every hundredth.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include <sorrel.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long count = argc > 1 ? atol(argv[1]) : 300;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int wrong = 0;
  for (long step = 0; step < count && !wrong; ++step) {
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong = sum != ranks * (ranks - 1) / 2;
    if (argc == 1 && step % 100 == 99) sorrel_checkpoint();
  }
  if (rank == 0) printf("%ld steps\n", count);
  MPI_Finalize();
  return wrong;
}
