#include "tools/sorrel/trace/thread_use.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <utility>

#include "core/poll_limit.hpp"

namespace sorrel::tool {

bool ThreadUse::are_taken() const {
  constexpr std::int64_t part = 10;
  const std::int64_t limit_ns = whole_ns() / part;
  return whole_ns() - granted_ns > limit_ns || core_wait_ns > limit_ns;
}

std::string ThreadUse::taken_text() const {
  const auto percent_of = [&](std::int64_t ns) {
    return 100 * static_cast<double>(ns) /
           static_cast<double>(std::max<std::int64_t>(whole_ns(), 1));
  };
  return fmt::format(
      "threads were taken: the job had {:.2g} of {} threads on average, and they waited for cores "
      "{:.0f} % of the time; so times show the load of the machine, and no advice is given",
      static_cast<double>(granted_ns) / static_cast<double>(std::max<std::int64_t>(elapsed_ns, 1)),
      worker_count, percent_of(core_wait_ns));
}

void ThreadUse::add(const ThreadUse& process) {
  elapsed_ns = std::max(elapsed_ns, process.elapsed_ns);
  worker_count += process.worker_count;
  granted_ns += process.granted_ns;
  away_ns += process.away_ns;
  core_ns += process.core_ns;
  core_wait_ns += process.core_wait_ns;
  is_accounted |= process.is_accounted;
}

void ThreadUseCount::add_thread(const trace::ThreadRecord& thread) {
  const auto [known, is_new] = latest_.try_emplace(thread.number, thread);
  if (is_new) return;
  const trace::ThreadRecord before = std::exchange(known->second, thread);
  use_.is_accounted = true;
  use_.core_ns += std::max<std::int64_t>(thread.run_ns - before.run_ns, 0);
  // The count of slices is modulo 2^32.
  use_.core_wait_ns += core::core_wait_ns(
      {.delay_ns = before.delay_ns},
      {.delay_ns = thread.delay_ns, .slice_count = thread.slice_count - before.slice_count});
}

void ThreadUseCount::add_width(std::int64_t ns, std::uint64_t before, std::uint64_t now) {
  if (!has_width_) width_ = before;
  has_width_ = true;
  use_.granted_ns += (ns - width_since_ns_) * static_cast<std::int64_t>(width_);
  width_ = now;
  width_since_ns_ = ns;
}

ThreadUse ThreadUseCount::until(std::int64_t end_ns) const {
  ThreadUse use = use_;
  use.elapsed_ns = end_ns;
  use.granted_ns += std::max<std::int64_t>(end_ns - width_since_ns_, 0) *
                    static_cast<std::int64_t>(has_width_ ? width_ : use_.worker_count);
  return use;
}

}  // namespace sorrel::tool
