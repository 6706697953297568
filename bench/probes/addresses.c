// addresses - how alike the addresses of the same object are in all ranks: its line within a page,
// which decides the set of the first cache and the aliasing of loads behind stores, and its line
// within 128 KiB, which decides the set of the second cache where pages are large.
//
// One row for each kind of object: in how many sets the ranks' objects lie, the most ranks of one
// set, and the share of pairs of ranks whose objects are 1 to 63 bytes apart modulo 4096, or 0.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kind_count = 9, page_bytes = 4096, line_bytes = 64, l2_bytes = 2048 * line_bytes };

static const char* const names[kind_count] = {"stack",  "static", "thread-local", "100 B", "4 KiB",
                                              "16 KiB", "64 KiB", "1 MiB",        "16 MiB"};
static double of_image;
static _Thread_local double of_thread;

// Rows of `ranks` addresses; returns the number of sets in use, and the most of one in *most.
static int count_sets(const uintptr_t* addresses, int ranks, size_t bytes, int* most) {
  int* counts = calloc(bytes / line_bytes, sizeof *counts);
  int used = 0;
  *most = 0;
  for (int r = 0; r < ranks; ++r) {
    const int count = ++counts[addresses[r] % bytes / line_bytes];
    if (count == 1) ++used;
    if (count > *most) *most = count;
  }
  free(counts);
  return used;
}

static void print_row(const char* name, const uintptr_t* addresses, int ranks) {
  int most_l1, most_l2;
  const int l1 = count_sets(addresses, ranks, page_bytes, &most_l1);
  const int l2 = count_sets(addresses, ranks, l2_bytes, &most_l2);
  long close = 0, equal = 0;
  for (int a = 0; a < ranks; ++a) {
    for (int b = 0; b < ranks; ++b) {
      const unsigned distance = (unsigned)((addresses[a] - addresses[b]) % page_bytes);
      equal += a != b && distance == 0;
      close += distance > 0 && distance < line_bytes;
    }
  }
  const double pairs = (double)ranks * (ranks - 1);
  printf("%-13s %6d %6d   %6d %6d   %6.1f %6.1f\n", name, l1, most_l1, l2, most_l2,
         100 * (double)close / pairs, 100 * (double)equal / pairs);
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {100, 4 << 10, 16 << 10, 64 << 10, 1 << 20, 16 << 20};
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double of_stack = 0;
  uintptr_t own[kind_count] = {(uintptr_t)&of_stack, (uintptr_t)&of_image, (uintptr_t)&of_thread};
  void* blocks[6];
  for (int i = 0; i < 6; ++i)
    own[3 + i] = (uintptr_t)(blocks[i] = malloc(sizes[i]));
  uintptr_t* all = malloc(sizeof *all * kind_count * (size_t)ranks);
  uintptr_t* of_kind = malloc(sizeof *all * (size_t)ranks);
  MPI_Gather(own, kind_count, MPI_AINT, all, kind_count, MPI_AINT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%d ranks       64 sets of L1   2048 sets of L2   pairs, %% of all\n", ranks);
    printf("object          used   most     used   most   1..63      0\n");
    for (int k = 0; k < kind_count; ++k) {
      for (int r = 0; r < ranks; ++r)
        of_kind[r] = all[r * kind_count + k];
      print_row(names[k], of_kind, ranks);
    }
    srand(1);
    for (int r = 0; r < ranks; ++r)
      of_kind[r] = (uintptr_t)rand() * 16;
    print_row("at random", of_kind, ranks);
  }
  for (int i = 0; i < 6; ++i)
    free(blocks[i]);
  free(all), free(of_kind);
  MPI_Finalize();
  return 0;
}
