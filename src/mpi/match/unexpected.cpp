#include "mpi/match/unexpected.hpp"

#include <new>

#include "mpi/datatype/copy.hpp"
#include "mpi/match/rank_events.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/match/remote.hpp"

namespace sorrel::mpi {

namespace {

constexpr std::size_t header_bytes = (sizeof(Message) + 15) / 16 * 16;

/// A copy of the data in a pool buffer, in no table; null if the pool is full.
Message* make_copy(core::MessagePool& pool,
                   const Envelope& envelope,
                   const MessageData& data,
                   core::MessagePool::WhenFull when_full) {
  if (header_bytes + data.bytes > core::MessagePool::buffer_bytes_max) return nullptr;
  void* buffer = pool.take(header_bytes + data.bytes, when_full);
  if (buffer == nullptr) return nullptr;
  auto* message = new (buffer) Message;
  message->envelope = envelope;
  message->request = nullptr;
  message->bytes = data.bytes;
  message->payload = static_cast<std::byte*>(buffer) + header_bytes;
  copy(data.buffer, data.count, *data.type, message->payload, data.bytes,
       *datatype_from_handle(MPI_BYTE));
  return message;
}

}  // namespace

void add_unexpected(RankState& to, Message& message) {
  SORREL_ASSERT(is_on_worker_of(to));
  to.unexpected.add(message);
  if (RankEvents* events = events_of(to); events != nullptr) [[unlikely]]
    events->record_unexpected(message);
  if (!to.probers.empty()) to.worker->make_all_ready(to.probers);
}

bool add_copy(RankState& to,
              const Envelope& envelope,
              const MessageData& data,
              core::MessagePool::WhenFull when_full) {
  Message* message = make_copy(to.worker->pool(), envelope, data, when_full);
  if (message == nullptr) return false;
  add_unexpected(to, *message);
  return true;
}

bool detach(Request& send) {
  Message& original = send.message;
  if (original.bytes > send.owner->world->limits().eager_bytes_max) return false;
  RankState& to = *send.handoff.destination;
  SORREL_ASSERT(to.worker == send.owner->worker && original.is_linked(),
                "a message that is lent, or has been matched");
  Message* twin = make_copy(to.worker->pool(), original.envelope, data_of(original),
                            core::MessagePool::WhenFull::fail);
  if (twin == nullptr) return false;
  UnexpectedTable::replace(original, *twin);
  complete(send);
  return true;
}

void free_copy(core::MessagePool& pool, Message& message) {
  SORREL_ASSERT(message.header.kind == ObjectKind::message, "freed twice");
  SORREL_ASSERT(message.request == nullptr && !message.is_linked());
  message.header.kind = ObjectKind::freed;
  pool.give_back(&message, header_bytes + message.bytes);
}

void pass_copy(core::MessagePool& from, core::MessagePool& to, const Message& message) {
  if (message.request == nullptr) {
    from.pass_on(to, header_bytes + message.bytes);
  } else if (is_remote(message)) {
    pass_remote_copy(from, to, message);
  }
}

void hand_over_all_unexpected(RankState& rank) {
  while (MatchEntry* entry = rank.unexpected.oldest()) {
    auto& message = static_cast<Message&>(*entry);
    rank.unexpected.remove(message);
    if (message.request == nullptr) {
      free_copy(rank.worker->pool(), message);
    } else {
      SORREL_ASSERT(is_remote(message), "a message without a copy is handed over");
      dispose_remote(rank, message);
    }
  }
}

void free_all_unexpected(RankState& rank) {
  while (MatchEntry* entry = rank.unexpected.oldest()) {
    auto& message = static_cast<Message&>(*entry);
    rank.unexpected.remove(message);
    if (message.request == nullptr) {
      free_copy(rank.worker->pool(), message);
    } else if (is_remote(message)) {
      discard_remote(rank, message);
    }
  }
}

}  // namespace sorrel::mpi
