// For apps/fem with AMPI, by -include: lets AMPI move ranks after each step that computes the
// energy. AMPI moves a rank only in AMPI_Migrate, which every rank must call. Such a step adds
// three numbers over all ranks, one at a time.
#ifndef SORREL_BENCH_AMPI_MOVES_H
#define SORREL_BENCH_AMPI_MOVES_H

#include <mpi.h>

enum { sums_of_energy = 3, ranks_max = 1 << 16 };

static inline int allreduce_and_move(
    const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  // Ranks of a process share this array; a rank uses its own element alone.
  static unsigned char calls[ranks_max];
  const int status = MPI_Allreduce(from, to, count, type, operation, comm);
  if (count != 1 || operation != MPI_SUM) return status;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (++calls[rank] == sums_of_energy) {
    calls[rank] = 0;
    AMPI_Migrate(AMPI_INFO_LB_SYNC);
  }
  return status;
}

#undef MPI_Allreduce
#define MPI_Allreduce allreduce_and_move

#endif
