// Act D of `sorrel demo`: steps of computing, each with a message to the next rank. The same work
// however many ranks divide it.
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { steps = 32 };

// What the picture is drawn from: when each rank computed, and on which thread.
struct span {
  long long begin, end;
  int rank, thread;
};

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const long work = argc > 1 ? atol(argv[1]) : 1000000;
  const int file = argc > 2 ? open(argv[2], O_RDWR) : -1;
  struct span* spans = mmap(NULL, sizeof(struct span) * steps * ranks, PROT_READ | PROT_WRITE,
                            file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file, 0);
  if (spans == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int step = 0; step < steps; step++) {
    struct span* mine = spans + step * ranks + rank;
    mine->rank = rank;
    mine->thread = (int)syscall(SYS_gettid);
    __atomic_store_n(&mine->begin, now(), __ATOMIC_RELEASE);
    for (volatile long i = 0; i < work / ranks; i++)
      continue;
    __atomic_store_n(&mine->end, now(), __ATOMIC_RELEASE);
    int from = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, &from, 1, MPI_INT,
                 (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (from != (rank + ranks - 1) % ranks) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
