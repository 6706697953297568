#include "governor/core_spread.hpp"

#include <algorithm>
#include <vector>

#include "os/clock.hpp"
#include "os/cpu_set.hpp"

namespace sorrel::governor {

namespace {

/// A move costs some 20 us.
constexpr std::int64_t period_ns = 10'000'000;

}  // namespace

void CoreSpread::record_waker() {
  caller_cpu_.store(os::current_cpu(), std::memory_order_relaxed);
}

void CoreSpread::leave_waker(std::uint32_t number) {
  const int cpu = os::current_cpu();
  if (cpu < 0 || cpu != caller_cpu_.load(std::memory_order_relaxed)) return;
  const std::int64_t now_ns = os::monotonic_ns();
  if (now_ns - moved_ns_ < period_ns) return;
  moved_ns_ = now_ns;
  const std::vector<int> allowed = os::allowed_cpus();
  const auto here = std::lower_bound(allowed.begin(), allowed.end(), cpu);
  if (here == allowed.end() || *here != cpu || allowed.size() < 2) return;
  const auto place = static_cast<std::size_t>(here - allowed.begin());
  const std::size_t distance = 1 + (number + allowed.size() - 2) % (allowed.size() - 1);
  os::move_to_cpu(allowed[(place + distance) % allowed.size()]);
}

}  // namespace sorrel::governor
