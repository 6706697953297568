// The program behind `sorrel bench partition`: times every way to cut a cube over the ranks it is
// run with, in turn, and prints what was predicted beside it.
//
//   sorrel run -n 8 --workers 2 partition MACHINE_FILE N SECONDS ROUNDS
//
// A line for each candidate, in the plan's order, the least time of all rounds:
//   result 8x1x1 none predicted 1.5e-3 measured 1.6e-3
// and one for the cut of MPI_Dims_create, which is among them:
//   balanced 2x2x2
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <string>
#include <vector>

#include <sorrel/grid/machine_file.hpp>
#include <sorrel/grid/verify.hpp>

namespace {

using namespace sorrel::grid;

int fail(const std::string& text) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::fprintf(stderr, "sorrel: partition: %s\n", text.c_str());
  MPI_Finalize();
  return 2;
}

std::string word_of(const ProcessGrid& grid) {
  return std::to_string(grid[0]) + "x" + std::to_string(grid[1]) + "x" + std::to_string(grid[2]);
}

std::string word_of(const Overlap& overlap) {
  if (overlap.kind == Overlap::Kind::none) return "none";
  if (overlap.kind == Overlap::Kind::faces_first) return "faces_first";
  return "tiles_" + std::to_string(overlap.tile_count);
}

void print(const Plan& plan, const std::vector<double>& measured_s) {
  for (std::size_t i = 0; i < measured_s.size(); ++i) {
    const Candidate& candidate = plan.candidates()[i];
    std::printf("result %s %s predicted %.6e measured %.6e\n", word_of(candidate.grid).c_str(),
                word_of(candidate.overlap).c_str(), candidate.time.step_s(), measured_s[i]);
  }
  std::printf("balanced %s\n", word_of(plan.balanced().grid).c_str());
}

int run(const Machine& machine, std::int64_t n, double seconds, int round_count) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Problem problem;
  problem.extents = {n, n, n};
  const auto plan = Plan::choose(machine, problem, size);
  if (!plan.ok()) return fail(plan.trouble());
  std::vector<double> least_s(plan.value().candidates().size(), 1e9);
  for (int round = 0; round < round_count; ++round) {
    for (std::size_t i = 0; i < least_s.size(); ++i) {
      const auto timed = time_step(MPI_COMM_WORLD, problem, plan.value().candidates()[i],
                                   {.seconds = seconds / round_count});
      if (!timed.ok()) return fail(timed.trouble());
      least_s[i] = std::min(least_s[i], timed.value());
    }
  }
  if (rank == 0) print(plan.value(), least_s);
  MPI_Finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 5) return fail("usage: partition MACHINE_FILE N SECONDS ROUNDS");
  const auto machine = load_machine(argv[1]);
  if (!machine.ok()) return fail(machine.trouble());
  return run(machine.value(), std::atoll(argv[2]), std::atof(argv[3]),
             std::max(1, std::atoi(argv[4])));
}
