// equal_processes: compares between all ranks where libraries lie, and the values of the stack
// protector and of the pointer guard. Rank 0 prints what differs.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const names[] = {"the C library", "Sorrel's library", "the stack protector",
                                    "the pointer guard"};

enum { count = sizeof names / sizeof *names };

static uintptr_t from_thread_block(int offset) {
  uintptr_t value = 0;
#ifdef __x86_64__
  __asm__("movq %%fs:(%1), %0" : "=r"(value) : "r"((uintptr_t)offset));
#else
  (void)offset;
#endif
  return value;
}

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const uintptr_t own[count] = {(uintptr_t)&qsort, (uintptr_t)&MPI_Barrier, from_thread_block(0x28),
                                from_thread_block(0x30)};
  uintptr_t* all = malloc(sizeof own * (size_t)size);
  MPI_Gather(own, count, MPI_AINT, all, count, MPI_AINT, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < count; ++i) {
    int is_equal = 1;
    for (int other = 1; other < size; ++other)
      is_equal &= all[other * count + i] == own[i];
    printf("%s: %s\n", names[i], is_equal ? "equal" : "different");
  }
  MPI_Finalize();
  return 0;
}
