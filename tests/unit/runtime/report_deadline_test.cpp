#include "runtime/end/report_deadline.hpp"

#include <gtest/gtest.h>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

#include "os/clock.hpp"
#include "os/cpu_time.hpp"

namespace sorrel::runtime {
namespace {

constexpr int limit_status = 7;
constexpr std::int64_t ms = 1'000'000;

/// The exit status of a child process in which report() writes a report, and then ends with 0.
template <class Report>
std::optional<int> status_of(Report&& report) {
  const pid_t child = ::fork();
  if (child == 0) {
    prepare_report_deadline();
    limit_own_report(limit_status);
    report();
    ::_exit(0);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return std::nullopt;
  return WEXITSTATUS(status);
}

void use_processor(std::int64_t duration_ns) {
  const auto cpu_ns = [] { return os::cpu_ns_of_thread(::gettid()).value_or(0); };
  const std::int64_t end_ns = cpu_ns() + duration_ns;
  while (cpu_ns() < end_ns) {
  }
}

TEST(ReportDeadlineTest, AReportThatGetsLittleOfABusyMachineGoesOn) {
  const auto status = status_of([] {
    const std::int64_t begin_ns = os::monotonic_ns();
    while (os::monotonic_ns() < begin_ns + 3500 * ms) {
      use_processor(2 * ms);
      os::sleep_ns(20 * ms);
    }
  });
  EXPECT_EQ(status, 0);
}

TEST(ReportDeadlineTest, AReportThatWaitsIsCutOff) {
  const auto status = status_of([] {
    for (;;)
      ::pause();
  });
  EXPECT_EQ(status, limit_status);
}

TEST(ReportDeadlineTest, AReportThatGoesRoundInACircleIsCutOff) {
  const auto status = status_of([] {
    for (;;)
      use_processor(ms);
  });
  EXPECT_EQ(status, limit_status);
}

TEST(ReportDeadlineTest, ALookDoesNotEndAWrite) {
  // The reader begins to read after the first look.
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const auto status = status_of([&ends] {
    const pid_t reader = ::fork();
    char block[4096] = {};
    if (reader == 0) {
      ::close(ends[1]);
      os::sleep_ns(700 * ms);
      while (::read(ends[0], block, sizeof block) > 0) {
      }
      ::_exit(0);
    }
    ::close(ends[0]);
    // More than a pipe holds.
    for (int i = 0; i < 64; ++i) {
      if (::write(ends[1], block, sizeof block) != sizeof block) ::_exit(1);
    }
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sorrel::runtime
