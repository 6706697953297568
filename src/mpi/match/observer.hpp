//! Observer - gets the events in the library that a checker of programs needs beside the calls
//! (src/check).
//!
//! JobControl::observer() is the one of a checked run. On the worker of the rank. Never suspends.
#pragma once

#include <cstddef>

#include "mpi/match/match_table.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

struct Request;

class Observer {
 public:
  virtual ~Observer() = default;

  /// A call of the rank raises an error. `is_fatal`: the error handler ends the job.
  virtual void on_error(RankState& self, int error_class, const char* detail, bool is_fatal) = 0;

  /// A message of `bytes` bytes has reached its receive, and will be copied.
  virtual void on_receive(const Request& receive, const Envelope& envelope, std::size_t bytes) = 0;
};

/// The observer of a rank's job; null: the run is not checked.
[[nodiscard]] inline Observer* observer_of(const RankState& self) {
  return self.world == nullptr ? nullptr : self.world->job().observer();
}

}  // namespace sorrel::mpi
