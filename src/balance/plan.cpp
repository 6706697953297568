#include "balance/plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.hpp"

namespace sorrel::balance {

namespace {

/// A place may have so much more than the mean before a rank leaves it.
constexpr double tolerance = 1.05;
/// A move is taken back if the largest load stays within this factor of the bound.
constexpr double slack = 1.01;
/// Loads that differ by less than this part of a place's mean are taken for equal.
constexpr double resolution = 0.02;
/// Receivers among which neighbours decide.
constexpr std::size_t candidate_count = 3;
/// Moves that are found one by one, each in O(ranks), where a plan has too many.
constexpr std::size_t direct_count_max = 256;

/// Ranks in the order in which they are placed: heavy ones first.
std::vector<std::uint32_t> order_of(std::span<const RankLoad> ranks, double mean) {
  std::vector<std::uint32_t> order(ranks.size());
  std::iota(order.begin(), order.end(), 0U);
  const double step = mean * resolution;
  const auto grade = [&](std::uint32_t rank) {
    return step > 0 ? std::floor(ranks[rank].load / step) : 0;
  };
  std::ranges::stable_sort(order,
                           [&](std::uint32_t a, std::uint32_t b) { return grade(a) > grade(b); });
  return order;
}

std::size_t least_of(std::span<const double> loads) {
  return static_cast<std::size_t>(std::ranges::min_element(loads) - loads.begin());
}

/// The largest load if all ranks but the fixed ones could be placed anew.
double greedy_maximum(std::span<const RankLoad> ranks,
                      std::span<const std::uint32_t> order,
                      std::uint32_t place_count) {
  std::vector<double> loads(place_count);
  for (const RankLoad& rank : ranks) {
    if (rank.is_fixed) loads[rank.place] += rank.load;
  }
  for (const std::uint32_t rank : order) {
    if (!ranks[rank].is_fixed) loads[least_of(loads)] += ranks[rank].load;
  }
  return largest(loads);
}

class Refinement {
 public:
  Refinement(std::span<const RankLoad> ranks, std::uint32_t place_count)
      : ranks_(ranks), loads_(place_count), places_(ranks.size()), by_load_(place_count) {
    for (std::size_t i = 0; i < ranks.size(); ++i)
      places_[i] = ranks[i].place;
    const double total =
        std::accumulate(ranks.begin(), ranks.end(), 0.0,
                        [](double sum, const RankLoad& rank) { return sum + rank.load; });
    const double mean = total / place_count;
    order_ = order_of(ranks, mean);
    double heaviest = 0;
    for (const RankLoad& rank : ranks)
      heaviest = std::max(heaviest, rank.load);
    bound_ = std::max({mean * tolerance, heaviest, greedy_maximum(ranks, order_, place_count)});
  }

  void place_all() {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (ranks_[i].is_fixed) loads_[places_[i]] += ranks_[i].load;
    }
    for (const std::uint32_t rank : order_) {
      if (ranks_[rank].is_fixed) continue;
      const double load = ranks_[rank].load;
      if (loads_[places_[rank]] + load > bound_) places_[rank] = receiver_of(rank);
      loads_[places_[rank]] += load;
    }
  }

  /// Takes moves back that do not matter, the lightest ranks first. Of those that are too many,
  /// none is made: some of them may only make room for others.
  std::vector<Move> moves(std::size_t count_max) {
    for (auto rank = order_.rbegin(); rank != order_.rend(); ++rank) {
      const std::uint32_t home = ranks_[*rank].place;
      if (places_[*rank] == home || loads_[home] + ranks_[*rank].load > bound_ * slack) continue;
      move(*rank, home);
    }
    if (changed_ranks() > count_max) move_from_fullest(count_max);
    std::vector<Move> moves;
    for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
      if (places_[i] != ranks_[i].place)
        moves.push_back({.rank = i, .from = ranks_[i].place, .to = places_[i]});
    }
    return moves;
  }

 private:
  [[nodiscard]] int neighbours_on(std::uint32_t place, std::uint32_t rank) const {
    int count = 0;
    if (rank > 0 && places_[rank - 1] == place) ++count;
    if (rank + 1 < places_.size() && places_[rank + 1] == place) ++count;
    return count;
  }

