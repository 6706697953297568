//! Request - one send or receive under way: its envelope, its buffer, and who must be told when it
//! is over.
//!
//! Owned by one rank. Its worker alone touches it, with one exception: a send to a rank of another
//! worker is lent to that worker, with its message, from the post of the notice until the notice
//! that says it is done (README.md, "By reference"). A blocking call keeps its request on the
//! stack; others take theirs from the worker's RequestPool.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/completion.hpp"
#include "core/remote_call.hpp"
#include "mpi.h"
#include "mpi/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/handle.hpp"
#include "mpi/p2p/match_table.hpp"

namespace sorrel::mpi {

struct RankState;
struct RemoteSend;
struct Request;

/// An entry of a match table: a message that nobody has received yet, or a posted receive.
struct Message : MatchEntry {
  static constexpr ObjectKind object_kind = ObjectKind::message;
  ObjectHeader header{object_kind};
  /// The send that still holds the data, or the posted receive; null for a message whose data was
  /// copied.
  Request* request;
  // Of messages only.
  /// Packed size.
  std::size_t bytes;
  /// Where copied data is, right behind this struct; see p2p/unexpected.cpp.
  std::byte* payload;
  /// Once a matched probe has set it aside: the receiver's communicator, held until it is received.
  Comm* comm;
};

enum class SendMode : std::uint8_t { standard, synchronous, ready, buffered };

/// One send or receive. What has no initial value is set by describe_send() and
/// describe_receive(), or as its comment says.
struct Request {
  static constexpr ObjectKind object_kind = ObjectKind::request;
  enum class Kind : std::uint8_t { receive, send };

  /// What becomes of it when it has been waited for.
  enum class Life : std::uint8_t {
    once,        ///< It goes back to the pool.
    persistent,  ///< Made by MPI_*_init: becomes inactive.
    endless,     ///< WorkerState::finished_send: stands for many, stays complete.
  };

  /// What complete() has to see to beyond the waiting fiber; most requests have nothing.
  struct Duties {
    /// The buffer is our own copy: freed when the send is complete.
    bool owns_buffer = false;
    /// MPI_Request_free was called: goes away by itself when complete.
    bool is_released = false;
    /// MPI_Isendrecv: the receive is the request that the user sees, and the send its part; it is
    /// complete when both are.
    bool is_part = false;
    /// More than one: so many must report before it is complete (parts; the answer to a cancel).
    std::uint8_t missing_part_count = 0;

    [[nodiscard]] bool any() const { return std::bit_cast<std::uint32_t>(*this) != 0; }
  };

  ObjectHeader header{object_kind};
  Kind kind = Kind::receive;
  Life life = Life::once;
  /// Started and not yet waited for.
  bool is_active = false;
  bool is_cancelled = false;
  Duties duties;

  // What MPI_Status will say.
  int error = MPI_SUCCESS;
  std::int32_t status_source = MPI_PROC_NULL;
  std::int32_t status_tag = MPI_ANY_TAG;
  std::size_t status_bytes = 0;

  core::Completion completion;
  RankState* owner;
  Comm* comm;

  // The user's buffer.
  void* buffer;
  std::size_t element_count;
  Datatype* type;

  /// A receive: source or wildcard. A send: the destination.
  std::int32_t peer;
  std::int32_t tag;

  /// Its place in a match table: a receive among the posted ones, a send by reference among the
  /// unexpected.
  Message message;

  /// Of sends.
  SendMode mode;

  /// A send to another worker: the notice that carries it there and back.
  struct Handoff : core::RemoteCall {
    Request* request;
    RankState* destination;
    /// While the two workers copy a long message together: the receive, and where the sender's part
    /// begins.
    Request* receive;
    std::size_t split;
  } handoff;

  /// A send to another process that is not complete: what this process keeps of it.
  RemoteSend* remote;

  /// With MPI_ERR_TRUNCATE: the size of the message that did not fit.
  std::size_t truncated_bytes;
  /// Of a part: the request that the user sees.
  Request* main_part;
  /// With an owned buffer: what it takes of an attached buffer, and of which.
  std::size_t buffered_charge;
  BufferedSends* charged;

  /// Free list of the pool.
  Request* next_free;
};

inline MPI_Request handle_of(Request& request) {
  return reinterpret_cast<MPI_Request>(&request);
}

}  // namespace sorrel::mpi
