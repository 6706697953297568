// Which cut of a grid has the shortest step on a machine, and why. Without MPI; `sorrel plan` does
// the same for the machine that it runs on.
//
//   at=~/.local    # where Sorrel was installed: cmake --install build/release --prefix ~/.local
//   c++ -std=c++20 -O2 08_plan.cpp -I$at/include -L$at/lib -lsorrel_grid -o plan
//   ./plan $at/share/sorrel/machines/sp2.json 32
#include <cstdio>
#include <cstdlib>

#include <sorrel/grid.hpp>

int main(int argc, char** argv) {
  using namespace sorrel::grid;
  if (argc != 3) {
    std::fprintf(stderr, "usage: plan MACHINE.json RANKS\n");
    return 2;
  }
  const auto machine = load_machine(argv[1]);
  if (!machine) {
    std::fprintf(stderr, "plan: %s\n", machine.error().c_str());
    return 1;
  }
  const Problem problem{.extents = {128, 128, 128}};
  const auto plan = Plan::choose(*machine, problem, std::atoi(argv[2]));
  if (!plan) {
    std::fprintf(stderr, "plan: %s\n", plan.error().c_str());
    return 1;
  }
  std::printf("%s\n%s", plan->why().c_str(), plan->table(5).c_str());

  // Each rank's block, as a program would ask for its own.
  std::int64_t cells = 0;
  for (int rank = 0; rank < plan->used_ranks(); rank++)
    cells += plan->block(rank).count();
  std::printf("%lld cells in %d blocks\n", static_cast<long long>(cells), plan->used_ranks());
  return cells != 128 * 128 * 128;
}
