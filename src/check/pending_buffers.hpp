//! PendingBuffers - the buffers of one rank's operations in progress, which the program must not
//! touch: a send buffer must not be changed, a receive buffer not be used at all (MPI 5.0, 3.7.2).
//!
//! Changes are found by hashes: of a send buffer at start and completion, of a receive buffer at
//! start and arrival, and from arrival to completion. Reads are not found. Where the system forbids
//! to read memory through it, no change is found. One worker.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "check/byte_ranges.hpp"
#include "check/checked_call.hpp"
#include "check/finding_log.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/rma/window.hpp"

namespace sorrel::check {

/// A buffer argument of a call.
struct UsedBuffer {
  ByteRanges bytes;
  bool is_written = false;
  /// As the program passes it; null for MPI_BOTTOM.
  const void* address = nullptr;
};

/// The buffers of a call: of a message, of a collective on `comm`. Empty for other calls, and where
/// an argument is not valid.
[[nodiscard]] std::vector<UsedBuffer> buffers_of(const CheckedCall& call, const mpi::Comm& comm);

/// The buffers at the origin of a one-sided operation.
[[nodiscard]] std::vector<UsedBuffer> origin_buffers_of(const CheckedCall& call);

/// The buffer of one partition of a partitioned send, `count` elements of `type`.
[[nodiscard]] std::vector<UsedBuffer> partition_of(const void* buffer,
                                                   const mpi::Datatype& type,
                                                   std::int64_t count,
                                                   std::int64_t partition);

class PendingBuffers {
 public:
  explicit PendingBuffers(FindingLog& findings) : findings_(findings) {}

  /// Whether buffers of one call overlap, and the call writes to one of them: a finding.
  [[nodiscard]] bool find_aliases(const std::vector<UsedBuffer>& buffers, const CallPlace& place);

  /// Which contents of an operation's buffers are compared.
  enum class Compared : std::uint8_t {
    nothing,     ///< The operation ends with its call.
    sent,        ///< What it reads.
    everything,  ///< Also what it writes: on_arrival() will tell when data comes.
  };

  /// The buffers are in use from now on, by an operation that has no request yet. Compares them
  /// with those of all other operations. Returns its number.
  std::uint64_t begin(std::vector<UsedBuffer> buffers, const CallPlace& place, Compared compared);

  /// The operation has a request, which is in a variable of the program; null: not known in which.
  void set_request(std::uint64_t number, std::uintptr_t request, const void* variable);

  /// The operation is one-sided: a synchronization with the target completes it, too.
  void set_target(std::uint64_t number, const mpi::Win* win, const void* target);

  /// The operation has ended with its call, or failed.
  void drop(std::uint64_t number);

  /// The request has been completed.
  void complete(std::uintptr_t request, const void* variable);

  /// All operations of the window on the target have been completed.
  void complete_all(const mpi::Win* win, const void* target);

  /// A partitioned send has been completed.
  void complete_partitions(std::uintptr_t request);

  /// The request is freed or cancelled: its buffers are not compared any more.
  void forget(std::uintptr_t request);

  /// A message is about to be written to `buffer`. `is_remote`: from another process, so that its
  /// data may come later, in parts.
  void on_arrival(const void* buffer, bool is_remote);

  /// Before code of the program runs again: messages that have arrived are complete in memory.
  void settle();

 private:
  struct Operation {
    std::uint64_t number;
    std::uintptr_t request = 0;
    const void* variable = nullptr;
    /// Window and target of a one-sided operation.
    const mpi::Win* win = nullptr;
    const void* target = nullptr;
    CallPlace place;
    std::vector<UsedBuffer> buffers = {};
    /// Hash of each buffer; nothing: it is not compared.
    std::vector<std::optional<std::uint64_t>> hashes = {};
    bool is_received = false;
    bool is_unsettled = false;
  };

  void compare(const Operation& operation, const char* when);
  [[nodiscard]] bool overlaps(const Operation& operation, const Operation& other);

  FindingLog& findings_;
  std::list<Operation> operations_;
  std::uint64_t next_ = 1;
};

}  // namespace sorrel::check
