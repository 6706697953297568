//! Observer - gets the events in the library that a checker of programs needs beside the calls
//! (src/check).
//!
//! The job is one if the run is checked. On the worker of the rank. Never suspends.
#pragma once

#include <cstddef>

#include "mpi/match/match_table.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

struct Request;

class Observer {
 public:
  virtual ~Observer() = default;

  /// Otherwise no event is shown.
  [[nodiscard]] virtual bool is_observing() const = 0;

  /// A call of the rank raises an error. `is_fatal`: the error handler ends the job.
  virtual void on_error(RankState& self, int error_class, const char* detail, bool is_fatal) = 0;

  /// A message of `bytes` bytes has reached its receive, and will be copied.
  virtual void on_receive(const Request& receive, const Envelope& envelope, std::size_t bytes) = 0;
};

/// The observer of a rank's job, by a search that is slow; null: the run is not checked.
[[nodiscard]] inline Observer* observer_of(const RankState& self) {
  auto* observer = self.world == nullptr ? nullptr : dynamic_cast<Observer*>(&self.world->job());
  return observer != nullptr && observer->is_observing() ? observer : nullptr;
}

}  // namespace sorrel::mpi
