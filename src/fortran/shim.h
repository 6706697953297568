/* What the Fortran bindings share: conversion of handles, sentinels, strings and arrays.
 *
 * A binding calls functions of the MPI standard alone, so that a profiling tool written in C sees
 * every call, and so that the archive works with any MPI that has the standard ABI. It becomes a
 * part of the user's executable: its data is private to a rank as all of the program's. */
#ifndef SORREL_FORTRAN_SHIM_H
#define SORREL_FORTRAN_SHIM_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "mpi/base/fortran_calls.h"

/* Handles, sentinels and keys of the interface: the standard's, or another MPI's (src/translate),
 * whose mpi.h is then the one above. */
#ifdef SORREL_FORTRAN_VALUES
#include SORREL_FORTRAN_VALUES
#else
#include "fortran/standard_values.h"
#endif

/* For reports: the bindings are in a section of their own, and note their caller. */
#define SORREL_BINDING __attribute__((section("sorrel_fortran")))
#define SORREL_NOTE_CALLER() (sorrel_fortran_last.site = __builtin_return_address(0))
extern struct sorrel_fortran_calls sorrel_fortran_last;

/* mpi_x_ and the names of mpi_f08 are weak: a profiling tool written in Fortran replaces them and
 * calls pmpi_x_. */
#define SORREL_ALIAS(name, target) extern __typeof(target) name __attribute__((alias(#target)))
#define SORREL_WEAK_ALIAS(name, target) \
  extern __typeof(target) name __attribute__((weak, alias(#target)))

#define SORREL_HANDLE(kind, Handle)                                                          \
  static inline void sorrel_read_##kind(const int* numbers, Handle* handles, MPI_Count n) {  \
    for (MPI_Count i = 0; i < n; ++i)                                                        \
      handles[i] = sorrel_from_##kind(numbers[i]);                                           \
  }                                                                                          \
  static inline void sorrel_write_##kind(int* numbers, const Handle* handles, MPI_Count n) { \
    for (MPI_Count i = 0; i < n; ++i) {                                                      \
      if (handles[i] != (Handle)0) numbers[i] = sorrel_to_##kind(handles[i]);                \
    }                                                                                        \
  }
SORREL_HANDLE(Comm, MPI_Comm)
SORREL_HANDLE(Errhandler, MPI_Errhandler)
SORREL_HANDLE(File, MPI_File)
SORREL_HANDLE(Group, MPI_Group)
SORREL_HANDLE(Info, MPI_Info)
SORREL_HANDLE(Message, MPI_Message)
SORREL_HANDLE(Op, MPI_Op)
SORREL_HANDLE(Request, MPI_Request)
SORREL_HANDLE(Session, MPI_Session)
SORREL_HANDLE(Type, MPI_Datatype)
SORREL_HANDLE(Win, MPI_Win)

/* A temporary array of handles, zeroed: on the stack if it is short. */
enum { sorrel_few = 16 };

#define SORREL_ARRAY(Handle, name, length)                \
  const MPI_Count name##_n = (length) > 0 ? (length) : 0; \
  Handle name##_few[sorrel_few] = {0};                    \
  Handle* name##_c = name##_n <= sorrel_few ? name##_few : sorrel_memory(name##_n, sizeof(Handle))
#define SORREL_END_ARRAY(name) \
  if (name##_c != name##_few) free(name##_c)

/* Zeroed memory; ends the job if there is none. */
void* sorrel_memory(MPI_Count count, size_t size);

/* A copy of a Fortran string as C has it, without blanks at its end, and for info keys and values
 * also at its begin. */
char* sorrel_string(const char* text, size_t length);
char* sorrel_info_string(const char* text, size_t length);
/* Writes a C string, cut or padded with blanks. */
void sorrel_give_string(const char* text, char* result, size_t length);

/* An error that the C binding cannot see: prints why, calls the error handler of MPI_COMM_SELF. */
int sorrel_fail(int error, const char* function, const char* reason);

/* The number of members that an array of MPI_Alltoallw, or of its neighborhood forms, has. */
MPI_Count sorrel_peers(MPI_Comm comm);
void sorrel_neighbors(MPI_Comm comm, MPI_Count* sources, MPI_Count* destinations);

static inline void sorrel_count_from_one(int* index, MPI_Count n) {
  for (MPI_Count i = 0; i < n; ++i) {
    if (index[i] != MPI_UNDEFINED) ++index[i];
  }
}

static inline void sorrel_make_logical(int* flags, MPI_Count n) {
  for (MPI_Count i = 0; i < n; ++i)
    flags[i] = flags[i] != 0;
}

static inline void sorrel_return(int* ierror, int error) {
  if (ierror != NULL) *ierror = error;
}

/* gfortran's own descriptor of an array, which it passes to procedures that are not bound to C. So
 * a profiling tool written in Fortran gets what it declares. Strides count units of `span` bytes.
 */
struct sorrel_dimension {
  ptrdiff_t stride, lower_bound, upper_bound;
};

struct sorrel_descriptor {
  void* base;
  size_t offset;
  size_t element_size;
  int version;
  int8_t rank;
  int8_t type;
  int16_t attribute;
  ptrdiff_t span;
  struct sorrel_dimension dimensions[];
};

/* The buffer of a blocking call: the array itself, or a copy of a noncontiguous section. Ends the
 * job if there is no memory. */
void* sorrel_contiguous(const struct sorrel_descriptor* array);
/* Frees the copy, if `address` is one, after writing it back if the call may have changed it. */
void sorrel_end_contiguous(const struct sorrel_descriptor* array, void* address, int is_changed);

/* A buffer of a call that goes on after it returns: no copy of a noncontiguous array section would
 * do, so the section is described by a datatype. */
struct sorrel_section {
  void* address;
  MPI_Count count;
  MPI_Datatype datatype;
  MPI_Datatype made; /* or MPI_DATATYPE_NULL */
};

/* `count` elements of `datatype`; with several counts (`sorrel_any_count`), a section of one stride
 * only. */
enum { sorrel_any_count = -1 };

/* An error if the array ends with this call, and the call refers to it afterwards. */
int sorrel_lasts(const struct sorrel_descriptor* array, const char* function);

int sorrel_open(struct sorrel_section* section,
                const struct sorrel_descriptor* array,
                MPI_Count count,
                MPI_Datatype datatype,
                const char* function);
void sorrel_close(struct sorrel_section* section);
/* The address of a buffer without a count and a datatype of its own: it must be contiguous. */
int sorrel_whole(void** address, const struct sorrel_descriptor* array, const char* function);

/* The names of a function that is the same in all three interfaces. */
#define SORREL_NAMES(name)                              \
  SORREL_WEAK_ALIAS(mpi_##name##_, pmpi_##name##_);     \
  SORREL_WEAK_ALIAS(mpi_##name##_f08_, pmpi_##name##_); \
  SORREL_ALIAS(pmpi_##name##_f08_, pmpi_##name##_);

#endif
