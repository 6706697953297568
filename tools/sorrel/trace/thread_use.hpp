//! ThreadUse - what the workers of a job have had of the machine: threads from the governor, and
//! cores from the system.
//!
//! Pure. One object for each process counts; add() joins them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "trace/record.hpp"

namespace sorrel::tool {

struct ThreadUse {
  std::int64_t elapsed_ns = 0;
  std::uint32_t worker_count = 0;
  /// The sum over the threads that the governor has granted.
  std::int64_t granted_ns = 0;
  /// The sum over workers, in which their threads ran other workers.
  std::int64_t away_ns = 0;
  /// Sums over threads, from the kernel's accounting: on a core, and waiting for one that another
  /// thread had. Only if `is_accounted`.
  std::int64_t core_ns = 0;
  std::int64_t core_wait_ns = 0;
  bool is_accounted = false;

  /// The time that the workers would have with a thread each.
  [[nodiscard]] std::int64_t whole_ns() const { return elapsed_ns * worker_count; }

  /// Whether times show the load of the machine more than the program: the workers have had less
  /// than nine tenths of their threads, or of their cores.
  [[nodiscard]] bool are_taken() const;

  /// What has been taken, as one sentence.
  [[nodiscard]] std::string taken_text() const;

  void add(const ThreadUse& process);
};

/// Counts the use of one process, in the order of time.
class ThreadUseCount {
 public:
  explicit ThreadUseCount(std::uint32_t worker_count) { use_.worker_count = worker_count; }

  void add_thread(const trace::ThreadRecord& thread);

  /// The governor grants `now` threads instead of `before`.
  void add_width(std::int64_t ns, std::uint64_t before, std::uint64_t now);

  void add_away(std::int64_t ns) { use_.away_ns += ns; }

  /// The use from the beginning of the job to `end_ns`.
  [[nodiscard]] ThreadUse until(std::int64_t end_ns) const;

 private:
  ThreadUse use_;
  /// The latest record of each thread, by its number.
  std::map<std::uint32_t, trace::ThreadRecord> latest_;
  bool has_width_ = false;
  std::uint64_t width_ = 0;
  std::int64_t width_since_ns_ = 0;
};

}  // namespace sorrel::tool
