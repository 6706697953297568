#include "mpi/datatype/transfer.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/copy_bytes.hpp"

namespace sorrel::mpi {

namespace {

/// Lists of at most so many segments are moved segment by segment, each in many turns: the fields
/// of structures.
constexpr std::size_t fields_max = 8;
/// As many turns as leave both sides in the first cache.
constexpr std::size_t turns_at_once = 64;

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

/// Calls move(std::integral_constant<std::size_t, length>) for the common lengths of blocks, so
/// that a move is one instruction or two; returns whether `length` is one of them.
template <class Move>
bool with_known_length(std::size_t length, Move move) {
  const auto try_all = [&]<std::size_t... Known>(std::index_sequence<Known...>) {
    return ((length == Known && (move(std::integral_constant<std::size_t, Known>()), true)) || ...);
  };
  return try_all(std::index_sequence<1, 2, 3, 4, 6, 8, 12, 16, 24, 32>());
}

/// Two blocks of 8 bytes go to the packed stream in one store: moving them one by one takes as many
/// stores as loads, of which a processor makes fewer at once.
std::size_t gather_pairs(const std::byte* typed,
                         std::byte* packed,
                         std::size_t count,
                         std::int64_t stride) {
  using Pair [[gnu::vector_size(16)]] = std::int64_t;
  const auto block = [&typed, stride](std::int64_t index) {
    std::int64_t value = 0;
    std::memcpy(&value, typed + index * stride, sizeof value);
    return value;
  };
  std::size_t i = 0;
  for (; i + 2 <= count; i += 2, typed += 2 * stride, packed += sizeof(Pair)) {
    const Pair pair = {block(0), block(1)};
    std::memcpy(packed, &pair, sizeof pair);
  }
  return i;
}

/// `count` blocks of `length` bytes, `stride` apart in the typed buffer and `packed_stride` in the
/// packed stream.
template <class Direction>
void move_blocks(std::size_t length,
                 typename Direction::Typed typed,
                 typename Direction::Packed packed,
                 std::size_t count,
                 std::int64_t stride,
                 std::size_t packed_stride) {
  const bool is_done = with_known_length(length, [&](auto known) {
    // The compiler makes vectors of blocks that follow each other.
    if (packed_stride == known) {
      std::size_t done = 0;
      if constexpr (known == 8 && std::is_same_v<Direction, Gather>) {
        done = gather_pairs(typed, packed, count, stride);
        typed += static_cast<std::int64_t>(done) * stride;
        packed += done * known;
      }
      for (std::size_t i = done; i < count; ++i, typed += stride, packed += known)
        Direction::template move_fixed<known>(typed, packed);
    } else {
      for (std::size_t i = 0; i < count; ++i, typed += stride, packed += packed_stride)
        Direction::template move_fixed<known>(typed, packed);
    }
  });
  for (std::size_t i = 0; i < count && !is_done; ++i) {
    Direction::move(typed, packed, length);
    typed += stride;
    packed += packed_stride;
  }
}

/// Whether lists of segments are to be moved field by field: short ones that do not overlap. Bytes
/// that lie in two lists are to be written in the order of the packed stream.
bool are_fields(const Layout& child, std::int64_t stride) {
  if (child.kind != Layout::Kind::segments || child.count > fields_max) return false;
  std::int64_t begin = child.segments[0].displacement;
  std::int64_t end = begin;
  for (std::size_t i = 0; i < child.count; ++i) {
    const Segment& field = child.segments[i];
    begin = std::min(begin, field.displacement);
    end = std::max(end, field.displacement +
                            static_cast<std::int64_t>(child.segments[i + 1].packed - field.packed));
  }
  return end - begin <= std::abs(stride);
}

/// `count` whole lists of segments.
template <class Direction>
void move_fields(const Layout& list,
                 typename Direction::Typed typed,
                 typename Direction::Packed packed,
                 std::size_t count,
                 std::int64_t stride) {
  for (std::size_t done = 0; done < count; done += turns_at_once) {
    const std::size_t turns = std::min(turns_at_once, count - done);
    for (std::size_t i = 0; i < list.count; ++i) {
      const Segment& field = list.segments[i];
      move_blocks<Direction>(list.segments[i + 1].packed - field.packed, typed + field.displacement,
                             packed + field.packed, turns, stride, list.bytes);
    }
    typed += static_cast<std::int64_t>(turns) * stride;
    packed += turns * list.bytes;
  }
}

/// `count` whole children.
template <class Direction>
void move_turns(const Layout& child,
                typename Direction::Typed typed,
                typename Direction::Packed packed,
                std::size_t count,
                std::int64_t stride) {
  if (child.kind == Layout::Kind::block)
    return move_blocks<Direction>(child.bytes, typed, packed, count, stride, child.bytes);
  if (count > 1 && are_fields(child, stride))
    return move_fields<Direction>(child, typed, packed, count, stride);
  for (std::size_t i = 0; i < count; ++i) {
    move_whole<Direction>(child, typed, packed);
    typed += stride;
    packed += child.bytes;
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
  const bool is_done = with_known_length(node.uniform_bytes, [&](auto known) {
    for (std::size_t i = 0; i < count; ++i) {
      Direction::template move_fixed<known>(typed + segments[i].displacement, packed);
      packed += known;
    }
  });
  for (std::size_t i = 0; i < count && !is_done; ++i) {
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
