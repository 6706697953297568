// Reads the arguments, runs a variant and prints one line. Exit status 1 if a checksum is wrong, 2
// if an argument is wrong.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "ft.hpp"

using namespace ft;

namespace {

constexpr const char* help =
    "The NAS benchmark FT: a partial differential equation by 3-D transforms; exits 1 if a "
    "checksum\n"
    "is not the official one.\n\n"
    "Usage: ft VARIANT [options]\n"
    "  base   blocking messages                olap   overlapped by hand\n"
    "  graph  a sorrel::Graph                  ideal  base without communication\n\n"
    "  --class C     S, W, A, B or C (S)\n"
    "  --steps S     (the class's)\n"
    "  --grid AxB    ranks across x and y, and along y and z: 1xP slabs, else pencils (1xP)\n"
    "  --slices K    graph: parts of a transpose (as many as leave 64 KiB a message, at most 4)\n"
    "  --rooms K     graph: slices that have memory to leave from (all)\n"
    "  --fill        graph: the next step's first transforms before this one's last\n"
    "  --plans FILE  FFTW's choices, read there or made with care and written (made in each run)\n"
    "  --explain     graph: print it\n\n"
    "Examples:\n"
    "  sorrel run -n 16 --shared libfftw3.so.3,libfftw3_threads.so.3 ft graph --class A\n"
    "  sorrel run -n 16 --shared libfftw3.so.3,libfftw3_threads.so.3 --wire "
    "latency=50us,bandwidth=1GB/s,nodes=4 "
    "ft base --class A --grid 4x4\n";

[[noreturn]] void print_help(int rank) {
  if (rank == 0) std::fputs(help, stdout);
  MPI_Finalize();
  std::exit(0);
}

[[noreturn]] void exit_with_error(int rank, const std::string& why) {
  if (rank == 0) std::fprintf(stderr, "ft: %s\n", why.c_str());
  MPI_Finalize();
  std::exit(2);
}

int number_of(int rank, const char* text) {
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  if (*text == 0 || *end != 0 || number < 1 || number > 100)
    exit_with_error(rank, std::string(text) + " is not a number from 1 to 100");
  return static_cast<int>(number);
}

bool read(Case& c, int argc, char** argv) {
  bool is_explained = false;
  c.problem = problem('S');
  for (int i = 2; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--explain" || option == "--fill") {
      (option == "--fill" ? c.y_fills : is_explained) = true;
      continue;
    }
    if (i + 1 == argc) exit_with_error(c.rank, option + " needs a value");
    const std::string value = argv[++i];
    char rest = 0;
    if (option == "--class") {
      c.problem = value.size() == 1 ? problem(value[0]) : nullptr;
      if (c.problem == nullptr)
        exit_with_error(c.rank, "unknown class " + value + "; classes are S, W, A, B, C");
    } else if (option == "--steps")
      c.steps = number_of(c.rank, value.c_str());
    else if (option == "--slices")
      c.y_slices = number_of(c.rank, value.c_str());
    else if (option == "--rooms")
      c.rooms = number_of(c.rank, value.c_str());
    else if (option == "--plans")
      c.plans = value;
    else if (option == "--grid") {
      if (std::sscanf(value.c_str(), "%dx%d%c", &c.across, &c.along, &rest) != 2 || c.across < 1 ||
          c.along < 1)
        exit_with_error(c.rank, value + " is not of the form 1x16");
    } else
      exit_with_error(c.rank,
                      "unknown option " + option +
                          "; options are --class, --steps, --grid, --slices, --rooms, --fill, "
                          "--plans, --explain");
  }
  const int steps_max = static_cast<int>(c.problem->checksums.size());
  if (c.steps == 0) c.steps = steps_max;
  if (c.steps > steps_max)
    exit_with_error(c.rank, "the class has " + std::to_string(steps_max) + " steps");
  return is_explained;
}

