#include "mpi/match/arrival.hpp"

#include "mpi/match/device_message.hpp"
#include "mpi/match/remote.hpp"
#include "mpi/match/shared_copy.hpp"
#include "mpi/match/unexpected.hpp"

namespace sorrel::mpi {

namespace {

void run_inline_message(core::Worker& worker,
                        const core::Record& record,
                        const std::byte* payload) {
  RankState& to = static_cast<WorkerState*>(worker.user())
                      ->world->rank(static_cast<std::int32_t>(record.words[0]));
  const Envelope envelope{.context = record.words[1],
                          .source = static_cast<std::int32_t>(record.words[2]),
                          .tag = static_cast<std::int32_t>(record.words[3])};
  const MessageData data = packed_data(payload, record.payload_bytes);
  SORREL_ASSERT(to.worker == &worker, "a message for rank %d", to.world_rank);
  if (Request* receive = take_posted(to, envelope)) {
    deliver(*receive, envelope, data);
    return;
  }
  const bool added = add_copy(to, envelope, data, core::MessagePool::WhenFull::exceed);
  SORREL_CHECK(added, "no memory for a message of %u bytes", record.payload_bytes);
}

}  // namespace

void set_arrival_runners(core::Scheduler& scheduler) {
  scheduler.set_runner(inline_message_kind, run_inline_message);
}

void run_referenced_message(core::Worker& worker, core::RemoteCall& call) {
  auto& handoff = static_cast<Request::Handoff&>(call);
  Request& request = *handoff.request;
  Message& message = request.message;
  RankState& to = *handoff.destination;
  SORREL_ASSERT(to.worker == &worker && request.owner->worker != &worker);
  SORREL_ASSERT(!message.is_linked(), "the handoff of a message was posted twice");
  if (Request* receive = take_posted(to, message.envelope)) {
    deliver_and_dispose(*receive, message);
    return;
  }
  // A standard send may not depend on its receive as long as there is room: programs expect that.
  const bool may_copy =
      request.mode == SendMode::standard && message.bytes <= to.world->limits().eager_bytes_max;
  if (may_copy &&
      add_copy(to, message.envelope, data_of(message), core::MessagePool::WhenFull::fail)) {
    finish_send(request, worker);
    return;
  }
  add_unexpected(to, message);
}

void deliver_and_dispose(Request& receive, Message& message) {
  SORREL_ASSERT(!message.is_linked(), "another receive could still match it");
  core::Worker& here = *receive.owner->worker;
  Request* sender = message.request;
  if (sender == nullptr) {
    deliver(receive, message.envelope, data_of(message));
    free_copy(here.pool(), message);
  } else if (sender->owner->worker == nullptr) [[unlikely]] {
    deliver_remote(receive, message);
  } else if (sender->mode == SendMode::from_device) [[unlikely]] {
    deliver_from_device(receive, *sender);
  } else if (can_be_shared(receive, *sender)) {
    copy_together(receive, *sender);
  } else {
    deliver(receive, message.envelope, data_of(message));
    finish_send(*sender, here);
  }
}

}  // namespace sorrel::mpi
