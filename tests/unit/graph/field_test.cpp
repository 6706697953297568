// The memory of fields: where cells lie, how rows are padded, and that every cell has an element.
#include <array>
#include <cstdint>
#include <gtest/gtest.h>
#include <set>
#include <thread>
#include <type_traits>

#include <sorrel/graph.hpp>

namespace sorrel::graph {
namespace {

template <class T>
std::uintptr_t address_of(const T& value) {
  return reinterpret_cast<std::uintptr_t>(&value);
}

template <class T, std::size_t dimensions>
constexpr bool takes_two_indices = std::is_invocable_v<Field<T, dimensions>&, int, int>;
static_assert(takes_two_indices<double, 2>);
static_assert(!takes_two_indices<double, 1> && !takes_two_indices<double, 3>);
static_assert(!std::is_invocable_v<View<double, 3, false>&, int, int>);
static_assert(std::is_invocable_v<View<double, 3, false>&, int, long, short>);
static_assert(!std::is_invocable_v<Field<double, 1>&, const char*>);
static_assert(Field<int, 3>::rank() == 3);

/// Each cell and ghost has an element of its own, within the memory of the field.
template <class T, std::size_t dimensions>
void expect_elements_of_their_own(Field<T, dimensions>& field) {
  std::set<const T*> elements;
  const auto* first = field.data_handle();
  for (const auto& cell : field.bounds())
    elements.insert(&field[cell]);
  EXPECT_EQ(static_cast<std::int64_t>(elements.size()), field.bounds().count());
  EXPECT_EQ(*elements.begin(), first);
  EXPECT_EQ(&field[field.bounds().lo], first);
}

TEST(Field, EachCellHasAnElementWhereverTheBlockBegins) {
  for (int rank = 0; rank < 4; ++rank) {
    const Tiling tiling({40, 9}, {.ranks = {2, 2}, .rank = rank, .halo = 2});
    Field<double, 2> field(tiling, "field", 1.5);
    expect_elements_of_their_own(field);
    for (const auto& [i, j] : tiling.block_with_ghosts())
      EXPECT_EQ(field(i, j), 1.5);
  }
}

TEST(Field, FirstCellsOfLongRowsAreAligned) {
  for (const Index columns : {62, 64, 100, 504, 510, 1000}) {
    const Tiling tiling({5, columns}, {.halo = 1});
    Field<double, 2> field(tiling);
    for (Index i = 0; i < 5; ++i)
      EXPECT_EQ(address_of(field(i, 0)) % AnyField::alignment, 0U)
          << columns << " columns, row " << i;
    EXPECT_GE(field.stride(0), columns + 2);
    EXPECT_NE(field.stride(0) * 8 % 4096, 0) << "rows a page apart share a set of the cache";
    EXPECT_LE(field.stride(0) * 8, (columns + 2) * 9 + 64) << "an eighth more at most";
    expect_elements_of_their_own(field);
  }
}

TEST(Field, ShortRowsAreDense) {
  const Tiling tiling({3, 4, 5}, {.halo = 1});
  Field<float, 3> field(tiling);
  EXPECT_EQ(field.stride(2), 1);
  EXPECT_EQ(field.stride(1), 7);
  EXPECT_EQ(field.stride(0), 42);
  EXPECT_EQ(address_of(field(-1, -1, 0)) % AnyField::alignment, 0U);
}

struct Three {
  double x, y, z;
};

TEST(Field, ValuesOfAnySizeAreAligned) {
  const Tiling tiling({4, 90}, {.halo = 3});
  Field<Three, 2> field(tiling, "field", {1, 2, 3});
  for (Index i = 0; i < 4; ++i)
    EXPECT_EQ(address_of(field(i, 0)) % AnyField::alignment, 0U);
  EXPECT_EQ(field(3, 92).z, 3);

  struct alignas(64) Line {
    int number;
  };

  Field<Line, 2> lines(tiling);
  EXPECT_EQ(address_of(lines(1, 1)) % 64, 0U);
}

TEST(Field, BoolsHaveAddresses) {
  const Tiling tiling({8, 8}, {});
  Field<bool, 2> marks(tiling, "marks");
  marks(7, 8) = true;
  EXPECT_TRUE(marks(7, 8));
  EXPECT_FALSE(marks(7, 7));
  expect_elements_of_their_own(marks);
}

TEST(Field, FillCallsWithOneIndexForEachDimension) {
  const Tiling tiling({6, 7, 8, 9}, {.halo = 1});
  Field<Index, 4> field(tiling);
  field.fill(
      [](Index i, Index j, Index k, Index l) { return ((i * 100 + j) * 100 + k) * 100 + l; });
  EXPECT_EQ(field(1, 2, 3, 4), 1020304);
  EXPECT_EQ((field[{5, 6, 7, 9}]), 5060709);
}

/// Written by the threads of a loop, each a part of it.
TEST(Field, ALargeFieldOfOneRankHasItsValueEverywhere) {
  const Tiling tiling({700, 700}, {});
  const Field<std::int32_t, 2> field(tiling, "field", 7);
  std::int64_t sum = 0;
  for (const auto& cell : field.bounds())
    sum += field[cell];
  EXPECT_EQ(sum, 7 * 702 * 702);
}

}  // namespace
}  // namespace sorrel::graph
