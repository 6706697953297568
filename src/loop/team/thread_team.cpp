#include "loop/team/thread_team.hpp"

#include <algorithm>
#include <utility>

#include "arch/cpu.hpp"
#include "arch/long_pause.hpp"
#include "loop/team/protocol.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/sched_stat.hpp"
#include "os/thread.hpp"

namespace sorrel::loop {

namespace {

// A futex wake-up of an idle core costs its caller 5 to 8 us, and delays the sleeper as long; a new
// thread costs about five times that.
constexpr std::int64_t wake_cost_ns = 20'000;
constexpr std::int64_t start_cost_ns = 100'000;
// A caller polls at least this long for helpers in their last chunk, because a sleep and a wake-up
// take longer.
constexpr std::int64_t end_spin_ns_min = 2'000;
constexpr std::uint32_t polls_per_reading = 16;

/// The slot at which the calling thread begins its search: threads that run loops at the same time
/// begin at different slots.
[[gnu::noinline]] std::uint32_t start_slot_of_thread() {
  static std::atomic<std::uint32_t> next_start{0};
  [[gnu::tls_model("initial-exec")]] static thread_local std::uint32_t start = ~0U;
  // Relaxed: a number by itself. Start indices are even, so a nested loop finds the next slot free.
  if (start == ~0U)
    start = 2 * next_start.fetch_add(1, std::memory_order_relaxed) % LoopTable::slot_count_max;
  return start;
}

}  // namespace

ThreadTeam::ThreadTeam(std::uint32_t width, std::function<void()> on_start)
    : width_(std::clamp(width, 1U, width_max)),
      wake_cost_cycles_(clock_.cycles_in(wake_cost_ns)),
      start_cost_cycles_(clock_.cycles_in(start_cost_ns)),
      on_start_(std::move(on_start)),
      pool_(width_ - 1),
      grain_tuner_(clock_.cycles_in(GrainTuner::chunk_ns_min)) {
  controls_.width.store(width_, std::memory_order_relaxed);
}

ThreadTeam::~ThreadTeam() {
  SORREL_CHECK(started_count() == 0);
}

OpenLoop* ThreadTeam::open(const Work& work, std::uint32_t helper_count_max) {
  OpenLoop* loop = table_.acquire(start_slot_of_thread());
  if (loop != nullptr) loop->open(work, std::min(helper_count_max, OpenLoop::helpers_max));
  return loop;
}

void ThreadTeam::wait_for_end(OpenLoop& loop) {
  // The wait is no longer than a chunk.
  const std::uint64_t limit =
      std::max(controls_.spin_cycles_after(clock_, 0), clock_.cycles_in(end_spin_ns_min));
  const std::uint64_t began = arch::cycles();
  for (std::uint32_t poll = 1;; ++poll) {
    if (loop.is_over()) return;
    arch::pause();
    if (poll % polls_per_reading == 0 && arch::cycles() - began > limit) break;
  }
  // Relaxed: the helper that will set it sees this store through announce_sleep().
  loop.end_signal().store(0, std::memory_order_relaxed);
  if (loop.announce_sleep()) return;
  // Acquire, pairs with wake_caller(): orders the store above before the signal.
  while (loop.end_signal().load(std::memory_order_acquire) == 0)
    os::futex_wait(loop.end_signal(), 0, -1);
  // (E): effects of all helpers, not only of the last one.
  SORREL_CHECK(loop.is_over());
}

void ThreadTeam::wake_caller(OpenLoop& loop) {
  // Release, pairs with wait_for_end(). The loop may be over after the store; a superfluous wake-up
  // does no harm, because slots are never unmapped.
  loop.end_signal().store(1, std::memory_order_release);
  os::futex_wake_one(loop.end_signal());
}

std::uint64_t ThreadTeam::wake_cost_cycles() const {
  const bool has_sleeper = pool_.awake_count() < started_count();
  const std::uint64_t wake_cost = has_sleeper ? wake_cost_cycles_ : start_cost_cycles_;
  const std::uint64_t alone = alone_cycles_.load(std::memory_order_relaxed);
  return wake_cost - std::min(wake_cost, alone);
}

void ThreadTeam::record_alone(std::uint64_t cycles) {
  const std::uint64_t now = arch::cycles();
  const std::uint64_t until = alone_until_.exchange(now, std::memory_order_relaxed);
  // A helper that would have gone to sleep since the last loop need not have been woken for it.
  const std::uint64_t gap = now - until - cycles;
  const bool is_close = gap < controls_.spin_cycles_after(clock_, gap);
  const std::uint64_t before = is_close ? alone_cycles_.load(std::memory_order_relaxed) : 0;
  alone_cycles_.store(before + cycles, std::memory_order_relaxed);
}

void ThreadTeam::wake_helper() {
  alone_cycles_.store(0, std::memory_order_relaxed);
  if (pool_.wake_first(width_, [](Helper& helper) { helper.core_spread.record_waker(); })) return;
  (void)pool_.start(width_, helper_main, [this](Helper& helper) {
    helper.team = this;
    helper.core_spread.record_waker();
  });
}

void* ThreadTeam::helper_main(void* argument) {
  Helper& self = *static_cast<Helper*>(argument);
  ThreadTeam& team = *self.team;
  if (team.on_start_) team.on_start_();
  self.core_spread.leave_waker(team.pool_.number_of(self));
  LoopFinder finder(team.table_);
  // The loop for which it was started allows no second poll.
  OpenLoop* loop = finder.find_any();
  std::uint64_t gap = 0;
  std::uint64_t ended = arch::cycles();
  for (;;) {
    if (loop != nullptr) {
      const std::uint64_t began = arch::cycles();
      gap = began - ended;
      help(team, *loop);
      ended = arch::cycles();
      finder.record_help(ended - began);
    }
    loop = team.search(self, finder, gap);
    if (loop == nullptr) loop = team.park(self, finder);
  }
}

/// Returns a loop to join, or null when the search has lasted long enough.
OpenLoop* ThreadTeam::search(Helper& self, LoopFinder& finder, std::uint64_t last_gap_cycles) {
  const std::uint64_t limit = controls_.spin_cycles_after(clock_, last_gap_cycles);
  const std::uint64_t brief = controls_.spin_cycles(clock_);
  const std::uint64_t began = arch::cycles();
  bool has_lasted_long = false;
  for (std::uint32_t poll = 1;; ++poll) {
    if (OpenLoop* loop = finder.poll(); loop != nullptr) return loop;
    if (has_lasted_long) {
      arch::long_pause();
    } else {
      arch::pause();
    }
    if (poll % polls_per_reading != 0) continue;
    const std::uint64_t waited = arch::cycles() - began;
    if (waited > limit || self.core_watch.is_recent()) return nullptr;
    if (waited <= brief || std::exchange(has_lasted_long, true)) continue;
    self.core_watch.read(os::thread_number(), os::monotonic_ns());
  }
}

/// Sleeps until woken. Returns a loop to join, if there is one.
OpenLoop* ThreadTeam::park(Helper& self, LoopFinder& finder) {
  OpenLoop* loop = nullptr;
  // A loop opened at this moment may miss this helper; it runs without.
  const auto finds_loop = [&] { return (loop = finder.find_any()) != nullptr; };
  if (!pool_.park(self, finds_loop)) return loop;
  self.core_spread.leave_waker(pool_.number_of(self));
  return finder.find_any();
}

}  // namespace sorrel::loop
