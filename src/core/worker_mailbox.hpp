//! WorkerMailbox - the mailbox between two workers: core/mailbox.hpp, or in a build for
//! measurements (SORREL_STUDY) the kind that its environment selects.
#pragma once

#include <cstdint>

#include "core/mailbox.hpp"
#ifdef SORREL_STUDY
#include "core/study/studied_mailbox.hpp"
#endif

namespace sorrel::core {

#ifdef SORREL_STUDY

using WorkerMailbox = study::StudiedMailbox;

/// The sender whose mailbox to `to` takes the records of `from`.
[[nodiscard]] inline std::uint32_t mailbox_owner(std::uint32_t from, std::uint32_t to) {
  return study::steps.queue == study::Queue::own ? from : to;
}

/// Whether workers of several processes may use them.
[[nodiscard]] inline bool work_between_processes() {
  return study::steps.queue == study::Queue::own;
}

#else

using WorkerMailbox = Mailbox;

[[nodiscard]] constexpr std::uint32_t mailbox_owner(std::uint32_t from, std::uint32_t /*to*/) {
  return from;
}

[[nodiscard]] constexpr bool work_between_processes() {
  return true;
}

#endif

}  // namespace sorrel::core
