#define SORREL_GRAPH_AUDIT
#include <atomic>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

#include <sorrel/graph.hpp>

#include "graph/dag/accesses.hpp"

namespace sorrel::graph {
namespace {

double start_value(Index i, Index j, Index k) {
  return static_cast<double>((i * 7 + j * 13 + k * 29) % 17);
}

/// The sum of a cell and its neighbours, with weights that tell them apart.
template <class U>
double around(const U& u, Index i, Index j, Index k) {
  return (u(i, j, k) + 2 * u(i - 1, j, k) + 3 * u(i + 1, j, k) + 4 * u(i, j - 1, k) +
          5 * u(i, j + 1, k) + 6 * u(i, j, k - 1) + 7 * u(i, j, k + 1)) /
         28;
}

template <class Visit>
void for_cells(const Box<3>& cells, Visit&& visit) {
  for (Index i = cells.lo[0]; i < cells.hi[0]; ++i)
    for (Index j = cells.lo[1]; j < cells.hi[1]; ++j)
      for (Index k = cells.lo[2]; k < cells.hi[2]; ++k)
        visit(i, j, k);
}

constexpr auto smooth = [](const Box<3>& cells, auto from, auto to) {
  for_cells(cells, [&](Index i, Index j, Index k) { to(i, j, k) = around(from, i, j, k); });
};

TEST(Sweep, TilesOfAnySizeComputeWhatALoopDoes) {
  constexpr Index steps = 7;
  std::vector<double> expected;
  for (const Key& tile : {Key{0, 0, 0}, Key{2, 3, 4}, Key{1, 1, 20}, Key{5, 12, 1}}) {
    const Tiling tiling({9, 12, 20}, {.tile = tile});
    Field<double, 3> u(tiling, "u");
    Field<double, 3> v(tiling, "v");
    u.fill(start_value);
    v.fill(start_value);
    Graph g;
    g.over(tiling, "smooth").reads(u, star(1)).writes(v).body(smooth);
    g.rotate(u, v);
    g.run({.steps = 4});
    g.run({.steps = steps - 4});
    std::vector<double> result;
    for_cells(tiling.block(), [&](Index i, Index j, Index k) { result.push_back(u(i, j, k)); });
    if (expected.empty()) expected = result;
    EXPECT_EQ(result, expected);
  }

  const Tiling tiling({9, 12, 20}, {});
  Field<double, 3> u(tiling);
  Field<double, 3> v(tiling);
  u.fill(start_value);
  v.fill(start_value);
  for (Index s = 0; s < steps; ++s)
    for_cells(tiling.block(), [&](Index i, Index j, Index k) {
      (s % 2 == 0 ? v : u)(i, j, k) = around(s % 2 == 0 ? u : v, i, j, k);
    });
  std::vector<double> result;
  for_cells(tiling.block(), [&](Index i, Index j, Index k) { result.push_back(v(i, j, k)); });
  EXPECT_EQ(result, expected);
}

TEST(Sweep, SeveralSweepsOfAStepKeepTheirOrder) {
  const Tiling tiling({6, 8, 10}, {.tile = {2, 2, 3}});
  Field<double, 3> u(tiling, "u");
  Field<double, 3> w(tiling, "w");
  u.fill(start_value);
  w.fill([](Index, Index, Index) { return 0.0; });
  Graph g;
  g.over(tiling, "there").reads(u, star(1)).writes(w).body(smooth);
  g.over(tiling, "back").reads(w, star(1)).writes(u).body(smooth);
  g.run({.steps = 5});

  Field<double, 3> a(tiling);
  Field<double, 3> b(tiling);
  a.fill(start_value);
  b.fill([](Index, Index, Index) { return 0.0; });
  for (int s = 0; s < 5; ++s) {
    for_cells(tiling.block(), [&](Index i, Index j, Index k) { b(i, j, k) = around(a, i, j, k); });
    for_cells(tiling.block(), [&](Index i, Index j, Index k) { a(i, j, k) = around(b, i, j, k); });
  }
  for_cells(tiling.block(), [&](Index i, Index j, Index k) { EXPECT_EQ(u(i, j, k), a(i, j, k)); });
}

TEST(Sweep, AnAccessOutsideOfTheFootprintIsAnErrorThatNamesTaskFieldAndCell) {
  const Tiling tiling({4, 4}, {.tile = {2, 2}});
  Field<int, 2> u(tiling, "u");
  Field<int, 2> v(tiling, "v");
  Graph g;
  g.over(tiling, "wide")
      .reads(u, star(1))
      .writes(v)
      .body([](const Box<2>& cells, auto from, auto to) {
        to(cells.lo[0], cells.lo[1]) = from(cells.lo[0] - 1, cells.lo[1] - 1);
      });
  try {
    g.run();
    FAIL() << "nothing was thrown";
  } catch (const GraphError& error) {
    EXPECT_NE(std::string(error.what()).find("graph: wide("), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("outside of what it has declared"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(g.failed_task().substr(0, 5), "wide(");
}

TEST(Sweep, WhatNoOrderCanMakeRightIsRefused) {
  const Tiling tiling({8, 8}, {});
  Field<int, 2> u(tiling, "u");
  const auto nothing = [](const Box<2>&, auto...) {};
  {
    Graph g;
    g.over(tiling, "relax").reads(u, star(1)).writes(u).body(nothing);
    EXPECT_THROW(g.run(), GraphError) << "in place";
  }
  {
    Graph g;
    g.over(tiling, "far").reads(u, star(2)).body(nothing);
    EXPECT_THROW(g.run(), GraphError) << "wider than the halo";
  }
  const Tiling other({8, 8}, {});
  Graph g;
  EXPECT_THROW(g.over(other, "other").reads(u).body(nothing), GraphError);
}

TEST(Sweep, ASideAcrossTheFirstDimensionIsOneMessageWithoutCopies) {
  const Tiling tiling({16, 16}, {.ranks = {2, 1, 1}, .rank = 0, .tile = {8, 0, 0}});
  Field<double, 2> u(tiling, "u");
  Field<double, 2> v(tiling, "v");
  Graph g;
  g.over(tiling, "smooth").reads(u, star(1)).writes(v).body([](const Box<2>&, auto, auto) {});
  g.rotate(u, v);
  EXPECT_EQ(g.print(),
            "task     smooth, 2 x 1, fills gaps within\n"
            "         after smooth(i, j) of the step before\n"
            "         after smooth(i - 1, j) of the step before\n"
            "         after smooth(i + 1, j) of the step before\n"
            "         after smooth(i, j - 1) of the step before\n"
            "         after smooth(i, j + 1) of the step before\n"
            "         after receive v high i(i - 1) of the step before\n"
            "send     send v high i, 1\n"
            "         after smooth(1, every)\n"
            "         after send v high i(i) of the step before, as every task\n"
            "receive  receive v high i, 1\n"
            "         after smooth(1, every) of the step before\n"
            "         after receive v high i(i) of the step before, as every task\n");
}

TEST(Sweep, PrintShowsFacesAndMessagesToo) {
  const Tiling tiling({16, 16}, {.ranks = {1, 2, 1}, .rank = 0});
  Field<double, 2> u(tiling, "u");
  Field<double, 2> v(tiling, "v");
  Graph g;
  g.over(tiling, "smooth").reads(u, star(1)).writes(v).body([](const Box<2>&, auto, auto) {});
  g.rotate(u, v);
  EXPECT_EQ(g.print(),
            "task     smooth, 1 x 2, fills gaps within\n"
            "         after smooth(i, j) of the step before\n"
            "         after smooth(i - 1, j) of the step before\n"
            "         after smooth(i + 1, j) of the step before\n"
            "         after smooth(i, j - 1) of the step before\n"
            "         after smooth(i, j + 1) of the step before\n"
            "         after unpack v high j(i, j - 1) of the step before\n"
            "task     pack v high j, 1 x 1\n"
            "         after smooth(i, 1)\n"
            "         after pack v high j(i, j) of the step before, as every task\n"
            "task     unpack v high j, 1 x 1\n"
            "         after receive v high j(0)\n"
            "         after smooth(i, 1) of the step before\n"
            "         after unpack v high j(i, j) of the step before, as every task\n"
            "send     send v high j, 1\n"
            "         after pack v high j(every, every)\n"
            "         after send v high j(i) of the step before, as every task\n"
            "receive  receive v high j, 1\n"
            "         after receive v high j(i) of the step before, as every task\n");
  EXPECT_THROW(g.run(), GraphError) << "messages, and no messenger";
}

TEST(Tiling, EveryCellIsInOneTileAndThinTilesFaceOtherRanks) {
  for (int rank = 0; rank < 6; ++rank) {
    const Tiling tiling({20, 13, 40},
                        {.ranks = {3, 1, 2}, .rank = rank, .tile = {4, 5, 10}, .skin = {1, 1, 3}});
    Index count = 0;
    for_cells(tiling.tiles().box().first<3>(), [&](Index i, Index j, Index k) {
      const Box<3> cells = tiling.cells({i, j, k});
      count += cells.count();
      for (std::size_t d = 0; d < 3; ++d)
        EXPECT_TRUE(tiling.block().lo[d] <= cells.lo[d] && cells.hi[d] <= tiling.block().hi[d]);
    });
    EXPECT_EQ(count, tiling.block().count());
    if (tiling.neighbour(0, 0)) {
      EXPECT_EQ(tiling.cells({0, 0, 0}).hi[0] - tiling.block().lo[0], 1);
    }
    EXPECT_FALSE(tiling.neighbour(1, 0) || tiling.neighbour(1, 1));
    EXPECT_EQ(tiling.neighbour(2, 0).has_value(), rank % 2 == 1);
    if (tiling.neighbour(2, 1)) {
      EXPECT_EQ(*tiling.neighbour(2, 1), rank + 1);
    }
  }
}

/// Each message is one tile's face, so tiles of both ranks must end at the same cells.
TEST(Tiling, NeighboursAlongOtherDimensionsCutTheFirstAlike) {
  for (const Index n : {7, 45, 128, 301}) {
    std::vector<Index> counts;
    for (int rank = 0; rank < 6; ++rank)
      counts.push_back(Tiling({n, n, n}, {.ranks = {1, 3, 2}, .rank = rank}).tiles().extents()[0]);
    EXPECT_EQ(counts, std::vector<Index>(6, counts[0])) << n;
  }
}

TEST(Tiling, RefusesRanksWithoutCellsAndTilesThinnerThanTheHalo) {
  EXPECT_THROW(Tiling({2, 8}, {.ranks = {3, 1, 1}}), GraphError);
  EXPECT_THROW(Tiling({8, 8}, {.ranks = {2, 1, 1}, .rank = 2}), GraphError);
  EXPECT_THROW(Tiling({8, 8}, {.tile = {1, 1, 0}, .halo = 2}), GraphError);
}

std::string error_in_tiling(const Space& cells, const TilingOptions& options) {
  try {
    const AnyTiling tiling(cells, options);
  } catch (const GraphError& error) {
    return error.what();
  }
  return "";
}

TEST(Tiling, RefusesSizesThatAreNone) {
  EXPECT_EQ(error_in_tiling({2, 2, 2, 2, 2}, {}),
            "tiling: the grid has 5 dimensions; 1 to 4 are possible");
  EXPECT_EQ(error_in_tiling({-8}, {}), "tiling: the grid has a negative extent, -8");
  EXPECT_EQ(error_in_tiling({Index{1} << 32, Index{1} << 32}, {}),
            "tiling: the grid has more than 1099511627776 cells");
  EXPECT_EQ(error_in_tiling({8}, {.tile = {-1}}),
            "tiling: a negative size of tile or skin in dimension 0");
  EXPECT_EQ(error_in_tiling({8}, {.halo = -1}), "tiling: a halo of -1 cells");
}

TEST(Tiling, ATileWithoutLimitIsTheWholeBlock) {
  constexpr Index no_limit = std::numeric_limits<Index>::max();
  EXPECT_EQ(Tiling({10, 12}, {.tile = {no_limit, no_limit}}).tiles().count(), 1);
  EXPECT_EQ(Tiling({10}, {.ranks = {2}, .skin = {no_limit}}).tiles().count(), 1);
}

// Whether neighbours are on other machines changes no grid from possible to refused.
TEST(Tiling, ABlockThatIsTooSmallForASkinHasNone) {
  const Tiling tiling({15}, {.ranks = {3}, .rank = 1, .tile = {5}, .halo = 2});
  EXPECT_EQ(tiling.tiles().count(), 1) << "between two skins, one cell would be left";
  for (Index length = 1; length < 40; ++length) {
    for (Index tile = 0; tile < 9; ++tile) {
      for (Index halo = 0; halo < 5; ++halo) {
        TilingOptions options{.ranks = {3}, .rank = 1, .tile = {tile}, .halo = halo};
        options.is_near[0] = true;
        const std::string near = error_in_tiling({3 * length}, options);
        options.is_near[0] = false;
        for (const Index skin : {Index{0}, halo, halo + 1}) {
          options.skin = {skin};
          if (near.empty()) {
            EXPECT_EQ(error_in_tiling({3 * length}, options), "")
                << length << " cells, tile " << tile << ", halo " << halo << ", skin " << skin;
          }
        }
        if (tile == 0 && halo <= length) {
          EXPECT_EQ(near, "") << length << " cells, halo " << halo;
        }
      }
    }
  }
}

TEST(Accesses, ARotationLetsTheNextStepReadWhatThisOneWrites) {
  const Buffers buffers(3, {{0, 1}});
  EXPECT_TRUE(buffers.are_same(0, 1, 1)) << "u has what v had";
  EXPECT_TRUE(buffers.are_same(1, 0, 1)) << "and v what u had";
  EXPECT_FALSE(buffers.are_same(0, 0, 1));
  EXPECT_TRUE(buffers.are_same(2, 2, 1)) << "the third stays";
  const Derived derived = derive({{{0, false, star(1)}, {1, true, {}}}}, buffers);
  ASSERT_EQ(derived.edges.size(), 1U);
  EXPECT_TRUE(derived.edges[0].crosses_step && derived.edges[0].reach == Reach::star);
  ASSERT_EQ(derived.exchanges.size(), 1U);
  EXPECT_EQ(derived.exchanges[0].field, 1);
  ASSERT_EQ(derived.exchanges[0].readers.size(), 1U);
  EXPECT_TRUE(derived.exchanges[0].readers[0].crosses_step);
  ASSERT_EQ(derived.exchanges[0].earlier_readers.size(), 1U);
  EXPECT_TRUE(derived.exchanges[0].earlier_readers[0].crosses_step);
  EXPECT_TRUE(derived.exchanges[0].later_writers.empty()) << "that is two steps later";
}

TEST(Accesses, OnlyTheLastWriterBeforeAReadSends) {
  // An update, then a correction in place; the next step reads around the cells.
  const Derived derived =
      derive({{{0, false, star(1)}, {1, true, {}}}, {{1, true, {}}}}, Buffers(2, {{0, 1}}));
  ASSERT_EQ(derived.exchanges.size(), 1U);
  EXPECT_EQ(derived.exchanges[0].writer, 1);
}

TEST(Accesses, EveryWriteThatIsReadBeforeTheNextOneIsSent) {
  // Write, read, write, read in one step.
  const Access write{0, true, {}};
  const Access read{0, false, star(1)};
  const Derived derived = derive({{write}, {read}, {write}, {read}}, Buffers(1, {}));
  ASSERT_EQ(derived.exchanges.size(), 2U);
  EXPECT_EQ(derived.exchanges[0].writer, 0);
  ASSERT_EQ(derived.exchanges[0].readers.size(), 1U);
  EXPECT_EQ(derived.exchanges[0].readers[0].sweep, 1);
  EXPECT_EQ(derived.exchanges[1].writer, 2);
  ASSERT_EQ(derived.exchanges[1].readers.size(), 1U);
  EXPECT_EQ(derived.exchanges[1].readers[0].sweep, 3);
  EXPECT_EQ(derived.exchanges[1].earlier_readers.size(), 3U) << "1, and both of the step before";
}

TEST(Accesses, AReadSeveralStepsLaterHasAnExchangeAndNoEdge) {
  // next is old two steps later.
  const Derived of_three =
      derive({{{0, false, star(1)}, {1, false, {}}, {2, true, {}}}}, Buffers(3, {{0, 1, 2}}));
  ASSERT_EQ(of_three.exchanges.size(), 1U);
  EXPECT_EQ(of_three.exchanges[0].field, 2);
  EXPECT_EQ(of_three.exchanges[0].footprint.radius, 1);
  EXPECT_TRUE(of_three.exchanges[0].readers.empty()) << "the step before the last is done";
  // f is read, then written, and has this buffer again two steps later.
  const Derived of_two = derive({{{0, false, box(2)}}, {{0, true, {}}}}, Buffers(2, {{0, 1}}));
  ASSERT_EQ(of_two.exchanges.size(), 1U);
  EXPECT_TRUE(of_two.exchanges[0].footprint.radius == 2 && of_two.exchanges[0].footprint.is_box);
  EXPECT_TRUE(of_two.exchanges[0].readers.empty());
}

TEST(Accesses, SweepsThatOnlyReadHaveNoOrder) {
  const Derived derived = derive({{{0, false, star(1)}}, {{0, false, star(1)}}}, Buffers(1, {}));
  EXPECT_TRUE(derived.edges.empty());
  EXPECT_TRUE(derived.exchanges.empty());
}

}  // namespace
}  // namespace sorrel::graph
