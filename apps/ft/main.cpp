// Reads the arguments, runs a variant and prints one line. Exit status 1 if a checksum is wrong, 2
// if an argument is wrong.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <unistd.h>

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
    "  --mesh XxYxZ  any mesh, 2 to 4096 points each; no checksums are known, so energy is "
    "checked\n"
    "  --steps S     (the class's; of a mesh 6)\n"
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
    "ft base --class A --grid 4x4\n"
    "  sorrel run -n 64 --shared libfftw3.so.3,libfftw3_threads.so.3 ft graph --mesh "
    "1024x1024x512\n";

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

/// A mesh of which the benchmark has no checksums.
const Problem* mesh(int rank, const std::string& text) {
  constexpr long points_max = 4096;
  static Problem found;
  char rest = 0;
  const int read =
      std::sscanf(text.c_str(), "%ldx%ldx%ld%c", &found.nx, &found.ny, &found.nz, &rest);
  for (const long points : {found.nx, found.ny, found.nz}) {
    if (read != 3 || points < 2 || points > points_max)
      exit_with_error(rank, text + " is not of the form 1024x1024x512, each from 2 to 4096");
  }
  found.name = "mesh " + text;
  return &found;
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
    } else if (option == "--mesh")
      c.problem = mesh(c.rank, value);
    else if (option == "--steps")
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
                          "; options are --class, --mesh, --steps, --grid, --slices, --rooms, "
                          "--fill, --plans, --explain");
  }
  constexpr int steps_of_mesh = 6;
  const int steps_max = static_cast<int>(c.problem->checksums.size());
  if (c.steps == 0) c.steps = steps_max == 0 ? steps_of_mesh : steps_max;
  if (steps_max != 0 && c.steps > steps_max)
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
    exit_with_error(c.rank, "more ranks than planes: a grid of this mesh has at most " +
                                std::to_string(most_across) + "x" + std::to_string(most_along));
  c.across_position = c.rank % c.across, c.along_position = c.rank / c.across;
  if (c.y_slices == 0) c.y_slices = slices_for(c);
  // All ranks have the same number of slices, and none is empty.
  c.z_slices = static_cast<int>(std::min<long>(c.y_slices, c.problem->nz / c.along));
  c.y_slices = static_cast<int>(std::min<long>(c.y_slices, c.problem->ny / c.along));
  MPI_Comm_dup(MPI_COMM_WORLD, &c.comm);
}

/// Bytes that programs of this machine may still take; 0: not known.
double bytes_available() {
  double kilobytes = 0;
  if (std::FILE* file = std::fopen("/proc/meminfo", "r")) {
    char line[128];
    while (kilobytes == 0 && std::fgets(line, sizeof line, file) != nullptr)
      std::sscanf(line, "MemAvailable: %lf kB", &kilobytes);
    std::fclose(file);
  }
  return 1024 * kilobytes;
}

/// Ends the job if the mesh does not fit into the memory of a machine.
void check_memory(const Case& c, int slots, int rooms) {
  constexpr std::size_t name_length = 64;
  int size = 0;
  MPI_Comm_size(c.comm, &size);
  char own[name_length] = {};
  gethostname(own, name_length - 1);
  std::vector<char> names(name_length * static_cast<std::size_t>(size));
  MPI_Allgather(own, name_length, MPI_CHAR, names.data(), name_length, MPI_CHAR, c.comm);
  int here = 0;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(size); ++rank)
    here += std::strcmp(names.data() + rank * name_length, own) == 0 ? 1 : 0;
  // Counts of values and of bytes are numbers of type int.
  if (c.problem->values() / size >
      std::numeric_limits<int>::max() / static_cast<long>(sizeof(Value)))
    exit_with_error(c.rank,
                    c.problem->name + " has more than 2 GiB of values a rank; use more ranks");
  const double needed = bytes_needed(c, slots, rooms) * here / size, available = bytes_available();
  const double mine = available == 0 ? 0 : needed / available;
  double worst = 0;
  MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE, MPI_MAX, c.comm);
  if (worst <= 1) return;
  char text[160];
  std::snprintf(text, sizeof text,
                "%s needs %.0f GB of memory in all, %.2f times what a machine has free",
                c.problem->name.c_str(), bytes_needed(c, slots, rooms) * 1e-9, worst);
  exit_with_error(c.rank, text);
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
  Value last;
  const bool has_checksums = !c.problem->checksums.empty();
  {
    const int slots = variant == "graph" ? 2 : 1, rooms = variant == "graph" ? c.rooms : 0;
    check_memory(c, slots, rooms);
    Transform transform(c, slots, rooms);
    transform.prepare();
    mine = variant == "graph"  ? run_graph(c, transform, is_explained)
           : variant == "olap" ? run_olap(c, transform)
                               : run_base(c, transform, variant == "base");
    // No rank continues before all ranks have read the clock: ranks may share a core.
    MPI_Barrier(c.comm);
    last = transform.checksums().back();
    error = has_checksums ? error_of(c, transform.checksums()) : transform.energy_error();
  }
  int size = 0;
  MPI_Comm_size(c.comm, &size);
  MPI_Allreduce(&mine.seconds, &all.seconds, 1, MPI_DOUBLE, MPI_MAX, c.comm);
  MPI_Allreduce(&mine.waiting_seconds, &all.waiting_seconds, 1, MPI_DOUBLE, MPI_SUM, c.comm);
  const bool is_right = error < (has_checksums ? 1e-12 : 1e-10) || variant == "ideal";
  const auto values = static_cast<double>(c.problem->values());
  // As the benchmark counts the operations of a step.
  const double operations = values * c.steps * (5.23518 + 7.21113 * std::log(values));
  // For comparison by the user.
  char checksum[80] = "";
  if (!has_checksums)
    std::snprintf(checksum, sizeof checksum, " checksum %.13g,%.13g", last.real(), last.imag());
  if (c.rank == 0)
    std::printf(
        "variant %s %s grid %dx%d slices %d steps %d seconds %.6f gflops %.3f waiting %.6f%s error "
        "%.2e %s\n",
        variant.c_str(), c.problem->name.c_str(), c.across, c.along, c.y_slices, c.steps,
        all.seconds, operations / all.seconds * 1e-9, all.waiting_seconds / size, checksum, error,
        variant == "ideal" ? "not checked"
        : is_right         ? "right"
                           : "wrong");
  MPI_Comm_free(&c.comm);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
