#include "grid/copy/runs.hpp"

#include <cstring>

#include "base/copy_bytes.hpp"
#include "base/copy_rows.hpp"

namespace sorrel::grid {
namespace {

// How many runs ahead of the copy their cache lines are prefetched: about the latency of memory
// over the time of one copy. With fewer the processor waits; more do not help.
constexpr std::int64_t prefetch_distance = 24;

enum class Direction { pack, unpack };

// Copies one run; a constant `size`, in all calls but the last, lets the compiler use registers.
template <Direction direction, std::int64_t size>
void copy_run(std::byte* run, std::byte* buffer, std::int64_t run_bytes) {
  std::byte* const to = direction == Direction::pack ? buffer : run;
  const std::byte* const from = direction == Direction::pack ? run : buffer;
  if constexpr (size > 0)
    std::memcpy(to, from, static_cast<std::size_t>(size));
  else
    copy_bytes(to, from, static_cast<std::size_t>(run_bytes));
}

template <Direction direction>
void copy_all(const Runs& runs, std::byte* buffer) {
  const auto [inner, middle, outer] = runs.loops;
  const auto bytes = static_cast<std::size_t>(runs.run_bytes);
  for (std::int64_t k = 0; k < outer.count; ++k) {
    for (std::int64_t j = 0; j < middle.count; ++j) {
      std::byte* run = runs.first + k * outer.stride_bytes + j * middle.stride_bytes;
      if constexpr (direction == Direction::pack)
        copy_rows({buffer, runs.run_bytes}, {run, inner.stride_bytes}, inner.count, bytes);
      else
        copy_rows({run, inner.stride_bytes}, {buffer, runs.run_bytes}, inner.count, bytes);
      buffer += inner.count * runs.run_bytes;
    }
  }
}

// copy_all(), with prefetches of later runs. An address beyond the array is harmless: prefetches do
// not fault.
template <Direction direction, std::int64_t size>
void copy_ahead(const Runs& runs, std::byte* buffer) {
  const auto [inner, middle, outer] = runs.loops;
  const std::int64_t ahead = prefetch_distance * inner.stride_bytes;
  for (std::int64_t k = 0; k < outer.count; ++k) {
    for (std::int64_t j = 0; j < middle.count; ++j) {
      std::byte* run = runs.first + k * outer.stride_bytes + j * middle.stride_bytes;
      for (std::int64_t i = 0; i < inner.count; ++i) {
        __builtin_prefetch(run + ahead, direction == Direction::unpack ? 1 : 0);
        copy_run<direction, size>(run, buffer, runs.run_bytes);
        run += inner.stride_bytes;
        buffer += runs.run_bytes;
      }
    }
  }
}

template <Direction direction>
void copy_ahead(const Runs& runs, std::byte* buffer) {
  switch (runs.run_bytes) {
    case 4:
      return copy_ahead<direction, 4>(runs, buffer);
    case 8:
      return copy_ahead<direction, 8>(runs, buffer);
    case 16:
      return copy_ahead<direction, 16>(runs, buffer);
    default:
      return copy_ahead<direction, 0>(runs, buffer);
  }
}

template <Direction direction>
std::int64_t copy(const Runs& runs, Pack how, std::byte* buffer) {
  if (how == Pack::blocked)
    copy_ahead<direction>(runs, buffer);
  else
    copy_all<direction>(runs, buffer);
  return runs.bytes();
}

}  // namespace

ArrayView dense_view(void* data,
                     const Extents& extents,
                     std::int64_t element_bytes,
                     MemoryOrder order) {
  ArrayView view{.first = static_cast<std::byte*>(data),
                 .extents = extents,
                 .strides = {},
                 .element_bytes = element_bytes};
  std::int64_t stride = element_bytes;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::size_t d = order == MemoryOrder::c ? extents.size() - 1 - i : i;
    view.strides[d] = stride;
    stride *= extents[d];
  }
  return view;
}

Runs runs_of(const ArrayView& view, const Box<3>& box, MemoryOrder order) {
  Runs runs{.first = view.at(box.lo), .run_bytes = view.element_bytes, .loops = {}};
  std::size_t loop_count = 0;
  for (std::size_t i = 0; i < box.lo.size(); ++i) {
    const std::size_t d = order == MemoryOrder::c ? box.lo.size() - 1 - i : i;
    const std::int64_t extent = box.extent(d);
    if (extent == 1) continue;
    if (loop_count == 0 && view.strides[d] == runs.run_bytes)
      runs.run_bytes *= extent;
    else
      runs.loops[loop_count++] = {.count = extent, .stride_bytes = view.strides[d]};
  }
  return runs;
}

std::int64_t pack(const Runs& runs, Pack how, std::byte* buffer) {
  return copy<Direction::pack>(runs, how, buffer);
}

std::int64_t unpack(const Runs& runs, Pack how, const std::byte* buffer) {
  // The buffer is only read in this direction.
  return copy<Direction::unpack>(runs, how, const_cast<std::byte*>(buffer));
}

}  // namespace sorrel::grid
