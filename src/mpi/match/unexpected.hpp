//! Unexpected messages: copies of small ones, references to all others.
//!
//! All on the receiver's worker. A copy is one buffer of the worker's pool: the Message, then its
//! bytes.
#pragma once

#include "core/message_pool.hpp"
#include "mpi/match/deliver.hpp"

namespace sorrel::mpi {

/// Enters a message and wakes a probing fiber.
void add_unexpected(RankState& to, Message& message);

/// Copies the data and enters the copy; false if it is too long for a copy or the pool is full.
[[nodiscard]] bool add_copy(RankState& to,
                            const Envelope& envelope,
                            const MessageData& data,
                            core::MessagePool::WhenFull when_full);

/// Replaces a send of the same worker that waits by reference with a copy of its data and completes
/// it. False if the message is too long or the pool is full.
[[nodiscard]] bool detach(Request& send);

/// The message is in no table, and its data was copied.
void free_copy(core::MessagePool& pool, Message& message);

/// While all workers are stopped: a message that is a copy will be freed to another pool.
void pass_copy(core::MessagePool& from, core::MessagePool& to, const Message& message);

/// On the rank's worker, when the rank goes on in another process, which has copies of its
/// messages: frees them, and returns credit for them.
void hand_over_all_unexpected(RankState& rank);

/// Frees all unreceived messages, at the end of the rank.
void free_all_unexpected(RankState& rank);

}  // namespace sorrel::mpi
