// Blocks of a reduce_scatter may be equal, of different sizes, empty, or all of one member: short
// blocks are combined several at once. Also in place, and nothing is written beyond a block.
#include "../check.h"

static int me, ranks;

enum shape { equal, mixed, all_of_the_last };

static int count_of(int rank, int size, enum shape shape) {
  if (shape == equal) return size;
  if (shape == mixed) return rank % 3 == 0 ? 0 : size + rank % 5;
  return rank == ranks - 1 ? size * ranks : 0;
}

static void check_block(const long* block, long first, int count) {
  for (int i = 0; i < count; i++)
    CHECK_EQUAL(block[i], 7 * (first + i) * ranks + (long)ranks * (ranks - 1) / 2);
}

static void scatter(int size, enum shape shape) {
  int* counts = malloc(sizeof(int) * (size_t)ranks);
  long first = 0, total = 0;
  for (int rank = 0; rank < ranks; rank++) {
    counts[rank] = count_of(rank, size, shape);
    if (rank < me) first += counts[rank];
    total += counts[rank];
  }
  long* in = malloc(sizeof(long) * (size_t)(total + 1));
  long* out = malloc(sizeof(long) * (size_t)(total + 1));
  for (long i = 0; i < total; i++)
    in[i] = 7 * i + me;
  out[counts[me]] = -5;
  if (shape == equal)
    MPI_Reduce_scatter_block(in, out, size, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  else
    MPI_Reduce_scatter(in, out, counts, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  check_block(out, first, counts[me]);
  CHECK_EQUAL(out[counts[me]], -5);
  MPI_Reduce_scatter(MPI_IN_PLACE, in, counts, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  check_block(in, first, counts[me]);
  free(counts);
  free(in);
  free(out);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int size = 1; size < 700; size = 3 * size + 1)
    for (enum shape shape = equal; shape <= all_of_the_last; shape++)
      scatter(size, shape);
  MPI_Finalize();
  return 0;
}
