// Reads the arguments, runs a variant and prints one line. Exit status 1 if the product is wrong, 2
// if an argument is wrong.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "summa.hpp"

using namespace summa;

namespace {

constexpr const char* help =
    "The product of two n x n matrices on a grid of ranks, panel by panel; exits 1 if it is "
    "wrong.\n\n"
    "Usage: summa VARIANT [options]\n"
    "  base   blocking messages                olap   overlapped by hand\n"
    "  graph  a sorrel::Graph                  ideal  base without communication\n\n"
    "  --n N            rows and columns (1024)\n"
    "  --panel B        columns of A, rows of B in a panel (64)\n"
    "  --grid AxB       rows and columns of ranks (as square as can be)\n"
    "  --ahead-a K, --ahead-b K\n"
    "                   graph: panels in flight before they are needed (2)\n"
    "  --tile T         graph: rows of C in a task, 0: all (0)\n"
    "  --check-every K  rows of the product that are checked: every K-th (1; 17 beyond 512)\n"
    "  --explain        graph: print it\n\n"
    "Examples:\n"
    "  sorrel run -n 16 --shared libopenblas.so.0 summa graph --n 2048\n"
    "  sorrel run -n 16 --shared libopenblas.so.0 --wire latency=50us,bandwidth=1GB/s,nodes=4 "
    "summa base --n 2048\n";

[[noreturn]] void print_help(int rank) {
  if (rank == 0) std::fputs(help, stdout);
  MPI_Finalize();
  std::exit(0);
}

[[noreturn]] void exit_with_error(int rank, const std::string& why) {
  if (rank == 0) std::fprintf(stderr, "summa: %s\n", why.c_str());
  MPI_Finalize();
  std::exit(2);
}

long number_of(int rank, const char* text, long least) {
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  if (*text == 0 || *end != 0 || number < least || number > 100'000)
    exit_with_error(
        rank, std::string(text) + " is not a number from " + std::to_string(least) + " to 100000");
  return number;
}

struct Options {
  std::string variant;
  long check_every = 0;
  int a_ahead = 2, b_ahead = 2;
  bool is_explained = false;
};

Options read(Case& c, int argc, char** argv) {
  Options options;
  if (argc > 1) options.variant = argv[1];
  if (options.variant == "--help") print_help(c.rank);
  for (int i = 2; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--explain") {
      options.is_explained = true;
      continue;
    }
    if (i + 1 == argc) exit_with_error(c.rank, option + " needs a value");
    const char* value = argv[++i];
    char rest = 0;
    if (option == "--n")
      c.n = number_of(c.rank, value, 1);
    else if (option == "--panel")
      c.panel = number_of(c.rank, value, 1);
    else if (option == "--ahead-a")
      options.a_ahead = static_cast<int>(number_of(c.rank, value, 0));
    else if (option == "--ahead-b")
      options.b_ahead = static_cast<int>(number_of(c.rank, value, 0));
    else if (option == "--tile")
      c.tile = number_of(c.rank, value, 0);
    else if (option == "--check-every")
      options.check_every = number_of(c.rank, value, 1);
    else if (option == "--grid") {
      if (std::sscanf(value, "%dx%d%c", &c.rows, &c.columns, &rest) != 2)
        exit_with_error(c.rank, std::string(value) + " is not of the form 4x2");
    } else
      exit_with_error(c.rank,
                      "unknown option " + option +
                          "; options are --n, --panel, --grid, --ahead-a, --ahead-b, --tile, "
                          "--check-every, --explain");
  }
  return options;
}

/// Ranks row by row, in the given grid or the most square one.
void make_grid(Case& c) {
  int size = 0, dims[2] = {0, 0};
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (c.rows != 0 && (c.rows < 0 || c.columns < 0 || static_cast<long>(c.rows) * c.columns != size))
    exit_with_error(c.rank, "the blocks of --grid must be as many as the ranks");
  dims[0] = c.rows, dims[1] = c.columns;
  MPI_Dims_create(size, 2, dims);
  c.rows = dims[0], c.columns = dims[1];
  if (c.rows > c.n || c.columns > c.n) exit_with_error(c.rank, "more ranks than rows or columns");
  MPI_Comm_dup(MPI_COMM_WORLD, &c.grid);
  c.row = c.rank / c.columns, c.column = c.rank % c.columns;
  MPI_Comm_split(c.grid, c.row, c.column, &c.along_row);
  MPI_Comm_split(c.grid, c.column, c.row, &c.along_column);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Case c;
  c.n = 1024, c.panel = 64;
  MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
  Options options = read(c, argc, argv);
  make_grid(c);
  c.a_ahead = options.a_ahead, c.b_ahead = options.b_ahead;
  // In large products a sample of the rows is checked, with all columns.
  if (options.check_every == 0) options.check_every = c.n <= 512 ? 1 : 17;

  Blocks blocks(c);
  Result mine;
  if (options.variant == "base" || options.variant == "ideal")
    mine = run_base(c, blocks, options.variant == "base");
  else if (options.variant == "olap")
    mine = run_olap(c, blocks);
  else if (options.variant == "graph")
    mine = run_graph(c, blocks, options.is_explained);
  else
    exit_with_error(c.rank, "VARIANT must be base, olap, ideal or graph");

  // No rank checks before all ranks have read the clock: ranks may share a core.
  MPI_Barrier(c.grid);
  const bool is_checked = options.variant != "ideal";
  const double my_error = is_checked ? blocks.error(options.check_every) : 0;
  Result all;
  double error = 0;
  int size = 0;
  MPI_Comm_size(c.grid, &size);
  MPI_Allreduce(&mine.seconds, &all.seconds, 1, MPI_DOUBLE, MPI_MAX, c.grid);
  MPI_Allreduce(&my_error, &error, 1, MPI_DOUBLE, MPI_MAX, c.grid);
  MPI_Allreduce(&mine.waiting_seconds, &all.waiting_seconds, 1, MPI_DOUBLE, MPI_SUM, c.grid);
  const bool is_right = error <= 1;
  const double n = static_cast<double>(c.n);
  if (c.rank == 0)
    std::printf(
        "variant %s n %ld grid %dx%d panel %ld seconds %.6f gflops %.3f waiting %.6f error %.2e of "
        "the bound %s\n",
        options.variant.c_str(), c.n, c.rows, c.columns, c.panel, all.seconds,
        2 * n * n * n / all.seconds * 1e-9, all.waiting_seconds / size, error,
        !is_checked ? "not checked"
        : is_right  ? "right"
                    : "wrong");
  MPI_Comm_free(&c.along_row);
  MPI_Comm_free(&c.along_column);
  MPI_Comm_free(&c.grid);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
