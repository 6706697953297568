#include "unit/governor/wait_model.hpp"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <tuple>
#include <vector>

namespace sorrel::governor {
namespace {

constexpr std::int64_t millisecond_ns = 1'000'000;
/// Length of the exchanges after the pause: with some ticks of the monitor.
constexpr std::int64_t run_ns = 50 * millisecond_ns;

/// The policy that Sorrel had first: a spin of 50 us at most, halved after a long sleep, and none
/// while the wake-ups take more than 5 % of the threads' time.
class HalvingPolicy {
 public:
  explicit HalvingPolicy(std::uint32_t worker_count) : spins_ns_(worker_count, most_ns) {}

  [[nodiscard]] std::int64_t limit_ns(std::uint32_t worker) const {
    return may_spin_ ? spins_ns_[worker] : 0;
  }

  void end_wait(std::uint32_t worker, std::int64_t wait_ns, std::int64_t slept_ns) {
    std::int64_t& spin_ns = spins_ns_[worker];
    if (slept_ns != 0) {
      spin_ns = slept_ns < most_ns ? most_ns : std::max<std::int64_t>(spin_ns / 2, 2'000);
    } else if (wait_ns > 4'000) {
      spin_ns = std::min(most_ns, spin_ns + spin_ns / 8);
    }
  }

  static std::int64_t delay_ns(const os::RunTimes& from, const os::RunTimes& to) {
    return to.delay_ns - from.delay_ns;
  }

  void update(const GovernorSample& sample) {
    const auto run = static_cast<double>(sample.run_ns - last_.run_ns);
    const auto delay = static_cast<double>(sample.delay_ns - last_.delay_ns);
    if (run + delay > 1e6) may_spin_ = delay / (run + delay) < 0.05;
    last_ = sample;
  }

 private:
  static constexpr std::int64_t most_ns = 50'000;
  std::vector<std::int64_t> spins_ns_;
  GovernorSample last_;
  bool may_spin_ = true;
};

using Case = std::tuple<std::uint32_t, Exchange, std::int64_t>;

WaitOptions options_of(const Case& one) {
  const auto [worker_count, exchange, wake_ns] = one;
  // Steps of 128 workers are longer, so that they are fewer.
  return {.worker_count = worker_count,
          .exchange = exchange,
          .work_ns = worker_count > 16 ? 40'000 : 3'000,
          .wake_ns = wake_ns};
}

class WaitingWorkers : public testing::TestWithParam<Case> {};

TEST_P(WaitingWorkers, LeaveTheSleepingStateWithinAMillisecondAfterAPause) {
  const WaitOptions options = options_of(GetParam());
  WaitModel<WaitPolicy> model(options);
  model.run_until(options.pause_ns + run_ns);
  EXPECT_LT(model.last_sleep_ns() - options.pause_ns, millisecond_ns);
  EXPECT_LE(model.sleep_count(), 2 * options.worker_count);
  EXPECT_TRUE(model.policy().may_spin());
  EXPECT_GT(model.step_count(), run_ns / (2 * options.work_ns + 5'000));
}

/// Waits that are too long to poll come again and again.
TEST_P(WaitingWorkers, SleepOnceInEachLongWait) {
  WaitOptions options = options_of(GetParam());
  options.long_every = 20;
  options.long_ns = 3 * millisecond_ns;
  for (const bool is_taken : {false, true}) {
    options.is_taken = is_taken;
    WaitModel<WaitPolicy> model(options);
    model.run_until(options.pause_ns + run_ns);
    const std::uint64_t long_count = model.step_count() / options.long_every;
    EXPECT_GT(long_count, 5U);
    EXPECT_LE(model.sleep_count(), 2 * (long_count + 2) * options.worker_count);
    EXPECT_LT(model.last_sleep_ns() - model.last_long_ns(), millisecond_ns);
    EXPECT_TRUE(model.policy().may_spin());
  }
}

INSTANTIATE_TEST_SUITE_P(Machines,
                         WaitingWorkers,
                         testing::Combine(testing::Values(16U, 128U),
                                          testing::Values(Exchange::ring, Exchange::tree),
                                          testing::Values(5'000, 30'000, 100'000)));

TEST(WaitModelTest, AHalvedSpinAndWakeUpsThatCountAsWaitsKeepWorkersAsleep) {
  for (const Exchange exchange : {Exchange::ring, Exchange::tree}) {
    const WaitOptions options = options_of({16, exchange, 100'000});
    const std::int64_t end_ns = options.pause_ns + run_ns;
    WaitModel<HalvingPolicy> halving(options);
    halving.run_until(end_ns);
    WaitModel<WaitPolicy> patient(options);
    patient.run_until(end_ns);
    EXPECT_GT(halving.last_sleep_ns(), end_ns - millisecond_ns) << "until the end";
    EXPECT_GT(patient.step_count(), 5 * halving.step_count());
  }
}

}  // namespace
}  // namespace sorrel::governor
