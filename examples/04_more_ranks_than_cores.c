// Thousands of ranks on the cores of one machine. A line of heat: in each step a rank exchanges its
// one cell with both neighbours and takes the mean. That is far too little work for a process, but
// not for a rank of Sorrel.
//
//   mpicc 04_more_ranks_than_cores.c -o heat && sorrel run -n 1000 ./heat

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  enum { steps = 200 };

  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  // The ends of the line are joined, so that no heat is lost: rank 0 starts with all of it.
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  double heat = rank == 0 ? ranks : 0;
  const double start = MPI_Wtime();
  for (int i = 0; i < steps; i++) {
    double from_left, from_right;
    MPI_Sendrecv(&heat, 1, MPI_DOUBLE, right, 0, &from_left, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&heat, 1, MPI_DOUBLE, left, 1, &from_right, 1, MPI_DOUBLE, right, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    heat = 0.25 * from_left + 0.5 * heat + 0.25 * from_right;
  }
  double total = 0;
  MPI_Allreduce(&heat, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const int wrong = fabs(total - ranks) > 1e-9 * ranks;
  if (rank == 0)
    printf("%d ranks on %ld cores: %.1f us per step, heat kept: %s\n", ranks,
           sysconf(_SC_NPROCESSORS_ONLN), (MPI_Wtime() - start) / steps * 1e6,
           wrong ? "no" : "yes");
  MPI_Finalize();
  return wrong;
}
