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

template <class Way>
void move_whole(const Layout& node, typename Way::Typed typed, typename Way::Packed packed);

template <class Way, std::size_t Size>
void move_strided(typename Way::Typed typed,
                  typename Way::Packed packed,
                  std::size_t count,
                  std::int64_t stride) {
  for (std::size_t i = 0; i < count; ++i) {
    Way::template move_fixed<Size>(typed, packed);
    typed += stride;
    packed += Size;
  }
}

/// `count` whole children. The common block sizes have loops of their own, in which a move is one
/// instruction.
template <class Way>
void move_turns(const Layout& child,
                typename Way::Typed typed,
                typename Way::Packed packed,
                std::size_t count,
                std::int64_t stride) {
  if (child.kind == Layout::Kind::block) {
    switch (child.bytes) {
      case 4:
        return move_strided<Way, 4>(typed, packed, count, stride);
      case 8:
        return move_strided<Way, 8>(typed, packed, count, stride);
      case 16:
        return move_strided<Way, 16>(typed, packed, count, stride);
      case 24:
        return move_strided<Way, 24>(typed, packed, count, stride);
      case 32:
        return move_strided<Way, 32>(typed, packed, count, stride);
      default:
        break;
    }
    for (std::size_t i = 0; i < count; ++i) {
      Way::move(typed, packed, child.bytes);
      typed += stride;
      packed += child.bytes;
    }
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    move_whole<Way>(child, typed, packed);
    typed += stride;
    packed += child.bytes;
  }
}

template <class Way, std::size_t Size>
void move_uniform(const Segment* segments,
                  std::size_t count,
                  typename Way::Typed typed,
                  typename Way::Packed packed) {
  for (std::size_t i = 0; i < count; ++i) {
    Way::template move_fixed<Size>(typed + segments[i].displacement, packed);
    packed += Size;
  }
}

/// Segments [first, last), whole; `packed` belongs to the first of them.
template <class Way>
void move_segments(const Layout& node,
                   std::size_t first,
                   std::size_t last,
                   typename Way::Typed typed,
                   typename Way::Packed packed) {
  const Segment* segments = node.segments + first;
  const std::size_t count = last - first;
  switch (node.uniform_bytes) {
    case 4:
      return move_uniform<Way, 4>(segments, count, typed, packed);
    case 8:
      return move_uniform<Way, 8>(segments, count, typed, packed);
    case 16:
      return move_uniform<Way, 16>(segments, count, typed, packed);
    default:
      break;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = segments[i + 1].packed - segments[i].packed;
    Way::move(typed + segments[i].displacement, packed, size);
    packed += size;
  }
}

template <class Way>
void move_whole(const Layout& node, typename Way::Typed typed, typename Way::Packed packed) {
  switch (node.kind) {
    case Layout::Kind::block:
      return Way::move(typed, packed, node.bytes);
    case Layout::Kind::loop:
      return move_turns<Way>(*node.child, typed, packed, node.count, node.stride);
    case Layout::Kind::segments:
      return move_segments<Way>(node, 0, node.count, typed, packed);
    case Layout::Kind::branches:
      for (std::size_t i = 0; i < node.count; ++i) {
        const Branch& branch = node.branches[i];
        move_whole<Way>(*branch.child, typed + branch.displacement, packed + branch.packed);
      }
  }
}

template <class Way>
void move_range(const Layout& node,
                typename Way::Typed typed,
                typename Way::Packed packed,
                std::size_t from,
                std::size_t to);

/// The bytes [from, to) of a loop: the end of one iteration, whole iterations, the beginning of
/// one.
template <class Way>
void move_strip(const Strip& strip, typename Way::Typed typed, typename Way::Packed packed) {
  const std::size_t turn_bytes = strip.layout.bytes;
  std::size_t from = strip.from;
  std::size_t turn = from / turn_bytes;
  const auto place = [&](std::size_t index) {
    return typed + static_cast<std::int64_t>(index) * strip.stride;
  };
  if (const std::size_t done = from % turn_bytes; done != 0) {
    const std::size_t end = std::min(turn_bytes, done + (strip.to - from));
    move_range<Way>(strip.layout, place(turn), packed, done, end);
    packed += end - done;
    from += end - done;
    ++turn;
  }
  const std::size_t whole = (strip.to - from) / turn_bytes;
  if (whole != 0) {
    move_turns<Way>(strip.layout, place(turn), packed, whole, strip.stride);
    packed += whole * turn_bytes;
    from += whole * turn_bytes;
  }
  if (from < strip.to)
    move_range<Way>(strip.layout, place(turn + whole), packed, 0, strip.to - from);
}

/// The index of the entry that holds packed byte `offset`.
template <class Entry>
std::size_t entry_at(const Entry* entries, std::size_t count, std::size_t offset) {
  const Entry* after =
      std::upper_bound(entries, entries + count, offset,
                       [](std::size_t value, const Entry& entry) { return value < entry.packed; });
  return static_cast<std::size_t>(after - entries) - 1;
}

template <class Way>
void move_segments_range(const Layout& node,
                         typename Way::Typed typed,
                         typename Way::Packed packed,
                         std::size_t from,
                         std::size_t to) {
  std::size_t index = entry_at(node.segments, node.count, from);
  if (const std::size_t done = from - node.segments[index].packed; done != 0) {
    const std::size_t size = std::min(to, node.segments[index + 1].packed) - from;
    Way::move(typed + node.segments[index].displacement + done, packed, size);
    packed += size;
    from += size;
    ++index;
  }
  if (from == to) return;
  // `last` holds byte `to`, or is the end; everything before it is whole.
  const std::size_t last = to == node.bytes ? node.count : entry_at(node.segments, node.count, to);
  if (index < last) {
    move_segments<Way>(node, index, last, typed, packed);
    packed += node.segments[last].packed - from;
    from = node.segments[last].packed;
  }
  if (from < to) Way::move(typed + node.segments[last].displacement, packed, to - from);
}

template <class Way>
void move_branches_range(const Layout& node,
                         typename Way::Typed typed,
                         typename Way::Packed packed,
                         std::size_t from,
                         std::size_t to) {
  for (std::size_t i = entry_at(node.branches, node.count, from); from < to; ++i) {
    const Branch& branch = node.branches[i];
    const std::size_t end = std::min(to - branch.packed, branch.child->bytes);
    const std::size_t size = branch.packed + end - from;
    move_range<Way>(*branch.child, typed + branch.displacement, packed, from - branch.packed, end);
    packed += size;
    from += size;
  }
}

template <class Way>
void move_range(const Layout& node,
                typename Way::Typed typed,
                typename Way::Packed packed,
                std::size_t from,
                std::size_t to) {
  if (from == 0 && to == node.bytes) return move_whole<Way>(node, typed, packed);
  switch (node.kind) {
    case Layout::Kind::block:
      return Way::move(typed + from, packed, to - from);
    case Layout::Kind::loop:
      return move_strip<Way>({*node.child, node.stride, from, to}, typed, packed);
    case Layout::Kind::segments:
      return move_segments_range<Way>(node, typed, packed, from, to);
    case Layout::Kind::branches:
      return move_branches_range<Way>(node, typed, packed, from, to);
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
