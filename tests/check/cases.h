/* Cases of the checker: each is a function that makes an error if `wrong` is set, and is correct
 * otherwise. Lines at which a finding is expected end with the comment "planted".
 *
 *   PROGRAM                 prints "NAME RANKS KIND" for each case
 *   PROGRAM NAME            runs the case with its error
 *   PROGRAM                 with `right` as the argument: runs all cases without errors */
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check_case {
  const char* name;
  int ranks;
  /* Kind of the finding that is expected; several that are separated by '|': one of them. */
  const char* kind;
  void (*run)(int wrong);
};

static int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

/* The communicator of the ranks that a case needs: MPI_COMM_WORLD in a run of one case. */
static MPI_Comm world;

static int run_cases(int argc, char** argv, const struct check_case* cases, int count) {
  if (argc < 2) {
    for (int i = 0; i < count; ++i)
      printf("%s %d %s\n", cases[i].name, cases[i].ranks, cases[i].kind);
    return 0;
  }
  const int is_right = strcmp(argv[1], "right") == 0;
  int found = 0;
  MPI_Init(&argc, &argv);
  world = MPI_COMM_WORLD;
  for (int i = 0; i < count; ++i) {
    if (!is_right && strcmp(argv[1], cases[i].name) != 0) continue;
    found = 1;
    if (is_right) {
      MPI_Comm_split(MPI_COMM_WORLD, rank_of(MPI_COMM_WORLD) < cases[i].ranks ? 0 : MPI_UNDEFINED,
                     0, &world);
      if (world == MPI_COMM_NULL) continue;
    }
    cases[i].run(!is_right);
    if (is_right) MPI_Comm_free(&world);
  }
  MPI_Finalize();
  return found ? 0 : 1;
}
