// Worker::yield() among k fibers of one worker: the full cost for a rank to let other ranks run.
//
// One item is one yield of any fiber.
#include <benchmark/benchmark.h>
#include <cstddef>

#include "bench/micro/fiber_set.hpp"

namespace sorrel::bench {

namespace {

void yield(benchmark::State& state) {
  const auto fiber_count = static_cast<std::size_t>(state.range(0));
  bool is_over = false;
  FiberSet fibers(fiber_count, [&](core::Worker& worker, std::size_t index) {
    if (index == 0) {
      for (auto _ : state)
        worker.yield();
      is_over = true;
    } else {
      while (!is_over)
        worker.yield();
    }
  });
  fibers.run();
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(yield)->Arg(2)->Arg(8)->Arg(64)->Arg(512)->Arg(4096);

void suspend_and_make_ready(benchmark::State& state) {
  core::Fiber* waiting = nullptr;
  bool is_over = false;
  FiberSet fibers(2, [&](core::Worker& worker, std::size_t index) {
    if (index == 1) {
      while (!is_over) {
        waiting = &worker.running();
        worker.suspend();
      }
      return;
    }
    worker.yield();
    for (auto _ : state) {
      worker.make_ready(*waiting);
      worker.yield();
    }
    is_over = true;
    worker.make_ready(*waiting);
  });
  fibers.run();
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(suspend_and_make_ready);

}  // namespace

}  // namespace sorrel::bench
