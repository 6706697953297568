// heap_damage KIND: rank 1 damages its heap.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* kind = argc > 1 ? argv[1] : "";
  // The compiler must not see what happens.
  void* (*volatile allocate)(size_t) = malloc;
  void (*volatile release)(void*) = free;
  char* block = allocate(40);
  char* next = allocate(40);
  char* of_rank_1 = rank == 1 ? next : NULL;
  MPI_Bcast(&of_rank_1, sizeof of_rank_1, MPI_BYTE, 1, MPI_COMM_WORLD);
  if (rank == 1) {
    if (strcmp(kind, "overflow") == 0) memset(block, 'x', 56);
    if (strcmp(kind, "twice") == 0) release(next);
    if (strcmp(kind, "inside") == 0) next += 16;
    if (strcmp(kind, "elsewhere") != 0) release(next);
  }
  if (rank == 0 && strcmp(kind, "elsewhere") == 0) {
    memset(of_rank_1 - 8, 0, 8);
    release(of_rank_1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  printf("no damage was found\n");
  MPI_Finalize();
  return 0;
}
