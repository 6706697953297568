//! ShmTransport - packets between the processes of one node, through the mailboxes of shared
//! memory.
//!
//! A packet is a record of core's mailbox: a worker takes packets and the records of its own
//! process in the same loop, and sleeps and is woken the same way. pull() is one copy by
//! process_vm_readv. The first call of can_pull() for a process, which must have started by then,
//! tests whether the system allows it. A long pull is shared with an idle worker of the process
//! that holds the data (chunk_claims.hpp). A packet without room to a worker that has ended is
//! dropped, since no worker will take it. See README.md.
//!
//! Progress: try_send() wait-free, except the first packet of a pair (lock-free). Limit: 256
//! packets or 16 KiB of long payloads in flight from one worker to another.
#pragma once

#include <atomic>
#include <memory>
#include <sys/types.h>

#include "base/fast_divisor.hpp"
#include "core/scheduler.hpp"
#include "transport/shm/chunk_claims.hpp"
#include "transport/transport.hpp"

namespace sorrel::transport {

class ShmTransport final : public Transport {
 public:
  enum class Pulling { when_allowed, never };

  /// For a scheduler with shared memory, which must outlive this object; before its workers run.
  /// `common_ancestor`: all processes of the job descend from it (os::let_descendants_read()).
  ShmTransport(core::Scheduler& scheduler, Pulling pulling, pid_t common_ancestor);

  [[nodiscard]] std::uint32_t process_count() const override {
    return memory_.shape().process_count;
  }

  [[nodiscard]] std::uint32_t own_process() const override { return scheduler_.process(); }

  void set_handler(std::uint32_t kind, PacketHandler handler, void* owner) override;

  [[nodiscard]] std::uint32_t payload_bytes_max(std::uint32_t /*process*/) const override {
    return core::Mailbox::payload_bytes_max;
  }

  [[nodiscard]] bool try_send(core::Worker& from,
                              Endpoint to,
                              const Packet& packet,
                              const void* payload) override;

  /// As try_send(), but drops nothing: returns false if there is no room, also to a worker that has
  /// ended.
  [[nodiscard]] bool try_post(core::Worker& from,
                              Endpoint to,
                              const Packet& packet,
                              const void* payload);

  /// Whether a record is a packet of the layers above.
  [[nodiscard]] static bool is_packet(const core::Record& record) {
    return record.kind >= core::first_packet_kind &&
           record.kind < core::first_packet_kind + packet_kind_count_max;
  }

  [[nodiscard]] bool can_pull(std::uint32_t process) const override;

  [[nodiscard]] bool pull(std::uint32_t process,
                          void* target,
                          std::uintptr_t source,
                          std::size_t bytes) override;

 private:
  /// A request for help with a pull: the payload of a packet.
  struct HelpWanted {
    std::uint64_t target;  ///< in the requesting process
    std::uint64_t source;  ///< in the helping process
    std::uint64_t bytes;
    std::uint64_t chunk_bytes;
    std::uint32_t round;
  };

  enum class Way : std::uint8_t { untried, open, closed };

  static void run_packet(core::Worker& receiver,
                         const core::Record& record,
                         const std::byte* payload);
  [[nodiscard]] Way try_way(std::uint32_t process) const;
  [[nodiscard]] bool pull_alone(std::uint32_t process,
                                void* target,
                                std::uintptr_t source,
                                std::size_t bytes) const;
  [[nodiscard]] bool pull_together(core::Worker& worker,
                                   std::uint32_t helper,
                                   std::byte* target,
                                   std::uintptr_t source,
                                   std::size_t bytes);
  /// The worker of that process that is asked to help this one.
  [[nodiscard]] std::uint32_t helper_of(const core::Worker& worker, std::uint32_t process) const;
  [[nodiscard]] ChunkClaims& claims_of(std::uint32_t endpoint) const;
  static void help(void* owner,
                   core::Worker& worker,
                   Endpoint from,
                   const Packet& packet,
                   const std::byte* payload);

  // Constant while the workers run.
  core::Scheduler& scheduler_;
  core::JobMemory& memory_;
  const FastDivisor by_worker_count_;
  const Pulling pulling_;
  HandlerTable handlers_{};
  OwnedHandler help_;

  // Any worker of this process. Relaxed: a worker that finds no result tests for itself.
  mutable std::unique_ptr<std::atomic<Way>[]> ways_;
};

}  // namespace sorrel::transport
