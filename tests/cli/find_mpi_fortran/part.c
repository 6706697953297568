#include <mpi.h>

void add_up(const int* value, const MPI_Fint* comm, int* total) {
  MPI_Allreduce(value, total, 1, MPI_INT, MPI_SUM, MPI_Comm_f2c(*comm));
}
