// Solves Poisson's equation on a cube of n^3 double-precision complex cells by multigrid V-cycles,
// on any process grid.
//
// -div grad u = f in the unit cube, u = 0 on its surface, f chosen so that
// u = (1 + 2i) sin(pi x) sin(pi y) sin(pi z). This f is an eigenvector of the discrete operator,
// too, so the error that remains when the equations are solved is known in closed form. The program
// compares, and exits 1 if the error differs. Coarse levels with too small blocks are gathered and
// solved on rank 0.
//
//   multigrid [--n CELLS] [--grid AxBxC] [--machine FILE] [--cycles COUNT] [--exchange
//   before|graph]
//
// Without --grid the cut is the planner's, with --machine, or that of MPI_Dims_create. Ghosts are
// exchanged before each sweep of the smoother, or by a task graph that updates the remaining cells
// meanwhile. It uses MPI, Sorrel::grid and Sorrel::graph, and runs under any MPI.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mpi.h>
#include <numbers>
#include <string>
#include <vector>

#include <sorrel/grid/machine_file.hpp>

#include "gather.hpp"
#include "level.hpp"

namespace {

constexpr double pi = std::numbers::pi;
constexpr Cell amplitude{1, 2};
constexpr int sweeps_before = 2;
constexpr int sweeps_after = 2;
constexpr int sweeps_on_coarsest = 40;
constexpr double residual_reduction = 1e-8;
constexpr std::int64_t block_extent_min = 4;  // smaller blocks are gathered

struct Options {
  std::int64_t n = 64;
  grid::ProcessGrid grid{0, 0, 0};
  std::string machine;
  int cycle_count_max = 40;
  Exchange exchange = Exchange::before;
};

[[noreturn]] void stop(const std::string& message) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::fprintf(stderr, "multigrid: %s\n", message.c_str());
  MPI_Finalize();
  std::exit(2);
}

constexpr const char* help =
    "Poisson's equation on a cube of n^3 cells by multigrid; exits 1 if the answer is wrong.\n\n"
    "  --n CELLS        on each side, an even number from 4 to 4096 (64)\n"
    "  --grid AxBxC     the cut over the ranks (the planner's, or MPI_Dims_create's)\n"
    "  --machine FILE   what the planner is to know, from `sorrel plan --measure`\n"
    "  --cycles COUNT   at most so many V-cycles (40)\n"
    "  --exchange HOW   before: ghosts before each sweep (default); graph: by a task graph\n\n"
    "Examples:\n"
    "  sorrel run -n 16 multigrid --n 128\n"
    "  sorrel run -n 8 multigrid --n 128 --grid 2x2x2 --exchange graph\n";

[[noreturn]] void print_help() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::fputs(help, stdout);
  MPI_Finalize();
  std::exit(0);
}

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    if (std::strcmp(argv[i], "--help") == 0) print_help();
    if (i + 1 == argc) stop(std::string(argv[i]) + " needs a value");
    const std::string name = argv[i];
    const char* value = argv[i + 1];
    auto& [a, b, c] = options.grid;
    if (name == "--n")
      options.n = std::atoll(value);
    else if (name == "--grid" && std::sscanf(value, "%dx%dx%d", &a, &b, &c) == 3)
      continue;
    else if (name == "--machine")
      options.machine = value;
    else if (name == "--cycles")
      options.cycle_count_max = std::atoi(value);
    else if (name == "--exchange" && std::strcmp(value, "graph") == 0)
      options.exchange = Exchange::graph;
    else if (name == "--exchange" && std::strcmp(value, "before") == 0)
      options.exchange = Exchange::before;
    else
      stop(
          "usage: multigrid [--n CELLS] [--grid AxBxC] [--machine FILE] [--cycles COUNT] "
          "[--exchange before|graph]");
  }
  if (options.n < 4 || options.n > 4096 || options.n % 2 != 0)
    stop("--n must be an even number from 4 to 4096");
  return options;
}

// Blocks begin at multiples of this number of cells: there are as many levels as blocks stay large
// enough for.
std::int64_t grain_of(std::int64_t n, const grid::ProcessGrid& cut) {
  std::int64_t grain = 1;
  const auto fits = [&](std::int64_t coarse_n) {
    for (const int parts : cut)
      if (parts > 1 && coarse_n / parts < block_extent_min) return false;
    return true;
  };
  while (n / grain % 2 == 0 && n / grain > 2 && fits(n / grain / 2))
    grain *= 2;
  return grain;
}

grid::Cut choose_cut(const Options& options) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  grid::Cut cut;
  cut.grid = options.grid;
  if (cut.grid[0] == 0 && !options.machine.empty()) {
    const auto machine = grid::load_machine(options.machine);
    if (!machine.has_value()) stop(machine.error());
    const auto plan = grid::Plan::choose(machine.value(), problem_of_level(options.n, 1), size);
    if (!plan.has_value()) stop(plan.error());
    return plan.value().best();
  }
  if (cut.grid[0] == 0) MPI_Dims_create(size, 3, cut.grid.data());
  if (cut.rank_count() != size)
    stop("--grid must be of " + std::to_string(size) + " parts, as many as ranks");
  cut.brick = cut.grid;
  cut.pack = {grid::Pack::direct, grid::Pack::rows, grid::Pack::rows};
  return cut;
}

