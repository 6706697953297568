#include "balance/gates.hpp"

#include <algorithm>

#include "balance/plan.hpp"

namespace sorrel::balance {

void Gates::judge_last_step(double imbalance_now, double largest_now) {
  if (windows_to_judgement_ == 0 || --windows_to_judgement_ != 0) return;
  counts_.imbalance_after += imbalance_now;
  ++counts_.judged_steps;
  const bool was_worth_it = largest_before_ - largest_now >= promised_gain_ / 2;
  distance_ = was_worth_it ? std::max(distance_ / 2, 1U) : std::min(2 * distance_, distance_max);
}

bool Gates::observe(std::span<const double> now,
                    std::span<const double> smoothed,
                    bool is_predictable) {
  ++window_count_;
  ++windows_since_step_;
  ++counts_.windows;
  judge_last_step(imbalance(now), largest(now));
  const bool is_uneven = imbalance(smoothed) >= uneven_from && imbalance(now) >= uneven_from;
  uneven_streak_ = is_uneven ? uneven_streak_ + 1 : 0;
  counts_.uneven_windows += is_uneven ? 1 : 0;
  return uneven_streak_ >= uneven_windows_min && window_count_ >= windows_min && is_predictable &&
         windows_since_step_ >= distance_ && windows_to_judgement_ == 0;
}

double Gates::horizon() const {
  return std::clamp(windows_since_step_, 1U, horizon_max);
}

void Gates::forget_steps() {
  windows_since_step_ = uneven_streak_ = windows_to_judgement_ = 0;
  distance_ = 1;
}

void Gates::begin_anew() {
  forget_steps();
  window_count_ = 0;
}

void Gates::record_nothing() {
  windows_since_step_ = 0;
  uneven_streak_ = 0;
  distance_ = std::min(2 * distance_, distance_max);
}

void Gates::record_step(double largest_before, double imbalance_before, double promised_gain) {
  ++counts_.steps;
  counts_.imbalance_before += imbalance_before;
  largest_before_ = largest_before;
  promised_gain_ = promised_gain;
  windows_to_judgement_ = judgement_windows;
  windows_since_step_ = 0;
  uneven_streak_ = 0;
}

}  // namespace sorrel::balance
