//! Runs - the memory layout of a box of cells: contiguous runs, and loops over them.
//!
//! Pure. The runs are in the problem's memory order, whatever the strides of the view are: a sender
//! and a receiver with different views agree. pack() and unpack() copy between the box and a buffer
//! without gaps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <sorrel/grid/array_view.hpp>
#include <sorrel/grid/plan.hpp>

namespace sorrel::grid {

struct Runs {
  struct Loop {
    std::int64_t count = 1;
    std::int64_t stride_bytes = 0;
  };

  std::byte* first = nullptr;
  std::int64_t run_bytes = 0;
  /// The innermost loop comes first.
  std::array<Loop, 3> loops{};

  [[nodiscard]] std::int64_t bytes() const { return run_bytes * count(); }

  [[nodiscard]] std::int64_t count() const {
    return loops[0].count * loops[1].count * loops[2].count;
  }

  [[nodiscard]] bool is_one() const { return count() == 1; }
};

[[nodiscard]] Runs runs_of(const ArrayView& view, const Box<3>& box, MemoryOrder order);

/// Copies to `buffer`, or from it; `how` is rows or blocked. Returns the bytes copied.
std::int64_t pack(const Runs& runs, Pack how, std::byte* buffer);
std::int64_t unpack(const Runs& runs, Pack how, const std::byte* buffer);

}  // namespace sorrel::grid
