//! face_copy - the cells at a side of a block, and copies of parts of them to and from a message.
//!
//! A message has its cells in the order of the whole face, so parts are copied independently and
//! both ends agree. Any thread; parts that do not overlap at the same time.
#pragma once

#include <cstddef>

#include <sorrel/graph/field.hpp>
#include <sorrel/graph/messenger.hpp>
#include <sorrel/graph/space.hpp>
#include <sorrel/graph/tiling.hpp>

namespace sorrel::graph {

/// A face, edge or corner of a block, selected by a direction: -1, 0 or 1 in each dimension.
struct Face {
  /// Cells of the block that are sent to the neighbour, and ghosts that are received from it.
  Box<dimension_count_max> sent;
  Box<dimension_count_max> ghosts;
};

[[nodiscard]] Face face_of(const AnyTiling& tiling, const Key& direction, Index radius);

/// The cells of a tile that are in `face`; the part of `face` beside a tile.
[[nodiscard]] Box<dimension_count_max> within(const Box<dimension_count_max>& tile,
                                              const Box<dimension_count_max>& face);
[[nodiscard]] Box<dimension_count_max> beside(Box<dimension_count_max> tile,
                                              const Box<dimension_count_max>& face,
                                              const Key& direction);

/// The cells of a part as a message without copies. The caller sets peer and tag.
[[nodiscard]] Message message_of(const AnyField& field,
                                 std::byte* data,
                                 const Box<dimension_count_max>& part);

/// The whole run of memory from the first cell of the part to its last, as such a message.
[[nodiscard]] Message message_of_run(const AnyField& field,
                                     std::byte* data,
                                     const Box<dimension_count_max>& part);

void copy_out(const AnyField& field,
              const std::byte* data,
              const Box<dimension_count_max>& part,
              const Box<dimension_count_max>& face,
              std::byte* message);
void copy_in(const AnyField& field,
             std::byte* data,
             const Box<dimension_count_max>& part,
             const Box<dimension_count_max>& face,
             const std::byte* message);

}  // namespace sorrel::graph
