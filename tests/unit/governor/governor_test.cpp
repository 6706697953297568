#include "governor/governor.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

#include "base/prng.hpp"
#include "unit/core/fiber_run.hpp"
#include "unit/governor/machine_model.hpp"

namespace sorrel::governor {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t ms_ns = 1'000'000;

TEST(FairShareTest, EqualDemandsShareEquallyAndTheFirstGetTheRest) {
  const std::vector<std::uint32_t> demands(3, 64);
  EXPECT_EQ(fair_share(64, demands, 0), 22U);
  EXPECT_EQ(fair_share(64, demands, 1), 21U);
  EXPECT_EQ(fair_share(64, demands, 2), 21U);
}

TEST(FairShareTest, WhatOneDoesNotDemandTheOthersGet) {
  const std::vector<std::uint32_t> demands = {1, 16, 0, 16};
  EXPECT_EQ(fair_share(16, demands, 0), 1U);
  EXPECT_EQ(fair_share(16, demands, 1), 8U);
  EXPECT_EQ(fair_share(16, demands, 3), 7U);
}

TEST(FairShareTest, NoShareIsLessThanOne) {
  const std::vector<std::uint32_t> demands(5, 2);
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_EQ(fair_share(2, demands, i), 1U);
  EXPECT_EQ(fair_share(2, std::vector<std::uint32_t>{0, 2}, 0), 1U);
}

TEST(FairShareTest, SharesSpendAllThatIsDemandedAndAreMaxMinFair) {
  Prng random(core::test_seed());
  for (int round = 0; round < 2000; ++round) {
    const auto cpus = 1 + static_cast<std::uint32_t>(random.below(64));
    std::vector<std::uint32_t> demands(1 + random.below(cpus));
    std::uint32_t wanted = 0;
    for (std::uint32_t& demand : demands)
      wanted += demand = 1 + static_cast<std::uint32_t>(random.below(cpus));
    std::uint32_t given = 0;
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < demands.size(); ++i) {
      const std::uint32_t share = fair_share(cpus, demands, i);
      EXPECT_LE(share, demands[i]);
      given += share;
      most = std::max(most, share);
    }
    EXPECT_EQ(given, std::min(wanted, cpus));
    for (std::size_t i = 0; i < demands.size(); ++i) {
      if (fair_share(cpus, demands, i) < demands[i]) {
        EXPECT_GE(fair_share(cpus, demands, i) + 1, most);
      }
    }
  }
}

struct TableRow {
  std::uint32_t cpus;
  std::uint32_t jobs;
};

// The case in which first-come-first-served rules fail: always-parallel jobs that each demand every
// processor, and arrive half a second apart.
class SimulatedJobs : public testing::TestWithParam<TableRow> {};

TEST_P(SimulatedJobs, AsPeersGetFairSharesWithoutOversubscription) {
  MachineModel machine({.cpus = GetParam().cpus, .job_count = GetParam().jobs});
  machine.run();
  EXPECT_EQ(machine.oversubscription(), 0);
  EXPECT_EQ(machine.idleness(), 0);
  EXPECT_GT(machine.fairness(), 0.995);
}

TEST_P(SimulatedJobs, AsPeersWithCoarseLoopsKeepTheirThreadsAndGetEqualTime) {
  MachineModel machine(
      {.cpus = GetParam().cpus, .job_count = GetParam().jobs, .loop_ns = 5 * ms_ns});
  machine.run();
  // At least as many jobs as processors: one thread each keeps them busy.
  const bool have_room = GetParam().jobs < GetParam().cpus;
  EXPECT_EQ(machine.oversubscription(), have_room ? GetParam().jobs - 1 : 0);
  EXPECT_GT(machine.fairness(), 0.995);
  EXPECT_EQ(machine.may_spin(0), !have_room);
}

