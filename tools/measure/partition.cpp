// The program behind `sorrel bench partition`: times every way to cut a cube over its ranks and
// prints the prediction beside each time.
//
//   sorrel run -n 8 --workers 2 partition MACHINE_FILE N SECONDS ROUNDS
//
// All cuts are timed once, for SECONDS in all. Then the plan's choice, MPI_Dims_create's cut
// and the fastest ones alternate for ROUNDS rounds of SECONDS each. One line for each cut, in
// the plan's order:
//   result 8x1x1 none predicted 1.5e-3 measured 1.6e-3
// (`once` in the place of `measured` for a cut that was timed only once).
// The fastest of many measurements is fast by luck too. Therefore the fastest, the choice and
// MPI_Dims_create's cut are timed again in turn, and the choice a second time at the end of each
// turn: this shows the scatter of the clock. One line for each, with its rounds:
//   turns choice 8x1x1 none 1.61e-3 1.63e-3 ...
//   turns fastest ... / turns balanced ... / turns again ...
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <numeric>
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

constexpr std::size_t finalist_count_max = 7;
// A cut slower than the fastest by more than this, when timed once, cannot be the fastest.
constexpr double finalist_slowness_max = 1.25;
constexpr int turn_count_min = 7;
constexpr int turn_count_max = 15;

// As many turns as the time allows, of at least three steps.
int turn_count_of(double seconds, double step_s) {
  return static_cast<int>(
      std::clamp(seconds / (3 * step_s), 1.0 * turn_count_min, 1.0 * turn_count_max));
}

struct Timed {
  double seconds = 0;
  bool is_finalist = false;
};

/// A cut that is timed in turn with the choice, and its role.
struct Turn {
  const char* role;
  const Cut* cut;
};

void print(const Turn& turn, const std::vector<double>& rounds_s) {
  std::printf("turns %s %s %s", turn.role, word_of(turn.cut->grid).c_str(),
              word_of(turn.cut->overlap).c_str());
  for (const double round_s : rounds_s)
    std::printf(" %.6e", round_s);
  std::printf("\n");
}

void print(const Plan& plan, const std::vector<Timed>& timed) {
  for (std::size_t i = 0; i < timed.size(); ++i) {
    const Cut& cut = plan.cuts()[i];
    std::printf("result %s %s predicted %.6e %s %.6e\n", word_of(cut.grid).c_str(),
                word_of(cut.overlap).c_str(), cut.time.step_s(),
                timed[i].is_finalist ? "measured" : "once", timed[i].seconds);
  }
}

// The indices of the cuts that are timed in turn, the choice first.
std::vector<std::size_t> finalists_of(const Plan& plan, const std::vector<double>& screened_s) {
  std::vector<std::size_t> by_time(screened_s.size());
  std::iota(by_time.begin(), by_time.end(), std::size_t{0});
  std::sort(by_time.begin(), by_time.end(), [&](std::size_t left, std::size_t right) {
    return screened_s[left] < screened_s[right];
  });
  std::vector<std::size_t> finalists{0};
  const auto balanced = static_cast<std::size_t>(&plan.balanced() - plan.cuts().data());
  if (balanced != 0) finalists.push_back(balanced);
  for (const std::size_t i : by_time) {
    if (finalists.size() == finalist_count_max) break;
    if (screened_s[i] > finalist_slowness_max * screened_s[by_time[0]]) break;
    if (i != 0 && i != balanced) finalists.push_back(i);
  }
  return finalists;
}

int run(const Machine& machine, std::int64_t n, double seconds, int round_count) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Problem problem;
  problem.extents = {n, n, n};
  const auto plan = Plan::choose(machine, problem, size);
  if (!plan.has_value()) return fail(plan.error());
  const std::vector<Cut>& all = plan.value().cuts();
  const double screening_s = seconds / static_cast<double>(all.size());
  const auto screened =
      time_steps(MPI_COMM_WORLD, problem, all, {.seconds = screening_s, .round_count = 1});
  if (!screened.has_value()) return fail(screened.error());
  const std::vector<std::size_t> places = finalists_of(plan.value(), screened.value());
  std::vector<Cut> finalists;
  for (const std::size_t i : places)
    finalists.push_back(all[i]);
  const double each_s = seconds * round_count / static_cast<double>(finalists.size());
  const auto timed = time_steps(MPI_COMM_WORLD, problem, finalists,
                                {.seconds = each_s, .round_count = round_count});
  if (!timed.has_value()) return fail(timed.error());
  std::vector<Timed> results;
  for (const double once_s : screened.value())
    results.push_back({.seconds = once_s});
  for (std::size_t i = 0; i < places.size(); ++i)
    results[places[i]] = {.seconds = timed.value()[i], .is_finalist = true};
  const auto least = std::min_element(timed.value().begin(), timed.value().end());
  const Cut& fastest = finalists[static_cast<std::size_t>(least - timed.value().begin())];
  const std::vector<Turn> turns{{"choice", &plan.value().best()},
                                {"fastest", &fastest},
                                {"balanced", &plan.value().balanced()},
                                {"again", &plan.value().best()}};
  std::vector<Cut> taking_turns;
  for (const Turn& turn : turns)
    taking_turns.push_back(*turn.cut);
  const double turns_s = 2 * seconds / static_cast<double>(turns.size());
  const auto rounds =
      time_rounds(MPI_COMM_WORLD, problem, taking_turns,
                  {.seconds = turns_s, .round_count = turn_count_of(turns_s, *least)});
  if (!rounds.has_value()) return fail(rounds.error());
  if (rank == 0) {
    print(plan.value(), results);
    for (std::size_t i = 0; i < turns.size(); ++i)
      print(turns[i], rounds.value()[i]);
  }
  MPI_Finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 5) return fail("usage: partition MACHINE_FILE N SECONDS ROUNDS");
  const auto machine = load_machine(argv[1]);
  if (!machine.has_value()) return fail(machine.error());
  return run(machine.value(), std::atoll(argv[2]), std::atof(argv[3]),
             std::max(1, std::atoi(argv[4])));
}
