//! BodyView - what reports read of the code that a job runs for each rank.
#pragma once

#include <cstddef>
#include <optional>

#include "mpi/match/rank_state.hpp"
#include "program/state/outside_wait.hpp"
#include "report/wait_table.hpp"

namespace sorrel::runtime {

class BodyView {
 public:
  virtual ~BodyView() = default;

  /// Any thread: the rank's wait outside of MPI during which its worker runs other ranks.
  [[nodiscard]] virtual program::OutsideState outside_state(const mpi::RankState& /*rank*/) const {
    return {};
  }

  /// The heap of a rank, by its index among those of this process; nothing if it has none of its
  /// own, or has not used it. Any thread, and signal handlers.
  [[nodiscard]] virtual std::optional<report::RankMemory> memory_of(std::size_t /*index*/) const {
    return std::nullopt;
  }

  /// The index, among the ranks of this process, of the rank whose own code holds an address; -1:
  /// not known. Safe in a signal handler.
  [[nodiscard]] virtual int index_of_code(const void* /*address*/) const { return -1; }
};

}  // namespace sorrel::runtime
