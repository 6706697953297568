//! face_copy - the cells at an end of a block, and copying parts of them to and from a message.
//!
//! In a message cells have the order of the whole face, so that parts are copied by themselves and
//! both ends agree. Any thread; parts that do not overlap at the same time.
#pragma once

#include <cstddef>

#include <sorrel/graph/field.hpp>
#include <sorrel/graph/messenger.hpp>
#include <sorrel/graph/space.hpp>
#include <sorrel/graph/tiling.hpp>

namespace sorrel::graph {

/// One of a block's faces, edges and corners, by the direction in which it is: -1, 0 or 1 in each
/// dimension.
struct Face {
  /// Cells of the block that go to the neighbour, and the ghosts that come from it.
  KeyBox sent;
  KeyBox ghosts;
};

[[nodiscard]] Face face_of(const Tiling& tiling, const Key& direction, Index radius);

/// The cells of a tile that are in `face`; the part of `face` that lies beside a tile.
[[nodiscard]] KeyBox within(const KeyBox& tile, const KeyBox& face);
[[nodiscard]] KeyBox beside(KeyBox tile, const KeyBox& face, const Key& direction);

/// The cells of a part as a message without copies: peer and tag are left to say.
[[nodiscard]] Message message_of(const AnyField& field, std::byte* origin, const KeyBox& part);

/// The same for all that lies between its first cell and its last, whatever that is.
[[nodiscard]] Message message_of_run(const AnyField& field, std::byte* origin, const KeyBox& part);

void copy_out(const AnyField& field,
              const std::byte* origin,
              const KeyBox& part,
              const KeyBox& face,
              std::byte* message);
void copy_in(const AnyField& field,
             std::byte* origin,
             const KeyBox& part,
             const KeyBox& face,
             const std::byte* message);

}  // namespace sorrel::graph
