//! Restarts - a job of which a process was killed is started again from its newest checkpoint, by
//! the command that has started it (--restarts).
//!
//! As often as the user allows, also from the same checkpoint, with growing pauses. Not twice at
//! the same point if the process has ended itself: it would never get beyond it. Without a
//! checkpoint the job begins anew if no rank has done anything that would be done twice.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "checkpoint/generation_store.hpp"
#include "launch/restart_note.hpp"
#include "os/shared_segment.hpp"

namespace sorrel::tool {

class Restarts {
 public:
  /// `begin`: the checkpoint with which the job begins; 0: the program begins.
  Restarts(std::unique_ptr<const checkpoint::GenerationStore> store,
           std::uint64_t count_max,
           std::uint64_t begin);

  /// For the processes of the job: launch::JobSpec::restart_note_descriptor. Nothing: the job is
  /// not started again, since the user does not want it or the system has no memory.
  [[nodiscard]] std::optional<int> note_descriptor() const;

  /// No process of the job runs, since this signal has ended one. Whether it is to be started
  /// again, from generation(), and after how many nanoseconds. Prints that, or why it is not.
  [[nodiscard]] std::optional<std::int64_t> begin_next(int signal);

  [[nodiscard]] std::uint64_t generation() const { return generation_; }

 private:
  /// Why the job is not started again, for a user; "": it is, from generation_.
  [[nodiscard]] std::string choose_next(int signal);
  [[nodiscard]] launch::RestartNote& note() const;

  const std::unique_ptr<const checkpoint::GenerationStore> store_;
  const std::uint64_t count_max_;
  const os::SharedSegment segment_;
  std::uint64_t generation_;
  std::uint64_t count_ = 0;
  /// How often the job has been started again with that generation.
  std::uint32_t same_count_ = 0;
  /// The newest generation when a process has ended itself.
  std::optional<std::uint64_t> own_death_;
};

}  // namespace sorrel::tool
