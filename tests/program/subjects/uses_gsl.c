// The GNU Scientific Library keeps its seed and its error handler in variables.
#include <gsl/gsl_errno.h>
#include <gsl/gsl_rng.h>
#include <mpi.h>
#include <stdio.h>

static void ignore(const char* reason, const char* file, int line, int error) {
  (void)reason, (void)file, (void)line, (void)error;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int is_new = gsl_rng_default_seed == 0 && gsl_set_error_handler(ignore) == NULL;
  gsl_rng_default_seed = (unsigned long)rank + 1;
  MPI_Barrier(MPI_COMM_WORLD);
  gsl_rng* by_default = gsl_rng_alloc(gsl_rng_mt19937);
  gsl_rng* by_hand = gsl_rng_alloc(gsl_rng_mt19937);
  gsl_rng_set(by_hand, (unsigned long)rank + 1);
  if (is_new && gsl_rng_get(by_default) == gsl_rng_get(by_hand))
    printf("library of rank %d is its own\n", rank);
  MPI_Finalize();
  return 0;
}
