//! Messages of one-sided communication between processes: their form, and what the side that sent
//! them keeps until the answer comes.
//!
//! A message is a stream of bytes: the head, the target's datatype (transfer_form.hpp), the data.
//! It is cut into packets, which travel from the origin's worker to the worker of the target rank,
//! one message after the other. README.md has the protocol.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/collectives/block_list.hpp"
#include "mpi/match/request.hpp"
#include "mpi/op/op.hpp"
#include "mpi/rma/wait.hpp"

namespace sorrel::mpi {

enum class MessageKind : std::uint16_t {
  // Operations.
  put,
  get,
  accumulate,
  get_accumulate,
  compare_and_swap,
  // Synchronization.
  lock_shared,
  lock_exclusive,
  unlock,
  flush,
  post,
  complete,
};

struct MessageHead {
  /// The view of the target rank, an address of its process.
  std::uint64_t window = 0;
  /// In bytes from the begin of the target's memory; in a dynamic window, an address.
  std::int64_t displacement = 0;
  std::uint64_t count = 0;
  /// Token of the answer: a PendingGet or an Ack of the origin; 0: no answer.
  std::uint64_t token = 0;
  std::uint64_t data_bytes = 0;
  /// Long data that the target reads from the origin's memory itself: its address there, and the
  /// Ack that tells that it has; 0: the data follows.
  std::uint64_t data_address = 0;
  std::uint64_t read_token = 0;
  std::uint32_t type_bytes = 0;
  /// The origin's rank in the window.
  std::int32_t origin = 0;
  MessageKind kind = MessageKind::flush;
  PredefinedOp op = PredefinedOp::no_op;
  Element element = Element::none;
  /// Size of an element in the packed stream; the data is cut between elements only.
  std::uint32_t element_bytes = 1;
};

/// The buffer of an operation that brings data back, until all has come. On the heap.
struct PendingGet {
  Win* window;
  /// Null if no request stands for it.
  Request* request;
  TypedBuffer into;
  std::size_t bytes;
  std::size_t arrived_bytes = 0;
};

/// The answers for which a rank waits, on its stack. Counts the caller, too, until all questions
/// have been sent.
struct Ack {
  explicit Ack(Win& win) : wait(win) {}

  WinWait wait;
  std::int32_t missing_count = 1;
  int error = MPI_SUCCESS;
};

/// Counts down; the last answer ends the wait.
inline void count_answer(Ack& ack, int error) {
  SORREL_ASSERT(ack.missing_count > 0, "an answer too many");
  if (ack.error == MPI_SUCCESS) ack.error = error;
  if (--ack.missing_count == 0) wake(ack.wait);
}

/// Sends a message to a rank of another process. `type` and `data` may be null. Returns when all of
/// it is with the transport, and long data has been read: the buffer may be reused. May suspend.
void send_message(Win& win,
                  std::int32_t target_rank,
                  MessageHead head,
                  const Datatype* type,
                  const TypedBuffer* data);

/// The last error of the answers. May suspend.
[[nodiscard]] int wait_for_answers(Ack& ack, std::int32_t peer);

/// Before the workers run: sets the handlers of the packets.
void set_rma_handlers(transport::Transport& transport, World& world);

}  // namespace sorrel::mpi