  std::uint32_t receiver_of(std::uint32_t rank) {
    std::iota(by_load_.begin(), by_load_.end(), 0U);
    const std::size_t count = std::min(candidate_count, by_load_.size());
    std::ranges::partial_sort(by_load_, by_load_.begin() + static_cast<std::ptrdiff_t>(count),
                              [&](std::uint32_t a, std::uint32_t b) {
                                return loads_[a] < loads_[b] || (loads_[a] == loads_[b] && a < b);
                              });
    std::uint32_t best = by_load_.front();
    for (std::size_t i = 1; i < count; ++i) {
      const std::uint32_t place = by_load_[i];
      if (loads_[place] + ranks_[rank].load <= bound_ &&
          neighbours_on(place, rank) > neighbours_on(best, rank))
        best = place;
    }
    return best;
  }

  void move(std::uint32_t rank, std::uint32_t to) {
    loads_[places_[rank]] -= ranks_[rank].load;
    loads_[to] += ranks_[rank].load;
    places_[rank] = to;
  }

  [[nodiscard]] std::size_t changed_ranks() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      count += places_[i] != ranks_[i].place ? 1 : 0;
    return count;
  }

  /// Moves one rank after the other from the fullest place to the least loaded, from where all are.
  void move_from_fullest(std::size_t count_max) {
    for (std::uint32_t i = 0; i < ranks_.size(); ++i)
      move(i, ranks_[i].place);
    for (std::size_t count = 0; count < std::min(count_max, direct_count_max); ++count) {
      const auto fullest =
          static_cast<std::uint32_t>(std::ranges::max_element(loads_) - loads_.begin());
      const auto least = static_cast<std::uint32_t>(least_of(loads_));
      const std::uint32_t rank = best_to_move(fullest, least);
      if (loads_[fullest] <= bound_ || rank == ranks_.size()) return;
      move(rank, least);
    }
  }

  /// The rank of `from` after whose move the larger of both loads is smallest, and smaller than
  /// before; of equal ones that next to the ranks of `to`, if these are blocks. ranks_.size():
  /// none.
  [[nodiscard]] std::uint32_t best_to_move(std::uint32_t from, std::uint32_t to) const {
    auto best = static_cast<std::uint32_t>(ranks_.size());
    double best_load = loads_[from];
    for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
      if (places_[i] != from || ranks_[i].is_fixed || ranks_[i].place != from) continue;
      const double load = std::max(loads_[from] - ranks_[i].load, loads_[to] + ranks_[i].load);
      if (load > best_load || (load == best_load && (best == ranks_.size() || to < from))) continue;
      best = i;
      best_load = load;
    }
    return best;
  }

  std::span<const RankLoad> ranks_;
  std::vector<double> loads_;
  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> by_load_;
  std::vector<std::uint32_t> order_;
  double bound_ = 0;
};

}  // namespace

std::vector<double> place_loads(std::span<const RankLoad> ranks, std::uint32_t place_count) {
  std::vector<double> loads(place_count);
  for (const RankLoad& rank : ranks) {
    SORREL_ASSERT(rank.place < place_count && rank.load >= 0);
    loads[rank.place] += rank.load;
  }
  return loads;
}

double largest(std::span<const double> loads) {
  return loads.empty() ? 0 : *std::ranges::max_element(loads);
}

double imbalance(std::span<const double> loads) {
  const double total = std::accumulate(loads.begin(), loads.end(), 0.0);
  return total > 0 ? largest(loads) * static_cast<double>(loads.size()) / total - 1 : 0;
}

std::vector<Move> plan_moves(std::span<const RankLoad> ranks,
                             std::uint32_t place_count,
                             std::size_t move_count_max) {
  SORREL_CHECK(place_count != 0);
  Refinement refinement(ranks, place_count);
  refinement.place_all();
  return refinement.moves(move_count_max);
}

std::vector<double> place_loads_after(std::span<const RankLoad> ranks,
                                      std::uint32_t place_count,
                                      std::span<const Move> moves) {
  std::vector<double> loads = place_loads(ranks, place_count);
  for (const Move& move : moves) {
    loads[move.from] -= ranks[move.rank].load;
    loads[move.to] += ranks[move.rank].load;
  }
  return loads;
}

}  // namespace sorrel::balance
