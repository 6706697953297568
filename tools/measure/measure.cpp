// The program that `sorrel plan --measure` starts: an ordinary MPI program whose rank 0 writes a
// machine file.
//
//   sorrel run -n 4 --workers 2 measure NAME PROCESSORS FILE [MIB]
//
// MIB: size of the largest blocks; less for tests.
#include <cstdio>
#include <cstdlib>
#include <mpi.h>

#include <sorrel/grid/machine.hpp>
#include <sorrel/grid/machine_file.hpp>
#include <sorrel/grid/measure.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4 && argc != 5) {
    std::fprintf(stderr, "usage: measure NAME PROCESSORS FILE\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const sorrel::grid::Machine machine = sorrel::grid::measure(
      MPI_COMM_WORLD,
      {.name = argv[1],
       .processor_count = std::atoi(argv[2]),
       .large_set_bytes = std::int64_t{argc == 5 ? std::atoi(argv[4]) : 256} << 20});
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sorrel::Result<void> result;
  if (rank == 0) {
    result = check(machine);
    if (!result) {
      std::fprintf(
          stderr,
          "sorrel: what was measured cannot be: %s; measure again when the machine does no "
          "other work\n",
          result.error().c_str());
    } else if (result = save_machine(machine, argv[3]); !result) {
      std::fprintf(stderr, "sorrel: %s\n", result.error().c_str());
    }
  }
  MPI_Finalize();
  return result ? 0 : 1;
}
