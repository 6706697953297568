/* The program and its library use one variable. With the argument "shared" the ranks, which share a
 * process, must all see the sum of all ranks. */
#include <mpi.h>
#include <stdio.h>

extern int counter;
void library_add(int value);
int library_get(void);

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1) {
    /* One after the other: the library has no lock. */
    for (int turn = 0; turn < ranks; ++turn) {
      if (turn == rank) library_add(1);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    int is_shared = counter == ranks && library_get() == ranks, all = 0;
    MPI_Reduce(&is_shared, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d ranks share the library's data\n", all);
  } else {
    library_add(rank + 5);
    MPI_Barrier(MPI_COMM_WORLD);
    int is_seen = counter == rank + 5;
    counter = 100 + rank;
    library_add(1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_seen && counter == 101 + rank && library_get() == 101 + rank)
      printf("library and program of rank %d agree\n", rank);
  }
  MPI_Finalize();
  return 0;
}
