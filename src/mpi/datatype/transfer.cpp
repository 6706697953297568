#include "mpi/datatype/transfer.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/datatype/bytes.hpp"

namespace sorrel::mpi {

namespace {

/// The two directions differ in which side is written.
struct Gather {
  using Typed = const std::byte*;
  using Packed = std::byte*;

  static void move(Typed typed, Packed packed, std::size_t size) {
    copy_bytes(packed, typed, size);
  }

  template <std::size_t Size>
  static void move_fixed(Typed typed, Packed packed) {
    std::memcpy(packed, typed, Size);
  }
};

struct Scatter {
  using Typed = std::byte*;
  using Packed = const std::byte*;

  static void move(Typed typed, Packed packed, std::size_t size) {
    copy_bytes(typed, packed, size);
  }

  template <std::size_t Size>
  static void move_fixed(Typed typed, Packed packed) {
    std::memcpy(typed, packed, Size);
  }
};

template <class Direction>
void move_whole(const Layout& node,
                typename Direction::Typed typed,
                typename Direction::Packed packed);

template <class Direction, std::size_t Size>
void move_strided(typename Direction::Typed typed,
                  typename Direction::Packed packed,
                  std::size_t count,
                  std::int64_t stride) {
  for (std::size_t i = 0; i < count; ++i) {
    Direction::template move_fixed<Size>(typed, packed);
    typed += stride;
    packed += Size;
  }
}

/// `count` whole children. The common block sizes have loops of their own, in which a move is one
/// instruction.
template <class Direction>
void move_turns(const Layout& child,
                typename Direction::Typed typed,
                typename Direction::Packed packed,
                std::size_t count,
                std::int64_t stride) {
  if (child.kind == Layout::Kind::block) {
    switch (child.bytes) {
      case 4:
        return move_strided<Direction, 4>(typed, packed, count, stride);
      case 8:
        return move_strided<Direction, 8>(typed, packed, count, stride);
      case 16:
        return move_strided<Direction, 16>(typed, packed, count, stride);
      case 24:
        return move_strided<Direction, 24>(typed, packed, count, stride);
      case 32:
        return move_strided<Direction, 32>(typed, packed, count, stride);
      default:
        break;
    }
    for (std::size_t i = 0; i < count; ++i) {
      Direction::move(typed, packed, child.bytes);
      typed += stride;
      packed += child.bytes;
    }
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    move_whole<Direction>(child, typed, packed);
    typed += stride;
    packed += child.bytes;
  }
}

template <class Direction, std::size_t Size>
void move_uniform(const Segment* segments,
                  std::size_t count,
                  typename Direction::Typed typed,
                  typename Direction::Packed packed) {
  for (std::size_t i = 0; i < count; ++i) {
    Direction::template move_fixed<Size>(typed + segments[i].displacement, packed);
    packed += Size;
  }
}

/// Segments [first, last), whole; `packed` belongs to the first of them.
template <class Direction>
void move_segments(const Layout& node,
                   std::size_t first,
                   std::size_t last,
                   typename Direction::Typed typed,
                   typename Direction::Packed packed) {
  const Segment* segments = node.segments + first;
  const std::size_t count = last - first;
  switch (node.uniform_bytes) {
    case 4:
      return move_uniform<Direction, 4>(segments, count, typed, packed);
    case 8:
      return move_uniform<Direction, 8>(segments, count, typed, packed);
    case 16:
      return move_uniform<Direction, 16>(segments, count, typed, packed);
    default:
      break;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = segments[i + 1].packed - segments[i].packed;
    Direction::move(typed + segments[i].displacement, packed, size);
    packed += size;
  }
}

template <class Direction>
void move_whole(const Layout& node,
                typename Direction::Typed typed,
                typename Direction::Packed packed) {
  switch (node.kind) {
    case Layout::Kind::block:
      return Direction::move(typed, packed, node.bytes);
    case Layout::Kind::loop:
      return move_turns<Direction>(*node.child, typed, packed, node.count, node.stride);
    case Layout::Kind::segments:
      return move_segments<Direction>(node, 0, node.count, typed, packed);
    case Layout::Kind::branches:
      for (std::size_t i = 0; i < node.count; ++i) {
        const Branch& branch = node.branches[i];
        move_whole<Direction>(*branch.child, typed + branch.displacement, packed + branch.packed);
      }
  }
}

template <class Direction>
void move_range(const Layout& node,
                typename Direction::Typed typed,
                typename Direction::Packed packed,
                std::size_t from,
                std::size_t to);

/// The bytes [from, to) of a loop: the end of one iteration, whole iterations, the beginning of
/// one.
template <class Direction>
void move_strip(const Strip& strip,
                typename Direction::Typed typed,
                typename Direction::Packed packed) {
  const std::size_t turn_bytes = strip.layout.bytes;
  SORREL_ASSERT(strip.from < strip.to && turn_bytes != 0);
  std::size_t from = strip.from;
  std::size_t turn = from / turn_bytes;
  const auto place = [&](std::size_t index) {
    return typed + static_cast<std::int64_t>(index) * strip.stride;
  };
  if (const std::size_t done = from % turn_bytes; done != 0) {
    const std::size_t end = std::min(turn_bytes, done + (strip.to - from));
    move_range<Direction>(strip.layout, place(turn), packed, done, end);
    packed += end - done;
    from += end - done;
    ++turn;
  }
  const std::size_t whole = (strip.to - from) / turn_bytes;
  if (whole != 0) {
    move_turns<Direction>(strip.layout, place(turn), packed, whole, strip.stride);
    packed += whole * turn_bytes;
    from += whole * turn_bytes;
  }
  if (from < strip.to)
    move_range<Direction>(strip.layout, place(turn + whole), packed, 0, strip.to - from);
}

/// The index of the entry that holds packed byte `offset`.
template <class Entry>
std::size_t entry_at(const Entry* entries, std::size_t count, std::size_t offset) {
  const Entry* after =
      std::upper_bound(entries, entries + count, offset,
                       [](std::size_t value, const Entry& entry) { return value < entry.packed; });
  SORREL_ASSERT(after != entries, "the first entry does not begin at packed byte 0");
  return static_cast<std::size_t>(after - entries) - 1;
}

template <class Direction>
void move_segments_range(const Layout& node,
                         typename Direction::Typed typed,
                         typename Direction::Packed packed,
                         std::size_t from,
                         std::size_t to) {
  std::size_t index = entry_at(node.segments, node.count, from);
  if (const std::size_t done = from - node.segments[index].packed; done != 0) {
    const std::size_t size = std::min(to, node.segments[index + 1].packed) - from;
    Direction::move(typed + node.segments[index].displacement + done, packed, size);
    packed += size;
    from += size;
    ++index;
  }
  if (from == to) return;
  // `last` holds byte `to`, or is the end; everything before it is whole.
  const std::size_t last = to == node.bytes ? node.count : entry_at(node.segments, node.count, to);
  if (index < last) {
    move_segments<Direction>(node, index, last, typed, packed);
    packed += node.segments[last].packed - from;
    from = node.segments[last].packed;
  }
  if (from < to) Direction::move(typed + node.segments[last].displacement, packed, to - from);
}

template <class Direction>
void move_branches_range(const Layout& node,
                         typename Direction::Typed typed,
                         typename Direction::Packed packed,
                         std::size_t from,
                         std::size_t to) {
  for (std::size_t i = entry_at(node.branches, node.count, from); from < to; ++i) {
    const Branch& branch = node.branches[i];
    const std::size_t end = std::min(to - branch.packed, branch.child->bytes);
    const std::size_t size = branch.packed + end - from;
    move_range<Direction>(*branch.child, typed + branch.displacement, packed, from - branch.packed,
                          end);
    packed += size;
    from += size;
  }
}

template <class Direction>
void move_range(const Layout& node,
                typename Direction::Typed typed,
                typename Direction::Packed packed,
                std::size_t from,
                std::size_t to) {
  SORREL_ASSERT(from < to && to <= node.bytes);
  if (from == 0 && to == node.bytes) return move_whole<Direction>(node, typed, packed);
  switch (node.kind) {
    case Layout::Kind::block:
      return Direction::move(typed + from, packed, to - from);
    case Layout::Kind::loop:
      return move_strip<Direction>({*node.child, node.stride, from, to}, typed, packed);
    case Layout::Kind::segments:
      return move_segments_range<Direction>(node, typed, packed, from, to);
    case Layout::Kind::branches:
      return move_branches_range<Direction>(node, typed, packed, from, to);
  }
}

}  // namespace

void gather(const Strip& strip, const void* typed, void* packed) {
  move_strip<Gather>(strip, static_cast<const std::byte*>(typed), static_cast<std::byte*>(packed));
}

void scatter(const Strip& strip, const void* packed, void* typed) {
  move_strip<Scatter>(strip, static_cast<std::byte*>(typed), static_cast<const std::byte*>(packed));
}

}  // namespace sorrel::mpi
