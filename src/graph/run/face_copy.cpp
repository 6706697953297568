#include "graph/run/face_copy.hpp"

#include <algorithm>

#include "base/copy_rows.hpp"
#include "graph/dag/dag.hpp"

namespace sorrel::graph {

namespace {

/// Rows along the last dimension, one after the other along the dimension before.
struct Rows {
  Index count = 1;
  std::size_t bytes = 0;
  /// Distance from one row to the next, in bytes.
  Index field_stride = 0;
  Index message_stride = 0;
};

/// Calls copy(bytes into the field, bytes into the message, rows) until all rows of a part are
/// copied.
template <class Copy>
void for_all_rows(const AnyField& field,
                  const Box<dimension_count_max>& part,
                  const Box<dimension_count_max>& face,
                  Copy&& copy) {
  const auto last = static_cast<std::size_t>(field.tiling().dimension_count()) - 1;
  const auto value_bytes = static_cast<Index>(field.value_bytes());
  Key message_strides{};
  Index stride = value_bytes;
  for (std::size_t d = last + 1; d-- > 0;) {
    message_strides[d] = stride;
    stride *= face.hi[d] - face.lo[d];
  }
  Rows rows;
  rows.bytes = static_cast<std::size_t>((part.hi[last] - part.lo[last]) * value_bytes);
  Box<dimension_count_max> firsts = part;
  firsts.hi[last] = std::min(part.hi[last], part.lo[last] + 1);
  if (last > 0) {
    const std::size_t before = last - 1;
    rows.count = part.hi[before] - part.lo[before];
    rows.field_stride = field.strides()[before] * value_bytes;
    rows.message_stride = message_strides[before];
    firsts.hi[before] = std::min(part.hi[before], part.lo[before] + 1);
  }
  for_each_key(firsts, [&](const Key& first) {
    const Index in_field = field.place_of(first) * value_bytes;
    Index in_message = 0;
    for (std::size_t d = 0; d <= last; ++d)
      in_message += (first[d] - face.lo[d]) * message_strides[d];
    copy(in_field, in_message, rows);
  });
}

/// Offset of a cell in bytes from the first ghost.
Index offset_of(const AnyField& field, const Key& cell) {
  return field.place_of(cell) * static_cast<Index>(field.value_bytes());
}

}  // namespace

Face face_of(const AnyTiling& tiling, const Key& direction, Index radius) {
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

Box<dimension_count_max> within(const Box<dimension_count_max>& tile,
                                const Box<dimension_count_max>& face) {
  Box<dimension_count_max> part;
  for (std::size_t d = 0; d < part.lo.size(); ++d) {
    part.lo[d] = std::max(tile.lo[d], face.lo[d]);
    part.hi[d] = std::max(part.lo[d], std::min(tile.hi[d], face.hi[d]));
  }
  return part;
}

Box<dimension_count_max> beside(Box<dimension_count_max> tile,
                                const Box<dimension_count_max>& face,
                                const Key& direction) {
  for (std::size_t d = 0; d < direction.size(); ++d) {
    if (direction[d] == 0) continue;
    tile.lo[d] = face.lo[d];
    tile.hi[d] = face.hi[d];
  }
  return tile;
}

Message message_of(const AnyField& field, std::byte* data, const Box<dimension_count_max>& part) {
  const auto last = static_cast<std::size_t>(field.tiling().dimension_count()) - 1;
  const auto value_bytes = static_cast<Index>(field.value_bytes());
  std::byte* first = data + offset_of(field, part.lo);
  Message message;
  message.bytes = {first, static_cast<std::size_t>((part.hi[last] - part.lo[last]) * value_bytes)};
  for (std::size_t r = 0; r < std::min(last, message.repeats.size()); ++r) {
    const std::size_t d = last - 1 - r;
    message.repeats[r] = {part.hi[d] - part.lo[d], field.strides()[d] * value_bytes};
  }
  return message;
}

Message message_of_run(const AnyField& field,
                       std::byte* data,
                       const Box<dimension_count_max>& part) {
  Key last = part.hi;
  for (std::size_t d = 0; d < static_cast<std::size_t>(field.tiling().dimension_count()); ++d)
    --last[d];
  const Index begin = offset_of(field, part.lo);
  const Index end = offset_of(field, last) + static_cast<Index>(field.value_bytes());
  Message message;
  message.bytes = {data + begin, static_cast<std::size_t>(end - begin)};
  return message;
}

void copy_out(const AnyField& field,
              const std::byte* data,
              const Box<dimension_count_max>& part,
              const Box<dimension_count_max>& face,
              std::byte* message) {
  for_all_rows(field, part, face, [&](Index in_field, Index in_message, const Rows& rows) {
    copy_rows({message + in_message, rows.message_stride}, {data + in_field, rows.field_stride},
              rows.count, rows.bytes);
  });
}

void copy_in(const AnyField& field,
             std::byte* data,
             const Box<dimension_count_max>& part,
             const Box<dimension_count_max>& face,
             const std::byte* message) {
  for_all_rows(field, part, face, [&](Index in_field, Index in_message, const Rows& rows) {
    copy_rows({data + in_field, rows.field_stride}, {message + in_message, rows.message_stride},
              rows.count, rows.bytes);
  });
}

}  // namespace sorrel::graph
