// carry KIB STEPS PERIOD_STEPS - ranks with KIB of memory each, of which half have all work; after
// PERIOD_STEPS steps the other half. So ranks move to and fro (bench/moves_between.py). Exits 1 if
// the memory of a rank has changed.
#include <stdint.h>

#include "probe.h"

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const long kib = argc > 1 ? atol(argv[1]) : 1024;
  const int steps = argc > 2 ? atoi(argv[2]) : 1000, period = argc > 3 ? atoi(argv[3]) : 100;
  if (kib < 1 || steps < 1 || period < 1) probe_fail("carry KIB STEPS PERIOD_STEPS");
  const long count = kib * 1024 / (long)sizeof(uint64_t);
  uint64_t* memory = probe_allocate((size_t)count * sizeof *memory);
  for (long i = 0; i < count; i++)
    memory[i] = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u + (uint64_t)rank;
  for (int step = 0; step < steps; step++) {
    const int busy_half = step / period % 2;
    if (rank * 2 / ranks == busy_half && probe_compute(500000) != 1)
      probe_fail("carry: wrong result");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (long i = 0; i < count; i++)
    if (memory[i] != (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u + (uint64_t)rank)
      probe_fail("carry: the memory of a rank has changed");
  MPI_Finalize();
  return 0;
}
