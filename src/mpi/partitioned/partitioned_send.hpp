//! PartitionedSend - the operation of a request of MPI_Psend_init. Owner's worker only.
#pragma once

#include "mpi/partitioned/partitioned_message.hpp"

namespace sorrel::mpi {

class PartitionedSend final : public PartitionedMessage {
 public:
  /// A new inactive request; introduces itself to the receiver. Never suspends. MPI_ERR_OTHER if
  /// the communicator has no more numbers for messages.
  [[nodiscard]] static int make(RankState& self,
                                Comm& comm,
                                const PartitionedArguments& arguments,
                                Request** request);

  /// The partitioned send behind a request, or null.
  [[nodiscard]] static PartitionedSend* of(const Request& request) {
    return request.kind == Request::Kind::operation ? request.operation->partitioned_send()
                                                    : nullptr;
  }

  [[nodiscard]] bool is_ready(std::size_t partition) const { return is_ready_[partition] != 0; }

  /// MPI_Pready in an active transfer, of a partition that is not ready. Sends its unit if it was
  /// the last one of that. Never suspends.
  void set_ready(std::size_t partition);

  // Operation.
  void name(OperationName& to) const override { to.add("MPI_Psend_init"); }

  [[nodiscard]] PartitionedSend* partitioned_send() override { return this; }

 private:
  PartitionedSend(RankState& self, Comm& comm, const PartitionedArguments& arguments);
  ~PartitionedSend() override = default;

  void introduce_to_peer(std::int32_t first_number);
  [[nodiscard]] std::size_t unit_of(std::size_t partition) const;

  // PartitionedMessage.
  void reset() override;
  void start_units() override;
  Request& make_unit(std::size_t first, std::size_t last, std::int32_t tag) override;
  void meet_peer() override;

  PartitionedIntroduction introduction_;
  PartitionedAnswer answer_{};
  /// For each partition.
  std::vector<std::uint8_t> is_ready_;
  /// For each unit: partitions that are not ready.
  std::vector<std::size_t> missing_counts_;
};

}  // namespace sorrel::mpi
