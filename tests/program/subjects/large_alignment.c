/* Zero-initialised arrays that are aligned to more than a page: the linker gives them segments of
 * their own, without bytes of the file. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

enum { length = 1 << 14 };

static double pages[length] __attribute__((aligned(8192)));
static double blocks[length] __attribute__((aligned(1 << 21)));
#ifdef OWN
/* Each thread's own: the C library rounds the end of a thread's stack to it. */
static OWN int of_thread[4] __attribute__((aligned(1 << 16))) = {5};
#else
static int of_thread[4] = {5};
#endif
static int given[4] __attribute__((aligned(16384))) = {1, 2, 3, 4};

int main(int argc, char** argv) {
  int rank;
  int wrong = (uintptr_t)pages % 8192 != 0 || (uintptr_t)blocks % (1 << 21) != 0 ||
              (uintptr_t)given % 16384 != 0 || given[3] != 4 || of_thread[0] != 5;
#ifdef OWN
  wrong += (uintptr_t)of_thread % (1 << 16) != 0;
#endif
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < length; i++) {
    wrong += pages[i] != 0 || blocks[i] != 0;
    pages[i] = rank + i;
    blocks[i] = rank - i;
  }
  given[0] = of_thread[0] = rank;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < length; i++)
    wrong += pages[i] != rank + i || blocks[i] != rank - i;
  wrong += given[0] != rank || of_thread[0] != rank;
  printf("arrays of rank %d are %s\n", rank, wrong == 0 ? "its own" : "wrong");
  MPI_Finalize();
  return wrong != 0;
}
