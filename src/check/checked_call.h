/* A call of MPI as the checker sees it: make_bindings.py describes each function of MPI, and the
 * library that `sorrel run --check` preloads passes each call. C, because that library is. */
#pragma once

#include <stdint.h>

#include "mpi.h"

struct sorrel_checked_argument {
  const char* name;
  /* 0: in, 1: out, 2: inout. */
  unsigned char direction;
  /* A sorrel::check::ArgumentKind. */
  unsigned char kind;
  unsigned char is_array;
  /* The number of the argument that is the array's length; -1: none. */
  signed char length;
};

struct sorrel_checked_function {
  const char* name;
  /* A sorrel::check::Function: the same for both sizes of counts. */
  short number;
  unsigned char argument_count;
  unsigned char is_large;
  const struct sorrel_checked_argument* arguments;
};

struct sorrel_checked_call {
  const struct sorrel_checked_function* function;
  const intptr_t* words;
  const void* site;
  /* Whether handles are in the program's own variables, which tell requests of one handle apart. A
   * translated call has them in variables of the translation. */
  int has_own_variables;
  /* For the checker: the call in which this one is made, and whether this one is checked. */
  struct sorrel_checked_call* outer;
  void* state;
  /* For the checker: where a script in Python makes the call, as "solve (heat.py:12)"; null: no
   * script. */
  const char* script;
};

/* What the checker changes in a call. */
enum { sorrel_check_synchronous = 1, sorrel_check_barrier = 2 };

#ifdef __cplusplus
extern "C" {
#endif

int sorrel_check_begin(struct sorrel_checked_call* call);
void sorrel_check_end(struct sorrel_checked_call* call, int error_class);

#ifdef __cplusplus
}
#endif
