/* Open MPI's values for the Fortran bindings (fortran/shim.h). A handle is a small number if it is
 * predefined, otherwise the number of MPI_X_c2f. mpi_f08 passes addresses of buffers. */
#pragma once

#include <mpi.h>

/* Arguments that Fortran compares by address: COMMON blocks, which a program has as well. They are
 * reached by their names, so that the program's are found. */
extern int mpi_fortran_bottom_;
extern int mpi_fortran_in_place_;
extern int mpi_fortran_unweighted_;
extern int mpi_fortran_weights_empty_;
extern int mpi_fortran_errcodes_ignore_;
extern char mpi_fortran_argv_null_;
extern char mpi_fortran_argvs_null_;
extern MPI_Status mpi_fortran_status_ignore_;
extern MPI_Status mpi_fortran_statuses_ignore_;

static inline void* sorrel_address(void* address) {
  if (address == &mpi_fortran_bottom_) return MPI_BOTTOM;
  return address == &mpi_fortran_in_place_ ? MPI_IN_PLACE : address;
}

static inline MPI_Status* sorrel_status(MPI_Status* status) {
  const int is_ignored =
      status == &mpi_fortran_status_ignore_ || status == &mpi_fortran_statuses_ignore_;
  return is_ignored ? MPI_STATUS_IGNORE : status;
}

static inline int* sorrel_weights(int* weights) {
  if (weights == &mpi_fortran_unweighted_) return MPI_UNWEIGHTED;
  return weights == &mpi_fortran_weights_empty_ ? MPI_WEIGHTS_EMPTY : weights;
}

static inline int sorrel_is_argv_null(const char* argv) {
  return argv == &mpi_fortran_argv_null_;
}

static inline int sorrel_is_argvs_null(const char* argvs) {
  return argvs == &mpi_fortran_argvs_null_;
}

static inline int* sorrel_errcodes(int* errcodes) {
  return errcodes == &mpi_fortran_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : errcodes;
}

/* The conversions of handles, from the table of values. */
#include "openmpi_fortran_handles.h"

/* The key of an attribute in C. */
static inline int sorrel_key(int keyval) {
  return keyval;
}
