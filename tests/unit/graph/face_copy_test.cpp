#include "graph/run/face_copy.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

#include <sorrel/graph.hpp>

#include "graph/dag/dag.hpp"

namespace sorrel::graph {
namespace {

/// A value of any size, told apart by its first four bytes.
template <std::size_t size>
struct Numbered {
  static_assert(size >= sizeof(std::uint32_t));
  std::array<std::byte, size> bytes{};

  void set(std::uint32_t number) { std::memcpy(bytes.data(), &number, sizeof number); }

  [[nodiscard]] std::uint32_t get() const {
    std::uint32_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }
};

constexpr std::uint32_t from_message = 1'000'000;

/// Copies a face tile by tile, out of a field and into its ghosts, and checks every value.
template <std::size_t size>
void check_face(const Tiling& tiling, const Key& direction, Index radius) {
  using Value = Numbered<size>;
  Field<Value> field(tiling);
  std::uint32_t count = 0;
  const auto cell_of = [&](const Key& at) -> Value& { return field(at[0], at[1], at[2], at[3]); };
  for (const Key& cell : tiling.block_with_ghosts())
    cell_of(cell).set(++count);
  const Face face = face_of(tiling, direction, radius);

  std::vector<Value> message(static_cast<std::size_t>(face.sent.count()));
  auto* bytes = reinterpret_cast<std::byte*>(message.data());
  for_each_key(tiling.tiles().box(), [&](const Key& tile) {
    copy_out(field, field.origin(), within(tiling.cells(tile), face.sent), face.sent, bytes);
  });
  auto in_message = message.begin();
  for (const Key& cell : face.sent)
    EXPECT_EQ((in_message++)->get(), cell_of(cell).get());

  count = from_message;
  for (Value& value : message)
    value.set(count++);
  for_each_key(tiling.tiles().box(), [&](const Key& tile) {
    const KeyBox cells = tiling.cells(tile);
    // The tiles at this side of the block.
    if (within(cells, face.sent).count() == 0) return;
    copy_in(field, field.origin(), beside(cells, face.ghosts, direction), face.ghosts, bytes);
  });
  count = from_message;
  for (const Key& ghost : face.ghosts)
    EXPECT_EQ(cell_of(ghost).get(), count++);
  std::uint32_t changed = 0;
  for (const Key& cell : tiling.block_with_ghosts())
    if (cell_of(cell).get() >= from_message) ++changed;
  EXPECT_EQ(changed, static_cast<std::uint32_t>(face.ghosts.count()));
}

TEST(FaceCopy, EveryFaceOfABlockIsCopiedWholeAndNothingElse) {
  for (const int dimensions : {1, 2, 3, 4}) {
    for (const Index radius : {1, 2}) {
      Key extents{7, 6, 5, 4};
      std::fill(extents.begin() + dimensions, extents.end(), 1);
      const Tiling tiling(Space(extents, dimensions), {.tile = {4, 3, 3, 2}, .halo = radius});
      for (int d = 0; d < dimensions; ++d) {
        for (const Index by : {-1, 1}) {
          Key direction{};
          direction[static_cast<std::size_t>(d)] = by;
          check_face<4>(tiling, direction, radius);
          check_face<8>(tiling, direction, radius);
          check_face<12>(tiling, direction, radius);
          check_face<16>(tiling, direction, radius);
        }
      }
    }
  }
}

TEST(FaceCopy, EdgesAndCornersAreCopiedToo) {
  const Tiling tiling({7, 6, 5}, {.tile = {3, 2, 2}});
  check_face<8>(tiling, {1, -1, 0}, 1);
  check_face<8>(tiling, {0, 1, 1}, 1);
  check_face<8>(tiling, {-1, -1, 1}, 1);
}

}  // namespace
}  // namespace sorrel::graph
