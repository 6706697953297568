// Linear elasticity on tetrahedra, one chunk a rank. Exit status 1 if a check of the answer fails,
// 2 if an argument or the mesh is wrong. README.md says more.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>

#include "body.hpp"
#include "chunk.hpp"
#include "cut.hpp"
#include "equilibrium.hpp"
#include "mesh.hpp"
#include "options.hpp"
#include "output.hpp"
#include "picture.hpp"
#include "problem.hpp"
#include "report.hpp"
#include "steps.hpp"

using namespace fem;

namespace {

constexpr double step_safety = 0.95;
constexpr double residual_reduction = 1e-12;
constexpr int iterations_max = 100'000;
constexpr double energy_drift_max = 1e-10;

/// The whole body, on rank 0.
struct Whole {
  Mesh mesh;
  Cut cut;
  Supports supports;
};

Whole prepare(const Options& options, int rank_count) {
  Whole whole;
  whole.mesh = options.mesh.empty() ? make_box(options.size, options.cells, options.irregularity)
                                    : read_gmsh(options.mesh);
  whole.supports = supports_of(whole.mesh, options);
  whole.cut = cut(whole.mesh, rank_count, options.cut);
  return whole;
}

double process_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void take_steps(const Options& options,
                const Chunk& chunk,
                Body& body,
                Report& report,
                std::vector<Vector>& u) {
  report.step_length = step_safety * body.stable_step();
  Steps steps(body, std::move(u), report.step_length);
  body.work_seconds = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double process_start = process_seconds();
  for (int i = 1; i <= options.steps; ++i) {
    const double start = MPI_Wtime();
    if (i == 1 || i == options.steps || i % options.energy_every == 0)
      report.energy.add(steps.step_with_energy());
    else
      steps.step();
    report.seconds += MPI_Wtime() - start;
  }
  report.process_seconds = process_seconds() - process_start;
  report.steps = steps.count();
  // The energy of the iterated law changes when the zone moves, unless the law is linear.
  const bool is_conserved = !options.zone.exists() || options.material.softening == 0;
  report.is_energy_right = !is_conserved || report.energy.drift() <= energy_drift_max;
  u = steps.displacements();
  report.elongation = mean_elongation(chunk, u);
}

void balance(const Chunk& chunk, Body& body, Report& report, std::vector<Vector>& u) {
  body.work_seconds = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime(), process_start = process_seconds();
  Equilibrium found = find_equilibrium(body, std::move(u), residual_reduction, iterations_max);
  report.seconds = MPI_Wtime() - start;
  report.process_seconds = process_seconds() - process_start;
  report.steps = found.iterations;
  report.residual = found.residual;
  // Without convergence there is no answer.
  report.is_energy_right = found.residual <= residual_reduction;
  u = std::move(found.u);
  report.elongation = mean_elongation(chunk, u);
}

/// Computes on all ranks. `whole` is null but on rank 0. Returns the exit status.
int run(Options options, const Whole* whole, int rank) {
  double bounds[6] = {};
  if (whole != nullptr) {
    const Vector low = whole->mesh.low(), high = whole->mesh.high();
    std::copy(low.begin(), low.end(), bounds);
    std::copy(high.begin(), high.end(), bounds + 3);
  }
  MPI_Bcast(bounds, 6, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  options.zone.low = bounds[0];
  options.zone.high = bounds[3];
  const Chunk chunk = distribute(
      whole != nullptr ? &whole->mesh : nullptr, whole != nullptr ? &whole->cut : nullptr,
      whole != nullptr ? &whole->supports : nullptr, options.order, MPI_COMM_WORLD);
  Body body(chunk, options.material, options.zone, MPI_COMM_WORLD);
  Report report;
  add_sizes(report, body, MPI_COMM_WORLD);
  if (whole != nullptr) report.cut_method = whole->cut.method;

  std::vector<Vector> u = start_of(chunk, options);
  if (options.method == Method::steps)
    take_steps(options, chunk, body, report, u);
  else
    balance(chunk, body, report, u);
  report.seconds = spread_of(report.seconds, MPI_COMM_WORLD).greatest;
  report.work = spread_of(body.work_seconds, MPI_COMM_WORLD);
  report.answer = check(chunk, u, {bounds[0], bounds[1], bounds[2]}, options);

  const std::vector<Symmetric> stresses = body.stresses(u, report.steps);
  double stress_max = 0;
  for (const Symmetric& stress : stresses)
    stress_max = std::max(stress_max, von_mises_of(stress));
  report.stress_max = spread_of(stress_max, MPI_COMM_WORLD).greatest;
  if (rank == 0) print(report, options.is_csv);

  std::string unwritten;
  if (!options.vtu.empty() && !write_vtu(options.vtu, chunk, u, stresses, MPI_COMM_WORLD))
    unwritten = options.vtu;
  if (!options.picture.empty() &&
      !write_picture(options.picture, whole != nullptr ? &whole->mesh : nullptr,
                     whole != nullptr ? &whole->cut : nullptr, chunk, stresses, MPI_COMM_WORLD))
    unwritten = options.picture;
  if (!unwritten.empty()) {
    if (rank == 0) std::fprintf(stderr, "fem: %s: cannot be written\n", unwritten.c_str());
    return 2;
  }
  return report.is_right() ? 0 : 1;
}

int start(int argc, char** argv, int rank, int size) {
  Options options;
  try {
    options = read_options(argc, argv);
  } catch (const Error& error) {
    if (rank == 0) std::fprintf(stderr, "fem: %s\n", error.what());
    return 2;
  }
  if (options.is_help) {
    if (rank == 0) std::fputs(help, stdout);
    return 0;
  }
  std::optional<Whole> whole;
  int is_ready = 1;
  if (rank == 0) {
    try {
      whole = prepare(options, size);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "fem: %s\n", error.what());
      is_ready = 0;
    }
  }
  MPI_Bcast(&is_ready, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (is_ready == 0) return 2;
  return run(options, whole.has_value() ? &*whole : nullptr, rank);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int status = start(argc, argv, rank, size);
  MPI_Finalize();
  return status;
}
