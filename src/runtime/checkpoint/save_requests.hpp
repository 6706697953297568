//! SaveRequests - when a job is to be saved although its program has not asked for that: whenever a
//! period is over, and after SIGUSR2. It is then saved at the next collective of all ranks.
//!
//! A thread waits for the moments, and says in one line when no such collective comes. One object
//! in a process.
#pragma once

#include <atomic>
#include <cstdint>

namespace sorrel::runtime {

/// Once, before any rank runs: SIGUSR2 is a request, unless the program or its parent has another
/// action for it.
void watch_for_save_requests();

class SaveRequests {
 public:
  struct Options {
    /// 0: on SIGUSR2 alone.
    std::int64_t period_ns = 0;
    /// True in one of the processes of a job.
    bool takes_signals = true;
    /// The job has one rank, which is saved at the end of any call.
    bool is_alone = false;
  };

  explicit SaveRequests(const Options& options);
  SaveRequests(const SaveRequests&) = delete;
  SaveRequests& operator=(const SaveRequests&) = delete;
  ~SaveRequests();

  [[nodiscard]] bool seems_wanted() const { return is_wanted_.load(std::memory_order_relaxed); }

  /// The caller saves the job, and then calls end().
  void begin();

  /// The save that begin() has begun is over; does nothing without one. If it was refused, it is
  /// wanted again after a while.
  void end(bool is_saved);

  /// No rank can be saved in this way, ever.
  void give_up();

  /// Whether the save that is being made was begun here.
  [[nodiscard]] bool is_taken() const { return is_taken_.load(std::memory_order_relaxed); }

 private:
  static void* thread_main(void* argument);
  void run();
  void want(std::int64_t now_ns);
  void take();
  [[nodiscard]] std::int64_t patience_ns() const;
  [[nodiscard]] std::int64_t next_moment() const;

  const Options options_;
  std::atomic<bool> is_wanted_{false};
  std::atomic<bool> is_taken_{false};
  std::atomic<bool> is_given_up_{false};
  std::atomic<bool> is_stopping_{false};
  /// When a refused save is wanted again; 0: never.
  std::atomic<std::int64_t> retry_ns_{0};
  std::atomic<std::uint32_t> has_ended_{0};

  // Used by the thread only.
  std::int64_t due_ns_ = 0;
  /// Time of the first request that has not been taken; 0: there is none.
  std::int64_t wanted_since_ns_ = 0;
  bool has_told_ = false;
};

}  // namespace sorrel::runtime
