//! RestartNote - what the processes of a job leave for `sorrel run`, which starts the job again
//! when one of them was killed (--restarts).
//!
//! In memory that all of them share. Written by any thread, also in signal handlers; read when no
//! process of the job runs any more.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace sorrel::launch {

class RestartNote {
 public:
  /// The job cannot begin anew, for a user: a rank has done something outside of the job, or goes
  /// on from MPI_Init without a checkpoint. The first reason counts.
  void add_effect(const char* reason) {
    std::uint32_t expected = nothing;
    // Relaxed: read when the writer has ended.
    if (!state_.compare_exchange_strong(expected, begun, std::memory_order_relaxed)) return;
    std::strncpy(reason_, reason, sizeof reason_ - 1);
    state_.store(written, std::memory_order_relaxed);
  }

  /// "": there was no effect.
  [[nodiscard]] std::string effect() const {
    const std::uint32_t state = state_.load(std::memory_order_relaxed);
    if (state == nothing) return "";
    return state == written ? reason_ : "it has done something outside of the job";
  }

  /// A process is about to send itself a signal.
  void add_own_signal(int number) { own_signal_.store(number, std::memory_order_relaxed); }

  /// The last one; 0: none.
  [[nodiscard]] int own_signal() const { return own_signal_.load(std::memory_order_relaxed); }

 private:
  enum : std::uint32_t { nothing, begun, written };

  std::atomic<std::uint32_t> state_{nothing};
  std::atomic<std::int32_t> own_signal_{0};
  char reason_[488] = "";
};

}  // namespace sorrel::launch
