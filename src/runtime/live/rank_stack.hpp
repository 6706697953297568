//! RankStack - the calls in progress of a rank, whether it runs or waits: collected in a signal
//! handler on the thread of its worker, which can run no rank meanwhile.
//!
//! In a rank that is suspended, the unwinder begins at the saved registers
//! (arch/suspended_calls.hpp). Nothing is written to its stack.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "mpi/match/rank_state.hpp"
#include "runtime/base/job_view.hpp"

namespace sorrel::runtime {

class RankStack {
 public:
  static constexpr std::size_t depth_max = 64;

  /// Finds the calls of a rank of the calling thread, which a signal has interrupted. `context`: of
  /// the handler. Does not allocate. Finds nothing if another thread runs the rank or may begin to,
  /// as with a borrowed rank or one that is a thread of its own.
  void take(const JobView& job, const mpi::RankState& rank, const void* context);

  /// Return addresses, the innermost first, without the calls that lead to main(), and without
  /// the library's own calls and what these call; empty: not known.
  [[nodiscard]] std::span<const void* const> addresses() const {
    return std::span(addresses_).subspan(begin_, end_ - begin_);
  }

 private:
  struct Walk;

  void take_of_interruption();
  void take_of_suspended(const core::Fiber& fiber);
  void leave_out_start();
  void leave_out_library();

  std::array<const void*, depth_max> addresses_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace sorrel::runtime
