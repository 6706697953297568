#include "balance/borders.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <ranges>

#include "base/check.hpp"

namespace sorrel::balance {

namespace {

using Begins = std::vector<std::int32_t>;

/// Of the mean: a largest load so near to the best one is as good.
constexpr double border_tolerance = 0.02;
/// Each halves the interval of the bound.
constexpr int bisection_count = 50;

std::int32_t rank_count_of(const Chain& chain) {
  return static_cast<std::int32_t>(chain.loads.size());
}

std::int32_t part_count_of(const Chain& chain) {
  return static_cast<std::int32_t>(chain.begins.size());
}

/// Where the begin of each part may be, whatever the loads.
struct Range {
  std::int32_t lowest;
  std::int32_t highest;
};

std::vector<Range> ranges_of(const Chain& chain) {
  const std::int32_t ranks = rank_count_of(chain);
  const std::int32_t parts = part_count_of(chain);
  std::vector<Range> ranges;
  for (std::int32_t part = 0; part < parts; ++part) {
    // One rank at least for each part before it, and from it on.
    Range range{.lowest = part, .highest = part == 0 ? 0 : ranks - (parts - part)};
    const auto index = static_cast<std::size_t>(part);
    const std::int32_t begin = chain.begins[index];
    const std::int32_t end = part + 1 < parts ? chain.begins[index + 1] : ranks;
    const std::int32_t before = part > 0 ? chain.begins[index - 1] : 0;
    if (chain.is_closed[index] || (part > 0 && chain.is_closed[index - 1]))
      range = {.lowest = begin, .highest = begin};
    for (std::int32_t rank = begin; rank < end; ++rank) {
      if (!chain.stays[static_cast<std::size_t>(rank)]) continue;
      range.highest = std::min(range.highest, rank);
      break;
    }
    for (std::int32_t rank = begin - 1; rank >= before; --rank) {
      if (!chain.stays[static_cast<std::size_t>(rank)]) continue;
      range.lowest = std::max(range.lowest, rank + 1);
      break;
    }
    ranges.push_back(range);
  }
  // So that there is a place for each begin behind any other one.
  for (std::size_t part = 1; part < ranges.size(); ++part)
    ranges[part].lowest = std::max(ranges[part].lowest, ranges[part - 1].lowest + 1);
  for (std::size_t part = ranges.size() - 1; part-- > 0;)
    ranges[part].highest = std::min(ranges[part].highest, ranges[part + 1].highest - 1);
  return ranges;
}

/// Finds begins for which no part has more than a bound.
class Cut {
 public:
  explicit Cut(const Chain& chain)
      : chain_(chain),
        ranges_(ranges_of(chain)),
        heaviest_(std::ranges::max(chain.loads)),
        sums_(chain.loads.size() + 1),
        earliest_(chain.begins.size()) {
    std::partial_sum(chain.loads.begin(), chain.loads.end(), sums_.begin() + 1);
  }

  [[nodiscard]] double total() const { return sums_.back(); }

  /// Those nearest to the present ones; nothing if there are none.
  [[nodiscard]] std::optional<Begins> within(double bound) {
    if (heaviest_ > bound || !find_earliest(bound)) return std::nullopt;
    Begins begins{0};
    for (std::size_t part = 1; part < ranges_.size(); ++part) {
      const std::int32_t before = begins.back();
      const std::int32_t first = std::max(earliest_[part], before + 1);
      const std::int32_t last = std::min(ranges_[part].highest, last_end(before, bound));
      SORREL_ASSERT(first <= last, "part %zu cannot begin between %d and %d", part, first, last);
      begins.push_back(std::clamp(chain_.begins[part], first, last));
    }
    return begins;
  }

 private:
  [[nodiscard]] double sum_before(std::int32_t rank) const {
    return sums_[static_cast<std::size_t>(rank)];
  }

  [[nodiscard]] bool fits(std::int32_t begin, std::int32_t end, double bound) const {
    return sum_before(end) <= sum_before(begin) + bound;
  }

  /// The last end of a part that begins there and fits.
  [[nodiscard]] std::int32_t last_end(std::int32_t begin, double bound) const {
    const auto behind =
        std::upper_bound(sums_.begin() + begin, sums_.end(), sum_before(begin) + bound);
    return static_cast<std::int32_t>(behind - sums_.begin()) - 1;
  }

  /// The earliest begin of each part for which the part and those behind it fit; each later one
  /// that is allowed does, too. False: there is none.
  [[nodiscard]] bool find_earliest(double bound) {
    std::int32_t end = rank_count_of(chain_);
    for (std::size_t part = ranges_.size(); part-- > 0;) {
      const auto candidates = std::views::iota(ranges_[part].lowest, ranges_[part].highest + 1);
      const auto found = std::ranges::partition_point(candidates, [&](std::int32_t begin) {
        return !fits(begin, std::max(end, begin + 1), bound);
      });
      if (found == candidates.end()) return false;
      earliest_[part] = end = *found;
    }
    return true;
  }

  const Chain& chain_;
  const std::vector<Range> ranges_;
  const double heaviest_;
  std::vector<double> sums_;
  Begins earliest_;
};

}  // namespace

std::vector<double> part_loads(const Chain& chain) {
  std::vector<double> loads(chain.begins.size());
  std::size_t part = 0;
  for (std::size_t rank = 0; rank < chain.loads.size(); ++rank) {
    while (part + 1 < chain.begins.size() &&
           static_cast<std::int32_t>(rank) >= chain.begins[part + 1])
      ++part;
    loads[part] += chain.loads[rank];
  }
  return loads;
}

std::vector<std::int32_t> plan_borders(const Chain& chain) {
  Cut cut(chain);
  const double mean = cut.total() / static_cast<double>(chain.begins.size());
  // The sums are rounded in another order than in a part.
  const double slack = mean * 1e-9;
  const double present = std::ranges::max(part_loads(chain));
  double too_small = 0;
  double enough = present + slack;
  if (mean <= 0 || !cut.within(enough)) return chain.begins;
  for (int i = 0; i < bisection_count; ++i) {
    const double bound = (too_small + enough) / 2;
    (cut.within(bound) ? enough : too_small) = bound;
  }
  const double bound = std::min(enough + mean * border_tolerance, present + slack);
  return cut.within(bound).value_or(chain.begins);
}

std::vector<std::int32_t> shuffle_borders(const Chain& chain, Prng& random) {
  const std::vector<Range> ranges = ranges_of(chain);
  Begins begins{0};
  for (std::size_t part = 1; part < ranges.size(); ++part) {
    const std::int32_t first = std::max(ranges[part].lowest, begins.back() + 1);
    const auto choices = static_cast<std::uint64_t>(ranges[part].highest - first) + 1;
    begins.push_back(first + static_cast<std::int32_t>(random.below(choices)));
  }
  return begins;
}

std::int32_t moved_count(std::span<const std::int32_t> before,
                         std::span<const std::int32_t> after,
                         std::int32_t rank_count) {
  std::int32_t stay = 0;
  for (std::size_t part = 0; part < before.size(); ++part) {
    const bool is_last = part + 1 == before.size();
    const std::int32_t begin = std::max(before[part], after[part]);
    const std::int32_t end = is_last ? rank_count : std::min(before[part + 1], after[part + 1]);
    stay += std::max(0, end - begin);
  }
  return rank_count - stay;
}

}  // namespace sorrel::balance
