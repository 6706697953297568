//! HostQuiet - knows when nobody is left in a job over a host MPI: every worker of every process
//! sleeps, and no packet is on its way.
//!
//! Process 0 asks all processes, itself included, in *rounds*; each answers when all its workers
//! sleep, with how many packets it has sent and taken so far. Two rounds that give the same sums,
//! as many taken as sent, leave nobody who could still wake anybody (README.md, "Nobody is left",
//! has the proof). A round waits for as long as somebody has something to do, and costs two packets
//! for each process; they are not counted. Source: Mattern's four counters, 1987.
//!
//! count_*() are the named worker's, note_all_asleep() is for the last worker that lay down, all
//! else for whoever has the transport's turn. Does not see a process that never starts its workers.
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

/// What a process says of itself, of an instant at which all its workers slept; or a sum of such.
struct QuietCounts {
  std::uint64_t sent = 0;
  std::uint64_t taken = 0;
  /// Processes some of whose fibers wait.
  std::uint64_t waiting = 0;

  friend bool operator==(const QuietCounts&, const QuietCounts&) = default;
};

/// The rounds, as process 0 keeps account of them. Pure.
class QuietRounds {
 public:
  explicit QuietRounds(std::uint32_t process_count) : process_count_(process_count) {}

  /// Begins the next round; returns its number, which is not 0.
  std::uint32_t begin();

  [[nodiscard]] bool is_under_way() const { return left_ != 0; }

  enum class Outcome {
    open,   ///< Answers are missing.
    moved,  ///< Something has happened since the last round, or is under way.
    still,  ///< Perhaps nobody is left: another round will tell.
    over,   ///< Nobody is left.
  };
  Outcome take(std::uint32_t round, const QuietCounts& answer);

 private:
  const std::uint32_t process_count_;
  std::uint32_t round_ = 0;
  /// Answers that are missing.
  std::uint32_t left_ = 0;
  QuietCounts sum_;
  QuietCounts sum_before_;
};

/// Who wants to know.
class QuietWatcher {
 public:
  virtual ~QuietWatcher() = default;
  /// What the fibers of this process wait for, as text. All its workers slept when it was asked.
  virtual std::string text_of_waits(std::size_t bytes_max) = 0;
  /// In process 0, on a worker's thread and outside of any fiber: nobody is left.
  virtual void on_nobody_left() = 0;
};

class HostQuiet {
 public:
  /// For so long process 0 has had nothing to do before it asks.
  static constexpr std::int64_t pause_ns = 200'000'000;

  HostQuiet(core::Scheduler& scheduler,
            HostLink& link,
            std::uint32_t process,
            std::uint32_t process_count);

  /// Before the workers run. Null: nobody asks.
  void set_watcher(QuietWatcher* watcher) { watcher_ = watcher; }

  void set_pause(std::int64_t ns) { pause_ns_ = ns; }

  /// The transport has taken a packet from this worker.
  void count_sent(std::uint32_t worker) { count(counters_[worker].sent); }

  /// This worker is about to run a packet's handler.
  void count_taken(std::uint32_t worker) { count(counters_[worker].taken); }

  void note_all_asleep();

  [[nodiscard]] static bool is_ours(std::uint32_t kind) { return kind >= kind_min; }

  /// A packet of ours, which goes back to the link here.
  void take(const HostLink::Arrival& arrival);

  /// Whenever a look has found nothing.
  void tend() {
    // Acquire, pairs with note_all_asleep(): what it has found.
    if (found_round_.load(std::memory_order_acquire) != answered_round_ ||
        has_to_ask_.load(std::memory_order_relaxed) || next_to_ask_ != process_count_ ||
        is_report_wanted_ || is_over_) [[unlikely]]
      attend();
  }

  /// Instead of the two above when the workers have ended.
  void tend_at_the_end();

  /// In on_nobody_left(): what the other processes wait for, by process; empty when one has not
  /// answered in time, or nothing waits there.
  struct Report {
    bool has_come = false;
    std::string text;
  };

  [[nodiscard]] std::vector<Report> gather_reports();

 private:
  /// Kinds of packets, between those of other layers and the link's.
  static constexpr std::uint32_t kind_min = 40;
  static constexpr std::uint32_t question_kind = 40;
  static constexpr std::uint32_t answer_kind = 41;
  static constexpr std::uint32_t report_wanted_kind = 42;
  static constexpr std::uint32_t report_kind = 43;

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
  void attend();
  void ask();
  void answer();
  void conclude(QuietRounds::Outcome outcome);
  void send_report();
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
  /// By worker, each its own.
  std::vector<Counters> counters_;

  // Whoever has the turn.
  QuietRounds rounds_;
  /// The process that is asked next; process_count_ when all have been.
  std::uint32_t next_to_ask_;
  std::uint32_t round_ = 0;
  std::uint32_t answered_round_ = 0;
  bool is_report_wanted_ = false;
  bool is_over_ = false;
  bool has_ended_ = false;
  std::vector<Report> reports_;

  // Whoever has the turn writes the first, and reads the next two.
  alignas(cache_line_bytes) std::atomic<std::uint32_t> asked_round_{0};
  std::atomic<std::uint32_t> found_round_{0};
  QuietCounts found_;
  /// Process 0 is to begin a round, and may wish to from this time on.
  std::atomic<bool> has_to_ask_{false};
  std::atomic<std::int64_t> next_round_ns_{0};

  // Who has set the flag: the last worker that lay down.
  std::atomic_flag is_noting_;
  QuietCounts counts_;
  /// Since when they have been so.
  std::int64_t since_ns_ = 0;
};

}  // namespace sorrel::transport
