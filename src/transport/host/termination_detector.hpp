//! TerminationDetector - detects a deadlock of a job over a host MPI: every worker of every process
//! sleeps, and no packet is in flight.
//!
//! Process 0 asks all processes, itself included, in *rounds*. Each answers when all its workers
//! sleep, with the number of packets it has sent and taken so far. If two rounds give the same
//! sums, and as many packets taken as sent, no process can wake another (README.md, "Termination
//! detection", has the proof). A round waits as long as a process is busy, and costs two packets
//! for each process, which are not counted. Source: Mattern's four counters, 1987.
//!
//! count_*() are for the named worker, note_all_asleep() for the last worker that fell asleep, all
//! other calls for the worker with the transport's turn. Does not cover a process that never starts
//! its workers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/cache_line.hpp"
#include "core/scheduler.hpp"
#include "transport/host/host_link.hpp"

namespace sorrel::transport {

/// Counts of a process at an instant at which all its workers slept; or a sum of such.
struct QuietCounts {
  std::uint64_t sent = 0;
  std::uint64_t taken = 0;
  /// Number of processes with waiting fibers.
  std::uint64_t waiting = 0;

  friend bool operator==(const QuietCounts&, const QuietCounts&) = default;
};

/// The rounds, as process 0 records them. Pure.
class TerminationRounds {
 public:
  explicit TerminationRounds(std::uint32_t process_count) : process_count_(process_count) {}

  /// Begins the next round; returns its number, which is not 0.
  std::uint32_t begin();

  [[nodiscard]] bool is_in_flight() const { return left_ != 0; }

  enum class Outcome {
    open,   ///< Answers are missing.
    moved,  ///< A packet was sent or taken since the last round, or is in flight.
    still,  ///< Perhaps a deadlock: another round decides.
    over,   ///< A deadlock.
  };
  Outcome take(std::uint32_t round, const QuietCounts& answer);

 private:
  const std::uint32_t process_count_;
  std::uint32_t round_ = 0;
  /// Number of missing answers.
  std::uint32_t left_ = 0;
  QuietCounts sum_;
  QuietCounts sum_before_;
};

/// The owner's callbacks.
class QuietWatcher {
 public:
  virtual ~QuietWatcher() = default;
  /// Text of what the fibers of this process wait for. All its workers slept when it was requested.
  virtual std::string text_of_waits(std::size_t bytes_max) = 0;
  /// In process 0, on a worker's thread and outside any fiber: the job is deadlocked.
  virtual void on_deadlock() = 0;
  /// Outside any fiber: another process has ended the job with this status, and reported why.
  virtual void on_end(int status) = 0;
};

class TerminationDetector {
 public:
  /// Time without work after which process 0 begins a round.
  static constexpr std::int64_t pause_ns = 200'000'000;

  TerminationDetector(core::Scheduler& scheduler,
                      HostLink& link,
                      std::uint32_t process,
                      std::uint32_t process_count);

  /// Before the workers run. Null: no detection.
  void set_watcher(QuietWatcher* watcher) { watcher_ = watcher; }

  void set_pause(std::int64_t ns) { pause_ns_ = ns; }

  /// The transport has taken a packet from this worker.
  void count_sent(std::uint32_t worker) { count(counters_[worker].sent); }

  /// This worker is about to run the handler of a packet.
  void count_taken(std::uint32_t worker) { count(counters_[worker].taken); }

  /// Packets sent, less those taken.
  [[nodiscard]] std::uint64_t excess_of_sent() const {
    const QuietCounts sum = sum_now();
    return sum.sent - sum.taken;
  }

  void note_all_asleep();

  [[nodiscard]] static bool is_ours(std::uint32_t kind) { return kind >= kind_min; }

  /// A packet of this class, which goes back to the link here.
  void take(const HostLink::Arrival& arrival);

  /// Call whenever a poll has found nothing.
  void progress() {
    // Acquire, pairs with note_all_asleep(): what it has found.
    if (found_round_.load(std::memory_order_acquire) != answered_round_ ||
        has_to_ask_.load(std::memory_order_relaxed) || next_to_ask_ != process_count_ ||
        is_report_wanted_ || is_over_ || end_status_ != 0) [[unlikely]]
      progress_round();
  }

