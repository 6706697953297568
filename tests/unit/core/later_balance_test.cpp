// What begins later: loans, control blocks of fibers, measuring. The stage is one of the process,
// and only rises, so each test runs in a child.
#include "core/later_balance.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>

#include "arch/cpu.hpp"
#include "core/burst.hpp"
#include "os/clock.hpp"
#include "os/tls_donor.hpp"
#include "unit/core/fiber_run.hpp"

namespace sorrel::core {
namespace {

constexpr std::int64_t short_sleep_ns = 2'000'000;

// Compilers keep the address of errno across calls.
[[gnu::noinline]] void put_errno(int value) {
  errno = value;
}

[[gnu::noinline]] int read_errno() {
  return errno;
}

TEST(FiberThatGetsABlock, KeepsItsErrnoAndItsWorker) {
  FiberRun run(2);
  os::TlsDonor donor;
  ASSERT_TRUE(donor.start(0, [](void*) {}, nullptr));
  Fiber* given = nullptr;
  given = &run.add(0, [&](Worker& worker) {
    put_errno(77);
    while (worker.running().thread_pointer == 0)
      worker.yield();
    EXPECT_EQ(read_errno(), 77);
    EXPECT_EQ(arch::thread_pointer(), donor.thread_pointer());
    EXPECT_EQ(Worker::current(), &worker);
    put_errno(78);
    worker.sleep(short_sleep_ns);
    EXPECT_EQ(read_errno(), 78);
    EXPECT_EQ(Worker::current(), &worker);
  });
  run.add(0, [&](Worker& worker) {
    for (int i = 0; i < 100; ++i) {
      put_errno(i);
      worker.yield();
      EXPECT_EQ(read_errno(), i);
      // The other fiber has run, and is ready.
      if (i == 50) give_block(worker, *given, donor.thread_pointer());
      EXPECT_EQ(read_errno(), i);
    }
  });
  run.run();
}

/// Measures, as the library does at its calls, until a computation was lent.
void compute_until(Worker& worker, const std::function<bool()>& is_over) {
  static const char site = 0;
  std::unique_ptr<Burst> burst;
  Fiber& fiber = worker.running();
  int user = 0;
  fiber.user = &user;
  while (!is_over()) {
    const std::int64_t end_ns = os::monotonic_ns() + 200'000;
    while (os::monotonic_ns() < end_ns)
      arch::pause();
    static_cast<void>(Worker::current_user());
    worker.yield();
    if (are_loans_sought()) worker.begin_burst(burst, &site);
  }
  static_cast<void>(Worker::current_user());
  fiber.user = nullptr;
}

/// Ends the process: 0 if loans, and measuring, begin when they should.
[[noreturn]] void run_stages() {
  SchedulerOptions options{.worker_count = 2, .limits = {}, .cpus = {}};
  options.lends_fibers = true;
  postpone_balance();
  FiberRun run(options);
  os::TlsDonor donor;
  bool is_right = donor.start(0, [](void*) {}, nullptr) && !are_fibers_lent(run.scheduler());
  std::atomic<bool> is_over{false};
  for (int i = 0; i < 3; ++i) {
    run.add(0, [&](Worker& worker) { compute_until(worker, [&] { return is_over.load(); }); });
  }
  Fiber& measured = run.add(0, [&](Worker& worker) {
    // Nothing is lent, and nothing measured.
    for (int i = 0; i < 20; ++i) {
      worker.sleep(short_sleep_ns);
      is_right &= run.worker(1).borrowed() == nullptr;
    }
    is_right &= Worker::busy_cycles_of(worker.running()) == 0;
    begin_loans();
    run.worker(1).request_attention();
    is_right &= are_fibers_lent(run.scheduler()) && balance_stage() == BalanceStage::lending;
    const std::int64_t end_ns = os::monotonic_ns() + 40'000'000'000;
    while (run.worker(1).borrowed() == nullptr && os::monotonic_ns() < end_ns)
      worker.yield();
    is_right &= os::monotonic_ns() < end_ns;
    begin_measuring(run.scheduler());
    while (Worker::busy_cycles_of(worker.running()) == 0 && os::monotonic_ns() < end_ns)
      worker.sleep(short_sleep_ns);
    is_right &= Worker::busy_cycles_of(worker.running()) != 0;
    is_over.store(true);
  });
  run.worker_start = [&](Worker& worker) {
    if (worker.index() != 0) return;
    measured.thread_pointer = donor.thread_pointer();
    Worker::set_current_of(measured, &worker);
  };
  run.run();
  std::_Exit(is_right ? 0 : 1);
}

TEST(BalanceStages, BeginLoansAndMeasuringInTheMiddleOfARun) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_stages(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sorrel::core
