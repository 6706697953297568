// A program that cuts a grid, without MPI.
#include <cstdio>

#include <sorrel/grid.hpp>

int main() {
  sorrel::grid::Machine machine;
  machine.flops_per_second = 1e9;
  machine.memory = {{.size_bytes = 0, .bytes_per_second = 1e10}};
  machine.copy.rates = {
      {.run_bytes = 8, .stride_bytes = 64, .set_bytes = 0, .bytes_per_second = 1e9}};
  machine.links = {sorrel::grid::Link{}};
  sorrel::grid::Problem problem;
  problem.extents = {100, 100, 100};
  const auto plan = sorrel::grid::Plan::choose(machine, problem, 12);
  std::fputs(plan.has_value() ? plan.value().why().c_str() : plan.error().c_str(), stdout);
  return plan.has_value() ? 0 : 1;
}
