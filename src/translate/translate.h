/* What the translations of all families share. A file of a translation includes the family's header
 * (openmpi.h, mpich.h), which includes this one. Names with f_ and F_ are the family's, those of
 * mpi.h the standard's. A translation is private to a rank; several threads of the rank may call.
 */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"
#include "mpi/base/fortran_calls.h"
#include "standard_functions.h"

/* What calls read of the translation, in one line of the cache: with many ranks on a worker, each
 * rank's lines have left the first-level cache, and lines at equal places of the ranks' images
 * compete for it. F_HOT is the family's part. */
struct __attribute__((aligned(64))) f_hot {
  const struct sorrel_standard_functions* functions;
  /* Not 0: the standard's functions return the codes of the family's errors, and a call whose
   * results need no conversion is a jump to one of them. So its caller is the program's code, which
   * reports name. */
  int forwards;
  /* Whether several threads of the rank may call: bit 0 of the world, bit 1 of sessions. */
  int threads_may_call;
  F_HOT
};
extern struct f_hot f_hot __attribute__((visibility("hidden")));

/* The standard's functions, for calls of the program. */
#define S (*f_hot.functions)

/* The functions for calls that the program has not made: no library observes them. */
#define R sorrel_runtime_functions

/* In returned_codes.c. Not 0: the standard's functions return code_of(error) from now on. */
int sorrel_announce_codes(const struct sorrel_standard_functions* functions, int (*code_of)(int));

/* In returned_codes.c: errors without an object, and those of MPI_COMM_SELF, have the handler of
 * MPI_COMM_WORLD from now on, unless the program sets one of MPI_COMM_SELF. */
void sorrel_announce_translation(void);

/* In request_memory.c: where the runtime has requests from now on, and how many places of so many
 * bytes there are. Null: there is no such memory. */
void* sorrel_request_memory(unsigned place_bytes, unsigned* place_count);

/* What MPI_Init provides: more than MPI_THREAD_SINGLE if the user has set the variable of the
 * environment that says so to that MPI. */
int f_usual_thread_level(void) __attribute__((visibility("hidden")));

/* What a family does in MPI_Init. */
void f_begin(void) __attribute__((visibility("hidden")));

/* Variables that a function has not written. No function writes these values. */
#define sorrel_unset (~(uintptr_t)0)

enum { sorrel_unset_int = -2147483647 - 1 };

/* A number that the standard's functions refuse wherever they know constants. */
enum { sorrel_invalid = -99999 };

/* In the place of bits that no constant has. */
enum { sorrel_unknown_bit = 1 << 30 };

/* Handles below are constants of the standard. */
static const uintptr_t first_object = 0x1000;

/* The translation's functions, in a section of their own: reports leave them out, and name the
 * program's call. */
#define SORREL_SECTION __attribute__((section("sorrel_translation")))
extern struct sorrel_fortran_calls f_last_call __attribute__((visibility("hidden")));

/* The bindings of the Fortran interface, if the program uses it: their calls are the program's. */
struct f_fortran {
  uintptr_t begin;
  size_t bytes;
  const struct sorrel_fortran_calls* calls;
};
extern struct f_fortran f_fortran __attribute__((visibility("hidden")));

static inline void f_note_caller(const void* site) {
  const int is_fortran = (uintptr_t)site - f_fortran.begin < f_fortran.bytes;
  f_last_call.site = __builtin_expect(is_fortran, 0) ? f_fortran.calls->site : site;
}

#define SORREL_NOTE_CALLER() f_note_caller(__builtin_return_address(0))

/* Begins the definition of f_NAME, which is exported as PMPI_NAME, and as MPI_NAME, which a tool
 * may replace. */
