/* A library of the program, and with WRAPS_REMOVE the program itself, defines functions of the C
 * library. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int opened_count(void);

#ifdef WRAPS_REMOVE
static int removed;

int remove(const char* name) {
  ++removed;
  return *name == '!';
}
#endif

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int before = opened_count();
  for (int i = 0; i <= rank; ++i) {
    FILE* file = fopen("/dev/null", "r");
    if (file != NULL) fclose(file);
    int opened = open("/dev/null", O_RDONLY);
    if (opened >= 0) close(opened);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int is_own = before == 0 && opened_count() == 2 * (rank + 1);
#ifdef WRAPS_REMOVE
  is_own = is_own && remove("!") == 1 && removed == 1;
#endif
  printf("rank %d counts calls %s\n", rank, is_own ? "of its own" : "of others");
  MPI_Finalize();
  return 0;
}