class Multigrid {
 public:
  Multigrid(std::int64_t n, const grid::Cut& cut, Exchange exchange) {
    std::int64_t grain = grain_of(n, cut.grid);
    for (; grain >= 1; grain /= 2, n /= 2) {
      cut_levels_.push_back(std::make_unique<Level>(MPI_COMM_WORLD, n, grain, cut));
      cut_levels_.back()->exchange_by(exchange);
    }
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) return;
    grid::Cut uncut;
    for (n = cut_levels_.back()->n(); n > 1; n /= 2) {
      whole_levels_.push_back(std::make_unique<Level>(MPI_COMM_SELF, n, 1, uncut));
      if (n % 2 != 0) break;
    }
  }

  [[nodiscard]] Level& finest() { return *cut_levels_.front(); }

  [[nodiscard]] int level_count() const { return static_cast<int>(cut_levels_.size()); }

  void cycle() {
    descend(cut_levels_, 0, [&] { solve_gathered(*cut_levels_.back()); });
  }

  /// The norm of the residual over all ranks.
  [[nodiscard]] double residual() {
    double sum = finest().compute_residual();
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const double h = finest().h();
    return std::sqrt(sum * h * h * h);
  }

 private:
  using Levels = std::vector<std::unique_ptr<Level>>;

  template <class SolveLast>
  void descend(Levels& levels, std::size_t i, SolveLast&& solve_last) {
    if (i + 1 == levels.size()) return solve_last();
    levels[i]->smooth(sweeps_before);
    levels[i]->restrict_to(*levels[i + 1]);
    descend(levels, i + 1, solve_last);
    levels[i]->correct_by(*levels[i + 1]);
    levels[i]->smooth(sweeps_after);
  }

  void solve_gathered(Level& level) {
    Level* whole = whole_levels_.empty() ? nullptr : whole_levels_.front().get();
    gather_right_side(MPI_COMM_WORLD, level, whole);
    if (whole != nullptr) {
      // Two cycles of the small levels, so that their error does not affect the large ones.
      for (int i = 0; i < 2; ++i)
        descend(whole_levels_, 0, [&] { whole_levels_.back()->smooth(sweeps_on_coarsest); });
    }
    scatter_solution(MPI_COMM_WORLD, whole, level);
  }

  Levels cut_levels_;
  Levels whole_levels_;  // on rank 0
};

double exact_shape(const Level& level, std::int64_t x, std::int64_t y, std::int64_t z) {
  const auto coordinate = [&](std::int64_t index, std::size_t d) {
    return (static_cast<double>(level.block().lo[d] + index) - 0.5) * level.h();
  };
  return std::sin(pi * coordinate(x, 0)) * std::sin(pi * coordinate(y, 1)) *
         std::sin(pi * coordinate(z, 2));
}

void set_problem(Level& level) {
  level.each_cell([&](std::int64_t x, std::int64_t y, std::int64_t z) {
    level.f(x, y, z) = 3 * pi * pi * amplitude * exact_shape(level, x, y, z);
  });
}

// The largest error of a cell, over the amplitude.
double largest_error(Level& level) {
  double largest = 0;
  level.each_cell([&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const Cell exact = amplitude * exact_shape(level, x, y, z);
    largest = std::max(largest, std::abs(level.u(x, y, z) - exact) / std::abs(amplitude));
  });
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return largest;
}

// What it is when the equations are solved: the discrete eigenvalue is 12 / h^2 sin^2(pi h / 2),
// and the cell nearest to the middle has the largest value.
double discretisation_error(const Level& level) {
  const double h = level.h();
  const double sine = std::sin(pi * h / 2);
  const double eigenvalue = 12 / (h * h) * sine * sine;
  return std::abs(3 * pi * pi / eigenvalue - 1) * std::pow(std::cos(pi * h / 2), 3);
}

int run(const Options& options) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const grid::Cut cut = choose_cut(options);
  Multigrid multigrid(options.n, cut, options.exchange);
  set_problem(multigrid.finest());
  const double first = multigrid.residual();
  double last = first;
  int cycles = 0;
  const double begin = MPI_Wtime();
  while (cycles < options.cycle_count_max && last > residual_reduction * first) {
    multigrid.cycle();
    last = multigrid.residual();
    ++cycles;
  }
  const double seconds = (MPI_Wtime() - begin) / std::max(cycles, 1);
  const double error = largest_error(multigrid.finest());
  const double expected = discretisation_error(multigrid.finest());
  const bool is_solved = last <= residual_reduction * first;
  const bool is_right = std::abs(error - expected) <= 0.01 * expected;
  if (rank == 0) {
    std::printf(
        "multigrid: ranks %d, grid %dx%dx%d, n %lld, ghosts %s, levels cut %d, cycles %d, residual "
        "fell by "
        "%.1e, error %.6e of %.6e, %.3f ms per cycle\n",
        size, cut.grid[0], cut.grid[1], cut.grid[2], static_cast<long long>(options.n),
        options.exchange == Exchange::graph ? "by a graph" : "before sweeps",
        multigrid.level_count(), cycles, last / first, error, expected, seconds * 1e3);
    if (!is_solved) std::fprintf(stderr, "multigrid: the cycles do not converge\n");
    if (is_solved && !is_right)
      std::fprintf(stderr, "multigrid: the error differs from the known one\n");
  }
  return is_solved && is_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(read_options(argc, argv));
  MPI_Finalize();
  return status;
}
