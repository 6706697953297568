// Time of planning: all process grids, placements and overlaps of a number of ranks.
#include <benchmark/benchmark.h>

#include <sorrel/grid/plan.hpp>

namespace {

using namespace sorrel::grid;

// Two kinds of links, so that placements in groups of 64 ranks are tried too.
Machine two_level_machine() {
  Machine machine;
  machine.flops_per_second = 1e9;
  machine.memory = {{.size_bytes = 0, .bytes_per_second = 1e10}};
  machine.copy.rates = {
      {.run_bytes = 8, .stride_bytes = 64, .set_bytes = 0, .bytes_per_second = 1e9}};
  machine.links.resize(2);
  machine.links[0].group_ranks = 64;
  machine.links[1].latency_s = 1e-6;
  machine.links[1].gap_s_per_byte = 1e-9;
  return machine;
}

void choose(benchmark::State& state) {
  const Machine machine = two_level_machine();
  Problem problem;
  problem.extents = {512, 512, 512};
  for (auto _ : state) {
    auto plan = Plan::choose(machine, problem, static_cast<int>(state.range(0)));
    benchmark::DoNotOptimize(plan);
  }
}

}  // namespace

BENCHMARK(choose)->Arg(32)->Arg(3600)->Arg(4096)->Unit(benchmark::kMillisecond);
