#include "balance/process_policy.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "balance/plan.hpp"
#include "base/check.hpp"

namespace sorrel::balance {

std::uint64_t move_weight(std::uint64_t touched_bytes) {
  constexpr std::uint64_t unit_bytes = std::uint64_t{1} << 20;
  return std::max<std::uint64_t>((touched_bytes + unit_bytes - 1) / unit_bytes, 1);
}

bool is_worth(double gain, const Costs& needed, std::uint64_t weight) {
  return gain >= needed.stop + needed.move * static_cast<double>(weight);
}

ProcessPolicy::ProcessPolicy(std::uint32_t process_count, const Costs& costs)
    : least_move_cost_(costs.move), costs_(costs), loads_(process_count) {}

bool ProcessPolicy::observe(std::span<const double> loads) {
  SORREL_ASSERT(loads.size() == loads_.size());
  double error = 0;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    error += std::abs(loads[i] - loads_[i]);
    loads_[i] = gates_.is_first_window() ? loads[i] : (loads[i] + loads_[i]) / 2;
  }
  const double total = std::accumulate(loads.begin(), loads.end(), 0.0);
  if (!gates_.observe(loads, loads_, error <= error_max * total)) return false;
  const double mean =
      std::accumulate(loads_.begin(), loads_.end(), 0.0) / static_cast<double>(loads_.size());
  const Costs needed = gain_needed();
  return largest(loads_) - mean >= needed.stop + needed.move;
}

Costs ProcessPolicy::gain_needed() const {
  const double windows = gates_.horizon();
  return {.stop = gain_over_cost * costs_.stop / windows,
          .move = gain_over_cost * costs_.move / windows};
}

void ProcessPolicy::record_move_time(double time) {
  costs_.move = std::max(least_move_cost_, (costs_.move + time) / 2);
}

void ProcessPolicy::record_step(double promised_gain) {
  gates_.record_step(largest(loads_), imbalance(loads_), promised_gain);
}

}  // namespace sorrel::balance