TEST_P(SimulatedJobs, ThatAreNoPeersAreFairWhenTheyAreYielding) {
  MachineModel machine({.cpus = GetParam().cpus,
                        .job_count = GetParam().jobs,
                        .share = Share::yielding,
                        .are_peers = false});
  machine.run();
  // Only the trials to grow remain.
  EXPECT_LT(machine.oversubscription(), 0.45);
  EXPECT_LT(machine.idleness(), 0.05);
  EXPECT_GT(machine.fairness(), 0.65);
}

INSTANTIATE_TEST_SUITE_P(Table,
                         SimulatedJobs,
                         testing::Values(TableRow{4, 2},
                                         TableRow{4, 4},
                                         TableRow{16, 2},
                                         TableRow{16, 4},
                                         TableRow{16, 8},
                                         TableRow{64, 3}));

TEST(GovernorTest, SharesAreRightWithin50MsOfAnArrivalAndOfALeaving) {
  MachineModel machine({.cpus = 16, .job_count = 2, .arrival_ns = 2 * second_ns});
  machine.run_until(2 * second_ns);
  EXPECT_EQ(machine.width(0), 16U);
  machine.run_until(2 * second_ns + 50 * ms_ns);
  EXPECT_EQ(machine.width(0), 8U);
  EXPECT_EQ(machine.width(1), 8U);
  machine.end_job(1);
  machine.run_until(2 * second_ns + 100 * ms_ns);
  EXPECT_EQ(machine.width(0), 16U);
}

TEST(GovernorTest, UnderExternalLoadAFairJobKeepsItsThreadsAndDoesNotSpin) {
  MachineModel machine({.cpus = 4, .job_count = 1, .external_threads = 4});
  machine.run_until(second_ns);
  EXPECT_EQ(machine.width(0), 4U);
  EXPECT_FALSE(machine.may_spin(0));
}

TEST(GovernorTest, UnderExternalLoadAYieldingJobShrinks) {
  MachineModel machine(
      {.cpus = 4, .job_count = 1, .share = Share::yielding, .external_threads = 4});
  machine.run_until(second_ns);
  EXPECT_LE(machine.width(0), 3U);
}

TEST(GovernorTest, AFixedJobIsLeftAloneButDoesNotSpinUnderLoad) {
  MachineModel machine({.cpus = 4, .job_count = 3, .share = Share::fixed});
  machine.run_until(5 * second_ns);
  for (std::size_t job = 0; job < 3; ++job) {
    EXPECT_EQ(machine.width(job), 4U);
    EXPECT_FALSE(machine.may_spin(job));
  }
}

TEST(GovernorTest, AloneAJobHasEverythingAndMaySpin) {
  MachineModel machine({.cpus = 8, .job_count = 1, .share = Share::yielding});
  machine.run_until(5 * second_ns);
  EXPECT_EQ(machine.width(0), 8U);
  EXPECT_TRUE(machine.may_spin(0));
}

/// Two ranks of a process that exchanges messages for half a millisecond now and then.
struct Bursts {
  Governor governor{{.width_max = 2, .has_fibers = true}};
  GovernorSample sample{.cpus = 2, .fair_share = 2};

  bool may_spin_after(std::int64_t run_ns, std::int64_t delay_ns) {
    sample.now_ns += Governor::sample_period_ns;
    sample.run_ns += run_ns;
    sample.delay_ns += delay_ns;
    return governor.update(sample).may_spin;
  }
};

TEST(GovernorTest, ALateWakeUpInAShortBurstIsNoWaitForACore) {
  Bursts one;
  one.may_spin_after(0, 0);
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(one.may_spin_after(ms_ns, ms_ns / 2)) << i;
  EXPECT_FALSE(one.may_spin_after(ms_ns, 3 * ms_ns)) << "a time slice";
}

