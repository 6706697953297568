//! HostStreams - memory of one process goes to another one, over the host MPI: while all workers of
//! the job are stopped.
//!
//! Each stream is cut into chunks. A few chunks of a stream are in flight at a time, and a few
//! streams; so the memory that it takes does not depend on what is sent, nor on the number of
//! processes. The host MPI never sees the memory itself: it may keep what it knows about buffers,
//! and pages of a rank that has gone are given back. README.md, "Stops of a job".
//!
//! One thread, which has the transport's turn. Waits for the other processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/job_stop.hpp"
#include "transport/host/host_api.h"

namespace sorrel::transport {

class HostStreams {
 public:
  /// Size of a chunk; the same in all processes.
  static constexpr std::size_t chunk_bytes = std::size_t{64} << 10;

  /// Once in a process.
  HostStreams(const sorrel_host_api& api, void* host);

  /// Each ascending by process. What one sends, its process awaits, with as many bytes.
  void run(std::span<const core::JobStop::Shipment> sent,
           std::span<const core::JobStop::Shipment> awaited);

 private:
  /// Chunks of a stream that are in flight, and streams of each direction.
  static constexpr std::uint32_t depth = 4;
  static constexpr std::uint32_t width = 16;

  class Stream;
  enum class Direction : std::uint8_t { out, in };

  [[nodiscard]] std::byte* buffer(std::uint32_t slot) { return memory_.get() + slot * chunk_bytes; }

  const sorrel_host_api& api_;
  void* const host_;
  /// A chunk for each slot.
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace sorrel::transport
