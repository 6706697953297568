// A worker's timers: the cost of a packet on a simulated wire, with that many in flight.
//
// One item is one timer that runs and one that is set for later. Results: docs/decisions/0007.
#include <benchmark/benchmark.h>
#include <cstdint>
#include <vector>

#include "base/prng.hpp"
#include "bench/micro/fiber_set.hpp"
#include "core/timer.hpp"

namespace sorrel::bench {

namespace {

struct Traffic {
  core::TimerQueue queue;
  Prng prng{1};
  std::int64_t now_ns = 0;

  void set(core::Timer& timer) {
    timer.due_ns = now_ns + 50'000 + static_cast<std::int64_t>(prng.below(50'000));
    queue.add(timer);
  }
};

struct Flight : core::Timer {
  Traffic* traffic = nullptr;
};

void run_and_set_timers(benchmark::State& state) {
  std::int64_t run_count = 0;
  FiberSet fibers(1, [&](core::Worker& worker, std::size_t) {
    Traffic traffic;
    std::vector<Flight> flights(static_cast<std::size_t>(state.range(0)));
    for (Flight& flight : flights) {
      flight.traffic = &traffic;
      flight.run = [](core::Worker&, core::Timer& timer) {
        static_cast<Flight&>(timer).traffic->set(timer);
      };
      traffic.set(flight);
    }
    for (auto _ : state) {
      traffic.now_ns = traffic.queue.next_due_ns();
      run_count += traffic.queue.run_due(worker, traffic.now_ns);
    }
  });
  fibers.run();
  state.SetItemsProcessed(run_count);
}

BENCHMARK(run_and_set_timers)->Arg(1)->Arg(16)->Arg(256)->Arg(4096)->Arg(65536);

}  // namespace

}  // namespace sorrel::bench
