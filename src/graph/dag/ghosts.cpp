#include "graph/dag/ghosts.hpp"

#include <algorithm>
#include <cstddef>

namespace sorrel::graph {

namespace {

/// As far as the ghosts of `field` are filled after a sweep has written it.
Footprint filled_after(const Derived& derived, int sweep, int field) {
  for (const Exchange& exchange : derived.exchanges)
    if (exchange.writer == sweep && exchange.field == field) return exchange.footprint;
  return {};
}

}  // namespace

bool covers(const Footprint& filled, const Footprint& read) {
  return read.radius == 0 || (read.radius <= filled.radius && (filled.is_box || !read.is_box));
}

Footprint union_of(const Footprint& one, const Footprint& other) {
  return {std::max(one.radius, other.radius), one.is_box || other.is_box};
}

std::vector<Footprint> ghosts_needed(const std::vector<Accesses>& sweeps,
                                     const Buffers& buffers,
                                     Index steps) {
  std::vector<Footprint> needed(static_cast<std::size_t>(buffers.field_count()));
  for (int sweep = 0; sweep < static_cast<int>(sweeps.size()); ++sweep) {
    for (const Access& access : sweeps[static_cast<std::size_t>(sweep)]) {
      if (access.writes || access.footprint.radius == 0) continue;
      const LastWrite last = last_write_before(sweeps, buffers, sweep, access.field);
      // Without a write, every buffer of the rotation has the values from before the run.
      const Index from_before = last.sweep < 0 ? buffers.period(access.field) : last.steps;
      for (Index step = 0; step < std::min(steps, from_before); ++step) {
        Footprint& all = needed[static_cast<std::size_t>(buffers.first_name(access.field, step))];
        all = union_of(all, access.footprint);
      }
    }
  }
  return needed;
}

std::vector<std::optional<Footprint>> ghosts_left(const std::vector<Accesses>& sweeps,
                                                  const Derived& derived,
                                                  const Buffers& buffers,
                                                  Index steps) {
  std::vector<std::optional<Footprint>> left(static_cast<std::size_t>(buffers.field_count()));
  Index longest = 1;
  for (int field = 0; field < buffers.field_count(); ++field)
    longest = std::max<Index>(longest, buffers.period(field));
  // Later steps and sweeps replace what earlier ones have left.
  for (Index step = std::max<Index>(0, steps - longest); step < steps; ++step)
    for (int sweep = 0; sweep < static_cast<int>(sweeps.size()); ++sweep)
      for (const Access& access : sweeps[static_cast<std::size_t>(sweep)])
        if (access.writes)
          left[static_cast<std::size_t>(buffers.first_name(access.field, step))] =
              filled_after(derived, sweep, access.field);
  return left;
}

}  // namespace sorrel::graph
