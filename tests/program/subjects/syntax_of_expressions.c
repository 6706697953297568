/* The C library keeps the syntax of re_set_syntax() for the whole process. */
#define _GNU_SOURCE
#include <mpi.h>
#include <regex.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0;
  struct re_pattern_buffer pattern = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // a+ is one or more a, or these two characters.
  re_set_syntax(rank % 2 == 0 ? RE_SYNTAX_POSIX_EXTENDED : RE_SYNTAX_POSIX_BASIC);
  MPI_Barrier(MPI_COMM_WORLD);
  const char* error = re_compile_pattern("a+", 2, &pattern);
  const int length = error == NULL ? re_match(&pattern, "aa", 2, 0, NULL) : -2;
  printf("the syntax of rank %d is %s\n", rank,
         length == (rank % 2 == 0 ? 2 : -1) ? "its own" : "another's");
  MPI_Finalize();
  return 0;
}
