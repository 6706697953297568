//! Operation - what a request stands for that is neither a send nor a receive: a collective.
//!
//! Waits, tests and starts treat such a request like any other; what differs is behind this
//! interface. The module that defines an operation fills the request with make_operation_request()
//! and calls complete() on it. Owner's worker only.
#pragma once

#include <cstdint>
#include <optional>

#include "base/fixed_text.hpp"
#include "mpi/match/complete.hpp"

namespace sorrel::mpi {

/// "MPI_Reduce_scatter_block_init" has 29 characters.
using OperationName = FixedText<40>;

class GeneralizedRequest;
class PartitionedReceive;
class PartitionedSend;

class Operation {
 public:
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// Starts the operation of an inactive persistent request, which is active now. May suspend.
  [[nodiscard]] virtual int start() = 0;

  /// Sets the error detail, after the operation has failed with this class; returns the class.
  [[nodiscard]] virtual int explain(RankState& self, int error_class) const = 0;

  /// The name in the standard: "MPI_Ibcast". Also in a signal handler.
  virtual void name(OperationName& to) const = 0;

  /// A rank of the job for which it waits, if one can be named. Also in a signal handler.
  [[nodiscard]] virtual std::optional<std::int32_t> awaited_rank() const = 0;

  /// A request with Duties::is_part, whose main part is the operation's request, is complete.
  virtual void finish_part(Request& /*part*/) {}

  /// This operation, if it is a generalized request.
  [[nodiscard]] virtual GeneralizedRequest* generalized() { return nullptr; }

  /// This operation, if it is a partitioned send or receive.
  [[nodiscard]] virtual PartitionedSend* partitioned_send() { return nullptr; }

  [[nodiscard]] virtual PartitionedReceive* partitioned_receive() { return nullptr; }

  /// Ends the operation, when it is not in progress and its request is about to end.
  virtual void end() = 0;

 protected:
  Operation() = default;
  ~Operation() = default;
};

/// A new request for an operation on `comm`, inactive.
[[nodiscard]] Request& make_operation_request(RankState& self, Comm& comm, Operation& operation);

}  // namespace sorrel::mpi
