/* A program may give its functions the C library's names; what the C library does must not change
 * by it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int calls;

long random(void) {
  ++calls;
  return 4;
}

void error(const char* text) {
  ++calls;
  (void)text;
}

void verrx(int status) {
  ++calls;
  (void)status;
}

int getline(char* line, int room) {
  ++calls;
  return line[0] + room;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rand() != 1804289383) return 1;
  if (random() != 4 || getline("", 3) != 3) return 2;
  error("none");
  verrx(0);
  if (calls != 4) return 3;
  printf("names of rank %d are its own\n", rank);
  MPI_Finalize();
  return 0;
}
