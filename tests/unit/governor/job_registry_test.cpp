#include "governor/job_registry.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <memory>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "os/shared_page.hpp"

namespace sorrel::governor {
namespace {

constexpr JobRegistry::Cpus all_cpus{0xf};

class TwoProcesses : public testing::Test {
 protected:
  std::unique_ptr<JobRegistry::Page> page_ = std::make_unique<JobRegistry::Page>();
  const std::uint64_t mine_ = os::own_process_identity();
  /// A second process identity. JobRegistry reclaims when it is constructed, so this comes first.
  const std::uint64_t other_ = mine_ + 1;
};

TEST_F(TwoProcesses, ShareTheProcessorsByTheirDemands) {
  JobRegistry first(page_.get(), mine_, all_cpus);
  first.set_demand(4);
  EXPECT_EQ(first.read(4, 4).fair_share, 4U);
  {
    JobRegistry second(page_.get(), mine_ + 1, all_cpus);
    second.set_demand(4);
    EXPECT_EQ(first.read(4, 4).fair_share, 2U);
    EXPECT_EQ(first.read(4, 4).process_count, 2U);
    second.set_demand(1);
    EXPECT_EQ(first.read(4, 4).fair_share, 3U);
    second.set_demand(0);
    EXPECT_EQ(first.read(4, 4).fair_share, 4U);
    EXPECT_EQ(second.read(4, 4).fair_share, 2U) << "what it will get when it comes back";
    second.set_demand(4);
  }
  EXPECT_EQ(first.read(4, 4).process_count, 1U) << "it has left";
}

TEST_F(TwoProcesses, PublishWhetherTheyKeepTheirThreads) {
  JobRegistry first(page_.get(), mine_, all_cpus);
  first.set_demand(4, false);
  JobRegistry second(page_.get(), mine_ + 1, all_cpus);
  EXPECT_TRUE(first.read(4, 4).do_all_keep) << "no other process has work";
  second.set_demand(4, true);
  EXPECT_TRUE(first.read(4, 4).do_all_keep);
  EXPECT_FALSE(second.read(4, 4).do_all_keep);
  EXPECT_EQ(first.read(4, 4).fair_share, 2U);
}

TEST_F(TwoProcesses, AreNotifiedWhenPeersComeAndGo) {
  JobRegistry first(page_.get(), mine_, all_cpus);
  std::uint32_t known = first.change_count();
  const auto is_news = [&] {
    const std::uint32_t before = std::exchange(known, first.change_count());
    return before != known;
  };
  {
    JobRegistry second(page_.get(), mine_ + 1, all_cpus);
    EXPECT_FALSE(is_news()) << "it wants nothing yet";
    second.set_demand(4);
    EXPECT_TRUE(is_news());
    second.set_demand(2, true);
    EXPECT_FALSE(is_news()) << "no reason to hurry";
    second.set_demand(0);
    EXPECT_TRUE(is_news());
    second.set_demand(1);
    EXPECT_TRUE(is_news());
  }
  EXPECT_TRUE(is_news()) << "it has left";
}

TEST_F(TwoProcesses, SleepUntilThereIsAChange) {
  JobRegistry first(page_.get(), mine_, all_cpus);
  JobRegistry second(page_.get(), mine_ + 1, all_cpus);
  constexpr std::int64_t for_ever_ns = 3600'000'000'000;
  const std::uint32_t known = first.change_count();
  std::thread teller([&] { second.publish_change(); });
  while (first.change_count() == known)
    first.wait_for_change(known, for_ever_ns);
  teller.join();
  first.wait_for_change(known, for_ever_ns);
  JobRegistry alone(nullptr, mine_, all_cpus);
  const std::uint32_t own = alone.change_count();
  alone.publish_change();
  EXPECT_NE(alone.change_count(), own);
  alone.wait_for_change(own, for_ever_ns);
}

TEST_F(TwoProcesses, ADeregisteredProcessHasNoDemandWhateverIsSetLater) {
  JobRegistry first(page_.get(), mine_, all_cpus);
  {
    JobRegistry second(page_.get(), mine_ + 1, all_cpus);
    second.set_demand(4, true);
    const std::uint32_t known = first.change_count();
    second.deregister();
    EXPECT_NE(first.change_count(), known);
    EXPECT_EQ(first.read(4, 4).process_count, 1U);
    second.set_demand(4);
    second.deregister();
    EXPECT_EQ(first.read(4, 4).process_count, 1U);
    EXPECT_EQ(first.change_count(), known + 1);
  }
  JobRegistry third(page_.get(), mine_ + 1, all_cpus);
  third.set_demand(4);
  EXPECT_EQ(first.read(4, 4).process_count, 2U) << "its entry serves the next one";
}

TEST_F(TwoProcesses, OnDifferentProcessorsDoNotCompete) {
  JobRegistry first(page_.get(), mine_, JobRegistry::Cpus{1});
  JobRegistry second(page_.get(), mine_ + 1, JobRegistry::Cpus{2});
  second.set_demand(1);
  EXPECT_EQ(first.read(1, 1).process_count, 1U);
}

TEST_F(TwoProcesses, EntriesOfTheDeadAreReclaimed) {
  const pid_t child = fork();
  if (child == 0) pause();
  JobRegistry first(page_.get(), mine_, all_cpus);
  // As if the child had taken an entry: its number, and an unknown start time.
  const std::uint64_t identity = static_cast<std::uint64_t>(child) << 32 | 1;
  page_->entries[5].identity.store(identity);
  page_->entries[5].cpus[0].store(0xf);
  page_->entries[5].demand.store(4);
  EXPECT_EQ(first.read(4, 4).process_count, 2U);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  first.reclaim();
  EXPECT_EQ(first.read(4, 4).process_count, 1U);
  EXPECT_EQ(page_->entries[5].identity.load(), 0U);
}

TEST_F(TwoProcesses, EntriesOfTheDeadAreReclaimedBeforeTheirParentsReapThem) {
  // A launcher that reaps slowly must not cost live processes their share.
  int said[2];
  ASSERT_EQ(pipe(said), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::uint64_t identity = os::own_process_identity();
    _exit(write(said[1], &identity, sizeof identity) == sizeof identity ? 0 : 1);
  }
  close(said[1]);
  std::uint64_t identity = 0;
  ASSERT_EQ(read(said[0], &identity, sizeof identity), ssize_t{sizeof identity});
  close(said[0]);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  ASSERT_EQ(kill(child, 0), 0) << "the system still knows its number";
  page_->entries[5].identity.store(identity);
  page_->entries[5].cpus[0].store(0xf);
  page_->entries[5].demand.store(4);
  JobRegistry first(page_.get(), mine_, all_cpus);
  EXPECT_EQ(first.read(4, 4).process_count, 1U);
  EXPECT_EQ(page_->entries[5].identity.load(), 0U);
  waitpid(child, nullptr, 0);
}

TEST_F(TwoProcesses, WithoutAPageAProcessHasNoPeers) {
  JobRegistry alone(nullptr, mine_, all_cpus);
  alone.set_demand(4);
  EXPECT_EQ(alone.read(4, 4).fair_share, 4U);
  alone.reclaim();
}

TEST_F(TwoProcesses, AProcessWithoutAFreeEntryHasNoPeers) {
  for (auto& entry : page_->entries)
    entry.identity.store(mine_ + 7);
  JobRegistry late(page_.get(), mine_, all_cpus);
  EXPECT_EQ(late.read(4, 4).process_count, 1U);
}

}  // namespace
}  // namespace sorrel::governor
