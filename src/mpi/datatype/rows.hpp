//! Rows - the bytes of a typed buffer as few rectangles: rows of equal length that are equally far
//! apart, for copies by a device that moves a rectangle at once. Pure; any thread; recursion is as
//! deep as the layout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

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

/// Calls visit(rows) for the first `bytes` bytes of the packed stream of `count` elements, in
/// order.
template <class Visit>
void for_each_rows(const Datatype& type, std::size_t count, std::size_t bytes, Visit&& visit) {
  if (type.layout() == nullptr || count == 0) return;
  auto visit_within = [&](TypedRows rows) {
    if (rows.packed >= bytes) return;
    const std::size_t left = bytes - rows.packed;
    const std::size_t whole = std::min(rows.count, left / rows.bytes);
    const std::size_t rest = whole < rows.count ? left % rows.bytes : 0;
    TypedRows part = rows;
    part.count = whole;
    if (whole != 0) visit(part);
    part.displacement += static_cast<std::int64_t>(whole) * rows.stride;
    part.packed += whole * rows.bytes;
    part.bytes = rest;
    part.count = 1;
    if (rest != 0) visit(part);
  };
  const TypedRows first{
      .displacement = type.offset(), .packed = 0, .bytes = 0, .count = 0, .stride = 0};
  for_each_rows_of(*type.layout(), first, count, type.extent(), visit_within);
}

}  // namespace sorrel::mpi
