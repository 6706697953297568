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
template <std::size_t size, std::size_t dimensions>
void check_face(const Tiling<dimensions>& tiling, const Key& direction, Index radius) {
  using Value = Numbered<size>;
  using Point = std::array<Index, dimensions>;
  Field<Value, dimensions> field(tiling);
  const auto& any_tiling = static_cast<const AnyTiling&>(tiling);
  std::uint32_t count = 0;
  const auto cell_of = [&](const Key& at) -> Value& {
    Point cell{};
    std::copy_n(at.begin(), dimensions, cell.begin());
    return field[cell];
  };
  for (const Point& cell : field.bounds())
    field[cell].set(++count);
  const Face face = face_of(tiling, direction, radius);

  std::vector<Value> message(static_cast<std::size_t>(face.sent.count()));
  auto* bytes = reinterpret_cast<std::byte*>(message.data());
  for_each_key(tiling.tiles().box(), [&](const Key& tile) {
    copy_out(field, field.data(), within(any_tiling.cells(tile), face.sent), face.sent, bytes);
  });
  auto in_message = message.begin();
  for (const Key& cell : face.sent)
    EXPECT_EQ((in_message++)->get(), cell_of(cell).get());

  count = from_message;
  for (Value& value : message)
    value.set(count++);
  for_each_key(tiling.tiles().box(), [&](const Key& tile) {
    const Box<dimension_count_max> cells = any_tiling.cells(tile);
    // The tiles at this side of the block.
    if (within(cells, face.sent).count() == 0) return;
    copy_in(field, field.data(), beside(cells, face.ghosts, direction), face.ghosts, bytes);
  });
  count = from_message;
  for (const Key& ghost : face.ghosts)
    EXPECT_EQ(cell_of(ghost).get(), count++);
  std::uint32_t changed = 0;
  for (const Point& cell : field.bounds())
    if (field[cell].get() >= from_message) ++changed;
  EXPECT_EQ(changed, static_cast<std::uint32_t>(face.ghosts.count()));
}

template <std::size_t dimensions>
void check_faces_of_all_sides(Index radius) {
  constexpr std::array<Index, 4> all{7, 6, 5, 4};
  std::array<Index, dimensions> extents{};
  std::copy_n(all.begin(), dimensions, extents.begin());
  const Tiling<dimensions> tiling(extents, {.tile = {4, 3, 3, 2}, .halo = radius});
  for (std::size_t d = 0; d < dimensions; ++d) {
    for (const Index by : {-1, 1}) {
      Key direction{};
      direction[d] = by;
      check_face<4>(tiling, direction, radius);
      check_face<8>(tiling, direction, radius);
      check_face<12>(tiling, direction, radius);
      check_face<16>(tiling, direction, radius);
    }
  }
}

TEST(FaceCopy, EveryFaceOfABlockIsCopiedWholeAndNothingElse) {
  for (const Index radius : {1, 2}) {
    check_faces_of_all_sides<1>(radius);
    check_faces_of_all_sides<2>(radius);
    check_faces_of_all_sides<3>(radius);
    check_faces_of_all_sides<4>(radius);
  }
}

TEST(FaceCopy, PaddedRowsAreCopiedWithoutTheirPadding) {
  const Tiling tiling({5, 4, 70}, {.tile = {2, 2, 30}});
  const Field<Numbered<8>, 3> field(tiling);
  EXPECT_EQ(field.stride(1), 72) << "70 cells, two ghosts";
  for (const Key& direction : {Key{1, 0, 0}, Key{0, -1, 0}, Key{0, 0, 1}, Key{1, 1, 1}})
    check_face<8>(tiling, direction, 1);
  check_face<12>(Tiling({5, 200}, {.tile = {2, 60}}), {0, 1}, 1);
}

TEST(FaceCopy, EdgesAndCornersAreCopiedToo) {
  const Tiling tiling({7, 6, 5}, {.tile = {3, 2, 2}});
  check_face<8>(tiling, {1, -1, 0}, 1);
  check_face<8>(tiling, {0, 1, 1}, 1);
  check_face<8>(tiling, {-1, -1, 1}, 1);
}

}  // namespace
}  // namespace sorrel::graph
