// Copies by size and by (target - source) mod 4096: the C library's, and each way of
// base/copy_bytes. Bytes per second of the copied bytes.
#include <benchmark/benchmark.h>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/copy_bytes.hpp"

namespace sorrel {
namespace {

using Copy = void (*)(void*, const void*, std::size_t);

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

void run(benchmark::State& state, Copy copy) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const auto distance = static_cast<std::size_t>(state.range(1));
  const std::size_t room = (bytes + 3 * 4096) / 4096 * 4096;
  const std::unique_ptr<std::byte, Free> memory(
      static_cast<std::byte*>(std::aligned_alloc(4096, 2 * room)));
  std::memset(memory.get(), 1, 2 * room);
  std::byte* const source = memory.get() + 64;
  std::byte* const target = source + room + distance;
  for (auto _ : state) {
    copy(target, source, bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

template <CopyWidth width>
void copy_by_width(void* target, const void* source, std::size_t bytes) {
  copy_by(width, target, source, bytes);
}

void memcpy_of_libc(void* target, const void* source, std::size_t bytes) {
  std::memcpy(target, source, bytes);
}

void sizes_and_distances(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"bytes", "distance"});
  for (const std::int64_t bytes : {2048, 4096, 16384, 65536, 1 << 20})
    for (const std::int64_t distance : {0, 16, 64, 1024, 4080})
      benchmark->Args({bytes, distance});
  benchmark->Args({16 << 20, 0});
}

void measure(const char* name, Copy copy) {
  benchmark::RegisterBenchmark(name, run, copy)->Apply(sizes_and_distances);
}

const int registered = [] {
  measure("memcpy", memcpy_of_libc);
  measure("copy_bytes", copy_bytes);
  measure("vectors_of_16", copy_by_width<CopyWidth::bytes16>);
  if (copy_width() >= CopyWidth::bytes32)
    measure("vectors_of_32", copy_by_width<CopyWidth::bytes32>);
  if (copy_width() >= CopyWidth::bytes64)
    measure("vectors_of_64", copy_by_width<CopyWidth::bytes64>);
  measure("past_caches", copy_past_caches);
  return 0;
}();

}  // namespace
}  // namespace sorrel
