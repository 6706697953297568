/* 64 MiB of initialised data: pages that no rank writes stay shared. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* Memory of this process that no file backs, in KiB. */
static long anonymous_kib(void) {
  char line[200];
  long value = -1;
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (strncmp(line, "RssAnon:", 8) == 0) sscanf(line + 8, "%ld", &value);
  }
  if (status != NULL) fclose(status);
  return value;
}

enum { count = 16 << 20 };

int data[count] = {[0] = 1, [count / 2] = 2, [count - 1] = 3};
int *first = data, *last = data + count - 1;

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  data[count / 2] += rank;
  *last += rank;
  MPI_Barrier(MPI_COMM_WORLD);
  if (*first != 1 || data[count / 2] != 2 + rank || data[count - 1] != 3 + rank) return 1;
  if (rank == 0 && anonymous_kib() > 48 * 1024) {
    fprintf(stderr, "%ld KiB are not shared\n", anonymous_kib());
    return 1;
  }
  if (rank == 0) printf("large .data is shared until written\n");
  MPI_Finalize();
  return 0;
}
