//! Rows - the bytes of a typed buffer as few rectangles: rows of equal length that are equally far
//! apart, for copies by a device that moves a rectangle at once. Pure; any thread; recursion is as
//! deep as the layout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mpi/datatype/copy.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/layout.hpp"

namespace sorrel::mpi {

/// `count` rows of `bytes` each, `stride` apart in the typed buffer and adjacent in the packed
/// stream.
struct TypedRows {
  std::int64_t displacement;  ///< of the first, from the address of the buffer
  std::size_t packed;         ///< its offset in the packed stream
  std::size_t bytes;
  std::size_t count;
  std::int64_t stride;
};

/// Calls visit(rows) for `count` layouts of which the first is at `at`.
template <class Visit>
void for_each_rows_of(
    const Layout& node, TypedRows at, std::size_t count, std::int64_t stride, Visit& visit) {
  if (node.kind == Layout::Kind::block) {
    at.bytes = node.bytes;
    const bool is_run = stride == static_cast<std::int64_t>(node.bytes);
    if (is_run) at.bytes *= count;
    at.count = is_run ? 1 : count;
    at.stride = stride;
    return visit(at);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (node.kind == Layout::Kind::loop)
      for_each_rows_of(*node.child, at, node.count, node.stride, visit);
    for (std::size_t k = 0; node.kind == Layout::Kind::segments && k < node.count; ++k) {
      const Segment& segment = node.segments[k];
      visit(TypedRows{.displacement = at.displacement + segment.displacement,
                      .packed = at.packed + segment.packed,
                      .bytes = node.segments[k + 1].packed - segment.packed,
                      .count = 1,
                      .stride = 0});
    }
    for (std::size_t k = 0; node.kind == Layout::Kind::branches && k < node.count; ++k) {
      TypedRows child = at;
      child.displacement += node.branches[k].displacement;
      child.packed += node.branches[k].packed;
      for_each_rows_of(*node.branches[k].child, child, 1, 0, visit);
    }
    at.displacement += stride;
    at.packed += node.bytes;
  }
}

/// Calls visit(part) for what `rows` have of a part of the packed stream.
template <class Visit>
void visit_rows_in(const TypedRows& rows, PackedRange range, Visit& visit) {
  const std::size_t begin = std::max(range.from, rows.packed);
  const std::size_t end = std::min(range.to, rows.packed + rows.bytes * rows.count);
  if (begin >= end) return;
  std::size_t row = (begin - rows.packed) / rows.bytes;
  std::size_t left = end - begin;
  const auto visit_part = [&](std::size_t skipped, std::size_t bytes, std::size_t count) {
    visit(TypedRows{.displacement = rows.displacement +
                                    static_cast<std::int64_t>(row) * rows.stride +
                                    static_cast<std::int64_t>(skipped),
                    .packed = rows.packed + row * rows.bytes + skipped,
                    .bytes = bytes,
                    .count = count,
                    .stride = rows.stride});
    row += count;
    left -= bytes * count;
  };
  const std::size_t skipped = (begin - rows.packed) % rows.bytes;
  if (skipped != 0) visit_part(skipped, std::min(rows.bytes - skipped, left), 1);
  if (left >= rows.bytes) visit_part(0, rows.bytes, left / rows.bytes);
  if (left != 0) visit_part(0, left, 1);
}

/// Calls visit(rows) for the bytes [from, to) of the packed stream of `count` elements, in order.
template <class Visit>
void for_each_rows_in(const Datatype& type, std::size_t count, PackedRange range, Visit&& visit) {
  if (type.layout() == nullptr || count == 0) return;
  auto visit_within = [&](const TypedRows& rows) { visit_rows_in(rows, range, visit); };
  const TypedRows first{
      .displacement = type.offset(), .packed = 0, .bytes = 0, .count = 0, .stride = 0};
  for_each_rows_of(*type.layout(), first, count, type.extent(), visit_within);
}

/// The first `bytes` bytes.
template <class Visit>
void for_each_rows(const Datatype& type, std::size_t count, std::size_t bytes, Visit&& visit) {
  for_each_rows_in(type, count, {.from = 0, .to = bytes}, visit);
}

}  // namespace sorrel::mpi
