#include "tools/sorrel/report/split_program.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tools/sorrel/report/replay.hpp"

namespace sorrel::tool {
namespace {

constexpr std::int64_t microsecond = 1000;
constexpr std::int64_t millisecond = 1000 * microsecond;
constexpr std::uint32_t traced_steps = 40;
/// From a network of a machine room to one around the world.
constexpr std::int64_t latencies_ns[] = {20 * microsecond, 200 * microsecond, 2 * millisecond,
                                         20 * millisecond};

/// A job of `rank_count` ranks in two nodes of one worker each, half of the ranks in either. In
/// each step a rank computes, sends to its partners, and receives from those that send to it.
struct PatternJob {
  std::uint32_t rank_count = 4;
  std::int64_t latency_ns = 0;
  std::int64_t compute_ns = 0;  ///< of all ranks, in a step
  std::function<bool(std::uint32_t from, std::uint32_t to)> sends;
  std::uint64_t bytes = 64;
  bool has_collective = false;

  [[nodiscard]] ReplayProgram program() const {
    ReplayProgram program;
    program.ranks.resize(rank_count);
    program.nodes = {0, 1};
    program.begins.assign(rank_count, 0);
    for (std::uint32_t rank = 0; rank < rank_count; ++rank) {
      program.workers.push_back(2 * rank / rank_count);
      program.rank_nodes.push_back(2 * rank / rank_count);
    }
    program.latencies.set(Distance::other_node, 0, {latency_ns, latency_ns, latency_ns});
    program.latencies.set(Distance::same_worker, 0, {0, 0, 0});
    for (std::uint32_t step = 0; step < traced_steps; ++step)
      add_step(program);
    for (auto& steps : program.ranks) {
      steps.push_back({.kind = StepKind::end});
      program.step_count += steps.size();
    }
    return program;
  }

  void add_step(ReplayProgram& program) const {
    for (std::uint32_t rank = 0; rank < rank_count; ++rank)
      program.ranks[rank].push_back(
          {.compute_ns = compute_ns / rank_count, .kind = StepKind::pause});
    if (has_collective) {
      const auto collective = static_cast<std::uint32_t>(program.collectives.size());
      program.collectives.push_back({.member_count = rank_count, .far_ns = latency_ns});
      for (auto& steps : program.ranks) {
        steps.push_back({.kind = StepKind::arrive, .index = collective});
        steps.push_back({.kind = StepKind::leave, .index = collective});
      }
    }
    std::vector<std::vector<std::uint32_t>> needs(rank_count);
    for (std::uint32_t from = 0; from < rank_count; ++from) {
      for (std::uint32_t to = 0; to < rank_count; ++to) {
        if (from == to || !sends(from, to)) continue;
        const auto event = static_cast<std::uint32_t>(program.events.size());
        program.events.push_back(
            {.is_message = true, .distance = program.distance_of(from, to), .bytes = bytes});
        program.ranks[from].push_back({.kind = StepKind::signal, .index = event});
        needs[to].push_back(event);
      }
    }
    for (std::uint32_t rank = 0; rank < rank_count; ++rank)
      for (const std::uint32_t event : needs[rank])
        program.ranks[rank].push_back({.kind = StepKind::need, .index = event});
  }