TEST(GovernorTest, AProhibitionToSpinEndsInAPause) {
  Bursts one;
  one.may_spin_after(0, 0);
  for (int burst = 0; burst < 10; ++burst) {
    EXPECT_FALSE(one.may_spin_after(ms_ns, 3 * ms_ns)) << burst;
    bool may_spin = false;
    for (int tick = 0; tick < 17 && !may_spin; ++tick)
      may_spin = one.may_spin_after(100'000, 0);
    EXPECT_TRUE(may_spin) << burst;
  }
}

TEST(GovernorTest, ReportsWhetherProcessesOutnumberTheProcessors) {
  MachineModel machine({.cpus = 2, .job_count = 3, .arrival_ns = second_ns});
  machine.run_until(second_ns + 50 * ms_ns);
  EXPECT_FALSE(machine.is_crowded(0)) << "each has a processor of its own";
  machine.run_until(2 * second_ns + 50 * ms_ns);
  EXPECT_TRUE(machine.is_crowded(0));
  machine.end_job(1);
  machine.run_until(2 * second_ns + 100 * ms_ns);
  EXPECT_FALSE(machine.is_crowded(0));
}

TEST(GovernorTest, PeersThatKeepTheirThreadsAreACrowd) {
  MachineModel machine({.cpus = 4, .job_count = 2, .loop_ns = 5 * ms_ns, .arrival_ns = second_ns});
  machine.run_until(second_ns);
  EXPECT_FALSE(machine.is_crowded(0));
  machine.run_until(second_ns + 100 * ms_ns);
  EXPECT_TRUE(machine.is_crowded(0));
}

TEST(GovernorTest, AQuotaCapsTheWidthAndTheLeastIsKept) {
  Governor governor({.width_min = 3, .width_max = 8, .share = Share::fair});
  GovernorSample sample{.cpus = 5, .fair_share = 8};
  EXPECT_EQ(governor.update(sample).width, 5U);
  sample.cpus = 1;
  EXPECT_EQ(governor.update(sample).width, 3U);
}

/// One of two peer jobs on 3 processors; time advances by 20 ms steps.
struct Friend {
  Governor governor;
  GovernorSample sample{.cpus = 3, .fair_share = 1, .process_count = 2, .do_peers_keep = true};

  std::uint32_t run_ms_and_get_width(std::int64_t run_ms, std::int64_t loops, std::int64_t slices) {
    sample.now_ns += Governor::sample_period_ns;
    sample.run_ns += run_ms * ms_ns;
    sample.delay_ns += run_ms * ms_ns;
    sample.loop_count += loops;
    sample.slice_count += slices;
    return governor.update(sample).width;
  }
};

TEST(GovernorTest, ItsThreadsAreKeptOnlyIfAllPeersKeepTheirs) {
  Friend one{Governor({.width_max = 2})};
  one.run_ms_and_get_width(20, 4, 8);
  EXPECT_EQ(one.run_ms_and_get_width(20, 4, 8), 2U);
  one.sample.do_peers_keep = false;
  EXPECT_EQ(one.run_ms_and_get_width(20, 4, 8), 1U);
}

TEST(GovernorTest, ItsThreadsAreGivenBackWhenItsLoopsBecomeShort) {
  Friend one{Governor({.width_max = 2})};
  one.run_ms_and_get_width(20, 4, 8);
  EXPECT_EQ(one.run_ms_and_get_width(20, 4, 8), 2U);
  EXPECT_EQ(one.run_ms_and_get_width(20, 600, 8), 1U);
  EXPECT_EQ(one.run_ms_and_get_width(20, 4, 8), 2U);
}

TEST(GovernorTest, FibersThatSynchroniseOftenAreDetectedByTheSleepOfTheirThreads) {
  Friend one{Governor({.width_max = 2, .has_fibers = true})};
  one.run_ms_and_get_width(0, 0, 0);
  EXPECT_EQ(one.run_ms_and_get_width(20, 0, 400), 1U);
  // With one thread, no thread sleeps, which gives no information.
  EXPECT_EQ(one.run_ms_and_get_width(20, 0, 4), 1U);
  EXPECT_EQ(one.run_ms_and_get_width(20, 0, 4), 1U);
  one.sample.process_count = 1;
  one.sample.fair_share = 2;
  EXPECT_EQ(one.run_ms_and_get_width(20, 0, 4), 2U) << "alone";
}

}  // namespace
}  // namespace sorrel::governor
