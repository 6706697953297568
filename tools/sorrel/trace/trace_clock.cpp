#include "tools/sorrel/trace/trace_clock.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"
#include "core/cycle_clock.hpp"

namespace sorrel::tool {

namespace {

constexpr int counter_bits = 56;

/// `cycles` - `base`, where both are modulo 2^56.
std::int64_t distance(std::uint64_t base, std::uint64_t cycles) {
  constexpr int shift = 64 - counter_bits;
  return static_cast<std::int64_t>((cycles - base) << shift) >> shift;
}

/// For a rate, readings must be this far apart: a reading may be interrupted.
constexpr std::int64_t rate_ns_min = 10'000'000;

}  // namespace

TraceClock::TraceClock(const std::vector<TracePart>& parts) {
  std::map<std::string_view, std::vector<TracedClock>> readings;
  for (const TracePart& part : parts) {
    auto& all = readings[part.machine()];
    all.insert(all.end(), part.clocks().begin(), part.clocks().end());
  }
  for (const auto& [name, clocks] : readings) {
    const auto [first, last] = std::ranges::minmax(clocks, {}, &TracedClock::monotonic_ns);
    const std::int64_t elapsed_ns = last.monotonic_ns - first.monotonic_ns;
    // A job that was killed soon: the counter of this machine is as fast, or nearly so.
    const double ns_per_cycle = elapsed_ns >= rate_ns_min
                                    ? static_cast<double>(elapsed_ns) /
                                          static_cast<double>(distance(first.cycles, last.cycles))
                                    : core::CycleClock().ns_in(1);
    Axis& axis = machines_[std::string(name)];
    axis.first_ = first;
    axis.ns_per_cycle_ = ns_per_cycle;
  }
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
  for (const TracePart& part : parts) {
    SORREL_ASSERT(!part.clocks().empty(), "a part without a clock");
    begin_ns = std::min(begin_ns, of(part).wall_ns(part.clocks().front().cycles));
  }
  for (auto& [name, axis] : machines_)
    axis.begin_ns_ = begin_ns;
}

const TraceClock::Axis& TraceClock::of(const TracePart& part) const {
  const auto axis = machines_.find(part.machine());
  SORREL_ASSERT(axis != machines_.end(), "a part of another trace");
  return axis->second;
}

std::int64_t TraceClock::Axis::wall_ns(std::uint64_t cycles) const {
  return first_.wall_ns + static_cast<std::int64_t>(
                              static_cast<double>(distance(first_.cycles, cycles)) * ns_per_cycle_);
}

std::int64_t TraceClock::Axis::ns_of(const trace::Record& record) const {
  const std::int64_t ns = wall_ns(record.time_and_kind >> trace::Record::kind_bits);
  return std::max<std::int64_t>(ns - begin_ns_, 0);
}

}  // namespace sorrel::tool
