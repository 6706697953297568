#include "balance/policy.hpp"

#include <algorithm>
#include <cmath>

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
  ++place_change_count_;
  gates_.forget_steps();
  std::ranges::fill(rest_, std::uint8_t{0});
}

void Policy::set_rank_count(std::size_t rank_count) {
  loads_.assign(rank_count, {});
  rest_.assign(rank_count, 0);
  gates_.begin_anew();
}

/// Returns the error of the prediction, relative to the load.
double Policy::update_loads(std::span<const RankLoad> ranks) {
  double error = 0;
  double total = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    error += std::abs(ranks[i].load - loads_[i].load);
    total += ranks[i].load;
    const bool is_first = gates_.is_first_window();
    loads_[i] = {.load = is_first ? ranks[i].load : (ranks[i].load + loads_[i].load) / 2,
                 .place = ranks[i].place,
                 .is_fixed = ranks[i].is_fixed};
    if (rest_[i] != 0) --rest_[i];
  }
  return total > 0 ? error / total : 0;
}

std::vector<Move> Policy::observe(std::span<const RankLoad> ranks) {
  SORREL_ASSERT(ranks.size() == loads_.size());
  const std::vector<double> now = place_loads(ranks, place_count_);
  const double error = update_loads(ranks);
  const std::vector<double> smoothed = place_loads(loads_, place_count_);
  if (!gates_.observe(now, smoothed, error <= error_max)) return {};

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
  if (gain * gates_.horizon() < gain_over_cost * cost) return {};
  planned_before_ = largest(smoothed);
  planned_gain_ = gain;
  planned_imbalance_ = imbalance(smoothed);
  return moves;
}

void Policy::record_step(std::span<const Move> moved) {
  if (moved.empty()) return gates_.record_nothing();
  for (const Move& move : moved)
    rest_[move.rank] = rest_windows;
  move_count_ += moved.size();
  gates_.record_step(planned_before_, planned_imbalance_, planned_gain_);
}

}  // namespace sorrel::balance
