//! Request - one send or receive under way: its envelope, its buffer, and who must be told when it
//! is over.
//!
//! Owned by one rank. Its worker alone touches it, with one exception: a send to a rank of another
//! worker is lent to that worker, with its message, from the post of the notice until the notice
//! that says it is done (README.md, "By reference"). A blocking call keeps its request on the
//! stack; others take theirs from the worker's RequestPool.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/completion.hpp"
#include "core/notice.hpp"
#include "mpi.h"
#include "mpi/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/handle.hpp"
#include "mpi/p2p/match_table.hpp"

namespace sorrel::mpi {

struct RankState;
struct Request;

/// A message that has arrived and that nobody has received yet: an entry of the unexpected table.
struct Message : MatchEntry {
  static constexpr ObjectKind object_kind = ObjectKind::message;
  ObjectHeader header{object_kind};
  /// Packed size.
  std::size_t bytes = 0;
  /// The sender's request, which still holds the data; null when the data was copied.
  Request* sender = nullptr;
  /// Where the copied data is, right behind this struct; see p2p/unexpected.cpp.
  std::byte* payload = nullptr;
};

enum class SendMode : std::uint8_t { standard, synchronous, ready, buffered };

struct Request {
  static constexpr ObjectKind object_kind = ObjectKind::request;
  enum class Kind : std::uint8_t { receive, send };

  ObjectHeader header{object_kind};
  Kind kind = Kind::receive;
  SendMode mode = SendMode::standard;
  /// Made by MPI_*_init: survives its completion.
  bool is_persistent = false;
  /// Started and not yet waited for.
  bool is_active = false;
  /// MPI_Request_free was called: goes away by itself when complete.
  bool is_released = false;
  bool is_cancelled = false;
  /// MPI_Isendrecv: the receive is the request that the user sees; it is complete when its send is,
  /// too.
  std::uint8_t missing_part_count = 0;
  Request* main_part = nullptr;

  core::Completion completion;
  RankState* owner = nullptr;
  Comm* comm = nullptr;

  // The user's buffer.
  void* buffer = nullptr;
  std::size_t element_count = 0;
  Datatype* type = nullptr;

  /// A receive: source or wildcard. A send: the destination.
  std::int32_t peer = 0;
  std::int32_t tag = 0;

  // What MPI_Status will say.
  int error = MPI_SUCCESS;
  std::int32_t status_source = MPI_PROC_NULL;
  std::int32_t status_tag = MPI_ANY_TAG;
  std::size_t status_bytes = 0;
  /// With MPI_ERR_TRUNCATE: the size of the message that did not fit.
  std::size_t truncated_bytes = 0;

  /// A receive's place among the posted ones.
  struct Posted : MatchEntry {
    Request* request = nullptr;
  } posted;

  /// A send's message while it goes by reference.
  Message message;

  /// A send to another worker: the notice that carries it there and back.
  struct Trip : core::Notice {
    Request* request = nullptr;
    RankState* destination = nullptr;
  } trip;

  /// A buffered send: what it takes of the attached buffer; not 0.
  std::size_t buffered_charge = 0;

  /// Free list of the pool.
  Request* next_free = nullptr;
};

inline MPI_Request handle_of(Request& request) {
  return reinterpret_cast<MPI_Request>(&request);
}

}  // namespace sorrel::mpi
