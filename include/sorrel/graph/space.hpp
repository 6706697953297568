//! Space - the keys of a family of tasks: a box of one to four dimensions that begins at 0.
//!
//! Keys are numbered with the last dimension fastest. Plain data, any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <sorrel/box.hpp>

namespace sorrel::graph {

/// A coordinate, a number of tasks, or a step.
using Index = std::int64_t;

/// Most dimensions of a family or a grid.
inline constexpr int dimension_count_max = 4;

/// Coordinates of a task within its family; dimensions that the family does not have are 0.
using Key = std::array<Index, dimension_count_max>;

/// The keys of a family: a box of up to four dimensions.
class Space {
 public:
  /// A space by its extents.
  ///
  /// @param extents the number of keys in each of one to four dimensions, each at least 0
  constexpr Space(std::initializer_list<Index> extents)  // NOLINT: meant to convert
      : dimension_count_(static_cast<int>(extents.size())) {
    std::size_t d = 0;
    for (const Index extent : extents)
      if (d < extents_.size()) extents_[d++] = extent;
  }

  /// A space by its extents and their number.
  ///
  /// @param extents the number of keys in each dimension; 1 beyond the dimensions
  /// @param dimension_count 1 to 4
  constexpr Space(const Key& extents, int dimension_count)
      : dimension_count_(dimension_count), extents_(extents) {}

  /// @return 1 to 4
  [[nodiscard]] constexpr int dimension_count() const { return dimension_count_; }

  /// @return the extents; 1 in dimensions it does not have
  [[nodiscard]] constexpr const Key& extents() const { return extents_; }

  /// @return all keys; dimensions that the space does not have are from 0 to 1
  [[nodiscard]] constexpr Box<dimension_count_max> box() const { return {{}, extents_}; }

  /// @return the number of keys
  [[nodiscard]] constexpr Index count() const { return box().count(); }

  /// @param key one of the space
  /// @return its number, with the last dimension fastest
  [[nodiscard]] constexpr Index index_of(const Key& key) const {
    Index index = key[0];
    for (std::size_t d = 1; d < key.size(); ++d)
      index = index * extents_[d] + key[d];
    return index;
  }

  /// @param index 0 <= index < count()
  /// @return the key with that number
  [[nodiscard]] constexpr Key key_at(Index index) const { return box().key_at(index); }

 private:
  int dimension_count_;
  Key extents_{1, 1, 1, 1};
};

}  // namespace sorrel::graph
