//! OutstandingCollectives - the nonblocking collectives that one member has started on one
//! communicator and that have not ended.
//!
//! Owner's worker only. Number s runs on shadow s mod CollectiveShadows::shadow_count, after number
//! s - shadow_count. All members start them in the same order, so the numbers agree without a
//! message. Exists from the first one to the end of the communicator.
#pragma once

#include <array>
#include <cstdint>

#include "mpi/collectives/collective_operation.hpp"

namespace sorrel::mpi {

class OutstandingCollectives {
 public:
  explicit OutstandingCollectives(Comm& comm) : comm_(comm) {}

  ~OutstandingCollectives();

  OutstandingCollectives(const OutstandingCollectives&) = delete;
  OutstandingCollectives& operator=(const OutstandingCollectives&) = delete;

  static OutstandingCollectives& of(Comm& comm);

  /// Gives the operation its number and its shadow. False: it begins when next_after() returns it.
  [[nodiscard]] bool add(CollectiveOperation& operation);

  /// Operation `number` has ended; returns the one that may begin on the same shadow, or null.
  [[nodiscard]] CollectiveOperation* next_after(std::uint32_t number);

  /// None is in progress.
  [[nodiscard]] bool is_idle() const;

  /// How many the member has started.
  [[nodiscard]] std::uint32_t started_count() const { return next_number_; }

 private:
  /// The member's view of a shadow, and the operations that it has not ended.
  struct Line {
    Comm* shadow = nullptr;
    bool is_busy = false;
    CollectiveOperation* first_waiting = nullptr;
    CollectiveOperation* last_waiting = nullptr;
  };

  Line& line_of(std::uint32_t number) { return lines_[number % CollectiveShadows::shadow_count]; }

  Comm& comm_;
  std::uint32_t next_number_ = 0;
  std::array<Line, CollectiveShadows::shadow_count> lines_;
};

}  // namespace sorrel::mpi
