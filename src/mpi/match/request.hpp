//! Request - one send or receive in progress: envelope, buffer, and actions at completion. Or the
//! request of a larger operation (operation.hpp).
//!
//! Owned by one rank. Only its worker accesses it, with one exception. A send to a rank of another
//! worker is lent to that worker, with its message, from the post of the handoff until the handoff
//! comes back (README.md, "By reference"). A blocking call keeps its request on the stack; other
//! calls take theirs from the worker's RequestPool.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/completion.hpp"
#include "core/remote_call.hpp"
#include "mpi.h"
#include "mpi/base/handle.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/match/match_table.hpp"

namespace sorrel::mpi {

class Operation;
struct RankState;
struct RemoteSend;
struct Request;

/// An entry of a match table: an unexpected message, or a posted receive.
struct Message : MatchEntry {
  static constexpr ObjectKind object_kind = ObjectKind::message;
  ObjectHeader header{object_kind};
  /// The send that still holds the data, or the posted receive; null for a message whose data was
  /// copied.
  Request* request;
  // Only in messages.
  /// Packed size.
  std::size_t bytes;
  /// Address of copied data, directly behind this struct; see unexpected.cpp.
  std::byte* payload;
  /// After a matched probe: the receiver's communicator, held until the message is received.
  Comm* comm;
};

/// MPI_Rsend sends in standard mode.
enum class SendMode : std::uint8_t {
  standard,
  synchronous,
  from_device,  ///< by reference, of a buffer on a device (device_message.hpp)
  buffered
};

/// One send or receive. Fields without initial value are set by describe_send() and
/// describe_receive(), or as their comments say. The request of an operation has none of the fields
/// of a message.
struct Request {
  static constexpr ObjectKind object_kind = ObjectKind::request;
  enum class Kind : std::uint8_t { receive, send, operation };

  /// What happens to it after the wait. The first two are the common ones: one comparison tells.
  enum class Life : std::uint8_t {
    once,        ///< Returned to the pool.
    endless,     ///< WorkerState::finished_send: shared, stays complete.
    persistent,  ///< Made by MPI_*_init: becomes inactive.
    operation,   ///< As `once`; its operation ends with it.
  };

  /// Actions of complete() besides waking the waiting fiber; most requests have none.
  struct Duties {
    /// The buffer is an internal copy: freed when the send is complete.
    bool owns_buffer = false;
    /// MPI_Request_free was called: recycled when complete.
    bool is_released = false;
    /// A send of MPI_Isendrecv. The receive is the user's request, and is complete when both are.
    bool is_part = false;
    /// If above one: number of parts, or answers to a cancel, that must report before completion.
    std::uint8_t missing_part_count = 0;

    [[nodiscard]] bool any() const { return std::bit_cast<std::uint32_t>(*this) != 0; }
  };

  ObjectHeader header{object_kind};
  Kind kind = Kind::receive;
  Life life = Life::once;
  /// Started and not yet waited for: activate(), deactivate(). Never set in a blocking call.
  bool is_active = false;
  bool is_cancelled = false;
  Duties duties;

  // Values for MPI_Status.
  int error = MPI_SUCCESS;
  std::int32_t status_source = MPI_PROC_NULL;
  std::int32_t status_tag = MPI_ANY_TAG;
  std::size_t status_bytes = 0;

  core::Completion completion;
  RankState* owner;
  Comm* comm;

  /// The operation of Kind::operation. It exists as long as the request.
  Operation* operation;

  // The user's buffer.
  void* buffer;
  std::size_t element_count;
  Datatype* type;

  /// A receive: source or wildcard. A send: the destination.
  std::int32_t peer;
  std::int32_t tag;

  /// Its entry in a match table: a receive among the posted ones, a send by reference among the
  /// unexpected ones.
  Message message;

  /// Only for sends.
  SendMode mode;

  /// Persistent, and an object with a handle (mpi/base/object_memory.hpp), not from the pool.
  bool is_object;

  /// A send to another worker: the remote call that carries it there and back.
  struct Handoff : core::RemoteCall {
    Request* request;
    RankState* destination;
    /// While both workers copy a long message: the receive, and the start of the sender's part.
    Request* receive;
    std::size_t split;
  } handoff;

  /// A send to another process that is not complete: its state in this process.
  RemoteSend* remote;

  /// With MPI_ERR_TRUNCATE: the size of the message that did not fit.
  std::size_t truncated_bytes;
  /// For a part: the user's request.
  Request* main_part;
  /// With an owned buffer: its bytes in an attached buffer, and that buffer.
  std::size_t buffered_charge;
  BufferedSends* charged;

  /// Free list of the pool.
  Request* next_free;
};

/// The request stays when it is complete.
inline void make_persistent(Request& request, bool is_object = false) {
  request.life = Request::Life::persistent;
  request.is_object = is_object;
}

inline MPI_Request handle_of(Request& request) {
  return reinterpret_cast<MPI_Request>(&request);
}

}  // namespace sorrel::mpi
