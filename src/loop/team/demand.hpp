//! Demand - how many threads a process could use now, as it tells its friends: all when it runs
//! loops, one when it only works, none when it waits.
//!
//! Pure: follows from what was seen so far. It grows at once, and falls when nothing more has been
//! seen for a while: who waits for a core, or is between two loops, does not come and go with that.
//! One owner.
#pragma once

#include <cstdint>

namespace sorrel::loop {

/// What was seen since the last time. Run and delay are sums over the process's threads.
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
  /// Begins with `most` threads.
  Demand(std::uint32_t most, std::int64_t now_ns) : most_(most), value_(most), seen_ns_(now_ns) {}

  [[nodiscard]] std::uint32_t value() const { return value_; }

  /// Returns what holds from now on.
  std::uint32_t update(std::int64_t now_ns, const Activity& activity);

  /// As at the beginning.
  void reset(std::int64_t now_ns) {
    value_ = most_;
    seen_ns_ = now_ns;
  }

  /// Whether who has run so long in so much time works; else it waits for something.
  static bool is_work(std::int64_t run_ns, std::int64_t elapsed_ns) {
    return run_ns > elapsed_ns / 20;
  }

  static constexpr std::int64_t memory_ns = 100'000'000;

 private:
  [[nodiscard]] std::uint32_t seen(const Activity& activity) const;

  std::uint32_t most_;
  std::uint32_t value_;
  /// When so much was last seen.
  std::int64_t seen_ns_;
};

}  // namespace sorrel::loop
