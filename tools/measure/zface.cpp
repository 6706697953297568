// The exchange of the most expensive face by Sorrel's halo: a cube of N^3 doubles cut in two across
// its rows, between two ranks. `sorrel bench partition` compares it with bench/probes/zface.c,
// which does the same with a datatype; memory and order of events are the same.
//
//   sorrel run -n 2 zface N REPEATS
//
// Prints the least seconds of an exchange for each method of packing.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <vector>

#include <sorrel/grid/halo.hpp>

namespace {

using namespace sorrel::grid;

double exchange_s(std::int64_t n, int repeats, Pack pack) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Problem problem;
  problem.extents = {n, n, n};
  Cut cut;
  cut.grid = cut.brick = {1, 1, 2};
  cut.pack = {Pack::none, Pack::none, pack};
  const Extents room{n + 2, n + 2, n / 2 + 2};
  std::vector<double> u(static_cast<std::size_t>(room[0] * room[1] * room[2]), rank);
  const ArrayView view = dense_view(u.data(), room, sizeof(double), MemoryOrder::c);
  Halo halo = Halo::make(MPI_COMM_WORLD, problem, cut, {&view, 1}).value();
  const auto* ghost = reinterpret_cast<double*>(view.at({1, 1, rank == 0 ? n / 2 + 1 : 0}));
  double least_s = 1e9;
  for (int r = 0; r <= repeats; ++r) {
    for (double& cell : u)
      cell += 1;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    halo.exchange();
    double seconds = MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (r > 0) least_s = std::min(least_s, seconds);
    if (*ghost != 1 - rank + r + 1) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return least_s;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 0;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 0;
  if (size != 2 || n < 2 || n % 2 != 0 || repeats < 1) {
    if (rank == 0)
      std::fprintf(stderr, "zface: 2 ranks, an even N and a number of repeats are needed\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (const Pack pack : {Pack::rows, Pack::blocked, Pack::datatype}) {
    const double seconds = exchange_s(n, repeats, pack);
    if (rank == 0) std::printf("zface %s %.6e\n", name_of(pack), seconds);
  }
  MPI_Finalize();
  return 0;
}
