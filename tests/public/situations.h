//! The situations of a program of this folder: each is a function, and every rank calls all of
//! them, or those that the command names.
#pragma once

#include "../mpi/check.h"

typedef struct {
  const char* name;
  void (*check)(void);
} Situation;

MAY_BE_UNUSED static int rank, size;

/// Between MPI_Init and MPI_Finalize. Errors of MPI return their class.
MAY_BE_UNUSED static void check_situations(const Situation* all, int count, int argc, char** argv) {
  rank = rank_in(MPI_COMM_WORLD);
  size = size_of(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int i = 0; i < count; i++) {
    int is_chosen = argc == 1;
    for (int k = 1; k < argc; k++)
      is_chosen |= strcmp(argv[k], all[i].name) == 0;
    if (!is_chosen) continue;
    all[i].check();
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// Ends the job unless the call succeeds.
#define MUST(call) CHECK_EQUAL(call, MPI_SUCCESS)

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

MAY_BE_UNUSED static int class_of(int code) {
  int class_of_code = -1;
  MPI_Error_class(code, &class_of_code);
  return class_of_code;
}
