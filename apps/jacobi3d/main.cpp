// Reads the arguments, cuts the cube, runs a variant and prints one line. Exit status 1 if the
// answer is wrong, 2 if an argument is wrong.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "jacobi.hpp"

using namespace jacobi;

namespace {

constexpr const char* help =
    "Poisson's equation on a cube of n^3 cells by Jacobi's iteration, a block for each rank; "
    "exits\n"
    "1 if the answer is wrong.\n\n"
    "Usage: jacobi3d VARIANT [options]\n"
    "  base   blocking messages                olap   overlapped by hand\n"
    "  graph  a sorrel::Graph\n"
    "  ideal  base without communication       bare   sweeps alone\n\n"
    "  --n N          cells on each side (128)\n"
    "  --steps S      (100)\n"
    "  --grid AxBxC   ranks along each dimension (MPI_Dims_create's)\n"
    "  --tile AxBxC   graph: cells of a tile, 0: as long as the block\n"
    "  --skin AxBxC   graph: cells of the tiles along a block's faces; --no-skin: none of their "
    "own\n"
    "  --explain      graph: print it\n\n"
    "Examples:\n"
    "  sorrel run -n 16 jacobi3d graph --n 256\n"
    "  sorrel run -n 16 --wire latency=50us,bandwidth=1GB/s,nodes=4 jacobi3d base --n 256\n";

[[noreturn]] void print_help(int rank) {
  if (rank == 0) std::fputs(help, stdout);
  MPI_Finalize();
  std::exit(0);
}

[[noreturn]] void exit_with_error(const Case& c, const std::string& why) {
  if (c.rank == 0) std::fprintf(stderr, "jacobi3d: %s\n", why.c_str());
  MPI_Finalize();
  std::exit(2);
}

Cells cells_of(const Case& c, const char* text) {
  Cells cells{};
  char rest = 0;
  if (std::sscanf(text, "%ldx%ldx%ld%c", &cells[0], &cells[1], &cells[2], &rest) != 3)
    exit_with_error(c, std::string(text) + " is not of the form 4x2x2");
  return cells;
}

long number_of(const Case& c, const char* text) {
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  if (*end != 0 || number < 1 || number > 1'000'000)
    exit_with_error(c, std::string(text) + " is not a number from 1 to 1000000");
  return number;
}

/// Cuts the cube over the ranks by MPI_Dims_create, or as --grid says.
void cut(Case& c) {
  int size = 0, dims[3] = {0, 0, 0}, periods[3] = {0, 0, 0}, coords[3];
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (c.ranks[0] != 0 && c.ranks[0] * c.ranks[1] * c.ranks[2] != size)
    exit_with_error(c, "the blocks of --grid must be as many as the ranks");
  for (int d = 0; d < 3; ++d)
    dims[d] = static_cast<int>(c.ranks[d]);
  MPI_Dims_create(size, 3, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &c.comm);
  MPI_Cart_coords(c.comm, c.rank, 3, coords);
  for (int d = 0; d < 3; ++d) {
    c.ranks[d] = dims[d];
    if (dims[d] > c.n) exit_with_error(c, "more ranks than cells in a dimension");
    const long length = c.n / dims[d], longer = c.n % dims[d];
    c.lo[d] = length * coords[d] + (coords[d] < longer ? coords[d] : longer);
    c.hi[d] = c.lo[d] + length + (coords[d] < longer ? 1 : 0);
    MPI_Cart_shift(c.comm, d, 1, &c.neighbours[d][0], &c.neighbours[d][1]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Case c;
  c.n = 128;
  c.steps = 100;
  MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
  const std::string variant = argc > 1 ? argv[1] : "";
  if (variant == "--help") print_help(c.rank);
  bool is_explained = false;
  for (int i = 2; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--explain") {
      is_explained = true;
      continue;
    }
    if (option == "--no-skin") {
      c.has_skin = false;
      continue;
    }
    if (i + 1 == argc) exit_with_error(c, option + " needs a value");
    const char* value = argv[++i];
    if (option == "--n")
      c.n = number_of(c, value);
    else if (option == "--steps")
      c.steps = static_cast<int>(number_of(c, value));
    else if (option == "--grid")
      c.ranks = cells_of(c, value);
    else if (option == "--tile")
      c.tile = cells_of(c, value);
    else if (option == "--skin")
      c.skin = cells_of(c, value);
    else
      exit_with_error(
          c, "unknown option " + option +
                 "; options are --n, --steps, --grid, --tile, --skin, --no-skin, --explain");
  }
  cut(c);
  Result mine;
  if (variant == "base")
    mine = run_plain(c, true, false, true);
  else if (variant == "olap")
    mine = run_plain(c, true, true, true);
  else if (variant == "ideal" || variant == "bare")
    mine = run_plain(c, false, false, variant == "ideal");
  else if (variant == "graph")
    mine = run_graph(c, is_explained);
  else
    exit_with_error(c, "VARIANT must be base, olap, ideal, bare or graph");

  Result all;
  int size = 0;
  MPI_Comm_size(c.comm, &size);
  MPI_Allreduce(&mine.began, &all.began, 1, MPI_DOUBLE, MPI_MIN, c.comm);
  MPI_Allreduce(&mine.ended, &all.ended, 1, MPI_DOUBLE, MPI_MAX, c.comm);
  MPI_Allreduce(&mine.error, &all.error, 1, MPI_DOUBLE, MPI_MAX, c.comm);
  MPI_Allreduce(&mine.waiting_seconds, &all.waiting_seconds, 1, MPI_DOUBLE, MPI_SUM, c.comm);
  const double cells =
      static_cast<double>(c.n) * static_cast<double>(c.n) * static_cast<double>(c.n);
  const double seconds = all.ended - all.began;
  const bool is_unchecked = variant == "ideal" || variant == "bare";
  const bool is_right = all.error < 1e-11 || is_unchecked;
  if (c.rank == 0)
    std::printf(
        "variant %s n %ld grid %ldx%ldx%ld steps %d seconds %.6f gflops %.3f waiting %.6f error "
        "%.2e %s\n",
        variant.c_str(), c.n, c.ranks[0], c.ranks[1], c.ranks[2], c.steps, seconds,
        cells * c.steps * flops_per_cell / seconds * 1e-9, all.waiting_seconds / size, all.error,
        is_unchecked ? "not checked"
        : is_right   ? "right"
                     : "wrong");
  MPI_Comm_free(&c.comm);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
