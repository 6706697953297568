#include "grid/plan/update_rate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/check.hpp"

namespace sorrel::grid {

void Curve::add(double size, double value) {
  const auto after = std::find_if(points_.begin(), points_.end(),
                                  [&](const Point& point) { return point.size > size; });
  points_.insert(after, {size, value});
}

double Curve::at(double size) const {
  SORREL_CHECK(!points_.empty());
  if (size <= points_.front().size) return points_.front().value;
  for (std::size_t i = 1; i < points_.size(); ++i) {
    const Point& below = points_[i - 1];
    const Point& above = points_[i];
    if (size >= above.size) continue;
    const double way = std::log2(size / below.size) / std::log2(above.size / below.size);
    return below.value + way * (above.value - below.value);
  }
  return points_.back().value;
}

UpdateRate::UpdateRate(const Machine& machine) {
  std::int64_t last_bytes = 1;
  for (const MemoryLevel& level : machine.memory) {
    // "Any size" begins an octave beyond the last given size.
    const std::int64_t size = level.size_bytes > 0 ? level.size_bytes : 2 * last_bytes;
    memory_.add(static_cast<double>(size), 1 / level.bytes_per_second);
    last_bytes = size;
  }
  for (const PlaneCost& cost : machine.planes) {
    auto planes = std::find_if(planes_.begin(), planes_.end(), [&](const PlanesOfSet& of) {
      return of.set_bytes == cost.set_bytes;
    });
    if (planes == planes_.end())
      planes = planes_.insert(planes, {.set_bytes = cost.set_bytes, .slowdown = {}});
    planes->slowdown.add(static_cast<double>(cost.plane_bytes), cost.slowdown);
  }
}

double UpdateRate::seconds_per_byte(std::int64_t set_bytes) const {
  return memory_.at(static_cast<double>(set_bytes));
}

double UpdateRate::plane_slowdown(std::int64_t plane_bytes, std::int64_t set_bytes) const {
  if (planes_.empty()) return 1;
  Curve of_sets;
  for (const PlanesOfSet& planes : planes_)
    of_sets.add(static_cast<double>(planes.set_bytes),
                planes.slowdown.at(static_cast<double>(plane_bytes)));
  return of_sets.at(static_cast<double>(set_bytes));
}

}  // namespace sorrel::grid
