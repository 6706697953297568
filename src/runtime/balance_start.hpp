//! BalanceStart - `--balance auto`: lets balancing begin in a job that turns out to be uneven.
//!
//! A job begins as with `off`: ranks of programs without thread-locals share the thread control
//! blocks of their workers' threads, so a switch between them costs nothing more, and no rank is
//! measured. A thread samples which workers sleep. While one does, others are asked whether they
//! have ready ranks, by a request for attention. When such times add up (balance/start_gate.hpp),
//! each worker gives its ranks blocks of their own, if nothing binds them to the one that they have
//! (thread_bonds.hpp). Then ranks are lent; and when all have one, they are measured and move.
//! Decision 41.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "balance/start_gate.hpp"
#include "base/cache_line.hpp"
#include "core/scheduler.hpp"

namespace sorrel::runtime {

class BalanceStart {
 public:
  /// A rank that keeps the block of its worker's thread, and why.
  struct Kept {
    std::int32_t rank;
    std::string reason;
  };

  /// What a worker has done with its ranks.
  struct Given {
    std::int32_t count = 0;
    std::vector<Kept> kept;
  };

  /// On the worker's thread, in its poll: gives the ranks of the worker that have no block one, but
  /// for the one on whose stack it is called. `count`: of those that have one then.
  using Give = std::function<Given(core::Worker& worker)>;

  /// Whether it can be of use in a process of so many ranks and workers. A rank that is alone on
  /// its worker cannot be lent. Thousands of threads are started where a user asks for balancing
  /// only.
  [[nodiscard]] static bool can_begin(std::int32_t rank_count,
                                      std::int32_t place_count,
                                      std::uint32_t worker_count) {
    return worker_count > 1 && rank_count > static_cast<std::int32_t>(worker_count) &&
           place_count <= rank_count_max;
  }

  enum class Begin : std::uint8_t {
    when_uneven,
    at_once  ///< For tests.
  };

  /// Balancing has been postponed, and no rank runs. Starts to watch, unless the system allows no
  /// more threads. `block_count` ranks have no control block of their own, and need a thread each.
  /// The scheduler outlives it.
  BalanceStart(core::Scheduler& scheduler, Begin begin, std::int32_t block_count, Give give);
  BalanceStart(const BalanceStart&) = delete;
  BalanceStart& operator=(const BalanceStart&) = delete;
  ~BalanceStart();

  /// core::SchedulerHooks::on_attention().
  void on_attention(core::Worker& worker);

  /// When no worker runs: ends the watch, and prints lines on standard error.
  void report();

 private:
  struct alignas(cache_line_bytes) Place {
    /// When it was asked; 0: it has answered. Relaxed: nothing is read through it.
    std::atomic<std::int64_t> asked_at_ns{0};
    // Its own worker, and the watch's thread between two rounds.
    /// The last round in which it has given blocks.
    std::uint32_t done_round = 0;
    Given given;
  };

  static constexpr std::int32_t rank_count_max = 1024;

  static void* thread_main(void* argument);
  void stop();
  void sample();
  void ask_others(std::int64_t now_ns);
  [[nodiscard]] bool has_sleeper() const;
  void answer(core::Worker& worker, Place& place);
  [[nodiscard]] bool may_start_threads() const;
  void begin_round();
  void begin_loans();
  void end_round(std::int64_t now_ns);

  core::Scheduler& scheduler_;
  const Begin begin_;
  const std::int64_t sample_ns_;
  const std::int32_t block_count_;
  const Give give_;
  const std::int64_t created_ns_;
  /// By the number of the worker in its process.
  std::vector<Place> places_;
  /// Times in which a worker slept while another one had ready ranks, since the last sample.
  /// Relaxed: a sum.
  std::atomic<std::int64_t> new_waste_ns_{0};
  /// Release and acquire: what the thread that begins a round, and the workers, have written.
  std::atomic<std::uint32_t> round_{0};
  std::atomic<std::uint32_t> left_count_{0};

  // The watch's thread, or when it has ended.
  balance::StartGate gate_;
  std::int64_t waste_ns_ = 0;
  std::uint32_t next_asked_ = 0;
  /// 0: none has begun.
  std::int64_t began_ns_ = 0;
  std::int64_t next_round_ns_ = 0;
  std::int64_t pause_ns_;
  bool is_in_round_ = false;
  bool is_over_ = false;
  /// It would be worth it, and the system allows too few threads.
  bool has_given_up_ = false;

  std::atomic<std::uint32_t> is_stopping_{0};
  std::atomic<std::uint32_t> has_ended_{0};
};

}  // namespace sorrel::runtime
