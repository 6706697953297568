#include "balance/policy.hpp"

#include <algorithm>
#include <cmath>

#include "balance/gates.hpp"
#include "base/check.hpp"

namespace sorrel::balance {

namespace {

/// Windows for which a rank that has moved stays.
constexpr std::uint8_t rest_windows = 5;

}  // namespace

Policy::Policy(std::size_t rank_count, std::uint32_t place_count, const Costs& costs)
    : place_count_(place_count), costs_(costs), loads_(rank_count), rest_(rank_count) {}

void Policy::set_place_count(std::uint32_t place_count) {
  if (place_count == place_count_) return;
  place_count_ = place_count;
  ++counts_.place_changes;
  windows_since_step_ = uneven_streak_ = windows_to_judgement_ = 0;
  distance_ = 1;
  std::ranges::fill(rest_, std::uint8_t{0});
}

void Policy::set_rank_count(std::size_t rank_count) {
  loads_.assign(rank_count, {});
  rest_.assign(rank_count, 0);
  window_count_ = windows_since_step_ = uneven_streak_ = windows_to_judgement_ = 0;
  distance_ = 1;
}

/// Returns the error of the prediction, relative to the load.
double Policy::update_loads(std::span<const RankLoad> ranks) {
  double error = 0;
  double total = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    error += std::abs(ranks[i].load - loads_[i].load);
    total += ranks[i].load;
    const bool is_first = window_count_ == 0;
    loads_[i] = {.load = is_first ? ranks[i].load : (ranks[i].load + loads_[i].load) / 2,
                 .place = ranks[i].place,
                 .is_fixed = ranks[i].is_fixed};
    if (rest_[i] != 0) --rest_[i];
  }
  return total > 0 ? error / total : 0;
}

void Policy::judge_last_step(double imbalance_now, double largest_now) {
  if (windows_to_judgement_ == 0 || --windows_to_judgement_ != 0) return;
  counts_.imbalance_after += imbalance_now;
  ++counts_.judged_steps;
  const bool was_worth_it = largest_before_ - largest_now >= promised_gain_ / 2;
  distance_ = was_worth_it ? std::max(distance_ / 2, 1U) : std::min(2 * distance_, distance_max);
}

std::vector<Move> Policy::observe(std::span<const RankLoad> ranks) {
  SORREL_ASSERT(ranks.size() == loads_.size());
  const std::vector<double> now = place_loads(ranks, place_count_);
  const double error = update_loads(ranks);
  ++window_count_;
  ++windows_since_step_;
  ++counts_.windows;
  judge_last_step(imbalance(now), largest(now));

  const std::vector<double> smoothed = place_loads(loads_, place_count_);
  const bool is_uneven = imbalance(smoothed) >= uneven_from && imbalance(now) >= uneven_from;
  uneven_streak_ = is_uneven ? uneven_streak_ + 1 : 0;
  counts_.uneven_windows += is_uneven ? 1 : 0;
  if (uneven_streak_ < uneven_windows_min || window_count_ < windows_min || error > error_max ||
      windows_since_step_ < distance_ || windows_to_judgement_ != 0)
    return {};

  const auto fullest =
      static_cast<std::uint32_t>(std::ranges::max_element(smoothed) - smoothed.begin());
  std::vector<RankLoad> choice = loads_;
  for (std::size_t i = 0; i < choice.size(); ++i)
    choice[i].is_fixed |= rest_[i] != 0 && choice[i].place != fullest;
  std::vector<Move> moves =
      plan_moves(choice, place_count_, std::max<std::size_t>(choice.size() / 4, 1));
  if (moves.empty()) return {};

  const std::vector<double> after = place_loads_after(loads_, place_count_, moves);
  const double gain = largest(smoothed) - largest(after);
  const double cost = costs_.stop + costs_.move * static_cast<double>(moves.size());
  const double horizon = std::min(windows_since_step_, horizon_max);
  if (gain * horizon < gain_over_cost * cost) return {};
  planned_before_ = largest(smoothed);
  planned_gain_ = gain;
  planned_imbalance_ = imbalance(smoothed);
  return moves;
}

void Policy::record_step(std::span<const Move> moved) {
  windows_since_step_ = 0;
  uneven_streak_ = 0;
  if (moved.empty()) {
    distance_ = std::min(2 * distance_, distance_max);
    return;
  }
  for (const Move& move : moved)
    rest_[move.rank] = rest_windows;
  ++counts_.steps;
  counts_.moves += moved.size();
  counts_.imbalance_before += planned_imbalance_;
  windows_to_judgement_ = judgement_windows;
  largest_before_ = planned_before_;
  promised_gain_ = planned_gain_;
}

}  // namespace sorrel::balance
