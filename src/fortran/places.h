/* A table of the program's functions, and a C function for each of its places: for callbacks that
 * get no argument by which a C function could find the program's. A function keeps its place. */
#ifndef SORREL_FORTRAN_PLACES_H
#define SORREL_FORTRAN_PLACES_H

#include <stddef.h>

typedef void (*Function)(void);

/* The place of a function, or a new one; -1 if the table is full. Several threads of a rank may
 * call. `is_new`: not a place that the function has. */
static int place_in(Function* table, int places, Function function, int is_new) {
  for (int i = 0; i < places; ++i) {
    Function found = NULL;
    if (__atomic_compare_exchange_n(&table[i], &found, function, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE) ||
        (found == function && !is_new))
      return i;
  }
  return -1;
}

/* clang-format off */
/* X(n, ...) for 64 places n, with the leading zero of an octal number left out. `first`: 0 for
 * those from 0 on, 1 for those from 64 on. */
#define SORREL_REPEAT_8(X, n, ...)                                              \
  X(n##0, __VA_ARGS__) X(n##1, __VA_ARGS__) X(n##2, __VA_ARGS__) X(n##3, __VA_ARGS__) \
  X(n##4, __VA_ARGS__) X(n##5, __VA_ARGS__) X(n##6, __VA_ARGS__) X(n##7, __VA_ARGS__)
#define SORREL_REPEAT_64(X, first, ...)                                                       \
  SORREL_REPEAT_8(X, first##0, __VA_ARGS__) SORREL_REPEAT_8(X, first##1, __VA_ARGS__)         \
  SORREL_REPEAT_8(X, first##2, __VA_ARGS__) SORREL_REPEAT_8(X, first##3, __VA_ARGS__)         \
  SORREL_REPEAT_8(X, first##4, __VA_ARGS__) SORREL_REPEAT_8(X, first##5, __VA_ARGS__)         \
  SORREL_REPEAT_8(X, first##6, __VA_ARGS__) SORREL_REPEAT_8(X, first##7, __VA_ARGS__)
/* clang-format on */

/* The function of a place. */
#define SORREL_NAMED(n, name) name##_##n,

#define SORREL_OP_FUNCTION(n, name, Count)                                              \
  static void name##_##n(void* in, void* inout, Count* count, MPI_Datatype* datatype) { \
    call_##name(0##n, in, inout, count, datatype);                                      \
  }
#define SORREL_HANDLER_FUNCTION(n, kind, Kind)                         \
  static void kind##_handler_##n(MPI_##Kind* handle, int* code, ...) { \
    call_##kind##_handler(0##n, handle, code);                         \
  }

#endif
