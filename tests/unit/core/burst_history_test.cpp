// Which bursts are measured, and which are worth a loan.
#include "core/burst_history.hpp"

#include <cstdint>
#include <gtest/gtest.h>

namespace sorrel::core {
namespace {

constexpr BurstLimits limits{.lent_min = 1000, .pause = 50'000};
constexpr std::uint64_t long_burst = 10'000;
constexpr std::uint64_t short_burst = 10;

const void* site_number(std::uintptr_t number) {
  return reinterpret_cast<const void*>(0x400000 + 16 * number);
}

class OneSite : public testing::Test {
 protected:
  void record(std::uint64_t cycles, bool is_lent = false) {
    now_ += cycles;
    site_.record(cycles, is_lent, now_, limits);
  }

  bool is_due() {
    return site_.is_due([this] { return now_; });
  }

  BurstSite site_{site_number(1)};
  std::uint64_t now_ = 1;
};

TEST_F(OneSite, IsMeasuredBeforeItIsLent) {
  EXPECT_TRUE(is_due());
  EXPECT_FALSE(site_.is_worth_a_loan(limits));
  record(long_burst);
  EXPECT_TRUE(is_due());
  EXPECT_TRUE(site_.is_worth_a_loan(limits));
}

TEST_F(OneSite, IsMeasuredAgainOnlyAfterAPauseIfItsBurstsAreShort) {
  record(short_burst);
  for (int call = 0; call < 100; ++call)
    EXPECT_FALSE(is_due());
  now_ += limits.pause;
  int calls = 1;
  while (!is_due())
    ++calls;
  EXPECT_LE(calls, 8);
  EXPECT_TRUE(is_due());
}

TEST_F(OneSite, ReadsTheClockInFewCallsOfAPause) {
  record(short_burst);
  int readings = 0;
  for (int call = 0; call < 800; ++call) {
    static_cast<void>(site_.is_due([&] {
      ++readings;
      return now_;
    }));
  }
  EXPECT_LE(readings, 100);
}

TEST_F(OneSite, IsLentSoonAfterItsBurstsBecomeLong) {
  for (int i = 0; i < 20; ++i)
    record(short_burst);
  record(long_burst);
  EXPECT_TRUE(site_.is_worth_a_loan(limits));
}

TEST_F(OneSite, StaysAtHomeForAWhileIfLoansTakeMuchLonger) {
  record(long_burst);
  record(2 * long_burst, true);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(site_.is_worth_a_loan(limits));
    record(long_burst);
  }
  EXPECT_TRUE(site_.is_worth_a_loan(limits));
}

TEST_F(OneSite, StaysAtHomeLongerEachTime) {
  record(long_burst);
  int home_count = 0;
  for (int round = 0; round < 8; ++round) {
    record(4 * long_burst, true);
    home_count = 0;
    for (; !site_.is_worth_a_loan(limits); ++home_count)
      record(long_burst);
  }
  EXPECT_EQ(home_count, 64);
}

TEST_F(OneSite, IsLentOnIfLoansTakeALittleLonger) {
  record(long_burst);
  for (int i = 0; i < 20; ++i) {
    record(long_burst + long_burst / 5, true);
    EXPECT_TRUE(site_.is_worth_a_loan(limits));
  }
}

TEST_F(OneSite, IsLentOnWhenItsWorkHasGrown) {
  record(long_burst);
  record(3 * long_burst, true);
  for (int i = 0; i < 4; ++i)
    record(3 * long_burst);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(site_.is_worth_a_loan(limits));
    record(3 * long_burst, true);
  }
}

TEST(BurstHistoryOfAFiber, KeepsSitesApart) {
  BurstHistory history;
  history.at(site_number(1)).record(long_burst, false, 1, limits);
  EXPECT_FALSE(history.at(site_number(2)).is_worth_a_loan(limits));
  EXPECT_TRUE(history.at(site_number(1)).is_worth_a_loan(limits));
}

TEST(BurstHistoryOfAFiber, NeverTakesOneSiteForAnother) {
  BurstHistory history;
  for (std::uintptr_t i = 0; i < 1000; ++i) {
    BurstSite& site = history.at(site_number(i));
    EXPECT_EQ(site.call_site(), site_number(i));
    EXPECT_FALSE(site.is_worth_a_loan(limits));
    site.record(long_burst, false, 1, limits);
  }
}

}  // namespace
}  // namespace sorrel::core
