#include "loop/team/reduce.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/cache_line.hpp"
#include "base/copy_bytes.hpp"

namespace sorrel::loop {

namespace {

// Values up to this size need no allocation.
constexpr std::size_t small_bytes_max = 128;

struct Frame {
  const Reduction& reduction;
  ChunkPlan leaves;
  std::byte* partials;
  std::size_t pitch;
};

int run_leaves(void* argument, std::int64_t begin, std::int64_t end) {
  const Frame& frame = *static_cast<const Frame*>(argument);
  const Reduction& reduction = frame.reduction;
  for (std::int64_t i = begin; i < end; ++i) {
    std::byte* partial = frame.partials + static_cast<std::size_t>(i) * frame.pitch;
    copy_bytes(partial, reduction.result, reduction.bytes);
    const Iterations leaf = frame.leaves.chunk(static_cast<std::int32_t>(i));
    const int outcome = reduction.body(reduction.argument, leaf.begin, leaf.end, partial);
    if (outcome != go_on) return outcome;
  }
  return go_on;
}

int reduce_with(std::byte* partials,
                std::size_t pitch,
                Iterations iterations,
                const Reduction& reduction,
                const LoopOptions& options) {
  const SplitOptions split{
      .schedule = Schedule::fixed,
      .grain = 0,
      .width = static_cast<std::int32_t>(std::min(leaf_count_max, iterations.count()))};
  Frame frame{reduction, ChunkPlan(iterations, split), partials, pitch};
  LoopOptions of_leaves = options;
  of_leaves.code = reinterpret_cast<std::uintptr_t>(reduction.body);
  const int outcome = run({0, frame.leaves.count()}, run_leaves, &frame, of_leaves);
  if (outcome != go_on) return outcome;
  for (std::int32_t i = 0; i < frame.leaves.count(); ++i) {
    reduction.combine(reduction.argument, reduction.result,
                      partials + static_cast<std::size_t>(i) * pitch);
  }
  return go_on;
}

}  // namespace

int reduce(Iterations iterations, const Reduction& reduction, const LoopOptions& options) {
  if (iterations.count() == 0) return go_on;
  constexpr std::size_t align = alignof(std::max_align_t);
  const std::size_t pitch = (reduction.bytes + align - 1) / align * align;
  if (pitch <= small_bytes_max) {
    alignas(cache_line_bytes) std::byte partials[leaf_count_max * small_bytes_max];
    return reduce_with(partials, pitch, iterations, reduction, options);
  }
  auto* partials = static_cast<std::byte*>(std::malloc(leaf_count_max * pitch));
  if (partials == nullptr) return no_memory;
  const int outcome = reduce_with(partials, pitch, iterations, reduction, options);
  std::free(partials);
  return outcome;
}

}  // namespace sorrel::loop