  [[nodiscard]] PatternJob with(std::uint32_t ranks) const {
    PatternJob other = *this;
    other.rank_count = ranks;
    return other;
  }
};

/// Each rank sends to the next one, the last one to the first.
PatternJob ring_of(std::uint32_t ranks) {
  return {.rank_count = ranks, .sends = [ranks](std::uint32_t from, std::uint32_t to) {
            return (from + 1) % ranks == to;
          }};
}

/// Neighbours exchange; the first rank and the last one have one neighbour.
PatternJob line_of(std::uint32_t ranks) {
  return {.rank_count = ranks, .sends = [](std::uint32_t from, std::uint32_t to) {
            return from + 1 == to || to + 1 == from;
          }};
}

/// Rows of `width` ranks; neighbours exchange, also with the rows above and below.
PatternJob grid_of(std::uint32_t width, std::uint32_t height) {
  return {.rank_count = width * height, .sends = [width](std::uint32_t from, std::uint32_t to) {
            const bool is_row = from / width == to / width;
            return (is_row && (from + 1 == to || to + 1 == from)) || from + width == to ||
                   to + width == from;
          }};
}

std::int64_t replay_time(const ReplayProgram& program) {
  return replay(program, {}).value_or(-1);
}

std::int64_t split_time(const PatternJob& job, std::uint32_t factor, SplitShape shape) {
  const Result<ReplayProgram> split = split_program(job.program(), factor, shape);
  return split.has_value() ? replay_time(split.value()) : -1;
}

/// Without computing, exactly: a rank ends a step when its own step before has ended and what its
/// partners sent has come.
std::int64_t exact_time(const PatternJob& job) {
  std::vector<std::int64_t> ends(job.rank_count, 0);
  for (std::uint32_t step = 0; step < traced_steps; ++step) {
    std::vector<std::int64_t> next = ends;
    for (std::uint32_t from = 0; from < job.rank_count; ++from) {
      for (std::uint32_t to = 0; to < job.rank_count; ++to) {
        if (from == to || !job.sends(from, to)) continue;
        const bool is_far = 2 * from / job.rank_count != 2 * to / job.rank_count;
        next[to] = std::max(next[to], ends[from] + (is_far ? job.latency_ns : 0));
      }
    }
    ends = next;
  }
  return *std::ranges::max_element(ends);
}

TEST(SplitProgramTest, ARingWithMoreRanksWaitsAsLongAsThatRing) {
  for (const std::int64_t latency_ns : latencies_ns) {
    PatternJob job = ring_of(4);
    job.latency_ns = latency_ns;
    for (const std::uint32_t factor : {2U, 4U, 8U}) {
      PatternJob wanted = ring_of(4 * factor);
      wanted.latency_ns = latency_ns;
      EXPECT_EQ(split_time(job, factor, SplitShape::rows), exact_time(wanted)) << factor;
      EXPECT_EQ(replay_time(wanted.program()), exact_time(wanted)) << factor;
    }
    // Where each part waits for the network in each step, nothing is gained.
    EXPECT_EQ(split_time(job, 4, SplitShape::apart), exact_time(job));
  }
}

TEST(SplitProgramTest, ALineWithMoreRanksWaitsAsLongAsThatLine) {
  for (const std::int64_t latency_ns : latencies_ns) {
    PatternJob job = line_of(4);
    job.latency_ns = latency_ns;
    PatternJob wanted = line_of(16);
    wanted.latency_ns = latency_ns;
    EXPECT_EQ(split_time(job, 4, SplitShape::rows), exact_time(wanted));
    // Both directions of one border: each step waits for it.
    EXPECT_EQ(exact_time(wanted), traced_steps * latency_ns);
  }
}

TEST(SplitProgramTest, PartsTakeTheTimeOfTheJobWithAsManyRanks) {
  for (const std::int64_t latency_ns : latencies_ns) {
    for (const std::int64_t compute_ns : {100 * microsecond, 4 * millisecond}) {
      const auto expect_same = [&](PatternJob job, PatternJob wanted, const char* what) {
        job.latency_ns = wanted.latency_ns = latency_ns;
        job.compute_ns = wanted.compute_ns = compute_ns;
        const std::uint32_t factor = wanted.rank_count / job.rank_count;
        EXPECT_EQ(split_time(job, factor, SplitShape::rows), replay_time(wanted.program()))
            << what << ", latency " << latency_ns << ", computing " << compute_ns;
      };
      expect_same(ring_of(4), ring_of(16), "ring");
      expect_same(ring_of(8), ring_of(16), "ring of 8");
      expect_same(line_of(4), line_of(16), "line");
      expect_same(grid_of(4, 4), grid_of(16, 4), "grid");
      PatternJob all = ring_of(4);
      all.has_collective = true;
      all.sends = [](std::uint32_t, std::uint32_t) { return false; };
      expect_same(all, all.with(32), "all to all");
    }
  }
}

TEST(SplitProgramTest, MessagesWithinARowStayAsLongAndOthersShrink) {
  PatternJob job = grid_of(4, 4);
  job.bytes = 4000;
  const Result<ReplayProgram> split = split_program(job.program(), 4, SplitShape::rows);
  ASSERT_TRUE(split.has_value()) << split.error();
  std::uint64_t in_rows = 0;
  std::uint64_t between_rows = 0;
  for (const ReplayEvent& event : split.value().events)
    ++(event.bytes == 4000 ? in_rows : between_rows);
  // Four rows of 16 ranks; 16 columns of 4.
  EXPECT_EQ(in_rows, std::uint64_t{traced_steps} * 4 * 15 * 2);
  EXPECT_EQ(between_rows, std::uint64_t{traced_steps} * 16 * 3 * 2);
}

TEST(SplitProgramTest, WhatIsNotKnownIsRefused) {
  const auto error_of = [](const PatternJob& job) {
    return split_program(job.program(), 2, SplitShape::rows).error_or("");
  };
  EXPECT_EQ(error_of(ring_of(2)), "fewer than 4 ranks do not show which ones are neighbours");
  EXPECT_EQ(error_of(grid_of(2, 4)), "no rank has a neighbour on both sides");
  PatternJob all = ring_of(4);
  all.sends = [](std::uint32_t, std::uint32_t) { return true; };
  EXPECT_EQ(error_of(all), "ranks exchange messages with more than their neighbours");
  PatternJob to_first = ring_of(4);
  to_first.sends = [](std::uint32_t, std::uint32_t to) { return to == 0; };
  EXPECT_EQ(error_of(to_first), "no rank has a neighbour on both sides");
}

TEST(SplitProgramTest, ColdStartsShrinkLessThanTheirWork) {
  ReplayProgram program;
  program.ranks = {{{.compute_ns = 100 * microsecond, .kind = StepKind::pause, .is_cold = true},
                    {.compute_ns = 80 * microsecond, .kind = StepKind::end}}};
  program.cold_start_ns = 20 * microsecond;
  program.begins = {0};
  program.workers = program.rank_nodes = program.nodes = {0};
  EXPECT_EQ(replay_time(program), 180 * microsecond);
  const Result<ReplayProgram> split = split_program(program, 16, SplitShape::apart);
  ASSERT_TRUE(split.has_value()) << split.error();
  // Sixteen parts of 5 + 10 + 5 microsecond.
  EXPECT_EQ(replay_time(split.value()), 320 * microsecond);
}

}  // namespace
}  // namespace sorrel::tool
