// Large frames and wild pointers near stacks: `frames KIB [WHERE]`. The last rank has a frame of
// that many KiB and writes its lowest part. With WHERE it reads that many bytes above a frame
// instead. Then all ranks check that their own stacks are unchanged.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kept_words = 5000 };

__attribute__((noinline)) static double fill(double* values, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i)
    values[i] = i;
  for (int i = 0; i < count; ++i)
    sum += values[i];
  return sum;
}

__attribute__((noinline)) static double with_frame(size_t kib) {
  double values[kib * 1024 / sizeof(double)];
  return fill(values, 1000);
}

__attribute__((noinline)) static int read_beyond(long bytes) {
  volatile char here = 0;
  volatile char* pointer = &here;
  return pointer[bytes];
}

int main(int argc, char** argv) {
  int rank, ranks, changed = 0;
  volatile int kept[kept_words];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < kept_words; ++i)
    kept[i] = rank * 7 + i;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == ranks - 1) {
    if (argc > 2) printf("%d\n", read_beyond(atol(argv[2])));
    printf("sum %g\n", with_frame((size_t)atol(argv[1])));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kept_words; ++i)
    changed += kept[i] != rank * 7 + i;
  if (changed != 0) printf("rank %d: %d words of its stack changed\n", rank, changed);
  MPI_Finalize();
  return changed != 0;
}
