//! Restarts - a job of which a process was killed is started again from its newest checkpoint, by
//! the command that has started it (--restarts).
//!
//! It is not without a checkpoint, nor more often than the user allows, nor twice from the same
//! checkpoint: a process that is always killed at the same point would never get beyond it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "checkpoint/generation_store.hpp"

namespace sorrel::tool {

class Restarts {
 public:
  /// `begin`: the checkpoint with which the job begins; 0: the program begins.
  Restarts(std::unique_ptr<const checkpoint::GenerationStore> store,
           std::uint64_t count_max,
           std::uint64_t begin)
      : store_(std::move(store)), count_max_(count_max), generation_(begin) {}

  /// No process of the job runs. Whether it is to be started again, from generation(). Prints that,
  /// or why it is not.
  [[nodiscard]] bool begin_next();

  [[nodiscard]] std::uint64_t generation() const { return generation_; }

 private:
  const std::unique_ptr<const checkpoint::GenerationStore> store_;
  const std::uint64_t count_max_;
  std::uint64_t generation_;
  std::uint64_t count_ = 0;
};

}  // namespace sorrel::tool
