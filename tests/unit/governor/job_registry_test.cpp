#include "governor/job_registry.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "os/shared_page.hpp"
#include "os/user_pages.hpp"

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

/// Two users with a page each, in a folder as an administrator makes it.
class TwoUsers : public testing::Test {
 protected:
  static constexpr uid_t other_user = 54321;

  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to be another user";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    ASSERT_EQ(chmod(folder_.c_str(), 01777), 0);
    ASSERT_EQ(pipe(to_child_), 0);
    ASSERT_EQ(pipe(from_child_), 0);
  }

  void TearDown() override { std::filesystem::remove_all(folder_); }

  JobRegistry registry_of_this_process() {
    std::string trouble;
    JobRegistry::Page* page = JobRegistry::map_page(trouble, folder_.c_str());
    EXPECT_NE(page, nullptr) << trouble;
    return {page, os::own_process_identity(), all_cpus, folder_.c_str()};
  }

  /// Starts a process of the other user that has `demand` until it gets the word to end, and
  /// answers with its fair share of four processors when it is asked.
  void start_other(std::uint32_t demand) {
    child_ = fork();
    if (child_ != 0) return (void)answer();
    // So that it ends with its parent.
    close(to_child_[1]);
    if (setgid(other_user) != 0 || setuid(other_user) != 0) _exit(2);
    std::string trouble;
    JobRegistry::Page* page = JobRegistry::map_page(trouble, folder_.c_str());
    if (page == nullptr) _exit(3);
    JobRegistry registry(page, os::own_process_identity(), all_cpus, folder_.c_str());
    registry.set_demand(demand);
    char word = 0;
    do {
      registry.find_other_users();
      const std::uint32_t share = registry.read(4, demand).fair_share;
      if (write(from_child_[1], &share, sizeof share) != sizeof share) _exit(4);
    } while (read(to_child_[0], &word, 1) == 1 && word == 'r');
    // Dies with its entry, like a process that is killed.
    _exit(0);
  }

  std::uint32_t answer() {
    std::uint32_t share = 0;
    EXPECT_EQ(read(from_child_[0], &share, sizeof share), ssize_t{sizeof share});
    return share;
  }

  void tell(char word) { EXPECT_EQ(write(to_child_[1], &word, 1), 1); }

  void end_other() {
    tell('e');
    waitpid(child_, nullptr, 0);
  }

  std::string folder_ = "/dev/shm/sorrel-users-test-XXXXXX";
  int to_child_[2] = {};
  int from_child_[2] = {};
  pid_t child_ = 0;
};

TEST_F(TwoUsers, ShareTheProcessorsAndTheDeadOnesDoNot) {
  start_other(4);
  JobRegistry mine = registry_of_this_process();
  mine.set_demand(4);
  mine.find_other_users();
  EXPECT_EQ(mine.read(4, 4).fair_share, 2U);
  EXPECT_EQ(mine.read(4, 4).process_count, 2U);
  tell('r');
  EXPECT_EQ(answer(), 2U);
  mine.set_demand(1);
  tell('r');
  EXPECT_EQ(answer(), 3U);
  end_other();
  EXPECT_EQ(mine.read(4, 4).fair_share, 4U) << "its entry has stayed, but it is dead";
}

TEST_F(TwoUsers, APageThatIsTruncatedOrForgedDoesNotCount) {
  start_other(4);
  JobRegistry mine = registry_of_this_process();
  mine.set_demand(4);
  mine.find_other_users();
  ASSERT_EQ(mine.read(4, 4).process_count, 2U);
  for (const auto& file : std::filesystem::directory_iterator(folder_)) {
    if (file.path().string().find("-54321-") == std::string::npos) continue;
    // Not opened if its owner is not the one in its name. A file that is open already may be short.
    EXPECT_EQ(truncate(file.path().c_str(), 100), 0);
    EXPECT_EQ(mine.read(4, 4).process_count, 1U) << "shorter than a page";
    EXPECT_EQ(chown(file.path().c_str(), other_user + 1, other_user), 0);
  }
  mine.find_other_users();
  EXPECT_EQ(mine.read(4, 4).process_count, 1U);
  end_other();
}

TEST_F(TwoUsers, OnlyAFolderOfTheAdministratorIsUsed) {
  EXPECT_TRUE(os::is_folder_of_users(folder_.c_str()));
  EXPECT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_FALSE(os::is_folder_of_users(folder_.c_str())) << "users could remove pages of others";
  EXPECT_EQ(chmod(folder_.c_str(), 01777), 0);
  EXPECT_EQ(chown(folder_.c_str(), other_user, other_user), 0);
  EXPECT_FALSE(os::is_folder_of_users(folder_.c_str()));
  EXPECT_FALSE(os::is_folder_of_users("/nowhere"));
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
