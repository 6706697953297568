/*! sorrel_fortran_calls - where a rank's Fortran code has called MPI last.
 *
 * The archive of Fortran's bindings (src/fortran) has one in each rank's program, and announces it
 * in MPI_Init. A report of ranks that wait then names the program's line, not the binding's. C and
 * C++. */
#ifndef SORREL_MPI_BASE_FORTRAN_CALLS_H
#define SORREL_MPI_BASE_FORTRAN_CALLS_H

struct sorrel_fortran_calls {
  const void* site;  /* the return address of the last call of a binding */
  const char* begin; /* the bindings' code */
  const char* end;
};

#ifdef __cplusplus
extern "C"
#endif
    void
    sorrel_announce_fortran(const struct sorrel_fortran_calls* calls);

#endif
