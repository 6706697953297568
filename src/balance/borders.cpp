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

/// Part of the mean: a largest load so near to the best one is as good.
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

/// What the parts may be, whatever the loads.
struct Bounds {
  std::vector<Range> begins;
  /// By part: ranks that it may have.
  std::vector<std::int32_t> count_max;
  std::vector<bool> is_given_up;
  bool has_given_up = false;
};

/// How many ranks a part that is given up keeps: from the first one that must stay to the last one
/// that must, or one. The first part begins with the first rank, and the last one ends with the
/// last.
std::int32_t least_count(const Chain& chain, std::int32_t begin, std::int32_t end) {
  const auto must_stay = [&](std::int32_t rank) {
    return chain.stays[static_cast<std::size_t>(rank)];
  };
  std::int32_t first = begin;
  while (first < end && !must_stay(first))
    ++first;
  if (first == end) return 1;
  std::int32_t last = end - 1;
  while (!must_stay(last))
    --last;
  return (end == rank_count_of(chain) ? end : last + 1) - (begin == 0 ? 0 : first);
}

/// Where the begin of a part may be, by what the part and the one before it say.
Range range_of(const Chain& chain, std::int32_t part) {
  const std::int32_t ranks = rank_count_of(chain);
  const auto index = static_cast<std::size_t>(part);
  const std::int32_t begin = chain.begins[index];
  const std::int32_t end = part + 1 < part_count_of(chain) ? chain.begins[index + 1] : ranks;
  const std::int32_t before = part > 0 ? chain.begins[index - 1] : 0;
  Range range{.lowest = part, .highest = part == 0 ? 0 : ranks};
  if (chain.is_closed[index] || (part > 0 && chain.is_closed[index - 1]))
    range = {.lowest = begin, .highest = begin};
  const auto stays = [&](std::int32_t rank) { return chain.stays[static_cast<std::size_t>(rank)]; };
  std::int32_t first = begin;
  while (first < end && !stays(first))
    ++first;
  if (first < end) range.highest = std::min(range.highest, first);
  std::int32_t last = begin - 1;
  while (last >= before && !stays(last))
    --last;
  if (last >= before) range.lowest = std::max(range.lowest, last + 1);
  return range;
}

/// Narrows the ranges until each begin has a place for each choice of its neighbours within their
/// ranges; false: there is none.
bool narrow(Bounds& bounds, std::int32_t ranks) {
  std::vector<Range>& begins = bounds.begins;
  begins.push_back({.lowest = ranks, .highest = ranks});
  for (std::size_t part = 0; part + 1 < begins.size(); ++part) {
    Range& next = begins[part + 1];
    next.lowest = std::max(next.lowest, begins[part].lowest + 1);
    next.highest = std::min(next.highest, begins[part].highest + bounds.count_max[part]);
  }
  for (std::size_t part = begins.size() - 1; part-- > 0;) {
    const Range& next = begins[part + 1];
    begins[part].lowest = std::max(begins[part].lowest, next.lowest - bounds.count_max[part]);
    begins[part].highest = std::min(begins[part].highest, next.highest - 1);
  }
  const bool is_possible =
      std::ranges::all_of(begins, [](const Range& range) { return range.lowest <= range.highest; });
  begins.pop_back();
  return is_possible;
}

Bounds bounds_of(const Chain& chain, bool with_given_up) {
  const std::int32_t ranks = rank_count_of(chain);
  const std::int32_t parts = part_count_of(chain);
  Bounds bounds;
  for (std::int32_t part = 0; part < parts; ++part) {
    const auto index = static_cast<std::size_t>(part);
    bounds.begins.push_back(range_of(chain, part));
    const bool is_given_up =
        with_given_up && !chain.is_given_up.empty() && chain.is_given_up[index];
    bounds.is_given_up.push_back(is_given_up);
    const std::int32_t end = part + 1 < parts ? chain.begins[index + 1] : ranks;
    bounds.count_max.push_back(is_given_up ? least_count(chain, chain.begins[index], end) : ranks);
    bounds.has_given_up = bounds.has_given_up || is_given_up;
  }
  if (narrow(bounds, ranks) || !bounds.has_given_up) return bounds;
  return bounds_of(chain, false);
}

