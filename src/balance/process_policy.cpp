#include "balance/process_policy.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "balance/gates.hpp"
#include "balance/plan.hpp"
#include "base/check.hpp"

namespace sorrel::balance {

ProcessPolicy::ProcessPolicy(std::uint32_t process_count, const Costs& costs)
    : costs_(costs), loads_(process_count) {}

void ProcessPolicy::judge_last_step(double largest_now, double imbalance_now) {
  if (windows_to_judgement_ == 0 || --windows_to_judgement_ != 0) return;
  counts_.imbalance_after += imbalance_now;
  ++counts_.judged_steps;
  const bool was_worth_it = largest_before_ - largest_now >= promised_gain_ / 2;
  distance_ = was_worth_it ? std::max(distance_ / 2, 1U) : std::min(2 * distance_, distance_max);
}

bool ProcessPolicy::observe(std::span<const double> loads) {
  SORREL_ASSERT(loads.size() == loads_.size());
  double error = 0;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    error += std::abs(loads[i] - loads_[i]);
    loads_[i] = window_count_ == 0 ? loads[i] : (loads[i] + loads_[i]) / 2;
  }
  const double total = std::accumulate(loads.begin(), loads.end(), 0.0);
  ++window_count_;
  ++windows_since_step_;
  ++counts_.windows;
  judge_last_step(largest(loads), imbalance(loads));
  const bool is_uneven = imbalance(loads_) >= uneven_from && imbalance(loads) >= uneven_from;
  uneven_streak_ = is_uneven ? uneven_streak_ + 1 : 0;
  counts_.uneven_windows += is_uneven ? 1 : 0;
  if (uneven_streak_ < uneven_windows_min || window_count_ < windows_min ||
      error > error_max * total || windows_since_step_ < distance_ || windows_to_judgement_ != 0)
    return false;
  const double mean =
      std::accumulate(loads_.begin(), loads_.end(), 0.0) / static_cast<double>(loads_.size());
  const Costs needed = gain_needed();
  return largest(loads_) - mean >= needed.stop + needed.move;
}

Costs ProcessPolicy::gain_needed() const {
  const double windows = std::clamp(windows_since_step_, 1U, horizon_max);
  return {.stop = gain_over_cost * costs_.stop / windows,
          .move = gain_over_cost * costs_.move / windows};
}

void ProcessPolicy::record_nothing() {
  windows_since_step_ = 0;
  uneven_streak_ = 0;
  distance_ = std::min(2 * distance_, distance_max);
}

void ProcessPolicy::record_step(double promised_gain) {
  ++counts_.steps;
  counts_.imbalance_before += imbalance(loads_);
  largest_before_ = largest(loads_);
  promised_gain_ = promised_gain;
  windows_to_judgement_ = judgement_windows;
  windows_since_step_ = 0;
  uneven_streak_ = 0;
}

}  // namespace sorrel::balance
