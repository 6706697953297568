/* A library whose data is in several segments, as patchelf makes them: pages that no rank writes
 * are mapped from the file. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int* middle_of_table(void);

/* Whether a file is mapped at an address. */
static int is_mapped_from_file(const void* address) {
  char line[400];
  int is_found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    unsigned long begin, end;
    if (sscanf(line, "%lx-%lx", &begin, &end) != 2) continue;
    if ((unsigned long)address >= begin && (unsigned long)address < end)
      is_found = strstr(line, "libsubject_segments_library") != NULL;
  }
  if (maps != NULL) fclose(maps);
  return is_found;
}

int main(int argc, char** argv) {
  int rank;
  int* middle = middle_of_table();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (*middle != 7 || !is_mapped_from_file(middle)) return 1;
  MPI_Barrier(MPI_COMM_WORLD);
  *middle += rank;
  MPI_Barrier(MPI_COMM_WORLD);
  if (*middle != 7 + rank || middle[-1] != 7 || middle[1024] != 7) return 1;
  printf("rank %d has its own data of several segments\n", rank);
  MPI_Finalize();
  return 0;
}
