//! CoreWatch - whether the thread that owns it has lately been without a core that it needed, as
//! the kernel accounts it: for threads of all kinds that poll.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/poll_limit.hpp"
#include "os/clock.hpp"
#include "os/sched_stat.hpp"

namespace sorrel::core {

class CoreWatch {
 public:
  /// In a poll that has lasted for a while: takes about as long as twenty polls. `thread`: the
  /// number of the calling thread. Returns whether it has lost its core since the last call.
  bool read(int thread, std::int64_t now_ns) {
    const bool is_new = std::exchange(thread_, thread) != thread;
    if (is_new) sched_stat_.emplace(thread);
    const std::optional<os::RunTimes> times = sched_stat_->read();
    if (!times) return false;
    if (!is_new) return loss_.record(*times, now_ns);
    loss_.begin(*times);
    return false;
  }

  [[nodiscard]] bool is_recent(std::int64_t now_ns) const { return loss_.is_recent(now_ns); }

  /// is_recent() now. Reads the clock only after a loss.
  [[nodiscard]] bool is_recent() const {
    return !loss_.is_none() && loss_.is_recent(os::monotonic_ns());
  }

 private:
  CoreLoss loss_;
  std::optional<os::SchedStat> sched_stat_;
  int thread_ = 0;
};

}  // namespace sorrel::core
