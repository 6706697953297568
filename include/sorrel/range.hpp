/// @file
/// Blocked: a box cut into tiles, for sorrel::parallel_for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <sorrel/box.hpp>

namespace sorrel {

/// A box cut into tiles of at most `tile` points in each dimension, each a Box; tiles are numbered
/// with the last dimension fastest. Plain data.
template <std::size_t dimensions>
class Blocked {
 public:
  /// @param box the points
  /// @param tile the size of a tile in each dimension; 0: the whole extent
  constexpr Blocked(const Box<dimensions>& box, const std::array<std::int64_t, dimensions>& tile)
      : box_(box), tile_(tile) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      const std::int64_t extent = box_.extent(d);
      if (tile_[d] <= 0 || tile_[d] > extent) tile_[d] = extent > 0 ? extent : 1;
      numbers_.hi[d] = (extent + tile_[d] - 1) / tile_[d];
    }
  }

  /// @return the number of tiles
  constexpr std::int64_t count() const { return numbers_.count(); }

  /// @param index 0 <= index < count()
  /// @return that tile
  constexpr Box<dimensions> tile(std::int64_t index) const {
    const std::array<std::int64_t, dimensions> number = numbers_.key_at(index);
    Box<dimensions> result{};
    for (std::size_t d = 0; d < dimensions; ++d) {
      result.lo[d] = box_.lo[d] + number[d] * tile_[d];
      const std::int64_t end = result.lo[d] + tile_[d];
      result.hi[d] = end < box_.hi[d] ? end : box_.hi[d];
    }
    return result;
  }

 private:
  Box<dimensions> box_;
  std::array<std::int64_t, dimensions> tile_;
  /// The number of a tile in each dimension.
  Box<dimensions> numbers_{};
};

}  // namespace sorrel
