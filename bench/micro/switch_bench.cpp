// Cost of the register switch alone: two contexts switch to each other.
#include <array>
#include <benchmark/benchmark.h>
#include <cstddef>

#include "arch/context.hpp"

namespace sorrel::bench {

namespace {

struct Pair {
  arch::Context bench = nullptr;
  arch::Context partner = nullptr;
};

void hand_back_forever(void* argument) {
  auto& pair = *static_cast<Pair*>(argument);
  for (;;)
    arch::sorrel_switch_context(&pair.partner, pair.bench);
}

void switch_context(benchmark::State& state) {
  alignas(16) static std::array<std::byte, 16384> stack;
  Pair pair;
  pair.partner = arch::make_context(stack.data(), stack.size(), hand_back_forever, &pair);
  for (auto _ : state)
    arch::sorrel_switch_context(&pair.bench, pair.partner);
  // Each iteration is two switches.
  state.SetItemsProcessed(2 * state.iterations());
}

BENCHMARK(switch_context);

}  // namespace

}  // namespace sorrel::bench
