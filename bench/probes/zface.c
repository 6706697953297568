// The exchange of the most expensive face: a cube of N^3 doubles cut in two across its rows,
// between two ranks, by MPI_Sendrecv of an MPI_Type_vector, as in a program that leaves packing to
// MPI.
//
//   zface N REPEATS
//
// Prints the least seconds of an exchange. Before each, untimed, the block is swept, as a stencil's
// update does. libexec/sorrel/zface does the same with Sorrel's halo.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int n = argc > 1 ? atoi(argv[1]) : 0, repeats = argc > 2 ? atoi(argv[2]) : 0;
  if (ranks != 2 || n < 2 || n % 2 != 0 || repeats < 1) {
    if (rank == 0)
      fprintf(stderr, "zface: 2 ranks, an even N and a number of repeats are needed\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  // Ghost cells on both sides of every dimension.
  const size_t row = (size_t)n / 2 + 2, rows = (size_t)(n + 2) * (size_t)(n + 2);
  double* u = malloc(row * rows * sizeof *u);
  if (u == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (size_t i = 0; i < row * rows; i++)
    u[i] = rank;
  MPI_Datatype line, face;
  MPI_Type_vector(n, 1, (int)row, MPI_DOUBLE, &line);
  MPI_Type_create_hvector(n, 1, (MPI_Aint)(row * (size_t)(n + 2) * sizeof *u), line, &face);
  MPI_Type_commit(&face);
  double* first = u + row * (size_t)(n + 2) + row;
  double* sent = first + (rank == 0 ? n / 2 : 1);
  double* ghosts = first + (rank == 0 ? n / 2 + 1 : 0);
  double least = 1e9;
  for (int r = 0; r <= repeats; r++) {
    for (size_t i = 0; i < row * rows; i++)
      u[i] += 1;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    MPI_Sendrecv(sent, 1, face, 1 - rank, 0, ghosts, 1, face, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    double seconds = MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (r > 0 && seconds < least) least = seconds;
    if (*ghosts != 1 - rank + r + 1) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (rank == 0) printf("zface %.6e\n", least);
  MPI_Type_free(&face);
  MPI_Type_free(&line);
  free(u);
  MPI_Finalize();
  return 0;
}
