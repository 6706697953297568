// Each rank has its own global and static variables, as if every rank were a process, although all
// ranks share one. The program needs no change: it is an ordinary executable.
//
//   mpicc 03_globals.c -o globals && sorrel run -n 16 ./globals

#include <mpi.h>
#include <stdio.h>

static int my_number = -1;            // initialised data
static double my_table[1000];         // zeros
static int* my_pointer = &my_number;  // must point into this rank's own copy

static int times_called(void) {
  static int calls = 0;
  return ++calls;
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  *my_pointer = rank;
  for (int i = 0; i < 1000; i++)
    my_table[i] += rank + i;
  for (int i = 0; i < rank; i++)
    times_called();
  // After the barrier all ranks have written, so a shared variable would have a wrong value.
  MPI_Barrier(MPI_COMM_WORLD);

  int wrong = my_number != rank || times_called() != rank + 1;
  for (int i = 0; i < 1000; i++)
    wrong += my_table[i] != rank + i;

  int all_wrong;
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf(
        all_wrong == 0 ? "%d ranks, each with its own globals\n" : "%d ranks, some share globals\n",
        ranks);
  MPI_Finalize();
  return wrong != 0;
}
