// Heat on a grid that is cut over ranks: each rank has a block with ghosts around it, and a Halo
// fills the ghosts in every step, while the inner cells are updated. Under any MPI.
//
//   sorrel cxx -O2 07_halo.cpp -lsorrel_grid -o halo && sorrel run -n 6 ./halo
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <mpi.h>
#include <vector>

#include <sorrel/grid/halo.hpp>

using namespace sorrel::grid;

// A block with ghosts around it, as a C array.
struct Block2D {
  std::int64_t rows, columns;
  std::vector<double> values = std::vector<double>((rows + 2) * (columns + 2));

  double& operator()(std::int64_t i, std::int64_t j) {
    return values[(i + 1) * (columns + 2) + j + 1];
  }

  ArrayView view() {
    return dense_view(values.data(), {rows + 2, columns + 2, 1}, sizeof(double), MemoryOrder::c);
  }
};

static void update(Block2D& now, Block2D& next, sorrel::Range rows, sorrel::Range columns) {
  for (std::int64_t i : rows)
    for (std::int64_t j : columns)
      next(i, j) = 0.25 * (now(i - 1, j) + now(i + 1, j) + now(i, j - 1) + now(i, j + 1));
}

int main(int argc, char** argv) {
  constexpr std::int64_t n = 60;
  constexpr int steps = 500;
  int rank = 0, ranks = 0, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  {
    // Periodic, so that no heat is lost.
    const Problem problem{.extents = {n, n, 1}, .is_periodic = {true, true, false}};
    Cut cut;
    cut.pack = {Pack::rows, Pack::rows, Pack::none};
    cut.grid = {0, 0, 1};
    MPI_Dims_create(ranks, 2, cut.grid.data());
    const auto block = block_at(problem, cut.grid, coords_of(rank, cut.grid, cut.brick));

    Block2D now{block.extent(0), block.extent(1)}, next{block.extent(0), block.extent(1)};
    if (rank == 0) now(0, 0) = n * n;

    // One exchange for each of the two arrays, which change their roles after every step.
    const std::array views = {now.view(), next.view()};
    auto of_now = Halo::make(MPI_COMM_WORLD, problem, cut, {&views[0], 1});
    auto of_next = Halo::make(MPI_COMM_WORLD, problem, cut, {&views[1], 1});
    if (!of_now || !of_next) {
      std::fprintf(stderr, "%s\n", (of_now ? of_next : of_now).error().c_str());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int step = 0; step < steps; step += 2) {
      for (int odd = 0; odd < 2; odd++) {
        Halo& halo = odd ? *of_next : *of_now;
        Block2D& from = odd ? next : now;
        Block2D& to = odd ? now : next;
        const std::int64_t rows = from.rows, columns = from.columns;
        halo.begin();
        update(from, to, {1, rows - 1}, {1, columns - 1});
        halo.finish();
        update(from, to, {0, 1}, {0, columns});
        update(from, to, {rows - 1, rows}, {0, columns});
        update(from, to, {1, rows - 1}, {0, 1});
        update(from, to, {1, rows - 1}, {columns - 1, columns});
      }
    }

    double heat = 0, hottest = 0;
    for (std::int64_t i = 0; i < now.rows; i++)
      for (std::int64_t j = 0; j < now.columns; j++) {
        heat += now(i, j);
        hottest = std::fmax(hottest, now(i, j));
      }
    MPI_Allreduce(MPI_IN_PLACE, &heat, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &hottest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    wrong = std::fabs(heat - n * n) > 1e-6 || cut.rank_count() != ranks;
    if (rank == 0)
      std::printf("%d x %d ranks, heat %.3f, at most %.3f in a cell\n", cut.grid[0], cut.grid[1],
                  heat, hottest);
  }
  MPI_Finalize();
  return wrong;
}
