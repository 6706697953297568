//! WorkerSettings - the working directory, file mode mask and locale that the thread of a worker
//! has now, and their change at a switch between ranks.
//!
//! The system keeps directory and mask for a group of threads. A worker's thread leaves that group
//! (unshare) before a rank that it runs changes them; from then on they are the thread's own. Used
//! by the worker's thread alone, except what is marked.
#pragma once

#include <cstdint>
#include <memory>
#include <sys/types.h>

#include "program/state/thread_settings.hpp"

namespace sorrel::core {
class Worker;
}  // namespace sorrel::core

namespace sorrel::program {

class WorkerSettings {
 public:
  /// Once, before the first rank runs, in a process of several ranks: ranks have settings of their
  /// own.
  static void begin(std::uint32_t worker_count);

  /// Any thread: whether begin() was called.
  [[nodiscard]] static bool are_ranks_separate();

  [[nodiscard]] static WorkerSettings& of(const core::Worker& worker);

  /// Any thread that runs ranks, before it runs any: with this locale, changes of the process's
  /// locale do not concern it.
  static void use_initial_locale();

  /// Gives the calling thread, which runs `worker`, a directory and mask of its own. False if the
  /// system refuses it (errno): then they are the process's, and a note says so once.
  [[nodiscard]] bool separate_files(const core::Worker& worker);

  /// Any thread that is no worker's: the same for the calling thread.
  static bool separate_files_of_thread();

  /// Any thread: whether separate_files() has succeeded for any thread.
  [[nodiscard]] static bool are_any_separate();

  /// Sets the calling thread, which runs `worker`, as `wanted` says; null: as before any rank ran.
  /// `has_own_locale`: the running rank's thread control block holds its locale.
  void apply(const core::Worker& worker, const ThreadSettings* wanted, bool has_own_locale);

  /// Directory and mask of `wanted` for the calling thread, which has separate files.
  static void enter_files(const ThreadSettings& wanted);

  [[nodiscard]] const ThreadSettings& now() const { return now_; }

  /// Records that the calling thread's directory has changed. False if it cannot be held open
  /// (errno).
  [[nodiscard]] bool take_directory();

  /// Records that the calling thread's mask has changed.
  void take_mask(mode_t mask);

  /// Any thread: the C library's uselocale().
  static locale_t use_locale(locale_t locale);

 private:
  ThreadSettings now_;
  /// The thread that was given separate files last; 0: none.
  int separate_thread_ = 0;
};

}  // namespace sorrel::program
