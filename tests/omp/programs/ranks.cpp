// Regions of different ranks are independent, whichever thread waits inside one; and every thread
// may call MPI.
#include <cstdio>
#include <mpi.h>
#include <omp.h>
#include <string>

namespace {

int shared_by_threads = 0;
int* const pointer_into_copy = &shared_by_threads;
thread_local int* pointer_of_thread = &shared_by_threads;
thread_local int visits = 0;

}  // namespace

int main(int argc, char** argv) {
  int rank = 0, ranks = 0, provided = 0, wrong = 0, right = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int left = (rank + ranks - 1) % ranks;
  for (int round = 0; round < 20; ++round) {
    const int threads = 2 + round % 3;
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
    {
      const int me = omp_get_thread_num();
      visits++;
      // Pointers in thread-locals point into this rank's privatized image.
      wrong += pointer_of_thread != pointer_into_copy;
#pragma omp atomic
      (*pointer_of_thread)++;
#pragma omp barrier
      wrong += omp_get_num_threads() != threads || omp_get_level() != 1;
      int got = -1;
      if (me == round % threads) {
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, round, &got, 1, MPI_INT, left, round,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wrong += got != left;
        int own = -1, is_initialized = 0;
        MPI_Initialized(&is_initialized);
        wrong += is_initialized != 1;
        MPI_Comm_rank(MPI_COMM_WORLD, &own);
        wrong += own != rank;
      }
      // The lock of the unnamed construct is one of each rank: a collective inside waits for the
      // other ranks to take theirs.
#pragma omp critical
      if (me == round % threads) {
        int sum = -1;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong += sum != ranks * (ranks - 1) / 2;
      }
#pragma omp barrier
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 50; ++i)
        wrong += omp_get_thread_num() != me;
#pragma omp master
      MPI_Barrier(MPI_COMM_WORLD);
    }
    right += threads;
  }
#pragma omp parallel num_threads(2) reduction(+ : wrong)
  wrong += visits != 20;
  if (wrong != 0 || shared_by_threads != right) {
    std::fprintf(stderr, "rank %d: %d wrong, %d visits of %d\n", rank, wrong, shared_by_threads,
                 right);
    return 1;
  }
  std::string line;
#pragma omp parallel num_threads(3)
#pragma omp single
  line =
      "threads of rank " + std::to_string(rank) + " of " + std::to_string(ranks) + " are its own";
  std::puts(line.c_str());
  MPI_Finalize();
  return 0;
}
