#include "governor/demand.hpp"

namespace sorrel::governor {

std::uint32_t Demand::update(std::int64_t now_ns, const Activity& activity) {
  const std::uint32_t wanted = seen(activity);
  if (wanted < value_ && now_ns - seen_ns_ < memory_ns) return value_;
  seen_ns_ = now_ns;
  value_ = wanted;
  return value_;
}

std::uint32_t Demand::seen(const Activity& activity) const {
  if (activity.has_loops) return most_;
  // More than one thread can use: the process is inside a long loop.
  if (activity.run_ns + activity.delay_ns > activity.elapsed_ns + activity.elapsed_ns / 4)
    return most_;
  if (is_work(activity.run_ns, activity.elapsed_ns)) return 1;
  // A process without a core could not show its demand.
  return is_work(activity.delay_ns, activity.elapsed_ns) ? value_ : 0;
}

}  // namespace sorrel::governor
