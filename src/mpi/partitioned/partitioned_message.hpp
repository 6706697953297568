//! PartitionedMessage - what both sides of a partitioned message have in common: the user's
//! request, and the messages of which the transfer is made (MPI 5.0, 4).
//!
//! Owner's worker only. Owned by its request; if that is freed before the two sides have introduced
//! themselves, it lives until they have. README.md has the protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/match/operation.hpp"
#include "mpi/partitioned/transfer_units.hpp"

namespace sorrel::mpi {

/// The arguments of MPI_Psend_init and MPI_Precv_init, valid.
struct PartitionedArguments {
  void* buffer;
  std::size_t partition_count;
  /// Elements of a partition.
  std::size_t count;
  Datatype& type;
  /// A rank or MPI_PROC_NULL.
  std::int32_t peer;
  std::int32_t tag;

  [[nodiscard]] std::size_t partition_bytes() const { return count * type.size(); }

  [[nodiscard]] std::size_t total_bytes() const { return partition_count * partition_bytes(); }
};

/// The sender to the receiver, once for each pair of requests.
struct PartitionedIntroduction {
  std::uint64_t partition_bytes;
  std::uint64_t total_bytes;
  std::int32_t first_number;
  std::int32_t unused = 0;
};

/// The receiver's answer.
struct PartitionedAnswer {
  std::uint64_t element_bytes;
  std::uint64_t total_bytes;
};

class PartitionedMessage : public Operation {
 public:
  /// The user's request: persistent, inactive.
  [[nodiscard]] Request& request() { return *request_; }

  [[nodiscard]] std::size_t partition_count() const { return arguments_.partition_count; }

  [[nodiscard]] bool has_peer() const { return channel_ != nullptr; }

  // Operation.
  [[nodiscard]] int start() final;
  void finish_part(Request& part) final;
  [[nodiscard]] int explain(RankState& self, int error_class) const final;
  [[nodiscard]] std::optional<std::int32_t> awaited_rank() const final;
  void end() final;

 protected:
  PartitionedMessage(RankState& self, Comm& comm, const PartitionedArguments& arguments);
  virtual ~PartitionedMessage();

  /// Starts one of the two messages of the handshake.
  void start_handshake_part(Request& part);

  /// A message of `count` elements of `type` from or to the peer, not started.
  Request& add_send(const void* buffer, std::size_t count, Datatype& type, std::int32_t tag);
  Request& add_receive(void* buffer, std::size_t count, Datatype& type, std::int32_t tag);

  /// Both sides are known.
  void meet(const PartitionedIntroduction& sender, const PartitionedAnswer& receiver);

  [[nodiscard]] bool is_laid_out() const { return !units_.empty(); }

  [[nodiscard]] const TransferUnits& layout() const { return layout_; }

  void start_unit(std::size_t unit);

  /// A transfer begins.
  virtual void reset() = 0;
  /// A transfer begins, or has begun, and the units are known.
  virtual void start_units() = 0;
  /// The request for the packed bytes [first, last).
  virtual Request& make_unit(std::size_t first, std::size_t last, std::int32_t tag) = 0;
  /// The peer's message of the handshake has come.
  virtual void meet_peer() = 0;

  virtual void end_unit(std::size_t /*unit*/) {}

  [[nodiscard]] RankState& self() const { return self_; }

  [[nodiscard]] const PartitionedArguments& arguments() const { return arguments_; }

 private:
  Request& as_part(Request& part);
  /// Makes the requests of the units.
  void lay_out(const PartitionedIntroduction& sender, std::size_t element_bytes);
  void begin_transfer();
  void count_one();

  RankState& self_;
  const PartitionedArguments arguments_;
  /// Null after its end.
  Request* request_;
  /// The shadow's view; null without a peer.
  Comm* channel_ = nullptr;
  /// The main part of all messages: outlives the user's request.
  Request main_part_;
  /// Messages of the handshake that have not ended.
  std::int32_t handshake_count_ = 0;
  std::int32_t first_number_ = 0;

  TransferUnits layout_;
  std::vector<Request*> units_;
  std::size_t missing_unit_count_ = 0;
  // Equal, unless the transfers fail.
  std::size_t sent_bytes_ = 0;
  std::size_t room_bytes_ = 0;
};

}  // namespace sorrel::mpi
