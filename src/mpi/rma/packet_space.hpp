//! PacketSpace - room to assemble one packet, for each worker; and the messages of one-sided
//! communication that are arriving at the worker.
//!
//! Own worker only. Created with a worker's first message of one-sided communication.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mpi/net/send_queue.hpp"
#include "mpi/rma/message.hpp"

namespace sorrel::mpi {

/// A message of which some packets have come.
struct IncomingMessage {
  bool is_open = false;
  /// The head and the datatype, while they are incomplete.
  std::vector<std::byte> begin;
  MessageHead head;
  Win* window = nullptr;
  Datatype* type = nullptr;
  /// The addressed memory; null if there is none, or an error was found.
  std::byte* address = nullptr;
  /// What the rank has on devices, if the memory is there; else null.
  device::OwnedMemory* device = nullptr;
  int error = MPI_SUCCESS;
  std::size_t arrived_data_bytes = 0;
  /// The elements as they were, of operations that bring them back.
  std::unique_ptr<std::byte[]> result;
};

struct RmaState {
  std::vector<std::byte> packet_space;
  /// By the number of the sending endpoint.
  std::vector<IncomingMessage> incoming;
};

/// Room for the longest packet to a process.
[[nodiscard]] std::span<std::byte> packet_space(SendQueue& send_queue, std::uint32_t process);

}  // namespace sorrel::mpi
