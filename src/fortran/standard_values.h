/* The values of the standard's interface for the Fortran bindings (shim.h). */
#ifndef SORREL_FORTRAN_STANDARD_VALUES_H
#define SORREL_FORTRAN_STANDARD_VALUES_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* Arguments that Fortran compares by address: the COMMON block of mpif.h and the modules. */
struct sorrel_sentinels {
  int bottom;
  int in_place;
  int buffer_automatic;
  int unweighted;
  int weights_empty;
  int errcodes_ignore;
  char argv_null[4];
  char argvs_null[4];
  MPI_Status status_ignore;
  MPI_Status statuses_ignore;
};
extern struct sorrel_sentinels sorrel_sentinels_;

static inline void* sorrel_address(void* address) {
  const size_t offset = (size_t)((char*)address - (char*)&sorrel_sentinels_);
  if (__builtin_expect(offset >= sizeof sorrel_sentinels_, 1)) return address;
  if (address == &sorrel_sentinels_.bottom) return MPI_BOTTOM;
  if (address == &sorrel_sentinels_.in_place) return MPI_IN_PLACE;
  if (address == &sorrel_sentinels_.buffer_automatic) return MPI_BUFFER_AUTOMATIC;
  return address;
}

static inline MPI_Status* sorrel_status(MPI_Status* status) {
  const int is_ignored =
      status == &sorrel_sentinels_.status_ignore || status == &sorrel_sentinels_.statuses_ignore;
  return is_ignored ? MPI_STATUS_IGNORE : status;
}

static inline int* sorrel_weights(int* weights) {
  if (weights == &sorrel_sentinels_.unweighted) return MPI_UNWEIGHTED;
  if (weights == &sorrel_sentinels_.weights_empty) return MPI_WEIGHTS_EMPTY;
  return weights;
}

static inline int sorrel_is_argv_null(const char* argv) {
  return argv == sorrel_sentinels_.argv_null;
}

static inline int sorrel_is_argvs_null(const char* argvs) {
  return argvs == sorrel_sentinels_.argvs_null;
}

static inline int* sorrel_errcodes(int* errcodes) {
  return errcodes == &sorrel_sentinels_.errcodes_ignore ? MPI_ERRCODES_IGNORE : errcodes;
}

/* Handles. A predefined handle is its own integer (MPI 5.0, 20.3), which needs no table. */
enum { sorrel_first_dynamic_handle = 4096 };

#define SORREL_CONVERSIONS(kind, Handle)                                                 \
  static inline Handle sorrel_from_##kind(int number) {                                  \
    if ((unsigned)number < sorrel_first_dynamic_handle) return (Handle)(intptr_t)number; \
    return MPI_##kind##_fromint(number);                                                 \
  }                                                                                      \
  static inline int sorrel_to_##kind(Handle handle) {                                    \
    if ((uintptr_t)handle < sorrel_first_dynamic_handle) return (int)(intptr_t)handle;   \
    return MPI_##kind##_toint(handle);                                                   \
  }
SORREL_CONVERSIONS(Comm, MPI_Comm)
SORREL_CONVERSIONS(Errhandler, MPI_Errhandler)
SORREL_CONVERSIONS(File, MPI_File)
SORREL_CONVERSIONS(Group, MPI_Group)
SORREL_CONVERSIONS(Info, MPI_Info)
SORREL_CONVERSIONS(Message, MPI_Message)
SORREL_CONVERSIONS(Op, MPI_Op)
SORREL_CONVERSIONS(Request, MPI_Request)
SORREL_CONVERSIONS(Session, MPI_Session)
SORREL_CONVERSIONS(Type, MPI_Datatype)
SORREL_CONVERSIONS(Win, MPI_Win)

/* The key of an attribute in C. */
static inline int sorrel_key(int keyval) {
  return keyval;
}

#endif
