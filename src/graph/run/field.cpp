// The memory of a field: its layout, and the threads that touch it first.
#include <algorithm>
#include <numeric>

#include <sorrel/graph/field.hpp>

#include "base/check.hpp"
#include "sorrel.h"

namespace sorrel::graph {

namespace {

constexpr Index page_bytes = 4096;
/// Shorter rows, in lines, are not padded: padding would cost more than an eighth.
constexpr Index padded_lines_min = 8;
/// Less than this is touched by the caller alone.
constexpr std::size_t shared_bytes_min = std::size_t{1} << 20;

/// Values in the fewest whole cache lines.
Index values_per_unit(std::size_t value_bytes) {
  return static_cast<Index>(AnyField::alignment / std::gcd(AnyField::alignment, value_bytes));
}

/// Distance between two rows of `length` values. Rows a page apart would share few sets of the near
/// cache with their neighbours.
Index distance_of_rows(Index length, std::size_t value_bytes) {
  const Index unit = values_per_unit(value_bytes);
  if (length < padded_lines_min * unit) return length;
  const Index padded = (length + unit - 1) / unit * unit;
  const bool is_of_pages = padded * static_cast<Index>(value_bytes) % page_bytes == 0;
  return is_of_pages ? padded + unit : padded;
}

/// What a part of the memory needs to be set.
struct Setting {
  void (*set)(void* value, std::byte* begin, std::byte* end);
  void* value;
  std::byte* memory;
  std::size_t value_bytes;
};

int set_part(void* setting, std::int64_t begin, std::int64_t end) {
  const auto& all = *static_cast<const Setting*>(setting);
  all.set(all.value, all.memory + static_cast<std::size_t>(begin) * all.value_bytes,
          all.memory + static_cast<std::size_t>(end) * all.value_bytes);
  return 0;
}

}  // namespace

AnyField::AnyField(const AnyTiling& tiling, std::string name, std::size_t value_bytes)
    : tiling_(&tiling),
      name_(name.empty() ? "field" : std::move(name)),
      value_bytes_(value_bytes),
      filled_{tiling.halo(), true} {
  const Box<dimension_count_max> cells = tiling.block_with_ghosts();
  const auto last = static_cast<std::size_t>(tiling.dimension_count()) - 1;
  Index stride = 1;
  for (std::size_t d = last + 1; d-- > 0;) {
    strides_[d] = stride;
    stride *= cells.extent(d);
    if (d == last && last > 0) stride = distance_of_rows(stride, value_bytes);
  }
  for (std::size_t d = 0; d <= last; ++d)
    place_of_zero_ += cells.lo[d] * strides_[d];
  // So many values before the first ghost that the first cell of its row is aligned.
  const Index unit = values_per_unit(value_bytes);
  const Index ahead = (unit - tiling.halo() % unit) % unit;
  memory_bytes_ = static_cast<std::size_t>(ahead + stride) * value_bytes;
  memory_.reset(
      static_cast<std::byte*>(::operator new(memory_bytes_, std::align_val_t(alignment))));
  data_ = memory_.get() + static_cast<std::size_t>(ahead) * value_bytes;
  rotation_.assign(1, data_);
}

void AnyField::set_all(void (*set)(void* value, std::byte* begin, std::byte* end), void* value) {
  Setting setting{set, value, memory_.get(), value_bytes_};
  const auto count = static_cast<std::int64_t>(memory_bytes_ / value_bytes_);
  sorrel_loop_options options{};
  options.size = sizeof options;
  options.schedule = SORREL_STATIC;
  if (tiling_->rank_count() > 1 || memory_bytes_ < shared_bytes_min) options.threads_max = 1;
  const int outcome = sorrel_parallel_for(0, count, set_part, &setting, &options);
  SORREL_CHECK(outcome == 0, "a field is not set: %d", outcome);
}

}  // namespace sorrel::graph
