#include "graph/run/face_copy.hpp"

#include <algorithm>
#include <cstring>

#include "graph/dag/dag.hpp"

namespace sorrel::graph {

namespace {

/// Calls copy(bytes into the field, bytes into the message, bytes) for each row of a part.
template <class Copy>
void for_each_row(const AnyField& field, const KeyBox& part, const KeyBox& face, Copy&& copy) {
  const auto last = static_cast<std::size_t>(field.tiling().dimension_count()) - 1;
  const auto value_bytes = static_cast<Index>(field.value_bytes());
  Key message_strides{};
  Index stride = value_bytes;
  for (std::size_t d = last + 1; d-- > 0;) {
    message_strides[d] = stride;
    stride *= face.hi[d] - face.lo[d];
  }
  KeyBox rows = part;
  rows.hi[last] = std::min(part.hi[last], part.lo[last] + 1);
  const Index row_bytes = (part.hi[last] - part.lo[last]) * value_bytes;
  for_each_key(rows, [&](const Key& first) {
    Index in_field = 0;
    Index in_message = 0;
    for (std::size_t d = 0; d <= last; ++d) {
      in_field += first[d] * field.strides()[d] * value_bytes;
      in_message += (first[d] - face.lo[d]) * message_strides[d];
    }
    copy(in_field, in_message, static_cast<std::size_t>(row_bytes));
  });
}

/// Offset of a cell in bytes from the cell whose indices are 0.
Index offset_of(const AnyField& field, const Key& cell) {
  Index values = 0;
  for (std::size_t d = 0; d < static_cast<std::size_t>(field.tiling().dimension_count()); ++d)
    values += cell[d] * field.strides()[d];
  return values * static_cast<Index>(field.value_bytes());
}

/// Across the last dimension rows are single values: calls of memcpy would be most of the cost.
void copy_row(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes == sizeof(double)) {
    std::memcpy(to, from, sizeof(double));
  } else {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace

Face face_of(const Tiling& tiling, const Key& direction, Index radius) {
  Face face{tiling.block(), tiling.block()};
  for (std::size_t d = 0; d < direction.size(); ++d) {
    if (direction[d] == 0) continue;
    const bool is_low = direction[d] < 0;
    const Index edge = is_low ? face.sent.lo[d] : face.sent.hi[d];
    face.sent.lo[d] = is_low ? edge : edge - radius;
    face.sent.hi[d] = face.sent.lo[d] + radius;
    face.ghosts.lo[d] = is_low ? edge - radius : edge;
    face.ghosts.hi[d] = face.ghosts.lo[d] + radius;
  }
  return face;
}

KeyBox within(const KeyBox& tile, const KeyBox& face) {
  KeyBox part;
  for (std::size_t d = 0; d < part.lo.size(); ++d) {
    part.lo[d] = std::max(tile.lo[d], face.lo[d]);
    part.hi[d] = std::max(part.lo[d], std::min(tile.hi[d], face.hi[d]));
  }
  return part;
}

KeyBox beside(KeyBox tile, const KeyBox& face, const Key& direction) {
  for (std::size_t d = 0; d < direction.size(); ++d) {
    if (direction[d] == 0) continue;
    tile.lo[d] = face.lo[d];
    tile.hi[d] = face.hi[d];
  }
  return tile;
}

Message message_of(const AnyField& field, std::byte* origin, const KeyBox& part) {
  const auto last = static_cast<std::size_t>(field.tiling().dimension_count()) - 1;
  const auto value_bytes = static_cast<Index>(field.value_bytes());
  std::byte* first = origin + offset_of(field, part.lo);
  Message message;
  message.bytes = {first, static_cast<std::size_t>((part.hi[last] - part.lo[last]) * value_bytes)};
  for (std::size_t r = 0; r < std::min(last, message.repeats.size()); ++r) {
    const std::size_t d = last - 1 - r;
    message.repeats[r] = {part.hi[d] - part.lo[d], field.strides()[d] * value_bytes};
  }
  return message;
}

Message message_of_run(const AnyField& field, std::byte* origin, const KeyBox& part) {
  Key last = part.hi;
  for (std::size_t d = 0; d < static_cast<std::size_t>(field.tiling().dimension_count()); ++d)
    --last[d];
  const Index begin = offset_of(field, part.lo);
  const Index end = offset_of(field, last) + static_cast<Index>(field.value_bytes());
  Message message;
  message.bytes = {origin + begin, static_cast<std::size_t>(end - begin)};
  return message;
}

void copy_out(const AnyField& field,
              const std::byte* origin,
              const KeyBox& part,
              const KeyBox& face,
              std::byte* message) {
  for_each_row(field, part, face, [&](Index in_field, Index in_message, std::size_t bytes) {
    copy_row(message + in_message, origin + in_field, bytes);
  });
}

void copy_in(const AnyField& field,
             std::byte* origin,
             const KeyBox& part,
             const KeyBox& face,
             const std::byte* message) {
  for_each_row(field, part, face, [&](Index in_field, Index in_message, std::size_t bytes) {
    copy_row(origin + in_field, message + in_message, bytes);
  });
}

}  // namespace sorrel::graph
