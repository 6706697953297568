#include "mpi/io/layout_runs.hpp"

namespace sorrel::mpi {

namespace {

LayoutSpan moved(const LayoutSpan& span, std::int64_t displacement) {
  return {.first = span.first + displacement,
          .last_run = span.last_run + displacement,
          .end = span.end + displacement};
}

/// `next` follows `previous`.
void compare(LayoutOrder& order, const LayoutSpan& previous, const LayoutSpan& next) {
  if (next.first < previous.last_run) order.is_ascending = false;
  if (next.first < previous.end) order.has_overlap = true;
}

LayoutSpan segment_span(const Layout& layout, std::size_t i) {
  const Segment* segment = layout.segments + i;
  const auto bytes = static_cast<std::int64_t>(segment[1].packed - segment->packed);
  return {.first = segment->displacement,
          .last_run = segment->displacement,
          .end = segment->displacement + bytes};
}

LayoutSpan branch_span(const Layout& layout, std::size_t i) {
  const Branch& branch = layout.branches[i];
  return moved(span_of(*branch.child), branch.displacement);
}

/// Compares the entries of a list.
template <class SpanOf>
void compare_list(LayoutOrder& order, const Layout& layout, SpanOf span_of_entry) {
  for (std::size_t i = 1; i < layout.count; ++i)
    compare(order, span_of_entry(layout, i - 1), span_of_entry(layout, i));
}

void check_inside(LayoutOrder& order, const Layout& layout) {
  switch (layout.kind) {
    case Layout::Kind::block:
      return;
    case Layout::Kind::loop: {
      const LayoutSpan span = span_of(*layout.child);
      if (layout.count > 1) compare(order, span, moved(span, layout.stride));
      return check_inside(order, *layout.child);
    }
    case Layout::Kind::segments:
      return compare_list(order, layout, segment_span);
    case Layout::Kind::branches:
      compare_list(order, layout, branch_span);
      for (std::size_t i = 0; i < layout.count; ++i)
        check_inside(order, *layout.branches[i].child);
  }
}

/// The first of `count` entries whose data does not lie below `offset` entirely.
template <class IsBelow>
std::size_t first_not_below(std::size_t count, IsBelow is_below) {
  std::size_t low = 0;
  while (low < count) {
    const std::size_t middle = low + (count - low) / 2;
    if (is_below(middle)) {
      low = middle + 1;
    } else {
      count = middle;
    }
  }
  return low;
}

std::size_t part_below(std::int64_t first, std::size_t bytes, std::int64_t offset) {
  return offset <= first ? 0 : std::min(bytes, static_cast<std::size_t>(offset - first));
}

}  // namespace

LayoutSpan span_of(const Layout& layout) {
  switch (layout.kind) {
    case Layout::Kind::block:
      break;
    case Layout::Kind::loop: {
      const LayoutSpan span = span_of(*layout.child);
      const LayoutSpan last =
          moved(span, static_cast<std::int64_t>(layout.count - 1) * layout.stride);
      return {.first = span.first, .last_run = last.last_run, .end = last.end};
    }
    case Layout::Kind::segments: {
      const LayoutSpan last = segment_span(layout, layout.count - 1);
      return {.first = layout.segments[0].displacement, .last_run = last.last_run, .end = last.end};
    }
    case Layout::Kind::branches: {
      const LayoutSpan last = branch_span(layout, layout.count - 1);
      return {.first = branch_span(layout, 0).first, .last_run = last.last_run, .end = last.end};
    }
  }
  return {.first = 0, .last_run = 0, .end = static_cast<std::int64_t>(layout.bytes)};
}

LayoutOrder check_order(const Layout& layout, std::int64_t extent) {
  LayoutOrder order;
  check_inside(order, layout);
  const LayoutSpan span = span_of(layout);
  LayoutOrder next;
  compare(next, span, moved(span, extent));
  order.repetitions_decrease = !next.is_ascending;
  order.repetitions_overlap = next.has_overlap;
  return order;
}

std::size_t bytes_below(const Layout& layout, std::int64_t place, std::int64_t offset) {
  switch (layout.kind) {
    case Layout::Kind::block:
      return part_below(place, layout.bytes, offset);
    case Layout::Kind::loop: {
      const std::int64_t end = place + span_of(*layout.child).end;
      const auto turn = [&](std::size_t i) { return static_cast<std::int64_t>(i) * layout.stride; };
      const std::size_t i =
          first_not_below(layout.count, [&](std::size_t k) { return end + turn(k) <= offset; });
      const std::size_t whole = i * layout.child->bytes;
      return i == layout.count ? whole
                               : whole + bytes_below(*layout.child, place + turn(i), offset);
    }
    case Layout::Kind::segments: {
      const std::size_t i = first_not_below(layout.count, [&](std::size_t k) {
        return place + segment_span(layout, k).end <= offset;
      });
      if (i == layout.count) return layout.bytes;
      const Segment* segment = layout.segments + i;
      return segment->packed +
             part_below(place + segment->displacement, segment[1].packed - segment->packed, offset);
    }
    case Layout::Kind::branches: {
      const std::size_t i = first_not_below(layout.count, [&](std::size_t k) {
        return place + branch_span(layout, k).end <= offset;
      });
      if (i == layout.count) return layout.bytes;
      const Branch& branch = layout.branches[i];
      return branch.packed + bytes_below(*branch.child, place + branch.displacement, offset);
    }
  }
  return 0;
}

}  // namespace sorrel::mpi
