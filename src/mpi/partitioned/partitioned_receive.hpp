//! PartitionedReceive - the operation of a request of MPI_Precv_init. Owner's worker only.
#pragma once

#include "mpi/partitioned/partitioned_message.hpp"

namespace sorrel::mpi {

class PartitionedReceive final : public PartitionedMessage {
 public:
  /// A new inactive request, which waits for the introduction of the sender. Never suspends.
  [[nodiscard]] static Request& make(RankState& self,
                                     Comm& comm,
                                     const PartitionedArguments& arguments);

  /// The partitioned receive behind a request, or null.
  [[nodiscard]] static PartitionedReceive* of(const Request& request) {
    return request.kind == Request::Kind::operation ? request.operation->partitioned_receive()
                                                    : nullptr;
  }

  /// Whether all data of a partition has arrived in the active transfer.
  [[nodiscard]] bool has_arrived(std::size_t partition) const;

  // Operation.
  void name(OperationName& to) const override { to.add("MPI_Precv_init"); }

  [[nodiscard]] PartitionedReceive* partitioned_receive() override { return this; }

 private:
  PartitionedReceive(RankState& self, Comm& comm, const PartitionedArguments& arguments);
  ~PartitionedReceive() override = default;

  void await_peer();

  // PartitionedMessage.
  void reset() override;
  void start_units() override;
  Request& make_unit(std::size_t first, std::size_t last, std::int32_t tag) override;
  void meet_peer() override;
  void end_unit(std::size_t unit) override;

  PartitionedIntroduction introduction_{};
  PartitionedAnswer answer_;
  /// For each unit.
  std::vector<std::uint8_t> is_there_;
};

}  // namespace sorrel::mpi
