// MessagePool: allocating and freeing a buffer, one at a time and many before the first is freed.
#include <benchmark/benchmark.h>
#include <cstddef>
#include <vector>

#include "core/message_pool.hpp"

namespace sorrel::bench {

namespace {

using core::MessagePool;

constexpr std::size_t pool_bytes_max = std::size_t{64} << 20;

void take_and_give_back(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  MessagePool pool(pool_bytes_max);
  for (auto _ : state) {
    void* buffer = pool.take(bytes, MessagePool::WhenFull::fail);
    benchmark::DoNotOptimize(buffer);
    pool.give_back(buffer, bytes);
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(take_and_give_back)->Arg(64)->Arg(1024)->Arg(32768);

void take_many_then_give_back(benchmark::State& state) {
  constexpr std::size_t bytes = 128;
  MessagePool pool(pool_bytes_max);
  std::vector<void*> buffers(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    for (void*& buffer : buffers)
      buffer = pool.take(bytes, MessagePool::WhenFull::fail);
    for (void* buffer : buffers)
      pool.give_back(buffer, bytes);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(take_many_then_give_back)->Arg(32)->Arg(4096);

}  // namespace

}  // namespace sorrel::bench
