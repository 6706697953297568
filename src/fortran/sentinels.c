/* The sentinels of the Fortran bindings, for Fortran and for C. */
#include "fortran/shim.h"

/* gfortran aligns a COMMON block for vectors. */
struct sorrel_sentinels sorrel_sentinels_ __attribute__((aligned(64)));

MPI_Fint* MPI_F_STATUS_IGNORE = (MPI_Fint*)&sorrel_sentinels_.status_ignore;
MPI_Fint* MPI_F_STATUSES_IGNORE = (MPI_Fint*)&sorrel_sentinels_.statuses_ignore;
MPI_F08_status* MPI_F08_STATUS_IGNORE = &sorrel_sentinels_.status_ignore;
MPI_F08_status* MPI_F08_STATUSES_IGNORE = &sorrel_sentinels_.statuses_ignore;