/// Finds begins for which no part has more than a bound.
class Cut {
 public:
  explicit Cut(const Chain& chain)
      : chain_(chain),
        bounds_(bounds_of(chain, true)),
        ranges_(bounds_.begins),
        heaviest_(std::ranges::max(chain.loads)),
        sums_(chain.loads.size() + 1),
        earliest_(chain.begins.size()) {
    std::partial_sum(chain.loads.begin(), chain.loads.end(), sums_.begin() + 1);
  }

  [[nodiscard]] double total() const { return sums_.back(); }

  /// Whether parts are given up.
  [[nodiscard]] bool has_given_up() const { return bounds_.has_given_up; }

  /// The other parts.
  [[nodiscard]] std::ptrdiff_t loaded_part_count() const {
    return std::ranges::count(bounds_.is_given_up, false);
  }

  /// The begins nearest to the present ones with no load above `bound`; nothing if there are none.
  [[nodiscard]] std::optional<Begins> within(double bound) {
    if (heaviest_ > bound || !find_earliest(bound)) return std::nullopt;
    Begins begins{0};
    for (std::size_t part = 1; part < ranges_.size(); ++part) {
      const std::int32_t before = begins.back();
      const std::int32_t first = std::max(earliest_[part], before + 1);
      const std::int32_t last = std::min(ranges_[part].highest, last_end(part - 1, before, bound));
      SORREL_ASSERT(first <= last, "part %zu cannot begin between %d and %d", part, first, last);
      begins.push_back(std::clamp(chain_.begins[part], first, last));
    }
    return begins;
  }

 private:
  [[nodiscard]] double sum_before(std::int32_t rank) const {
    return sums_[static_cast<std::size_t>(rank)];
  }

  [[nodiscard]] bool fits(std::size_t part,
                          std::int32_t begin,
                          std::int32_t end,
                          double bound) const {
    return bounds_.is_given_up[part] ? end - begin <= bounds_.count_max[part]
                                     : sum_before(end) <= sum_before(begin) + bound;
  }

  /// The last end of the part for which it fits, if it begins there.
  [[nodiscard]] std::int32_t last_end(std::size_t part, std::int32_t begin, double bound) const {
    if (bounds_.is_given_up[part]) return begin + bounds_.count_max[part];
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
        return !fits(part, begin, std::max(end, begin + 1), bound);
      });
      if (found == candidates.end()) return false;
      earliest_[part] = end = *found;
    }
    return true;
  }

  const Chain& chain_;
  const Bounds bounds_;
  const std::vector<Range>& ranges_;
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
  const double mean =
      cut.total() / static_cast<double>(std::max<std::ptrdiff_t>(cut.loaded_part_count(), 1));
  // The sums are rounded in another order than in a part.
  const double slack = mean * 1e-9;
  const double most = cut.has_given_up() ? cut.total() : std::ranges::max(part_loads(chain));
  double too_small = 0;
  double enough = most + slack;
  if ((mean <= 0 && !cut.has_given_up()) || !cut.within(enough)) return chain.begins;
  for (int i = 0; i < bisection_count; ++i) {
    const double bound = (too_small + enough) / 2;
    (cut.within(bound) ? enough : too_small) = bound;
  }
  const double bound = std::min(enough + mean * border_tolerance, most + slack);
  return cut.within(bound).value_or(chain.begins);
}

std::vector<std::int32_t> shuffle_borders(const Chain& chain, Prng& random) {
  const Bounds bounds = bounds_of(chain, true);
  Begins begins{0};
  for (std::size_t part = 1; part < bounds.begins.size(); ++part) {
    const Range& range = bounds.begins[part];
    const std::int32_t first = std::max(range.lowest, begins.back() + 1);
    const std::int32_t last = std::min(range.highest, begins.back() + bounds.count_max[part - 1]);
    const auto choices = static_cast<std::uint64_t>(last - first) + 1;
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
