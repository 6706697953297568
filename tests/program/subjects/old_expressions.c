/* The C library keeps the last expression of re_comp() for the whole process. */
#include <mpi.h>
#include <stdio.h>

char* re_comp(const char* expression);
int re_exec(const char* text);

int main(int argc, char** argv) {
  int rank = 0;
  char expression[16];
  char text[16];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(expression, sizeof expression, "^rank %d$", rank);
  snprintf(text, sizeof text, "rank %d", rank);
  re_comp(expression);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("the expression of rank %d is %s\n", rank, re_exec(text) == 1 ? "its own" : "another's");
  MPI_Finalize();
  return 0;
}
