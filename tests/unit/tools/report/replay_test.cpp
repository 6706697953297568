#include "tools/sorrel/report/replay.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

#include "tools/sorrel/report/replay_program.hpp"

namespace sorrel::tool {
namespace {

constexpr std::int64_t us = 1000;

/// Ranks that compute and depend on each other; rank r is on worker r.
class Program {
 public:
  Program(std::uint32_t rank_count, std::vector<std::uint32_t> nodes) {
    program_.ranks.resize(rank_count);
    program_.begins.resize(rank_count);
    program_.nodes = std::move(nodes);
    for (std::uint32_t r = 0; r < rank_count; ++r) {
      program_.workers.push_back(r % static_cast<std::uint32_t>(program_.nodes.size()));
      program_.rank_nodes.push_back(program_.nodes[program_.workers.back()]);
    }
  }

  Program& on_worker(std::uint32_t rank, std::uint32_t worker) {
    program_.workers[rank] = worker;
    return *this;
  }

  Program& step(std::uint32_t rank,
                std::int64_t compute_ns,
                StepKind kind,
                std::uint32_t index = 0) {
    program_.ranks[rank].push_back(
        {.compute_ns = compute_ns, .mpi_ns = 0, .kind = kind, .index = index});
    return *this;
  }

  std::uint32_t message() {
    program_.events.push_back({.is_message = true, .distance = Distance::other_node, .bytes = 8});
    return static_cast<std::uint32_t>(program_.events.size() - 1);
  }

  std::uint32_t collective(std::uint32_t member_count, std::int64_t near_ns, std::int64_t far_ns) {
    program_.collectives.push_back(
        {.member_count = member_count, .near_ns = near_ns, .far_ns = far_ns});
    return static_cast<std::uint32_t>(program_.collectives.size() - 1);
  }

  void latency(const Latencies::Times& ns) { program_.latencies.set(Distance::other_node, 3, ns); }

  [[nodiscard]] std::int64_t time(const ReplaySetting& setting = {}) const {
    return replay(program_, setting).value_or(-1);
  }

 private:
  ReplayProgram program_;
};

TEST(ReplayTest, RanksOfOneWorkerRunOneAfterTheOther) {
  Program program(2, {0});
  program.step(0, 100 * us, StepKind::end).step(1, 50 * us, StepKind::end);
  EXPECT_EQ(program.time(), 150 * us);
}

TEST(ReplayTest, APauseIsHiddenByAnotherRank) {
  Program program(2, {0});
  program.step(0, 10 * us, StepKind::pause, 100 * us / pause_unit_ns)
      .step(0, 10 * us, StepKind::end)
      .step(1, 60 * us, StepKind::end);
  EXPECT_EQ(program.time(), 120 * us);
}

/// Two ranks in two processes, ten times: compute, send to the other, receive.
Program exchange() {
  Program program(2, {0, 1});
  constexpr std::int64_t compute_ns = 100 * us;
  program.latency({100 * us, 100 * us, 100 * us});
  for (int i = 0; i < 10; ++i) {
    const std::uint32_t there = program.message();
    const std::uint32_t back = program.message();
    program.step(0, compute_ns, StepKind::signal, there).step(0, 0, StepKind::need, back);
    program.step(1, compute_ns, StepKind::signal, back).step(1, 0, StepKind::need, there);
  }
  program.step(0, 0, StepKind::end).step(1, 0, StepKind::end);
  return program;
}

TEST(ReplayTest, MessagesTakeTheirLatency) {
  EXPECT_EQ(exchange().time(), 2000 * us);
  EXPECT_EQ(exchange().time({.latency_ns = 0}), 1000 * us);
  EXPECT_EQ(exchange().time({.latency_ns = 300 * us}), 4000 * us);
}

TEST(ReplayTest, MessagesTakeTheirQuartiles) {
  Program program = exchange();
  program.latency({50 * us, 100 * us, 200 * us});
  EXPECT_EQ(program.time({.quantile = Latencies::Quantile::lower}), 1500 * us);
  EXPECT_EQ(program.time(), 2000 * us);
  EXPECT_EQ(program.time({.quantile = Latencies::Quantile::upper}), 3000 * us);
  EXPECT_EQ(program.time({.has_flight = false}), 1000 * us);
}

TEST(ReplayTest, BalanceSpreadsTheWork) {
  // Four ranks of 100 us on worker 0, none on worker 1.
  Program program(4, {0, 0});
  for (std::uint32_t r = 0; r < 4; ++r)
    program.on_worker(r, 0).step(r, 100 * us, StepKind::end);
  EXPECT_EQ(program.time(), 400 * us);
  EXPECT_EQ(program.time({.balance = ReplayBalance::measured}), 200 * us);
  EXPECT_EQ(program.time({.balance = ReplayBalance::steal}), 200 * us);
}

TEST(ReplayTest, RanksStayOnTheirNode) {
  Program program(4, {0, 1});
  for (std::uint32_t r = 0; r < 4; ++r)
    program.on_worker(r, 0).step(r, 100 * us, StepKind::end);
  EXPECT_EQ(program.time({.balance = ReplayBalance::measured}), 400 * us);
  EXPECT_EQ(program.time({.balance = ReplayBalance::steal}), 400 * us);
}

TEST(ReplayTest, ACollectiveWaitsForItsLastMember) {
  Program program(2, {0, 0});
  const std::uint32_t all = program.collective(2, 7 * us, 90 * us);
  program.step(0, 10 * us, StepKind::arrive, all).step(0, 0, StepKind::leave, all);
  program.step(1, 50 * us, StepKind::arrive, all).step(1, 0, StepKind::leave, all);
  program.step(0, 20 * us, StepKind::end).step(1, 0, StepKind::end);
  EXPECT_EQ(program.time(), 77 * us);
}

TEST(ReplayTest, ACollectiveOfNodesWaitsForTheNetwork) {
  // Rank 0 arrives at 10 us, rank 1 on the other node at 50 us: after 30 us each has the other's.
  Program program(2, {0, 1});
  const std::uint32_t all = program.collective(2, 0, 30 * us);
  program.step(0, 10 * us, StepKind::arrive, all).step(0, 0, StepKind::leave, all);
  program.step(1, 50 * us, StepKind::arrive, all).step(1, 0, StepKind::leave, all);
  program.step(0, 0, StepKind::end).step(1, 100 * us, StepKind::end);
  EXPECT_EQ(program.time(), 150 * us);
}

TEST(ReplayTest, ACollectiveCrossesTheNetworkAsOftenAsBefore) {
  // With a latency of 15 us, 32 us are two crossings.
  Program program(2, {0, 1});
  program.latency({15 * us, 15 * us, 15 * us});
  const std::uint32_t all = program.collective(2, 0, 32 * us);
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    program.step(rank, 0, StepKind::arrive, all)
        .step(rank, 0, StepKind::leave, all)
        .step(rank, 0, StepKind::end);
  EXPECT_EQ(program.time(), 32 * us);
  EXPECT_EQ(program.time({.latency_ns = 100 * us}), 202 * us);
  EXPECT_EQ(program.time({.latency_ns = 0}), 2 * us);
  // Two nodes need no more than two crossings: the rest of 32 us has other reasons.
  program.latency({us, us, us});
  EXPECT_EQ(program.time({.latency_ns = 101 * us}), 232 * us);
}

TEST(ReplayTest, RanksThatWaitForEverAreAnError) {
  Program program(1, {0});
  program.step(0, 0, StepKind::need, program.message()).step(0, 0, StepKind::end);
  EXPECT_EQ(program.time(), -1);
}

}  // namespace
}  // namespace sorrel::tool
