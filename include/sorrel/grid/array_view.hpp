//! ArrayView - an array of up to three dimensions in memory.
//!
//! Plain data; owns nothing. Strides are in bytes and arbitrary: a view of a slice, of one
//! component among several, or of a transposed array.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sorrel/grid/problem.hpp>

namespace sorrel::grid {

/// An array of up to three dimensions in memory; owns nothing.
struct ArrayView {
  /// Address of the cell with all indices 0; with ghosts, of the first ghost.
  std::byte* first = nullptr;
  Extents extents{1, 1, 1};  ///< number of cells in each dimension, ghosts included
  Extents strides{};         ///< distance in bytes from a cell to the next one in each dimension
  std::int64_t element_bytes = 8;  ///< size of a cell

  /// @param index of a cell, from 0 in each dimension, ghosts included
  /// @return its address
  [[nodiscard]] std::byte* at(const Extents& index) const {
    return first + index[0] * strides[0] + index[1] * strides[1] + index[2] * strides[2];
  }
};

/// A view of a contiguous array.
///
/// @param data the first cell, or with ghosts the first ghost
/// @param extents the number of cells in each dimension, ghosts included
/// @param element_bytes the size of a cell
/// @param order which dimension is contiguous
/// @return the view; it owns nothing
[[nodiscard]] ArrayView dense_view(void* data,
                                   const Extents& extents,
                                   std::int64_t element_bytes,
                                   MemoryOrder order);

}  // namespace sorrel::grid