  /// Instead of the two above, when the workers have ended.
  void tend_at_the_end();

  /// Within on_deadlock(): the wait texts of the other processes, by process; empty if one has
  /// not answered in time, or has no waiting fiber.
  struct Report {
    bool has_come = false;
    std::string text;
  };

  [[nodiscard]] std::vector<Report> gather_reports();

  /// The other processes end with this status, which is not 0; the last call of this process.
  /// Returns false if one of them has not confirmed within a second: a process confirms when one of
  /// its workers polls.
  [[nodiscard]] bool end_others(int status);

 private:
  /// Kinds of packets, between those of the layers above and the link's.
  static constexpr std::uint32_t kind_min = 40;
  static constexpr std::uint32_t question_kind = 40;
  static constexpr std::uint32_t answer_kind = 41;
  static constexpr std::uint32_t report_wanted_kind = 42;
  static constexpr std::uint32_t report_kind = 43;
  static constexpr std::uint32_t end_kind = 44;
  static constexpr std::uint32_t end_confirmed_kind = 45;

  struct alignas(cache_line_bytes) Counters {
    std::atomic<std::uint64_t> sent{0};
    std::atomic<std::uint64_t> taken{0};
  };

  static void count(std::atomic<std::uint64_t>& counter) {
    // Release, pairs with sum_now(); only its worker writes.
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  [[nodiscard]] QuietCounts sum_now() const;
  [[nodiscard]] bool find_counts();
  void note_found(std::uint32_t round, bool is_waiting);
  void wish_to_ask(bool has_changed);
  void progress_round();
  void ask();
  void answer();
  void conclude(TerminationRounds::Outcome outcome);
  void send_report();
  [[nodiscard]] bool confirm_ends();
  void end();
  void take_report(const HostLink::Arrival& arrival);
  [[nodiscard]] bool send(std::uint32_t process,
                          std::uint32_t kind,
                          std::uint32_t word,
                          const void* payload,
                          std::size_t bytes);
  [[nodiscard]] bool send_in_time(std::uint32_t process,
                                  std::uint32_t kind,
                                  std::uint32_t word,
                                  std::span<const char> payload,
                                  std::int64_t give_up_ns);
  void take_all();

  // Constant while the workers run.
  core::Scheduler& scheduler_;
  HostLink& link_;
  const std::uint32_t process_;
  const std::uint32_t process_count_;
  QuietWatcher* watcher_ = nullptr;
  std::int64_t pause_ns_ = pause_ns;
  /// One entry for each worker, written by it.
  std::vector<Counters> counters_;

  // For the worker with the turn.
  TerminationRounds rounds_;
  /// The process that is asked next; process_count_ when all have been asked.
  std::uint32_t next_to_ask_;
  std::uint32_t round_ = 0;
  std::uint32_t answered_round_ = 0;
  bool is_report_wanted_ = false;
  bool is_over_ = false;
  bool has_ended_ = false;
  std::vector<Report> reports_;
  /// The status with which another process has ended the job; 0: none has.
  int end_status_ = 0;
  /// The processes that have ended it and await a confirmation.
  std::vector<std::uint32_t> enders_;
  std::uint32_t confirmed_count_ = 0;

  // The worker with the turn writes the first, and reads the next two.
  alignas(cache_line_bytes) std::atomic<std::uint32_t> asked_round_{0};
  std::atomic<std::uint32_t> found_round_{0};
  QuietCounts found_;
  /// Process 0 may begin a round, from this time on.
  std::atomic<bool> has_to_ask_{false};
  std::atomic<std::int64_t> next_round_ns_{0};

  // For the thread that has set the flag: the last worker that fell asleep.
  std::atomic_flag is_noting_;
  QuietCounts counts_;
  /// Time since all have been asleep.
  std::int64_t since_ns_ = 0;
};

}  // namespace sorrel::transport
