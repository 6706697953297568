/* Arguments that MPICH's Fortran interface compares by address (fortran_mpich.h). */
#include "fortran/shim.h"

struct sorrel_mpipriv1 mpipriv1_;
struct sorrel_mpipriv2 mpipriv2_;
struct sorrel_mpiprivc mpiprivc_;
int mpifcmb5_;
int mpifcmb9_;
int mpifcmba_;

int MPIR_F08_MPI_BOTTOM;
int MPIR_F08_MPI_IN_PLACE;
MPI_Status MPIR_F08_MPI_STATUS_IGNORE_OBJ;
MPI_Status MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
int sorrel_f08_unweighted;
int sorrel_f08_weights_empty;
int sorrel_f08_errcodes_ignore;
char sorrel_f08_argv_null;
char sorrel_f08_argvs_null;

/* In by_hand.c. */
extern int* MPI_F_STATUS_IGNORE;
extern int* MPI_F_STATUSES_IGNORE;

__attribute__((constructor)) static void give_statuses(void) {
  MPI_F_STATUS_IGNORE = (int*)&mpipriv1_.status_ignore;
  MPI_F_STATUSES_IGNORE = (int*)&mpipriv2_.statuses_ignore;
}
