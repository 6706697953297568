/* The program has the variable that its library reads. */
#include <mpi.h>
#include <stdio.h>

int of_program = -1;
int library_read(void);

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  of_program = rank;
  MPI_Barrier(MPI_COMM_WORLD);
  printf("library reads %d of rank %s\n", library_read(),
         library_read() == rank ? "its own" : "another");
  MPI_Finalize();
  return 0;
}
