// The threads of an OpenMP region, compiled for the compiler's own library, send and receive at the
// same time; the barriers of the region are waits that the MPI library does not see.
#include <omp.h>

#include "../check.h"

enum { rounds = 40, threads = 4 };

int main(int argc, char** argv) {
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  for (int region = 0; region < 3; ++region) {
    long sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
      const int thread = omp_get_thread_num();
      for (int round = 0; round < rounds; ++round) {
        const int sent = rank * 1000 + thread * 100 + round;
        int received = -1;
        MPI_Sendrecv(&sent, 1, MPI_INT, right, thread, &received, 1, MPI_INT, left, thread,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQUAL(received, left * 1000 + thread * 100 + round);
        sum += received;
        if (round % 10 == 0) {
#pragma omp barrier
        }
      }
      // A thread waits for a message that another thread sends only after the barrier of both.
      if (thread == 0) MPI_Barrier(MPI_COMM_WORLD);
#pragma omp barrier
    }
    long total = 0;
    MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    long expected = 0;
    for (int from = 0; from < size; ++from)
      for (int thread = 0; thread < threads; ++thread)
        for (int round = 0; round < rounds; ++round)
          expected += from * 1000 + thread * 100 + round;
    CHECK_EQUAL(total, expected);
  }
  MPI_Finalize();
  return 0;
}
