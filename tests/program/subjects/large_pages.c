// large_pages: each rank prints whether the system is asked for large pages where a block, or a
// static array, of 6 MiB lies, and whether a whole one of 2 MiB fits into the map there.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { block_bytes = 6 << 20, large_page_bytes = 2 << 20 };

static char array[block_bytes];

static void print_pages(int rank, const char* what, const char* begin) {
  const uintptr_t address = (uintptr_t)begin + block_bytes / 2;
  const uintptr_t page = address / large_page_bytes * large_page_bytes;
  FILE* maps = fopen("/proc/self/smaps", "r");
  char line[512];
  int is_there = 0, has_room = 0;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    unsigned long first = 0, end = 0;
    if (sscanf(line, "%lx-%lx ", &first, &end) == 2) {
      is_there = first <= address && address < end;
      has_room = first <= page && page + large_page_bytes <= end;
    }
    if (is_there && strncmp(line, "VmFlags:", 8) == 0)
      printf("rank %d: %s in %s pages%s\n", rank, what,
             strstr(line, " hg") != NULL ? "large" : "small", has_room ? ", room for one" : "");
  }
  fclose(maps);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* block = malloc(block_bytes);
  memset(block, 1, block_bytes);
  print_pages(rank, "block", block);
  print_pages(rank, "array", array);
  free(block);
  MPI_Finalize();
  return 0;
}
