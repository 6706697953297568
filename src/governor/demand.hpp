//! Demand - how many threads a process could use now, as published to its peer jobs: all when it
//! runs loops, one when it only computes, none when it waits.
//!
//! Pure: computed from the observations so far. It rises at once, and falls when nothing more was
//! observed for a while. So a process that waits for a core, or is between two loops, keeps its
//! demand. One owner.
#pragma once

#include <cstdint>

namespace sorrel::governor {

/// Observations since the last update. Run and delay are sums over the process's threads.
struct Activity {
  std::int64_t elapsed_ns = 0;
  std::int64_t run_ns = 0;
  /// Waiting for a core though ready to run.
  std::int64_t delay_ns = 0;
  /// A loop was begun.
  bool has_loops = false;
};

class Demand {
 public:
  /// Begins with a demand of `most` threads.
  Demand(std::uint32_t most, std::int64_t now_ns) : most_(most), value_(most), seen_ns_(now_ns) {}

  [[nodiscard]] std::uint32_t value() const { return value_; }

  /// Returns the new demand.
  std::uint32_t update(std::int64_t now_ns, const Activity& activity);

  /// As at the beginning.
  void reset(std::int64_t now_ns) {
    value_ = most_;
    seen_ns_ = now_ns;
  }

  /// Whether a thread with that run time in that period computes; else it waits for something.
  static bool is_work(std::int64_t run_ns, std::int64_t elapsed_ns) {
    return run_ns > elapsed_ns / 20;
  }

  static constexpr std::int64_t memory_ns = 100'000'000;

 private:
  [[nodiscard]] std::uint32_t seen(const Activity& activity) const;

  std::uint32_t most_;
  std::uint32_t value_;
  /// When the demand was last observed.
  std::int64_t seen_ns_;
};

}  // namespace sorrel::governor
