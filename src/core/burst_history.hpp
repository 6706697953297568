//! BurstHistory - how long a fiber computes after each of its calls of the library, as measured.
//!
//! A burst is the time from the end of a call to the begin of the next one. Bursts are predicted
//! from earlier ones after the same call site, because most programs have few calls after which
//! they compute for long, among many after which they do not. Pure: the caller reads the cycle
//! counter, and only while a worker is idle.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace sorrel::core {

/// Durations in cycles.
struct BurstLimits {
  /// A shorter burst is not lent: a loan costs about 3 us, and its data move to another core.
  std::uint64_t lent_min = 0;
  /// For so long after a short burst, the bursts of the site are not measured.
  std::uint64_t pause = 0;
};

/// The bursts after one call site.
class BurstSite {
 public:
  BurstSite() = default;

  explicit BurstSite(const void* call_site) : call_site_(call_site) {}

  [[nodiscard]] const void* call_site() const { return call_site_; }

  /// Whether the burst that begins should be measured. `now()` is not called each time.
  template <class Now>
  bool is_due(Now&& now) {
    if (skips_left_ != 0) {
      --skips_left_;
      return false;
    }
    if (pause_end_ == 0) return true;
    if (now() < pause_end_) {
      skips_left_ = skip_count;
      return false;
    }
    pause_end_ = 0;
    return true;
  }

  /// Whether the burst that begins is expected to be long enough, and gains by a loan.
  [[nodiscard]] bool is_worth_a_loan(const BurstLimits& limits) const {
    return expected_ >= limits.lent_min && home_bursts_left_ == 0;
  }

  /// A burst that ended at `now`, on the own worker or lent.
  void record(std::uint64_t cycles, bool is_lent, std::uint64_t now, const BurstLimits& limits) {
    expected_ = expected_ == 0 ? cycles : (expected_ + cycles) / 2;
    if (is_lent) {
      lent_ = lent_ == 0 ? cycles : (lent_ + cycles) / 2;
      compare();
    } else {
      home_ = home_ == 0 ? cycles : (home_ + cycles) / 2;
      if (home_bursts_left_ != 0) --home_bursts_left_;
    }
    if (expected_ < limits.lent_min) {
      pause_end_ = now + limits.pause;
      skips_left_ = skip_count;
    }
  }

 private:
  /// Calls between two readings of the cycle counter during a pause.
  static constexpr std::uint8_t skip_count = 7;
  /// Bursts on the own worker after loans that took longer than those: first, and at most.
  static constexpr std::uint8_t home_bursts_min = 4;
  static constexpr std::uint8_t home_bursts_max = 64;

  /// Loans may take a quarter longer than other bursts. If they take more, the data of the rank
  /// are better left where they are, or its work has grown: bursts on the own worker show which.
  void compare() {
    if (home_ == 0 || lent_ - lent_ / 5 <= home_) {
      penalty_ = home_bursts_min;
      return;
    }
    home_bursts_left_ = penalty_;
    penalty_ = std::min<std::uint8_t>(static_cast<std::uint8_t>(2 * penalty_), home_bursts_max);
    lent_ = 0;
    home_ = 0;
  }

  const void* call_site_ = nullptr;
  // Moving averages of durations; 0: none is known.
  std::uint64_t expected_ = 0;
  std::uint64_t home_ = 0;
  std::uint64_t lent_ = 0;
  /// 0: no pause.
  std::uint64_t pause_end_ = 0;
  std::uint8_t skips_left_ = 0;
  std::uint8_t home_bursts_left_ = 0;
  std::uint8_t penalty_ = home_bursts_min;
};

class BurstHistory {
 public:
  static constexpr std::size_t site_count = 16;

  /// The site's bursts. One of another site may be forgotten.
  BurstSite& at(const void* call_site) {
    // Fibonacci hashing: call sites differ in low bits.
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
    constexpr int shift = 60;
    static_assert(site_count == std::size_t{1} << (64 - shift));
    BurstSite& site = sites_[reinterpret_cast<std::uintptr_t>(call_site) * factor >> shift];
    if (site.call_site() != call_site) site = BurstSite(call_site);
    return site;
  }

 private:
  std::array<BurstSite, site_count> sites_;
};

}  // namespace sorrel::core
