/* The program whose damaged copies are run. Its result depends on all that a loader prepares:
 * data, zeroed data, pointers, thread-locals, constructors. It prints
 * "rank R of N: SUM", and the sum is the same for every rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int numbers[300] = {3, 1, 4, 1, 5, 9, 2, 6};
static char zeroed[5000];
static int* const pointers[] = {&numbers[0], &numbers[3], &numbers[7]};
static int (*const functions[])(const char*) = {atoi, puts};
static _Thread_local int own_initialised = 17;
static _Thread_local int own_zeroed;
static int constructed;
int exported = 5;

__attribute__((constructor)) static void construct(void) {
  constructed = 100;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  int sum = constructed + exported + own_initialised + own_zeroed + functions[0]("1000");
  for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; ++i)
    sum += *pointers[i];
  for (size_t i = 0; i < sizeof zeroed; ++i)
    sum += zeroed[i] != 0;
  // A rank must not see what other ranks write.
  memset(zeroed, rank + 1, sizeof zeroed);
  numbers[0] = rank + 1;
  own_zeroed = rank + 1;
  exported = rank + 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (numbers[0] != rank + 1 || own_zeroed != rank + 1 || exported != rank + 1) sum = -1;
  int least = 0;
  MPI_Allreduce(&sum, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  printf("rank %d of %d: %d\n", rank, ranks, least);
  MPI_Finalize();
  return 0;
}
