#include "tools/sorrel/run/report_grace.hpp"

#include <atomic>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sorrel::tool {
namespace {

/// A child process that uses a processor, or waits.
class Child {
 public:
  explicit Child(bool is_busy) : pid_(::fork()) {
    if (pid_ != 0) return;
    for (std::atomic<unsigned> count{0};; ++count) {
      if (!is_busy) ::pause();
    }
  }

  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(ReportGraceTest, AProcessThatUsesAProcessorGetsMoreTimeButNotForEver) {
  const Child child(true);
  ReportGrace grace;
  grace.begin(child.pid());
  int count = 0;
  constexpr int enough = 100;
  for (int i = 0; i < enough; ++i) {
    const auto before_ns = os::cpu_ns_of_process(child.pid());
    while (os::cpu_ns_of_process(child.pid()) < before_ns.value() + 2'000'000)
      ::usleep(1000);
    if (!grace.extend(child.pid())) break;
    ++count;
  }
  EXPECT_GT(count, 0);
  EXPECT_LT(count, enough);
}

TEST(ReportGraceTest, AProcessThatWaitsGetsNoMore) {
  const Child child(false);
  ::usleep(100'000);
  ReportGrace grace;
  grace.begin(child.pid());
  EXPECT_FALSE(grace.extend(child.pid()));
}

TEST(ReportGraceTest, AProcessThatHasEndedGetsNoMore) {
  pid_t ended = 0;
  {
    const Child child(false);
    ended = child.pid();
  }
  ReportGrace grace;
  grace.begin(ended);
  EXPECT_FALSE(grace.extend(ended));
}

}  // namespace
}  // namespace sorrel::tool