#define SORREL_FUNCTION(result, name, parameters)                                    \
  result f_##name parameters __asm__("PMPI_" #name)                                  \
      __attribute__((visibility("default"), section("sorrel_translation")));         \
  __asm__(".weak MPI_" #name "\n\t.type MPI_" #name ", %function\n\t.set MPI_" #name \
          ", PMPI_" #name);                                                          \
  result f_##name parameters

/* As above, for functions beyond MPI: PMPIX_NAME and MPIX_NAME. */
#define SORREL_EXTENSION(result, name, parameters)                                      \
  result f_##name parameters __asm__("PMPIX_" #name)                                    \
      __attribute__((visibility("default"), section("sorrel_translation")));            \
  __asm__(".weak MPIX_" #name "\n\t.type MPIX_" #name ", %function\n\t.set MPIX_" #name \
          ", PMPIX_" #name);                                                            \
  result f_##name parameters

/* The part of a forwarded function that does not forward. */
#define SORREL_SLOW static __attribute__((noinline, cold, section("sorrel_translation")))

/* Before a function that waits. Behind a switch of fibers, the processor predicts each return
 * wrongly, and this function is one more on the stack. So it returns by an indirect jump, which has
 * a prediction of its own: 9 ns less for a message of 8 B between two ranks of a worker. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SORREL_WAITS __attribute__((function_return("thunk-extern")))
#define SORREL_RETURN_OF_WAITS                   \
  __asm__(                                       \
      ".pushsection sorrel_translation,\"ax\"\n" \
      ".hidden __x86_return_thunk\n"             \
      ".globl __x86_return_thunk\n"              \
      ".type __x86_return_thunk, %function\n"    \
      "__x86_return_thunk:\n"                    \
      "  pop %rcx\n"                             \
      "  notrack jmp *%rcx\n"                    \
      ".size __x86_return_thunk, . - __x86_return_thunk\n.popsection");
#else
#define SORREL_WAITS
#define SORREL_RETURN_OF_WAITS
#endif

/* The general forms of functions that have a short one by hand. */
#define SORREL_ANY __attribute__((visibility("hidden"), section("sorrel_translation")))

/* A list of `count` elements, on the stack if they are few. */
enum { sorrel_few = 64 };

void* f_allocate(size_t bytes) __attribute__((visibility("hidden"), malloc));
#define SORREL_LIST(T, name, count) \
  T name##_few[sorrel_few];         \
  T* const name = (count) <= sorrel_few ? name##_few : (T*)f_allocate((size_t)(count) * sizeof(T))
#define SORREL_END_LIST(name) \
  if (name != name##_few) free(name)

/* Afterwards from_status() knows what has been written. */
#define SORREL_UNSET_STATUS(status) \
  ((status).MPI_TAG = sorrel_unset_int, (status).MPI_ERROR = sorrel_unset_int)

/* A status's size and cancellation, as Sorrel keeps them (src/mpi/base/status.hpp). */
static inline uint64_t status_bytes(const MPI_Status* status) {
  uint64_t bytes;
  memcpy(&bytes, &status->MPI_internal[0], sizeof bytes);
  return bytes;
}

static inline void set_status_bytes(MPI_Status* status, uint64_t bytes) {
  memcpy(&status->MPI_internal[0], &bytes, sizeof bytes);
}

/* Copies a text into the program's array, of the family's size. `length` may be null. */
static inline void copy_text(const char* text, char* to, size_t size, int* length) {
  size_t used = strlen(text);
  if (used > size - 1) used = size - 1;
  memcpy(to, text, used);
  to[used] = '\0';
  if (length != 0) *length = (int)used;
}

/* How many datatypes MPI_Alltoallw reads, of each side. 0: the call fails for its communicator. */
MPI_Count f_peers(MPI_Comm comm) __attribute__((visibility("hidden")));
MPI_Count f_neighbors(MPI_Comm comm, int are_destinations) __attribute__((visibility("hidden")));
#define peers f_peers
#define neighbors f_neighbors

/* Each kind of handle. */
/* clang-format off */
#define SORREL_KINDS(X) \
  X(comm, Comm) X(datatype, Datatype) X(errhandler, Errhandler) X(file, File) X(group, Group) \
  X(info, Info) X(message, Message) X(op, Op) X(request, Request) X(session, Session) X(win, Win)
/* clang-format on */

/* Stores a handle that a call has written. An element of a list that a call may have changed:
 * refresh_request(). */
#define SORREL_VARIABLE(kind, Kind)                                       \
  static inline void set_##kind(F_MPI_##Kind* place, MPI_##Kind handle) { \
    *place = from_##kind(handle);                                         \
  }
