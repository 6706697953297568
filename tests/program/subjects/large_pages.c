// large_pages: each rank prints whether the system is asked for large pages where a block of 3 MiB
// lies, and whether a whole one of 2 MiB fits into the map there.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { block_bytes = 3 << 20, large_page_bytes = 2 << 20 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* block = malloc(block_bytes);
  memset(block, 1, block_bytes);
  const uintptr_t address = (uintptr_t)block;
  const uintptr_t page = address / large_page_bytes * large_page_bytes;
  FILE* maps = fopen("/proc/self/smaps", "r");
  char line[512];
  int is_there = 0, has_room = 0;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    unsigned long begin = 0, end = 0;
    if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) {
      is_there = begin <= address && address < end;
      has_room = begin <= page && page + large_page_bytes <= end;
    }
    if (is_there && strncmp(line, "VmFlags:", 8) == 0)
      printf("rank %d: %s pages%s\n", rank, strstr(line, " hg") != NULL ? "large" : "small",
             has_room ? ", room for one" : "");
  }
  fclose(maps);
  free(block);
  MPI_Finalize();
  return 0;
}
