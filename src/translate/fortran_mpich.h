/* MPICH's values for the Fortran bindings (fortran/shim.h). Handles are C's, but for files. mpi_f08
 * passes gfortran's descriptors of buffers, and has sentinels of its own. */
#pragma once

#include <mpi.h>

/* Arguments that Fortran compares by address: COMMON blocks, which a program has as well. They are
 * reached by their names, so that the program's are found. */
extern struct sorrel_mpipriv1 {
  int bottom;
  int in_place;
  MPI_Status status_ignore;
} mpipriv1_;

extern struct sorrel_mpipriv2 {
  MPI_Status statuses_ignore;
  int errcodes_ignore;
} mpipriv2_;

extern struct sorrel_mpiprivc {
  char argvs_null;
  char argv_null;
} mpiprivc_;

extern int mpifcmb5_; /* MPI_UNWEIGHTED */
extern int mpifcmb9_; /* MPI_WEIGHTS_EMPTY */
extern int mpifcmba_; /* MPI_BUFFER_AUTOMATIC */

/* Variables of mpi_f08. */
#define SORREL_F08(name) __asm__("__mpi_f08_link_constants_MOD_mpi_" #name)
extern int MPIR_F08_MPI_BOTTOM;
extern int MPIR_F08_MPI_IN_PLACE;
extern MPI_Status MPIR_F08_MPI_STATUS_IGNORE_OBJ;
extern MPI_Status MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
extern int sorrel_f08_unweighted SORREL_F08(unweighted);
extern int sorrel_f08_weights_empty SORREL_F08(weights_empty);
extern int sorrel_f08_errcodes_ignore SORREL_F08(errcodes_ignore);
extern char sorrel_f08_argv_null SORREL_F08(argv_null);
extern char sorrel_f08_argvs_null SORREL_F08(argvs_null);

static inline void* sorrel_address(void* address) {
  if (address == &mpipriv1_.bottom || address == &MPIR_F08_MPI_BOTTOM) return MPI_BOTTOM;
  if (address == &mpipriv1_.in_place || address == &MPIR_F08_MPI_IN_PLACE) return MPI_IN_PLACE;
  return address == &mpifcmba_ ? MPI_BUFFER_AUTOMATIC : address;
}

static inline MPI_Status* sorrel_status(MPI_Status* status) {
  const int is_ignored =
      status == &mpipriv1_.status_ignore || status == &mpipriv2_.statuses_ignore ||
      status == &MPIR_F08_MPI_STATUS_IGNORE_OBJ || status == &MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
  return is_ignored ? MPI_STATUS_IGNORE : status;
}

static inline int* sorrel_weights(int* weights) {
  if (weights == &mpifcmb5_ || weights == &sorrel_f08_unweighted) return MPI_UNWEIGHTED;
  if (weights == &mpifcmb9_ || weights == &sorrel_f08_weights_empty) return MPI_WEIGHTS_EMPTY;
  return weights;
}

static inline int sorrel_is_argv_null(const char* argv) {
  return argv == &mpiprivc_.argv_null || argv == &sorrel_f08_argv_null;
}

static inline int sorrel_is_argvs_null(const char* argvs) {
  return argvs == &mpiprivc_.argvs_null || argvs == &sorrel_f08_argvs_null;
}

static inline int* sorrel_errcodes(int* errcodes) {
  const int is_ignored =
      errcodes == &mpipriv2_.errcodes_ignore || errcodes == &sorrel_f08_errcodes_ignore;
  return is_ignored ? MPI_ERRCODES_IGNORE : errcodes;
}

#define SORREL_CONVERSIONS(kind, Handle)                \
  static inline Handle sorrel_from_##kind(int number) { \
    return number;                                      \
  }                                                     \
  static inline int sorrel_to_##kind(Handle handle) {   \
    return handle;                                      \
  }
SORREL_CONVERSIONS(Comm, MPI_Comm)
SORREL_CONVERSIONS(Errhandler, MPI_Errhandler)
SORREL_CONVERSIONS(Group, MPI_Group)
SORREL_CONVERSIONS(Info, MPI_Info)
SORREL_CONVERSIONS(Message, MPI_Message)
SORREL_CONVERSIONS(Op, MPI_Op)
SORREL_CONVERSIONS(Request, MPI_Request)
SORREL_CONVERSIONS(Session, MPI_Session)
SORREL_CONVERSIONS(Type, MPI_Datatype)
SORREL_CONVERSIONS(Win, MPI_Win)

static inline MPI_File sorrel_from_File(int number) {
  return MPI_File_f2c(number);
}

static inline int sorrel_to_File(MPI_File file) {
  return MPI_File_c2f(file);
}

/* The key of an attribute in C: Fortran has predefined ones one higher. */
static inline int sorrel_key(int keyval) {
  const int kind = keyval & ~0xff;
  return kind == 0x64400000 || kind == 0x66000000 ? keyval - 1 : keyval;
}
