//! Runs of a Layout in a file: the contiguous pieces of its data, in the order of the packed
//! stream.
//!
//! For the layouts of file types, whose displacements do not decrease (check_order()). Pure, any
//! thread; recursion is as deep as the layout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mpi/datatype/layout.hpp"

namespace sorrel::mpi {

struct LayoutOrder {
  /// No displacement is below one before it in the packed stream.
  bool is_ascending = true;
  bool has_overlap = false;
  /// A repetition begins below the last run of the one before it, or below its end.
  bool repetitions_decrease = false;
  bool repetitions_overlap = false;
};

/// Displacements of the first byte, of the last run, and one behind the last byte.
struct LayoutSpan {
  std::int64_t first = 0;
  std::int64_t last_run = 0;
  std::int64_t end = 0;
};

[[nodiscard]] LayoutSpan span_of(const Layout& layout);

/// Whether the layout, repeated `extent` bytes apart, can be that of a file type.
[[nodiscard]] LayoutOrder check_order(const Layout& layout, std::int64_t extent);

/// How many bytes of the layout, placed at `place`, lie below `offset`. Without overlaps.
[[nodiscard]] std::size_t bytes_below(const Layout& layout,
                                      std::int64_t place,
                                      std::int64_t offset);

/// The index of the entry that holds packed byte `position`.
template <class Entry>
[[nodiscard]] std::size_t entry_of(const Entry* entries, std::size_t count, std::size_t position) {
  const Entry* after =
      std::upper_bound(entries, entries + count, position,
                       [](std::size_t value, const Entry& entry) { return value < entry.packed; });
  return static_cast<std::size_t>(after - entries) - 1;
}

/// Calls visit(offset, bytes) for the runs that hold the packed bytes [from, to) of a layout at
/// `place`, until it returns false; returns whether all have been visited. Neighbouring runs may
/// continue each other.
template <class Visit>
bool visit_runs(
    const Layout& layout, std::int64_t place, std::size_t from, std::size_t to, Visit&& visit) {
  if (from >= to) return true;
  switch (layout.kind) {
    case Layout::Kind::block:
      return visit(place + static_cast<std::int64_t>(from), to - from);
    case Layout::Kind::loop: {
      const std::size_t each = layout.child->bytes;
      for (std::size_t i = from / each; i * each < to; ++i) {
        const std::size_t begin = i * each;
        if (!visit_runs(*layout.child, place + static_cast<std::int64_t>(i) * layout.stride,
                        std::max(from, begin) - begin, std::min(to, begin + each) - begin, visit))
          return false;
      }
      return true;
    }
    case Layout::Kind::segments:
      for (std::size_t i = entry_of(layout.segments, layout.count, from);
           i < layout.count && layout.segments[i].packed < to; ++i) {
        const Segment& segment = layout.segments[i];
        const std::size_t begin = std::max(from, segment.packed);
        const std::size_t end = std::min(to, layout.segments[i + 1].packed);
        if (!visit(place + segment.displacement + static_cast<std::int64_t>(begin - segment.packed),
                   end - begin))
          return false;
      }
      return true;
    case Layout::Kind::branches:
      for (std::size_t i = entry_of(layout.branches, layout.count, from);
           i < layout.count && layout.branches[i].packed < to; ++i) {
        const Branch& branch = layout.branches[i];
        if (!visit_runs(*branch.child, place + branch.displacement,
                        std::max(from, branch.packed) - branch.packed,
                        std::min(to - branch.packed, branch.child->bytes), visit))
          return false;
      }
      return true;
  }
  return true;
}

}  // namespace sorrel::mpi
