// Works until a file exists: as ranks, in OpenMP regions or in loops. Writes a line when the first
// round of work is over.
#include <stdio.h>
#include <unistd.h>

#ifdef LINGER_MPI
#include <mpi.h>
#else
#include "sorrel.h"
#endif

static volatile unsigned work_sum;

static void work(void) {
  for (unsigned i = 0; i < 20000; ++i)
    work_sum += i;
}

#if !defined LINGER_MPI && !defined _OPENMP
static int body(void* argument, int64_t begin, int64_t end) {
  (void)argument;
  for (int64_t i = begin; i < end; ++i)
    work();
  return 0;
}
#endif

static void say_that_it_works(void) {
  static int has_said;
  if (has_said) return;
  has_said = 1;
  puts("works");
  fflush(stdout);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
#ifdef LINGER_MPI
  MPI_Init(&argc, &argv);
  for (int is_over = 0; !is_over;) {
    work();
    is_over = access(argv[1], F_OK) == 0;
    MPI_Allreduce(MPI_IN_PLACE, &is_over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    say_that_it_works();
  }
  MPI_Finalize();
#else
  while (access(argv[1], F_OK) != 0) {
#ifdef _OPENMP
#pragma omp parallel for
    for (int i = 0; i < 40; ++i)
      work();
#else
    sorrel_parallel_for(0, 40, body, NULL, NULL);
#endif
    say_that_it_works();
  }
#endif
  return 0;
}
