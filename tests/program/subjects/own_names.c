/* A program may give its functions the C library's names; the C library's own
 * behaviour must not change. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int calls;

/* By assembler names, because the headers of some standards declare them and of some do not. */
long own_random(void) __asm__("random");
void own_error(const char* text) __asm__("error");
void own_verrx(int status) __asm__("verrx");
int own_getline(char* line, int room) __asm__("getline");

long own_random(void) {
  ++calls;
  return 4;
}

void own_error(const char* text) {
  ++calls;
  (void)text;
}

void own_verrx(int status) {
  ++calls;
  (void)status;
}

int own_getline(char* line, int room) {
  ++calls;
  return line[0] + room;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rand() != 1804289383) return 1;
  if (own_random() != 4 || own_getline("", 3) != 3) return 2;
  own_error("none");
  own_verrx(0);
  if (calls != 4) return 3;
  printf("names of rank %d are its own\n", rank);
  MPI_Finalize();
  return 0;
}
