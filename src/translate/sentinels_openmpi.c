/* Arguments that Open MPI's Fortran interface compares by address (fortran_openmpi.h). The program
 * has them at any size from 1 byte to that of a status. */
#include "fortran/shim.h"

int mpi_fortran_bottom_;
int mpi_fortran_in_place_;
int mpi_fortran_unweighted_;
int mpi_fortran_weights_empty_;
int mpi_fortran_errcodes_ignore_;
char mpi_fortran_argv_null_;
char mpi_fortran_argvs_null_;
MPI_Status mpi_fortran_status_ignore_;
MPI_Status mpi_fortran_statuses_ignore_;

/* In by_hand.c. */
extern int* MPI_F_STATUS_IGNORE;
extern int* MPI_F_STATUSES_IGNORE;

__attribute__((constructor)) static void give_statuses(void) {
  MPI_F_STATUS_IGNORE = (int*)&mpi_fortran_status_ignore_;
  MPI_F_STATUSES_IGNORE = (int*)&mpi_fortran_statuses_ignore_;
}
