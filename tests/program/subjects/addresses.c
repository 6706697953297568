// addresses: every rank prints where its stack, a global, a thread-local variable and blocks of
// three sizes lie. Rank 0 prints them all, in the order of ranks.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { address_count = 6 };

static int global = 1;
static _Thread_local int of_thread = 1;

int main(int argc, char** argv) {
  int rank = 0, size = 0, local = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  void* const blocks[] = {malloc(100), malloc(100000), malloc(10000000)};
  const uintptr_t own[address_count] = {(uintptr_t)&local,     (uintptr_t)&global,
                                        (uintptr_t)&of_thread, (uintptr_t)blocks[0],
                                        (uintptr_t)blocks[1],  (uintptr_t)blocks[2]};
  uintptr_t* all = malloc(sizeof own * (size_t)size);
  MPI_Gather(own, address_count, MPI_AINT, all, address_count, MPI_AINT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 0; i < size; ++i) {
      const uintptr_t* of_rank = all + i * address_count;
      printf("rank %d: stack %#lx global %#lx thread %#lx blocks %#lx %#lx %#lx\n", i, of_rank[0],
             of_rank[1], of_rank[2], of_rank[3], of_rank[4], of_rank[5]);
    }
  }
  MPI_Finalize();
  return 0;
}
