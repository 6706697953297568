//! PartitionedComm - one member's view of the shadow on which the partitioned messages of a
//! communicator travel, and the tags that it has given to them. README.md has the protocol.
//!
//! Owner's worker only. Made at the first partitioned message of the communicator.
#pragma once

#include <cstdint>
#include <limits>

#include "mpi/comm/comm.hpp"

namespace sorrel::mpi {

class PartitionedComm {
 public:
  explicit PartitionedComm(Comm& comm);
  ~PartitionedComm();
  PartitionedComm(const PartitionedComm&) = delete;
  PartitionedComm& operator=(const PartitionedComm&) = delete;

  static PartitionedComm& of(Comm& comm);

  [[nodiscard]] Comm& channel() const { return channel_; }

  /// Sets *first to the first of `count` numbers that no other message of this sender has. False if
  /// there are no more.
  [[nodiscard]] bool take_numbers(std::size_t count, std::int32_t* first);

 private:
  /// Leaves a tag for each number and each answer below the wildcards.
  static constexpr std::int32_t number_count = std::numeric_limits<std::int32_t>::max() / 2 - 2;

  Comm& channel_;
  std::int32_t next_number_ = 0;
};

/// The tag of the data of a unit.
constexpr std::int32_t unit_tag(std::int32_t number) {
  return -3 - 2 * number;
}

constexpr std::int32_t unit_number(std::int32_t tag) {
  return (-3 - tag) / 2;
}

/// The tag of the receiver's answer to the introduction, for the first number of a message.
constexpr std::int32_t answer_tag(std::int32_t number) {
  return -4 - 2 * number;
}

}  // namespace sorrel::mpi