/// As many as leave large enough messages: small ones cost more than they hide.
int slices_for(const Case& c) {
  constexpr long bytes_min = 1 << 16, slices_max = 4;
  const Problem& p = *c.problem;
  const long values = (p.nx / c.across) * (p.ny / c.along) * (p.nz / c.along);
  return static_cast<int>(
      std::clamp(values * static_cast<long>(sizeof(Value)) / bytes_min, 1L, slices_max));
}

void place(Case& c, bool has_grid) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!has_grid) c.along = size;
  if (static_cast<long>(c.across) * c.along != size)
    exit_with_error(c.rank, "the blocks of --grid must be as many as the ranks");
  const long most_across = std::min(c.problem->nx, c.problem->ny);
  const long most_along = std::min(c.problem->ny, c.problem->nz);
  if (c.across > most_across || c.along > most_along)
    exit_with_error(c.rank, "more ranks than planes: a grid of this class has at most " +
                                std::to_string(most_across) + "x" + std::to_string(most_along));
  c.across_position = c.rank % c.across, c.along_position = c.rank / c.across;
  if (c.y_slices == 0) c.y_slices = slices_for(c);
  // All ranks have the same number of slices, and none is empty.
  c.z_slices = static_cast<int>(std::min<long>(c.y_slices, c.problem->nz / c.along));
  c.y_slices = static_cast<int>(std::min<long>(c.y_slices, c.problem->ny / c.along));
  MPI_Comm_dup(MPI_COMM_WORLD, &c.comm);
}

/// The largest difference to the benchmark's checksums, of real and imaginary parts.
double error_of(const Case& c, const std::vector<Value>& checksums) {
  double largest = 0;
  for (std::size_t i = 0; i < checksums.size(); ++i) {
    const Value right = c.problem->checksums[i], found = checksums[i];
    for (const double error : {(found.real() - right.real()) / right.real(),
                               (found.imag() - right.imag()) / right.imag()})
      if (!(std::abs(error) <= largest)) largest = std::isnan(error) ? HUGE_VAL : std::abs(error);
  }
  return largest;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Case c;
  c.along = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
  const std::string variant = argc > 1 ? argv[1] : "";
  if (variant == "--help") print_help(c.rank);
  if (variant != "base" && variant != "olap" && variant != "ideal" && variant != "graph")
    exit_with_error(c.rank, "VARIANT must be base, olap, ideal or graph");
  const bool is_explained = read(c, argc, argv);
  if (variant == "base" || variant == "ideal") c.y_slices = 1;
  place(c, c.along != 0);

  Result mine, all;
  double error = 0;
  {
    Transform transform(c, variant == "graph" ? 2 : 1, variant == "graph" ? c.rooms : 0);
    transform.prepare();
    mine = variant == "graph"  ? run_graph(c, transform, is_explained)
           : variant == "olap" ? run_olap(c, transform)
                               : run_base(c, transform, variant == "base");
    // No rank continues before all ranks have read the clock: ranks may share a core.
    MPI_Barrier(c.comm);
    error = error_of(c, transform.checksums());
  }
  int size = 0;
  MPI_Comm_size(c.comm, &size);
  MPI_Allreduce(&mine.seconds, &all.seconds, 1, MPI_DOUBLE, MPI_MAX, c.comm);
  MPI_Allreduce(&mine.waiting_seconds, &all.waiting_seconds, 1, MPI_DOUBLE, MPI_SUM, c.comm);
  const bool is_right = error < 1e-12 || variant == "ideal";
  const double values = static_cast<double>(c.problem->nx * c.problem->ny * c.problem->nz);
  // As the benchmark counts the operations of a step.
  const double operations = values * c.steps * (5.23518 + 7.21113 * std::log(values));
  if (c.rank == 0)
    std::printf(
        "variant %s class %c grid %dx%d slices %d steps %d seconds %.6f gflops %.3f waiting %.6f "
        "error %.2e %s\n",
        variant.c_str(), c.problem->name, c.across, c.along, c.y_slices, c.steps, all.seconds,
        operations / all.seconds * 1e-9, all.waiting_seconds / size, error,
        variant == "ideal" ? "not checked"
        : is_right         ? "right"
                           : "wrong");
  MPI_Comm_free(&c.comm);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
