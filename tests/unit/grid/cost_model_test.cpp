#include "grid/plan/cost_model.hpp"

#include <gtest/gtest.h>

#include "unit/grid/simple_machine.hpp"

namespace sorrel::grid {
namespace {

// A cube of 64^3 cells, one byte and one flop per cell: a nanosecond each.
class Cube : public testing::Test {
 protected:
  Cube() {
    problem.extents = {64, 64, 64};
    problem.flops_per_cell = 1;
    problem.bytes_per_cell = 1;
  }

  [[nodiscard]] Cut plain(const ProcessGrid& grid) const {
    return CostModel(machine, problem, grid[0] * grid[1] * grid[2]).without_overlap(grid, grid);
  }

  [[nodiscard]] Cut overlapped(const ProcessGrid& grid, const Overlap& overlap) const {
    return CostModel(machine, problem, grid[0] * grid[1] * grid[2])
        .with_overlap(plain(grid), overlap);
  }

  Machine machine = simple_machine();
  Problem problem;
};

constexpr Overlap faces_first{.kind = Overlap::Kind::faces_first};

TEST_F(Cube, ComputesItsLargestBlock) {
  EXPECT_DOUBLE_EQ(plain({1, 1, 1}).time.compute_s, 64 * 64 * 64 * 1e-9);
  EXPECT_DOUBLE_EQ(plain({3, 1, 1}).time.compute_s, 22 * 64 * 64 * 1e-9);
}

TEST_F(Cube, IsBoundByFlopsOrByMemoryWhicheverTakesLonger) {
  problem.bytes_per_cell = 10;
  EXPECT_DOUBLE_EQ(plain({1, 1, 1}).time.compute_s, 64 * 64 * 64 * 10e-9);
  problem.flops_per_cell = 20;
  EXPECT_DOUBLE_EQ(plain({1, 1, 1}).time.compute_s, 64 * 64 * 64 * 20e-9);
}

TEST_F(Cube, ComputesFasterFromACache) {
  // The whole block takes 4.4 MiB with its ghosts, twice; a half takes 2.3.
  machine.memory = {{.size_bytes = 5 << 19, .bytes_per_second = 1e10},
                    {.size_bytes = 0, .bytes_per_second = 1e8}};
  problem.flops_per_cell = 0;
  EXPECT_GT(plain({1, 1, 1}).time.compute_s, 64 * 64 * 64 * 0.5e-8);
  EXPECT_DOUBLE_EQ(plain({2, 1, 1}).time.compute_s, 32 * 64 * 64 * 1e-10);
}

TEST_F(Cube, StartsARowForEveryLineOfContiguousCells) {
  machine.row_start_s = 1;
  EXPECT_NEAR(plain({8, 1, 1}).time.compute_s, 8 * 64, 0.01);
  EXPECT_NEAR(plain({1, 1, 8}).time.compute_s, 64 * 64, 0.01);
}

TEST_F(Cube, PaysLatencyOnceAndBytesForEverySide) {
  problem.order = MemoryOrder::fortran;  // so that the cut below is packed
  machine.links.front().latency_s = 1;
  const Prediction two = plain({2, 1, 1}).time;
  EXPECT_NEAR(two.wait_s, 1 + 64 * 64 * 8e-9, 1e-12);
  EXPECT_DOUBLE_EQ(two.pack_s, 2 * 64 * 64 * 8e-9);
  const Prediction more = plain({4, 4, 1}).time;
  EXPECT_NEAR(more.wait_s, 1 + 2 * 2 * 16 * 64 * 8e-9, 1e-12);
}

TEST_F(Cube, LongMessagesAreAnnouncedAndFetched) {
  machine.links.front() = {.name = "wire", .latency_s = 1e-6, .announced_bytes = 40'000};
  // A face with its ghosts takes 66 x 66 x 8 = 34 848 bytes.
  EXPECT_NEAR(plain({2, 1, 1}).time.wait_s, 1e-6, 1e-12);
  machine.links.front().announced_bytes = 30'000;
  EXPECT_NEAR(plain({2, 1, 1}).time.wait_s, 3e-6, 1e-12);
}

TEST_F(Cube, AnAnnouncementIsSeenWhenAnotherRankOfTheProcessorHasWorked) {
  machine.links.front() = {.name = "wire", .latency_s = 1e-6, .announced_bytes = 1};
  machine.processor_count = 2;
  // Each of a processor's two ranks works for 65 us: a request is seen after the other rank's work.
  const Prediction time = plain({4, 1, 1}).time;
  EXPECT_NEAR(time.wait_s, 2e-6, 1e-12);
}

TEST_F(Cube, AnAnnouncementIsSeenAfterATile) {
  machine.links.front() = {
      .name = "wire", .latency_s = 1e-6, .progress_share = 1, .announced_bytes = 1};
  // If the request is seen after the whole update, two latencies remain; after the first of two
  // tiles, none.
  EXPECT_NEAR(overlapped({2, 1, 1}, faces_first).time.wait_s, 2e-6, 1e-12);
  const Overlap tiles{.kind = Overlap::Kind::tiles, .tile_count = 2};
  EXPECT_NEAR(overlapped({2, 1, 1}, tiles).time.wait_s, 0, 1e-12);
}

TEST_F(Cube, ABoxExchangesOneDimensionAfterTheOther) {
  machine.links.front().latency_s = 1;
  problem.stencil = Stencil::box;
  EXPECT_NEAR(plain({4, 4, 4}).time.wait_s, 3, 0.01);
}

TEST_F(Cube, ContentionStretchesTheWire) {
  const double alone = plain({4, 4, 1}).time.wait_s;
  machine.links.front().contention = 2;
  EXPECT_DOUBLE_EQ(plain({4, 4, 1}).time.wait_s, 2 * alone);
}

TEST_F(Cube, EveryHopAfterTheFirstTakesLatencyAndContention) {
  problem.order = MemoryOrder::fortran;  // so that a message is the face alone
  Link& link = machine.links.front();
  link.latency_s = 1e-3;
  const double near_s = plain({4, 1, 1}).time.wait_s;
  // On a ring, neighbours in a cut of one dimension are one hop apart.
  link.torus = Torus{.extents = {4}, .hop_s = 1e-4, .hop_contention = 0.5};
  EXPECT_DOUBLE_EQ(plain({4, 1, 1}).time.wait_s, near_s);
  // On a square, they are 1, 2 and 1 hops apart.
  link.torus->extents = {2, 2};
  const double two_faces_s = 2 * 64 * 64 * 8e-9;
  EXPECT_NEAR(plain({4, 1, 1}).time.wait_s, near_s + 1e-4 + two_faces_s * 0.5 / 3, 1e-12);
  // Cut in two dimensions, all neighbours are one hop apart.
  const double square_s = plain({2, 2, 1}).time.wait_s;
  link.torus.reset();
  EXPECT_DOUBLE_EQ(plain({2, 2, 1}).time.wait_s, square_s);
}

TEST_F(Cube, RanksOfOneNodeAreNoHopApart) {
  Link inner = machine.links.front();
  inner.group_ranks = 4;
  machine.links.insert(machine.links.begin(), inner);
  machine.links.back().torus = Torus{.extents = {0, 0}, .hop_s = 1};
  const Cut one_node = plain({4, 1, 1});
  EXPECT_EQ(one_node.hops[0].most, 0);
  EXPECT_LT(one_node.time.wait_s, 1);
  // 16 ranks are 4 nodes, a square: the neighbours across nodes are 1, 2 and 1 hops apart.
  const Cut four_nodes = plain({16, 1, 1});
  EXPECT_EQ(four_nodes.hops[0].most, 2);
  EXPECT_DOUBLE_EQ(four_nodes.hops[0].mean, 4.0 / 3);
  EXPECT_NEAR(four_nodes.time.wait_s, 1, 0.01);
}

TEST_F(Cube, RanksOfOneProcessorWorkWhileAnotherWaits) {
  problem.flops_per_cell = 10;
  machine.links.front().latency_s = 1e-5;
  machine.processor_count = 2;
  EXPECT_GT(plain({2, 1, 1}).time.wait_s, 0);
  EXPECT_EQ(plain({4, 1, 1}).time.wait_s, 0);
  EXPECT_NEAR(plain({4, 1, 1}).time.compute_s, plain({2, 1, 1}).time.compute_s, 1e-12);
}

TEST_F(Cube, OnlyMessagesThatCrossAWireShareIt) {
  problem.order = MemoryOrder::fortran;  // so that a message is the face alone
  machine.processor_count = 2;
  Link inner = machine.links.front();
  inner.group_count = 2;
  inner.gap_s_per_byte = 0;
  machine.links.insert(machine.links.begin(), inner);
  machine.links.back().latency_s = 1;  // longer than the work of the other ranks of a processor
  const auto sent_s = [&](const ProcessGrid& grid, int message_count, int message_cells) {
    const Prediction time = plain(grid).time;
    const double other_work_s = (time.step_s() - time.wait_s) / 2;
    EXPECT_NEAR(time.wait_s, 1 + message_count * message_cells * 8e-9 - other_work_s, 1e-12);
  };
  // In a row of four ranks, only the second and the third have a neighbour across the wire.
  sent_s({4, 1, 1}, 1, 64 * 64);
  // In a square, each has one.
  sent_s({2, 2, 1}, 2, 32 * 64);
}

TEST_F(Cube, RanksAtTheEndsOfTheGridPackFewerFaces) {
  problem.order = MemoryOrder::fortran;
  EXPECT_DOUBLE_EQ(plain({4, 1, 1}).time.pack_s, 2 * 2 * 64 * 64 * 8e-9);
  // Each of two processors has three faces on two ranks, not four.
  machine.processor_count = 2;
  EXPECT_DOUBLE_EQ(plain({4, 1, 1}).time.pack_s, 3 * 2 * 64 * 64 * 8e-9);
}

TEST_F(Cube, TakesTheCheapestPack) {
  machine.blocked.rates = machine.copy.rates;
  machine.blocked.rates.front().bytes_per_second *= 2;
  EXPECT_EQ(plain({2, 2, 2}).pack,
            (PerDimension<Pack>{Pack::direct, Pack::blocked, Pack::blocked}));
  machine.datatype.rates = machine.copy.rates;
  machine.datatype.rates.front().bytes_per_second *= 10;
  EXPECT_EQ(plain({2, 2, 1}).pack, (PerDimension<Pack>{Pack::direct, Pack::datatype, Pack::none}));
}

TEST_F(Cube, OverlapHidesWhatMovesByItself) {
  problem.flops_per_cell = 10;
  machine.links.front().latency_s = 1e-5;
  const double wait_s = plain({4, 1, 1}).time.wait_s;
  EXPECT_NEAR(overlapped({4, 1, 1}, faces_first).time.wait_s, wait_s - 1e-5, 1e-12);
  machine.links.front().progress_share = 1;
  EXPECT_EQ(overlapped({4, 1, 1}, faces_first).time.wait_s, 0);
}

TEST_F(Cube, ALookAfterEachTileMovesTheRest) {
  machine.poll_s = 1e-6;
  const Cut plain_cut = plain({4, 1, 1});
  const Cut tiled = overlapped({4, 1, 1}, {.kind = Overlap::Kind::tiles, .tile_count = 4});
  EXPECT_NEAR(tiled.time.wait_s, plain_cut.time.wait_s / 4, 1e-12);
  EXPECT_NEAR(tiled.time.compute_s, plain_cut.time.compute_s + 3e-6, 1e-12);
}

TEST_F(Cube, OverlapPaysForItsSkinMostAcrossTheRows) {
  machine.skin_penalty = 1;
  machine.row_end_s = 1e-6;
  const auto penalty = [&](const ProcessGrid& grid) {
    return overlapped(grid, faces_first).time.compute_s - plain(grid).time.compute_s;
  };
  EXPECT_NEAR(penalty({4, 1, 1}), 2 * 64 * 64 * 1e-9, 1e-12);
  EXPECT_NEAR(penalty({1, 1, 4}), 2 * 64 * 64 * (1e-9 + 1e-6), 1e-9);
}

}  // namespace
}  // namespace sorrel::grid
