//! Arrival - what happens on the receiver's worker to a message that has come, and to an unexpected
//! one that a receive has found. Never suspends.
#pragma once

#include "core/scheduler.hpp"
#include "mpi/match/deliver.hpp"

namespace sorrel::mpi {

/// A message in a mailbox record, with its data. Words: destination (rank of the job), context,
/// source, tag.
inline constexpr core::RecordKind inline_message_kind = 1;

/// Before the workers run: sets the handler of these records.
void set_arrival_runners(core::Scheduler& scheduler);

/// Request::Handoff::run of a message by reference on its way to the destination's worker.
void run_referenced_message(core::Worker& worker, core::RemoteCall& call);

/// Removes from the posted receives the one that matches this envelope; null if there is none.
inline Request* take_posted(RankState& to, const Envelope& envelope) {
  SORREL_ASSERT(is_on_worker_of(to), "matched on another worker than the receiver's");
  MatchEntry* entry = to.posted.take_for(envelope);
  return entry == nullptr ? nullptr : static_cast<Message*>(entry)->request;
}

/// As deliver(), from a message that is in no table; then completes its send, or frees its copy. A
/// long message from another worker may be copied by both workers: then the receive is complete
/// later.
[[gnu::flatten]] void deliver_and_dispose(Request& receive, Message& message);

}  // namespace sorrel::mpi
