/// @file
/// Blocked ranges of one to three dimensions, for sorrel::parallel_for. C++17.
#ifndef SORREL_RANGE_HPP
#define SORREL_RANGE_HPP

#include <array>
#include <cstddef>
#include <cstdint>

namespace sorrel {

/// begin <= i < end.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  constexpr std::int64_t size() const { return end > begin ? end - begin : 0; }
};

/// One tile of a blocked range: a Range in each dimension.
template <std::size_t dimensions>
using Tile = std::array<Range, dimensions>;

/// A box of `dimensions` ranges cut into tiles of at most `tile` points in each; tiles are numbered
/// with the last dimension fastest. A tile size of 0 means the whole range. Pure.
template <std::size_t dimensions>
class Blocked {
  static_assert(dimensions >= 1 && dimensions <= 3);

 public:
  constexpr Blocked(const Tile<dimensions>& box, const std::array<std::int64_t, dimensions>& tile)
      : box_(box), tile_(tile) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      if (tile_[d] <= 0 || tile_[d] > box_[d].size())
        tile_[d] = box_[d].size() > 0 ? box_[d].size() : 1;
      counts_[d] = (box_[d].size() + tile_[d] - 1) / tile_[d];
    }
  }

  /// Number of tiles.
  constexpr std::int64_t count() const {
    std::int64_t count = 1;
    for (const std::int64_t of_dimension : counts_)
      count *= of_dimension;
    return count;
  }

  /// 0 <= index < count().
  constexpr Tile<dimensions> tile(std::int64_t index) const {
    Tile<dimensions> result{};
    for (std::size_t d = dimensions; d-- > 0;) {
      const std::int64_t begin = box_[d].begin + index % counts_[d] * tile_[d];
      const std::int64_t end = begin + tile_[d];
      result[d] = {begin, end < box_[d].end ? end : box_[d].end};
      index /= counts_[d];
    }
    return result;
  }

 private:
  Tile<dimensions> box_;
  std::array<std::int64_t, dimensions> tile_;
  std::array<std::int64_t, dimensions> counts_{};
};

}  // namespace sorrel

#endif
